//! How to read data, made of the library's tables: for a run of whatever model, or for documents alone.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

use lehr::models::TABLES;
use lehr::read::{DOCS, DocsOptions};
use lehr::settings::{Setting, Tables};

use super::config::over;
use super::flags::{given, with_flags};

/// How to read new data, of whatever kind the run's model takes.
#[derive(Debug, Default)]
pub struct DataArgs {
    given: Table,
    /// Columns of a table that are used for something else.
    pub aside: Vec<String>,
}

/// The settings of new data: what chooses a model's words is its own.
fn of_new(settings: &[Setting]) -> Vec<Setting> {
    settings.iter().filter(|setting| !setting.fit_only).copied().collect()
}

impl DataArgs {
    /// Whether a setting was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// These flags on top of other options.
    pub fn over<O: Serialize + DeserializeOwned>(&self, base: O) -> anyhow::Result<O> {
        over(base, &self.given)
    }

    /// A given flag that this model's data do not have, and the data that have it.
    pub fn not_for(&self, tables: &Tables) -> Option<(String, &'static str)> {
        let has =
            |tables: &Tables, name: &str| tables.data.iter().find(|s| s.name == name).copied();
        self.given.keys().filter(|name| has(tables, name).is_none()).find_map(|name| {
            let other = TABLES.iter().find_map(|other| Some((other, has(other, name)?)));
            other.and_then(|(other, setting)| Some((format!("--{}", setting.long()?), other.items)))
        })
    }
}

impl Args for DataArgs {
    fn augment_args(command: Command) -> Command {
        TABLES.iter().fold(command, |command, tables| with_flags(command, &of_new(tables.data)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DataArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let tables = TABLES.iter().map(|tables| given(matches, &of_new(tables.data)));
        Ok(DataArgs { given: tables.flatten().collect(), aside: Vec::new() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How to read documents that no model knows yet.
#[derive(Debug)]
pub struct DocsArgs {
    given: Table,
}

impl DocsArgs {
    /// The options.
    pub fn options(&self) -> anyhow::Result<DocsOptions> {
        over(DocsOptions::default(), &self.given)
    }
}

impl Args for DocsArgs {
    fn augment_args(command: Command) -> Command {
        with_flags(command, DOCS)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DocsArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(DocsArgs { given: given(matches, DOCS) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
