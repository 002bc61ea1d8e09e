//! How to read data, made of the library's tables: for a run of whatever model, or for documents alone.

use std::mem::discriminant;

use anyhow::bail;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

use lehr::models::TABLES;
use lehr::read::{DOCS, DocsOptions, POINTS, PointsOptions};
use lehr::settings::{Kind, Setting, Tables};

use super::config::over;
use super::flags::{given, with_flags};

/// How to read new data, of whatever kind the run's model takes.
#[derive(Debug, Clone, Default)]
pub struct DataArgs {
    /// What was given, as the data of each of `TABLES` have it.
    given: Vec<Table>,
    /// Columns of a table that are used for something else.
    pub aside: Vec<String>,
    /// The column or field with the items' ids, of data that are read together with them.
    pub id: Option<String>,
    /// Whether such ids are wanted.
    pub ids: bool,
}

/// The settings of new data: what chooses a model's words is its own.
fn of_new(settings: &[Setting]) -> Vec<Setting> {
    settings.iter().filter(|setting| !setting.fit_only).copied().collect()
}

/// The settings of new data of all models. One that several data have, with values of another kind, takes any
/// texts here: which of them are meant is known with the run.
fn of_all() -> Vec<Setting> {
    let mut all: Vec<Setting> = Vec::new();
    for setting in TABLES.iter().flat_map(|tables| of_new(tables.data)) {
        match all.iter_mut().find(|known| known.name == setting.name) {
            None => all.push(setting),
            Some(known) if discriminant(&known.kind) != discriminant(&setting.kind) => {
                let (a, b) = (known.description(), setting.description());
                *known = Setting {
                    kind: Kind::Texts,
                    value_name: "VALUE",
                    help: format!("{a}. {b}").leak(),
                    default: "",
                    ..*known
                };
            }
            Some(_) => {}
        }
    }
    all
}

impl DataArgs {
    /// Whether a setting was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.contains_key(name))
    }

    /// These flags on top of other options, those of data of this model.
    pub fn over<O: Serialize + DeserializeOwned>(&self, model: &str, base: O) -> anyhow::Result<O> {
        let Some(at) = TABLES.iter().position(|tables| tables.model == model) else {
            return Ok(base);
        };
        let Some(given) = self.given.get(at) else { return Ok(base) };
        for setting in TABLES[at].data {
            if let (Kind::Choice(names), Some(value)) = (setting.kind, given.get(setting.name))
                && let Some(text) = value.as_str().filter(|text| !names.contains(text))
            {
                let flag = setting.long().unwrap_or_default();
                bail!("--{flag} {text}: give one of {}", names.join(", "));
            }
        }
        over(base, given)
    }

    /// A given flag that this model's data do not have, and the data that have it.
    pub fn not_for(&self, tables: &Tables) -> Option<(String, &'static str)> {
        let has =
            |tables: &Tables, name: &str| tables.data.iter().find(|s| s.name == name).copied();
        let given = self.given.iter().flat_map(Table::keys);
        given.filter(|name| has(tables, name).is_none()).find_map(|name| {
            let other = TABLES.iter().find_map(|other| Some((other, has(other, name)?)));
            other.and_then(|(other, setting)| Some((format!("--{}", setting.long()?), other.items)))
        })
    }
}

impl Args for DataArgs {
    fn augment_args(command: Command) -> Command {
        with_flags(command, &of_all())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DataArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let tables = TABLES.iter().map(|tables| given(matches, &of_new(tables.data)));
        Ok(DataArgs { given: tables.collect(), ..DataArgs::default() })
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

/// How to read points that no model knows yet.
#[derive(Debug)]
pub struct PointsArgs {
    given: Table,
}

impl PointsArgs {
    /// The options.
    pub fn options(&self) -> anyhow::Result<PointsOptions> {
        over(PointsOptions::default(), &self.given)
    }

    /// A flag that was given and is not of documents as well.
    pub fn own(&self) -> Option<String> {
        let own = |setting: &&Setting| {
            self.given.contains_key(setting.name) && !DOCS.iter().any(|s| s.name == setting.name)
        };
        POINTS.iter().find(own).and_then(|setting| Some(format!("--{}", setting.long()?)))
    }
}

impl Args for PointsArgs {
    fn augment_args(command: Command) -> Command {
        with_flags(command, POINTS)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PointsArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(PointsArgs { given: given(matches, POINTS) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
