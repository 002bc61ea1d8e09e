//! `lehr sweep MODEL`: the flags of a fit, with several sizes and shapes instead of one.

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use lehr::settings::{Flag, Kind, Setting, Variant, varied};
use lehr::sweep::{Grid, Sizes};

use super::fit::{About, FitArgs, models, with_help};
use super::flags::with_flags;
use super::tables_of;
use crate::output::data_path;
use crate::text::parse_whole;

/// Starts of each run of all items by default.
const STARTS: i64 = 3;
/// Parts of the items, each of which is held out once.
const FOLDS: &str = "5";

/// What is different about the settings of a fit that is one of many.
const SWEEP: &[Variant] = &[
    Variant::of("n_init").help("Starts of each run of all items").default("3"),
    Variant::of("time").help("Stop each run after this long: seconds, or 90s, 5m, 2h"),
    Variant::of("threads")
        .help("Threads, which are shared by the runs side by side; 0 uses all cores. Does not change results"),
    Variant::of("holdout").hidden(),
    Variant::of("search_by").hidden(),
];

/// `lehr sweep MODEL`.
#[derive(Debug)]
pub struct SweepArgs {
    /// What a fit of one size would be asked for.
    pub fit: FitArgs,
    /// Sizes, shapes, folds.
    pub grid: Grid,
}

fn is_shape(setting: &Setting) -> bool {
    setting.name == "covariance"
}

fn command(about: &'static About) -> Command {
    let tables = tables_of(about.model).expect("every model has its tables");
    let data = Arg::new("data").value_name("DATA").required(true).help(about.data);
    let command = Command::new(about.model).about(about.title);
    let command = command.arg(data.value_parser(data_path()));
    let size = tables.own.iter().find(|setting| setting.name == about.required.0);
    let size = size.expect("what is required is a setting");
    let list = "Sizes to try: 2,4,8, a range (2..12, both ends included) or steps (10..100:10)";
    let sizes =
        Arg::new("sizes").value_name("LIST").required(true).help(list).help_heading("Model");
    let sizes = sizes.short('k').long(size.name).value_parser(|text: &str| text.parse::<Sizes>());
    let sizes = match size.flag {
        Flag::Short(letter) if letter != 'k' => sizes.visible_short_alias(letter),
        _ => sizes,
    };
    let folds = Arg::new("folds").long("folds").value_name("N").default_value(FOLDS);
    let folds = folds.help(
        "Parts of the data, each of which is held out and scored once; 0 compares bounds alone",
    );
    let folds = folds.value_parser(parse_whole::<u32>).allow_negative_numbers(true);
    let command = command.args([sizes, folds.help_heading("Watching")]);
    let shape = tables.own.iter().find(|setting| is_shape(setting)).map(|setting| {
        let Kind::Choice(names) = setting.kind else { unreachable!("shapes have names") };
        Arg::new("shapes")
            .long("covariance")
            .value_name("LIST")
            .value_delimiter(',')
            .help(format!("Shapes to try, comma-separated: {} [default: full]", names.join(", ")))
            .help_heading("Model")
    });
    let command = command.args(shape);
    let other = |setting: &&Setting| setting.name != size.name && !is_shape(setting);
    let own: Vec<Setting> = tables.own.iter().filter(other).copied().collect();
    let command = with_flags(with_flags(command, &own), tables.data);
    let config = "A TOML file with settings in [fit], [model] and [data]; flags go on top";
    let fit = varied(&tables.of_fit(), SWEEP);
    let directory = "The directory to make [default: sweeps/MODEL-N]";
    let command = super::FitFlags::augment(command, &fit, directory, config).about(about.title);
    let usage = format!("lehr sweep {} -k <LIST> [OPTIONS] <DATA>", about.model);
    with_help(command.override_usage(usage))
}

impl Args for SweepArgs {
    fn augment_args(parent: Command) -> Command {
        let parent = parent.subcommand_required(true).arg_required_else_help(true);
        let parent = parent.subcommand_value_name("MODEL").subcommand_help_heading("Models");
        parent.subcommands(models().map(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SweepArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut fit = FitArgs::from_arg_matches(matches)?;
        let (_, matches) =
            matches.subcommand().ok_or(clap::Error::new(ErrorKind::MissingSubcommand))?;
        let missing = || clap::Error::new(ErrorKind::MissingRequiredArgument);
        let sizes = matches.get_one::<Sizes>("sizes").ok_or_else(missing)?.clone();
        let shapes = matches.try_get_many::<String>("shapes").ok().flatten();
        let folds = matches.get_one("folds").copied().ok_or_else(missing)?;
        let grid = Grid { shapes: shapes.into_iter().flatten().cloned().collect(), sizes, folds };
        fit.of_each(i64::try_from(grid.sizes.largest()).unwrap_or(i64::MAX), STARTS);
        Ok(SweepArgs { fit, grid })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
