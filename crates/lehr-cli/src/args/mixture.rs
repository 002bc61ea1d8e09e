//! The flags of a mixture and of the points it is fitted to.

use std::path::{Path, PathBuf};

use clap::Args;

use lehr::models::MixtureParams;
use lehr::models::mixture::{Covariance, Factorisation, Start, Weights};
use lehr::read::{Header, PointsOptions};

use super::{FitArgs, model_table, named};
use crate::text::{parse_number, parse_whole};

/// How to read points.
#[derive(Debug, Args)]
#[command(next_help_heading = "Points")]
pub struct PointsArgs {
    /// The columns to use, by name or number from 1, comma-separated.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// The columns to leave out, e.g. a label.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// The column that says how often each row counts.
    #[arg(long, value_name = "COLUMN")]
    pub weight_column: Option<String>,
    /// Whether the first line of a text file holds names.
    #[arg(long, value_parser = named::<Header>(&["auto", "yes", "no"]))]
    pub header: Option<Header>,
}

impl PointsArgs {
    /// These flags on top of other options.
    pub fn over(&self, base: PointsOptions) -> PointsOptions {
        let or = |flags: &[String], base: Vec<String>| {
            if flags.is_empty() { base } else { flags.to_vec() }
        };
        PointsOptions {
            columns: or(&self.columns, base.columns),
            drop: or(&self.drop, base.drop),
            weight_column: self.weight_column.clone().or(base.weight_column),
            header: self.header.unwrap_or(base.header),
        }
    }

    /// The flags that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let flags = [
            ("--columns", !self.columns.is_empty()),
            ("--drop", !self.drop.is_empty()),
            ("--weight-column", self.weight_column.is_some()),
            ("--header", self.header.is_some()),
        ];
        flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }
}

/// `lehr fit gmm` and `lehr fit dpgmm`.
#[derive(Debug, Args)]
pub struct MixtureArgs {
    /// The points: CSV, TSV (also .gz), .npy or Parquet; one row an item.
    pub data: PathBuf,
    /// K, the number of components; for dpgmm, the most there can be.
    #[arg(short = 'k', long, value_parser = parse_whole::<usize>, allow_negative_numbers = true, value_name = "K", help_heading = "Model")]
    pub components: Option<usize>,
    /// The components' shape [default: full].
    #[arg(long, value_parser = named::<Covariance>(&["full", "diagonal"]), help_heading = "Model")]
    pub covariance: Option<Covariance>,
    /// q of a component's mean and precision: one Normal-Wishart, or independent as in the paper
    /// [default: normal-wishart].
    #[arg(long, value_parser = named::<Factorisation>(&["normal-wishart", "independent"]), help_heading = "Model")]
    pub factorisation: Option<Factorisation>,
    /// Where a fit begins [default: kmeans-plus-plus].
    #[arg(long, value_parser = named::<Start>(&["kmeans-plus-plus", "kmeans", "points", "responsibilities"]), help_heading = "Model")]
    pub start: Option<Start>,
    /// The weights' prior: a0 of the Dirichlet [default: 1/K] or alpha of the process [default: 1].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub concentration: Option<f64>,
    /// How many items the prior mean is worth [default: 0.01; 1 if independent].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub mean_precision: Option<f64>,
    /// The Wishart prior's degrees of freedom [default: the number of columns + 2].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub degrees_of_freedom: Option<f64>,
    /// How to read the data.
    #[command(flatten)]
    pub points: PointsArgs,
    /// How to fit.
    #[command(flatten)]
    pub fit: FitArgs,
}

impl MixtureArgs {
    /// These flags on top of the configuration file's `[model]` table.
    pub fn params(
        &self,
        weights: Weights,
        mut file: toml::Table,
        path: Option<&Path>,
    ) -> anyhow::Result<MixtureParams> {
        let mut set = |name: &str, value: Option<toml::Value>| {
            if let Some(value) = value {
                file.insert(name.to_string(), value);
            }
        };
        set(
            "components",
            self.components.map(|k| toml::Value::Integer(i64::try_from(k).unwrap_or(i64::MAX))),
        );
        set("covariance", self.covariance.map(toml::Value::try_from).transpose()?);
        set("factorisation", self.factorisation.map(toml::Value::try_from).transpose()?);
        set("start", self.start.map(toml::Value::try_from).transpose()?);
        set("concentration", self.concentration.map(toml::Value::Float));
        set("mean_precision", self.mean_precision.map(toml::Value::Float));
        set("degrees_of_freedom", self.degrees_of_freedom.map(toml::Value::Float));
        set("weights", Some(toml::Value::try_from(weights)?));
        if !file.contains_key("components") {
            anyhow::bail!("how many components? Give -k K, e.g. -k 10");
        }
        model_table(file, path)
    }
}
