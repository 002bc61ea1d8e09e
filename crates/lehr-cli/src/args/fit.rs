//! `lehr fit MODEL`: flags made of the model's tables, laid over a configuration file.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use lehr::FitConfig;
use lehr::models::pmf::PAPER_FIT;
use lehr::models::{PmfParams, TABLES};
use lehr::settings::{FIT, Setting, Tables, Variant, varied};

use super::config::ConfigFile;
use super::examples;
use super::flags::{given, with_flags};

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

/// What the command line says of a model beside its settings.
struct About {
    model: &'static str,
    title: &'static str,
    data: &'static str,
    examples: &'static str,
    /// The setting that every fit has to be given, and how to ask for it.
    required: (&'static str, &'static str),
    /// What the name of the model says.
    implied: &'static [(&'static str, &'static str)],
}

const POINTS: &str = "The points: CSV, TSV (also .gz), .npy or Parquet; one row an item";
const COMPONENTS: (&str, &str) = ("components", "how many components? Give -k K, e.g. -k 10");

const MODELS: &[About] = &[
    About {
        model: "gmm",
        title: "Gaussian mixture with K components",
        data: POINTS,
        examples: examples::FIT,
        required: COMPONENTS,
        implied: &[("weights", "dirichlet")],
    },
    About {
        model: "dpgmm",
        title: "Dirichlet-process mixture: finds the number of clusters, up to K",
        data: POINTS,
        examples: examples::FIT,
        required: COMPONENTS,
        implied: &[("weights", "sticks")],
    },
    About {
        model: "lda",
        title: "Latent Dirichlet allocation: K topics of documents",
        data: "The documents: UCI docword, LDA-C, SVMlight, Matrix Market, text or JSON lines (also .gz), \
               .npz, Parquet, or what 'lehr convert' wrote",
        examples: examples::LDA,
        required: ("topics", "how many topics? Give -k K, e.g. -k 50"),
        implied: &[],
    },
    About {
        model: "pmf",
        title: "Probabilistic matrix factorisation: ratings that users gave to items",
        data: "The ratings: one a line with user, item and rating, as in MovieLens' ratings.dat and u.data, \
               CSV or TSV (also .gz), or Parquet",
        examples: examples::PMF,
        required: ("dims", "how many latent dimensions? Give -d D, e.g. -d 10"),
        implied: &[],
    },
];

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
        let about = MODELS.iter().find(|about| about.model == self.tables.model);
        let about = about.expect("the command was made of this list");
        if !own.contains_key(about.required.0) {
            anyhow::bail!(about.required.1);
        }
        own.extend(texts(about.implied));
        let has_presets = self.tables.own.iter().any(|setting| setting.name == "preset");
        if let Some(preset) = own.remove("preset").filter(|_| has_presets) {
            let (preset_own, preset_fit) = self.preset(&preset)?;
            own = over(preset_own, own);
            fit = over(preset_fit, fit);
        }
        Ok(Request {
            params: file.settings("model", self.tables.own, own)?,
            options: file.settings("data", self.tables.data, laid("data", &self.options))?,
            config: file.settings("fit", FIT, fit)?,
        })
    }

    /// The settings of a model and of its fit that belong together.
    fn preset(&self, name: &Value) -> anyhow::Result<(Table, Table)> {
        if name.as_str() != Some("paper") {
            let file = self.fit.config.as_deref().unwrap_or(Path::new("")).display();
            anyhow::bail!("{file}: [model]: preset = {name}: the only one is \"paper\"");
        }
        Ok((Table::try_from(PmfParams::paper(1))?, texts(PAPER_FIT)))
    }
}

fn over(mut base: Table, table: Table) -> Table {
    base.extend(table);
    base
}

fn texts(pairs: &[(&str, &str)]) -> Table {
    pairs.iter().map(|&(name, text)| (name.to_string(), Value::String(text.into()))).collect()
}

impl Args for FitArgs {
    fn augment_args(command: Command) -> Command {
        let command = command.subcommand_required(true).arg_required_else_help(true);
        let command = command.subcommand_value_name("MODEL").subcommand_help_heading("Models");
        command.subcommands(MODELS.iter().map(About::command))
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
