//! The flags of LDA.

use std::path::{Path, PathBuf};

use clap::Args;

use lehr::models::LdaParams;
use lehr::models::lda::LearnAlpha;
use lehr::read::DocsOptions;

use super::{DocsArgs, FitArgs, WordsArgs, model_table, named};
use crate::text::{parse_number, parse_whole};

/// `lehr fit lda`.
#[derive(Debug, Args)]
pub struct LdaArgs {
    /// The documents: UCI docword, LDA-C, SVMlight, Matrix Market, text or JSON lines (also .gz),
    /// .npz, Parquet, or what 'lehr convert' wrote.
    pub data: PathBuf,
    /// K, the number of topics.
    #[arg(short = 'k', long, value_parser = parse_whole::<usize>, allow_negative_numbers = true, value_name = "K", help_heading = "Model")]
    pub topics: Option<usize>,
    /// The prior of a document's topics: smaller, fewer topics a document [default: 1/K].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub alpha: Option<f64>,
    /// The prior of a topic's words: smaller, fewer words a topic [default: 0.01].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub eta: Option<f64>,
    /// Learn alpha: one for all topics, or one for each [default: no; asymmetric if nothing follows].
    #[arg(long, value_parser = named::<LearnAlpha>(&["no", "symmetric", "asymmetric"]), num_args = 0..=1,
        default_missing_value = "asymmetric", value_name = "HOW", help_heading = "Model")]
    pub learn_alpha: Option<LearnAlpha>,
    /// Learn eta.
    #[arg(long, help_heading = "Model")]
    pub learn_eta: bool,
    /// Topics to begin with, in this order: an earlier run's directory, or a table with a row for
    /// each topic and a column for each word (CSV, .npy or Parquet).
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub seed_topics: Option<PathBuf>,
    /// Double precision and no shortcuts in local steps: slower, for checks.
    #[arg(long, help_heading = "Model")]
    pub exact: bool,
    /// A document's local steps end when its topics change by less than this [default: 0.001].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "Model")]
    pub local_tol: Option<f64>,
    /// The most local steps of a document [default: 100].
    #[arg(long, value_parser = parse_whole::<u32>, allow_negative_numbers = true, value_name = "N", help_heading = "Model")]
    pub local_iterations: Option<u32>,
    /// How to read the documents.
    #[command(flatten)]
    pub docs: DocsArgs,
    /// Which words to keep.
    #[command(flatten)]
    pub words: WordsArgs,
    /// How to fit.
    #[command(flatten)]
    pub fit: FitArgs,
}

impl LdaArgs {
    /// These flags on top of the configuration file's `[model]` table.
    pub fn params(&self, mut file: toml::Table, path: Option<&Path>) -> anyhow::Result<LdaParams> {
        let mut set = |name: &str, value: Option<toml::Value>| {
            if let Some(value) = value {
                file.insert(name.to_string(), value);
            }
        };
        let whole = |n: usize| toml::Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
        set("topics", self.topics.map(whole));
        set("alpha", self.alpha.map(toml::Value::Float));
        set("eta", self.eta.map(toml::Value::Float));
        set("learn_alpha", self.learn_alpha.map(toml::Value::try_from).transpose()?);
        set("learn_eta", self.learn_eta.then_some(toml::Value::Boolean(true)));
        set("exact", self.exact.then_some(toml::Value::Boolean(true)));
        set("local_tol", self.local_tol.map(toml::Value::Float));
        set("local_iterations", self.local_iterations.map(|n| whole(n as usize)));
        if !file.contains_key("topics") {
            anyhow::bail!("how many topics? Give -k K, e.g. -k 50");
        }
        let mut params: LdaParams = model_table(file, path)?;
        // Not every path is the UTF-8 that TOML wants.
        if let Some(seeds) = &self.seed_topics {
            params.seed_topics = Some(seeds.clone());
        }
        Ok(params)
    }

    /// These flags on top of the configuration file's `[data]` table.
    pub fn options(&self, file: DocsOptions) -> DocsOptions {
        self.words.over(self.docs.over(file))
    }
}
