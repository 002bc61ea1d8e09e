//! A configuration file in TOML: `[fit]`, `[model]` and `[data]`, which flags are laid over.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use toml::de::DeTable;
use toml::{Table, Value};

use lehr::settings::Setting;

/// The tables that a file can have.
const SECTIONS: [&str; 3] = ["fit", "model", "data"];

/// A configuration file, or an empty one.
#[derive(Debug, Default)]
pub struct ConfigFile {
    path: PathBuf,
    text: String,
    tables: Table,
}

impl ConfigFile {
    /// Reads a file, or gives an empty one.
    pub fn read(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(ConfigFile::default()) };
        let text = std::fs::read_to_string(path).map_err(|error| {
            anyhow!("{}: cannot read the configuration: {error}", path.display())
        })?;
        let mut file = ConfigFile { path: path.into(), text, tables: Table::new() };
        file.tables = toml::from_str(&file.text)
            .map_err(|error| file.wrong(error.span(), error.message()))?;
        for (name, value) in &file.tables {
            if !SECTIONS.contains(&name.as_str()) {
                return Err(file.wrong(file.key(&[name]), unknown(name, SECTIONS)));
            }
            if !value.is_table() {
                let found = format!("is not a table; write [{name}], and its settings below");
                return Err(file.wrong(file.value(&[name]), found));
            }
        }
        Ok(file)
    }

    /// One of its tables.
    pub fn table(&self, section: &str) -> Table {
        self.tables.get(section).and_then(Value::as_table).cloned().unwrap_or_default()
    }

    /// The settings of a section: `table` is what the file says, with flags and presets. `known` are those
    /// that there are.
    pub fn settings<T: DeserializeOwned>(
        &self,
        section: &str,
        known: &[Setting],
        table: Table,
    ) -> anyhow::Result<T> {
        for name in self.table(section).keys() {
            if known.iter().any(|setting| setting.name == name) {
                continue;
            }
            let renamed = known.iter().find(|setting| setting.old.contains(&name.as_str()));
            let said = renamed.map_or_else(
                || unknown(name, known.iter().map(|setting| setting.name)),
                |new| format!("`{name}` is called `{}` now: {}", new.name, new.description()),
            );
            return Err(self.wrong(self.key(&[section, name]), said));
        }
        let values = Value::Table(table.clone());
        serde_path_to_error::deserialize(values).map_err(|error| {
            let field = match error.path().iter().next() {
                Some(Segment::Map { key }) => key.clone(),
                _ => String::new(),
            };
            let said = error.inner().message();
            let place = self.value(&[section, &field]);
            match table.get(&field) {
                Some(value) if place.is_none() => {
                    // It comes from a flag.
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                    lehr::Error::config(&field, value, said).into()
                }
                _ => self.wrong(place, said),
            }
        })
    }

    fn wrong(&self, place: Option<Range<usize>>, said: impl std::fmt::Display) -> anyhow::Error {
        let file = self.path.display();
        let Some(place) = place else { return anyhow!("{file}: {said}") };
        let before = &self.text[..place.start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        anyhow!("{file}, line {line}, column {column}: {said}")
    }

    fn key(&self, names: &[&str]) -> Option<Range<usize>> {
        self.places(names).map(|(key, _)| key)
    }

    fn value(&self, names: &[&str]) -> Option<Range<usize>> {
        self.places(names).map(|(_, value)| value)
    }

    /// Where the key that these names lead to stands, and its value.
    fn places(&self, names: &[&str]) -> Option<(Range<usize>, Range<usize>)> {
        let parsed = DeTable::parse(&self.text).ok()?;
        let (last, before) = names.split_last()?;
        let mut table = parsed.get_ref();
        for &name in before {
            let (_, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
            table = value.get_ref().as_table()?;
        }
        let (key, value) = table.iter().find(|(key, _)| key.get_ref() == last)?;
        Some((key.span(), value.span()))
    }
}

fn unknown<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    format!("unknown field `{name}`, expected one of {}", known.join(", "))
}

/// `flags` on top of settings that are known already.
pub fn over<T: Serialize + DeserializeOwned>(base: T, flags: &Table) -> anyhow::Result<T> {
    if flags.is_empty() {
        return Ok(base);
    }
    let mut table = Table::try_from(base)?;
    table.extend(flags.clone());
    table.try_into().map_err(|error: toml::de::Error| anyhow!("{}", error.message()))
}
