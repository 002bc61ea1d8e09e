//! `lehr fit MODEL`: flags made of the model's tables, laid over a configuration file.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use lehr::FitConfig;
use lehr::models::TABLES;
use lehr::settings::{FIT, Setting, Tables, Variant, varied};

use super::config::ConfigFile;
use super::flags::{given, with_flags};
use crate::models::Served;

/// What to print.
#[derive(Debug, Clone, Copy, Args)]
pub struct OutputArgs {
    /// Print one machine-readable result line on stdout.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
}

/// What the command line says of a model beside its settings, for each name of its runs.
pub struct About {
    /// The name.
    pub model: &'static str,
    /// What it is, in a line of the list of models.
    pub title: &'static str,
    /// What its data are.
    pub data: &'static str,
    /// What to type, for the end of its help.
    pub examples: &'static str,
    /// The setting that every fit has to be given, and how to ask for it.
    pub required: (&'static str, &'static str),
    /// What the name of the model says.
    pub implied: &'static [(&'static str, &'static str)],
    /// What the setting `preset` can be, if the model has one.
    pub presets: &'static [Preset],
}

/// A name, and the settings of a model and of its fit that belong together.
pub type Preset = (&'static str, fn() -> anyhow::Result<(Table, Table)>);

/// The models that can be fitted.
fn models() -> impl Iterator<Item = &'static About> {
    macro_rules! abouts {
        ($($module:ident $Model:ident),*) => { [$(<lehr::models::$Model as Served>::ABOUT),*] };
    }
    lehr::for_each_model!(abouts).into_iter().flatten()
}

impl About {
    fn tables(&self) -> &'static Tables {
        tables_of(self.model).expect("every model that can be fitted has its tables")
    }

    fn command(&self) -> Command {
        let tables = self.tables();
        let data = Arg::new("data").value_name("DATA").required(true).help(self.data);
        let command = Command::new(self.model).after_help(self.examples);
        let command = command.arg(data.value_parser(value_parser!(PathBuf)));
        let command = with_flags(with_flags(command, tables.own), tables.data);
        let config = "A TOML file with settings in [fit], [model] and [data]; flags go on top";
        // Last: the flags of others bring their own titles.
        FitFlags::augment(command, &tables.of_fit(), config).about(self.title)
    }
}

/// The tables of a model.
pub fn tables_of(model: &str) -> Option<&'static Tables> {
    TABLES.iter().find(|tables| tables.model == model)
}

/// `lehr fit MODEL`.
#[derive(Debug)]
pub struct FitArgs {
    /// The settings that the model has.
    pub tables: &'static Tables,
    /// The file to fit it to.
    pub data: PathBuf,
    /// How to fit.
    pub fit: FitFlags,
    own: Table,
    options: Table,
}

/// What a fit is asked for.
pub struct Request<P, O> {
    /// The model's settings.
    pub params: P,
    /// How to read the data.
    pub options: O,
    /// How to fit.
    pub config: FitConfig,
}

impl FitArgs {
    /// The flags on top of the configuration file, on top of the preset that either of them names.
    pub fn request<P: DeserializeOwned, O: DeserializeOwned>(
        &self,
    ) -> anyhow::Result<Request<P, O>> {
        let file = ConfigFile::read(self.fit.config.as_deref())?;
        let laid = |section, flags: &Table| {
            let mut table = file.table(section);
            table.extend(flags.clone());
            table
        };
        let (mut own, mut fit) = (laid("model", &self.own), laid("fit", &self.fit.given));
        let about = models().find(|about| about.model == self.tables.model);
        let about = about.expect("the command was made of this list");
        if !own.contains_key(about.required.0) {
            anyhow::bail!(about.required.1);
        }
        own.extend(texts(about.implied));
        if !about.presets.is_empty()
            && let Some(preset) = own.remove("preset")
        {
            let (preset_own, preset_fit) = self.preset(about, &preset)?;
            own = over(preset_own, own);
            fit = over(preset_fit, fit);
        }
        Ok(Request {
            params: file.settings("model", self.tables.own, own)?,
            options: file.settings("data", self.tables.data, laid("data", &self.options))?,
            config: file.settings("fit", FIT, fit)?,
        })
    }

    /// The settings of a model and of its fit that a preset has.
    fn preset(&self, about: &About, name: &Value) -> anyhow::Result<(Table, Table)> {
        let Some((_, settings)) =
            about.presets.iter().find(|preset| name.as_str() == Some(preset.0))
        else {
            let file = self.fit.config.as_deref().unwrap_or(Path::new("")).display();
            let known: Vec<String> = about.presets.iter().map(|p| format!("{:?}", p.0)).collect();
            let known = match known.as_slice() {
                [one] => format!("the only one is {one}"),
                all => format!("there are {}", all.join(", ")),
            };
            anyhow::bail!("{file}: [model]: preset = {name}: {known}");
        };
        settings()
    }
}

fn over(mut base: Table, table: Table) -> Table {
    base.extend(table);
    base
}

/// Settings as a configuration file has them.
pub fn texts(pairs: &[(&str, &str)]) -> Table {
    pairs.iter().map(|&(name, text)| (name.to_string(), Value::String(text.into()))).collect()
}

impl Args for FitArgs {
    fn augment_args(command: Command) -> Command {
        let command = command.subcommand_required(true).arg_required_else_help(true);
        let command = command.subcommand_value_name("MODEL").subcommand_help_heading("Models");
        command.subcommands(models().map(About::command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FitArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (model, matches) =
            matches.subcommand().ok_or(clap::Error::new(ErrorKind::MissingSubcommand))?;
        let tables = tables_of(model).ok_or(clap::Error::new(ErrorKind::InvalidSubcommand))?;
        let data = matches.get_one::<PathBuf>("data").cloned();
        Ok(FitArgs {
            tables,
            data: data.ok_or(clap::Error::new(ErrorKind::MissingRequiredArgument))?,
            fit: FitFlags::of(matches)?,
            own: given(matches, tables.own),
            options: given(matches, tables.data),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flags that every fit shares.
#[derive(Debug)]
pub struct FitFlags {
    /// The run directory to make.
    pub output: Option<PathBuf>,
    /// The configuration file.
    pub config: Option<PathBuf>,
    /// The settings that were given, by their names in a configuration file.
    pub given: Table,
    /// What to print.
    pub print: OutputArgs,
}

/// What is different about the settings of a fit that goes on with a run.
const PARTIAL: &[Variant] = &[
    Variant::of("steps")
        .help("Updates from where the run stands")
        .default("one pass over the new data"),
    Variant::of("batch").help("|S|, the batch size").default("that of the run"),
    Variant::of("population")
        .help("N")
        .default("all that the run and those before it were fitted to, and the new ones"),
    Variant::of("n_init").hidden(),
];

impl FitFlags {
    fn augment(command: Command, settings: &[Setting], config: &'static str) -> Command {
        let output = Arg::new("output").short('o').long("output").value_name("DIR");
        let output = output.help("The run directory to make [default: runs/MODEL-N]");
        let config = Arg::new("config").long("config").value_name("FILE").help(config);
        let paths = [output, config]
            .map(|arg| arg.value_parser(value_parser!(PathBuf)).help_heading("Run"));
        let command = with_flags(command.args(paths), settings);
        OutputArgs::augment_args(command.next_help_heading("Run"))
    }

    fn of(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(FitFlags {
            output: matches.get_one("output").cloned(),
            config: matches.get_one("config").cloned(),
            given: given(matches, FIT),
            print: OutputArgs::from_arg_matches(matches)?,
        })
    }

    /// The run directory: as asked, or the first of runs/NAME-1, runs/NAME-2, ... that is free.
    pub fn directory(&self, name: &str) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            (1..)
                .map(|i| Path::new("runs").join(format!("{name}-{i}")))
                .find(|path| !path.exists())
                .expect("there are always more numbers")
        })
    }
}

impl Args for FitFlags {
    fn augment_args(command: Command) -> Command {
        let config =
            "A TOML file with settings in [fit], instead of those of the run; flags go on top";
        FitFlags::augment(command, &varied(FIT, PARTIAL), config)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FitFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        FitFlags::of(matches)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
