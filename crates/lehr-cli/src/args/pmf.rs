//! The flags of probabilistic matrix factorisation and of the ratings it is fitted to.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;

use lehr::FitConfig;
use lehr::data::Duplicates;
use lehr::models::PmfParams;
use lehr::read::{Header, RatingsOptions};
use lehr::step::schedule::{Effective, StepSize};

use super::{ConfigFile, FitArgs, model_table, named};
use crate::text::{parse_number, parse_whole};

/// Noise leaves a row of lambda so much of its last value.
const NOISY_STEP: f64 = 0.85;
/// With noise the bound takes a pass of its own: sweeps between two evaluations.
const NOISY_SWEEPS: u64 = 5;

/// How to read ratings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ratings")]
pub struct RatingsArgs {
    /// The column that says who rates, by name or number from 1 [default: by its name, or the first].
    #[arg(long, value_name = "COLUMN")]
    pub user: Option<String>,
    /// The column that says what is rated [default: by its name, or the second].
    #[arg(long, value_name = "COLUMN")]
    pub item: Option<String>,
    /// The column with the ratings [default: by its name, or the third].
    #[arg(long, value_name = "COLUMN")]
    pub rating: Option<String>,
    /// What becomes of several ratings of one item by one user [default: refuse].
    #[arg(long, value_parser = named::<Duplicates>(&["refuse", "mean"]))]
    pub duplicates: Option<Duplicates>,
}

impl RatingsArgs {
    /// These flags on top of other options.
    pub fn over(&self, base: RatingsOptions) -> RatingsOptions {
        RatingsOptions {
            user: self.user.clone().or(base.user),
            item: self.item.clone().or(base.item),
            rating: self.rating.clone().or(base.rating),
            duplicates: self.duplicates.unwrap_or(base.duplicates),
            header: base.header,
        }
    }

    /// The flags that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let flags = [
            ("--user", self.user.is_some()),
            ("--item", self.item.is_some()),
            ("--rating", self.rating.is_some()),
            ("--duplicates", self.duplicates.is_some()),
        ];
        flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }
}

/// Settings that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    // No doc comments here: help would become a page of its own.
    Paper,
}

impl Preset {
    /// The settings of the fit that this one has and the configuration file at `path` has not.
    fn under(self, file: FitConfig, path: Option<&Path>) -> anyhow::Result<FitConfig> {
        let Preset::Paper = self;
        // A file that says "off" says something, which a default does not.
        let said: ConfigFile<toml::Table, toml::Table> = ConfigFile::read(path)?;
        let effective = match said.fit.contains_key("effective") {
            true => file.effective,
            false => Effective::Linear(50.0),
        };
        let step_size = file.step_size.or(Some(StepSize::Constant(NOISY_STEP)));
        Ok(FitConfig { effective, step_size, ..file })
    }
}

/// `lehr fit pmf`.
#[derive(Debug, Args)]
pub struct PmfArgs {
    /// The ratings: one a line with user, item and rating, as in MovieLens' ratings.dat and u.data,
    /// CSV or TSV (also .gz), or Parquet.
    pub data: PathBuf,
    /// d, the number of latent dimensions. Those that explain nothing are switched off by
    /// themselves, so rather too many than too few.
    #[arg(short = 'd', long, value_parser = parse_whole::<usize>, allow_negative_numbers = true, value_name = "D", help_heading = "Model")]
    pub dims: Option<usize>,
    /// paper: c = 1, sigma^2 = 1/2, rho = 0.85, M = 50t, nothing centred, no biases, nothing learned.
    /// Other flags and the configuration file win over it.
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Model")]
    pub preset: Option<Preset>,
    /// c, the prior variance of the factors; of the items' only the first one, unless --no-ard
    /// [default: the standard deviation of the ratings].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub prior_variance: Option<f64>,
    /// sigma^2, how far ratings scatter around their mean; only the first value, unless
    /// --no-learn-noise [default: the variance of the ratings].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub noise_variance: Option<f64>,
    /// Keep sigma^2 as it is.
    #[arg(long, help_heading = "Model")]
    pub no_learn_noise: bool,
    /// Keep the prior variance of each latent dimension, so that none is switched off.
    #[arg(long, help_heading = "Model")]
    pub no_ard: bool,
    /// Do not turn the latent space to the best bound after each sweep; fits take longer to
    /// converge.
    #[arg(long, help_heading = "Model")]
    pub no_gauge: bool,
    /// Do not subtract the mean of the ratings.
    #[arg(long, help_heading = "Model")]
    pub no_centre: bool,
    /// No bias for each user and item.
    #[arg(long, help_heading = "Model")]
    pub no_biases: bool,
    /// Starts: the standard deviation of the factors' random means [default: as in the prior].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub init_sd: Option<f64>,
    /// Starts: the variance of each factor under q [default: as in the prior].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub init_var: Option<f64>,
    /// Sums in double precision: slower, for checks.
    #[arg(long, help_heading = "Model")]
    pub exact: bool,
    /// How to read the ratings.
    #[command(flatten)]
    pub ratings: RatingsArgs,
    /// Whether the first line of a text file holds names.
    #[arg(long, value_parser = named::<Header>(&["auto", "yes", "no"]), help_heading = "Ratings")]
    pub header: Option<Header>,
    /// How to fit.
    #[command(flatten)]
    pub fit: FitArgs,
}

impl PmfArgs {
    /// The preset that the flag or the configuration file's `[model]` table names. Takes it out of
    /// the table.
    pub fn take_preset(
        &self,
        file: &mut toml::Table,
        path: Option<&Path>,
    ) -> anyhow::Result<Option<Preset>> {
        let in_file = match file.remove("preset") {
            None => None,
            Some(toml::Value::String(name)) if name == "paper" => Some(Preset::Paper),
            Some(other) => {
                let path = path.unwrap_or(Path::new("")).display();
                return Err(anyhow!(
                    "{path}: [model]: preset = {other}: the only one is \"paper\""
                ));
            }
        };
        Ok(self.preset.or(in_file))
    }

    /// These flags on top of the configuration file's `[model]` table, on top of the preset.
    pub fn params(
        &self,
        preset: Option<Preset>,
        mut file: toml::Table,
        path: Option<&Path>,
    ) -> anyhow::Result<PmfParams> {
        let mut set = |name: &str, value: Option<toml::Value>| {
            if let Some(value) = value {
                file.insert(name.to_string(), value);
            }
        };
        let off = |given: bool| given.then_some(toml::Value::Boolean(false));
        let whole = |n: usize| toml::Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
        set("dims", self.dims.map(whole));
        set("prior_variance", self.prior_variance.map(toml::Value::Float));
        set("noise_variance", self.noise_variance.map(toml::Value::Float));
        set("learn_noise", off(self.no_learn_noise));
        set("ard", off(self.no_ard));
        set("gauge", off(self.no_gauge));
        set("centre", off(self.no_centre));
        set("biases", off(self.no_biases));
        set("init_sd", self.init_sd.map(toml::Value::Float));
        set("init_var", self.init_var.map(toml::Value::Float));
        set("exact", self.exact.then_some(toml::Value::Boolean(true)));
        if !file.contains_key("dims") {
            anyhow::bail!("how many latent dimensions? Give -d D, e.g. -d 10");
        }
        let base = match preset {
            Some(Preset::Paper) => PmfParams::paper(1),
            None => PmfParams::new(1),
        };
        let mut table = toml::Table::try_from(base)?;
        table.extend(file);
        model_table(table, path)
    }

    /// These flags on top of the configuration file's `[data]` table.
    pub fn options(&self, file: RatingsOptions) -> RatingsOptions {
        let options = self.ratings.over(file);
        RatingsOptions { header: self.header.unwrap_or(options.header), ..options }
    }

    /// These flags on top of the configuration file's `[fit]` table, on top of the preset; then what
    /// suits this model.
    pub fn fit_config(&self, preset: Option<Preset>, file: FitConfig) -> anyhow::Result<FitConfig> {
        let path = self.fit.config.as_deref();
        let base = preset.map_or(Ok(file.clone()), |preset| preset.under(file, path))?;
        let mut config = self.fit.over(base);
        if config.effective != Effective::Off && config.batch.is_none() {
            config.step_size.get_or_insert(StepSize::UntilQuiet(NOISY_STEP));
            config.eval_every.get_or_insert(NOISY_SWEEPS);
        }
        Ok(config)
    }
}

/// `lehr recommend`.
#[derive(Debug, Args)]
pub struct RecommendArgs {
    /// The run directory.
    pub run: PathBuf,
    /// Who to recommend to: a user's id as in the ratings. May be given several times.
    #[arg(long, value_name = "ID", required = true, allow_negative_numbers = true)]
    pub user: Vec<String>,
    /// How many items.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub top: usize,
    /// What items are called: movies.dat, u.item, or a CSV or TSV file with ids and titles.
    #[arg(long, value_name = "FILE")]
    pub titles: Option<PathBuf>,
    /// What comes first: the highest expected rating, the highest upper end (expected rating plus
    /// beta standard deviations), or the best in one random draw of everything that is uncertain.
    #[arg(long, value_enum, default_value_t = Ranking::Mean)]
    pub by: Ranking,
    /// ucb: how many standard deviations are added [default: 1].
    #[arg(long, value_name = "X", value_parser = parse_number, allow_negative_numbers = true)]
    pub beta: Option<f64>,
    /// thompson: which draw [default: 0].
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// List items, too, that the user has rated already.
    #[arg(long)]
    pub include_seen: bool,
    /// Ratings that came after the fit, of new or known users; they are folded in first. Read like
    /// those of the run.
    #[arg(long, value_name = "FILE")]
    pub ratings: Option<PathBuf>,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// An order of recommendations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Ranking {
    // No doc comments here: help would become a page of its own.
    Mean,
    Ucb,
    Thompson,
}
