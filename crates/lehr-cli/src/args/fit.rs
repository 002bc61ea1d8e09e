//! `lehr fit MODEL`: flags made of the model's tables, laid over a configuration file.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use lehr::FitConfig;
use lehr::models::TABLES;
use lehr::settings::{FIT, Flag, Setting, Tables, Variant, varied};

use super::config::ConfigFile;
use super::flags::{given, with_flags};
use crate::models::Served;
use crate::output::{data_path, folder_path};

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

/// What the command line says of a model besides its settings, for each name of its runs.
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
    /// The settings of the model and its data that people use, which `-h` shows.
    pub usual: &'static [&'static str],
    /// What the name of the model says.
    pub implied: &'static [(&'static str, &'static str)],
    /// What the setting `preset` can be, if the model has one.
    pub presets: &'static [Preset],
}

/// A name, and the settings of a model and of its fit that belong together.
pub type Preset = (&'static str, fn() -> anyhow::Result<(Table, Table)>);

/// The models that can be fitted.
pub(super) fn models() -> impl Iterator<Item = &'static About> {
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
        let command = command.arg(data.value_parser(data_path()));
        let command = with_flags(with_flags(command, tables.own), tables.data);
        // Not for clap, since a configuration file may have it as well.
        let command = command.mut_arg(self.required.0, |arg| {
            let help = arg.get_help().map(|help| format!("{help} [required]")).unwrap_or_default();
            arg.help(help)
        });
        let size = match tables.own.iter().find(|setting| setting.name == self.required.0) {
            Some(Setting { flag: Flag::Short(letter), value_name, .. }) => {
                format!("-{letter} <{value_name}>")
            }
            _ => unreachable!("what is required has a letter"),
        };
        let command =
            command.override_usage(format!("lehr fit {} {size} [OPTIONS] <DATA>", self.model));
        let config = "A TOML file with settings in [fit], [model] and [data]; flags go on top";
        // Last: the flags of others bring their own titles.
        let command =
            FitFlags::augment(command, &tables.of_fit(), DIRECTORY, config).about(self.title);
        let flag = |id, long, help| {
            let arg = Arg::new(id).long(long).help(help).help_heading("Run");
            arg.action(ArgAction::SetTrue)
        };
        let dry_run = "Say what the fit would read, make and take, and leave nothing behind";
        let dry_run = flag("dry_run", "dry-run", dry_run);
        let print = "Print all settings as a file for --config, defaults included, and do not fit";
        let print = flag("print_config", "print-config", print).conflicts_with("dry_run");
        with_help(command.args([dry_run, print]))
    }
}

/// A command with many options, whose help is on one screen or in full.
pub(super) fn with_help(command: Command) -> Command {
    let help = "Print help (see more with --help)";
    let arg = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let command = command.disable_help_flag(true).disable_version_flag(true);
    command.arg(arg.help(help).help_heading("Run"))
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
    /// Whether to say what it would take, and no more.
    pub dry_run: bool,
    /// Whether to print the settings, and no more.
    pub print_config: bool,
    own: Table,
    options: Table,
    /// How many starts there are by default; none leaves that to the library.
    usual_starts: Option<i64>,
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
            let (preset_own, mut preset_fit) = self.preset(about, &preset)?;
            // Of annealing that is switched off, nothing is left that could be noted as idle.
            if fit.get("effective").and_then(Value::as_str) == Some("off") {
                preset_fit.retain(|name, _| name != "corrected" && name != "noise_end");
            }
            own = over(preset_own, own);
            fit = over(preset_fit, fit);
        }
        if let Some(starts) = self.usual_starts {
            fit.entry("n_init").or_insert(Value::Integer(starts));
        }
        Ok(Request {
            params: file.settings("model", self.tables.own, own)?,
            options: file.settings("data", self.tables.data, laid("data", &self.options))?,
            config: file.settings("fit", FIT, fit)?,
        })
    }

    /// The size of a model that is one of several, and its starts unless they are given.
    pub(super) fn of_each(&mut self, size: i64, starts: i64) {
        let about = models().find(|about| about.model == self.tables.model);
        let required = about.map(|about| about.required.0).unwrap_or_default();
        self.own.insert(required.to_string(), Value::Integer(size));
        self.usual_starts = Some(starts);
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
fn texts(pairs: &[(&str, &str)]) -> Table {
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
        // A sweep does not have them.
        let is_given = |name: &str| matches!(matches.try_get_one(name), Ok(Some(true)));
        Ok(FitArgs {
            dry_run: is_given("dry_run"),
            print_config: is_given("print_config"),
            tables,
            data: data.ok_or(clap::Error::new(ErrorKind::MissingRequiredArgument))?,
            fit: FitFlags::of(matches)?,
            own: given(matches, tables.own),
            options: given(matches, tables.data),
            usual_starts: None,
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

const DIRECTORY: &str = "The run directory to make [default: runs/MODEL-N]";

impl FitFlags {
    pub(super) fn augment(
        command: Command,
        settings: &[Setting],
        output: &'static str,
        config: &'static str,
    ) -> Command {
        let output = Arg::new("output").short('o').long("output").value_name("DIR").help(output);
        let config = Arg::new("config").long("config").value_name("FILE").help(config);
        let paths = [output.value_parser(folder_path()), config.value_parser(data_path())];
        let command = command.args(paths.map(|arg| arg.help_heading("Run")));
        let command = with_flags(command, settings);
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
}

impl Args for FitFlags {
    fn augment_args(command: Command) -> Command {
        let config =
            "A TOML file with settings in [fit], instead of those of the run; flags go on top";
        FitFlags::augment(command, &varied(FIT, PARTIAL), DIRECTORY, config)
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
