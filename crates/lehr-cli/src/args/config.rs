//! A configuration file in TOML: `[fit]`, `[model]` and `[data]`, which flags are laid over.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use toml::de::DeTable;
use toml::{Table, Value};

use lehr::settings::{Kind, Setting, either};

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
        let text = text_of(path)?;
        let mut file = ConfigFile { path: path.into(), text, tables: Table::new() };
        file.tables = toml::from_str(&file.text)
            .map_err(|error| file.wrong(error.span(), plainly(error.message())))?;
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
            let setting = known.iter().find(|setting| setting.name == field);
            let own = error.inner().message();
            let wrong = setting.zip(table.get(&field)).and_then(|(s, value)| wrong_kind(s, value));
            // Lists of numbers say more of themselves, unless they are none.
            let wrong = wrong.filter(|_| {
                let is_list = setting.is_some_and(|setting| matches!(setting.kind, Kind::Numbers));
                !is_list || own.starts_with("invalid type")
            });
            let said = wrong.unwrap_or_else(|| own.to_string());
            let place = self.value(&[section, &field]);
            match table.get(&field) {
                Some(value) if place.is_none() => {
                    // It comes from a flag.
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                    let said = error.inner().message();
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

/// What the parser says, in plain words where its own are those of programs.
fn plainly(said: &str) -> String {
    match said.starts_with("invalid type: integer") {
        true => format!("the number is too large; the largest is {}", i64::MAX),
        false => said.to_string(),
    }
}

/// The most bytes of a configuration.
const MOST: u64 = 1 << 20;

/// What a file holds, if it can be a configuration.
fn text_of(path: &Path) -> anyhow::Result<String> {
    let cannot = |error: std::io::Error| {
        anyhow!("{}: cannot read the configuration: {error}", path.display())
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MOST {
        let file = path.display();
        return Err(anyhow!(
            "{file}: has more than 1 MiB, and is hardly a configuration; give a TOML file"
        ));
    }
    let not_text = |_| anyhow!("{}: is not UTF-8; give a TOML file", path.display());
    String::from_utf8(bytes).map_err(not_text)
}

/// What is wrong with a value that is not of its setting's kind, in words; none if something else is wrong with it.
fn wrong_kind(setting: &Setting, value: &Value) -> Option<String> {
    let found = match value {
        Value::String(text) => format!("{text:?}"),
        Value::Float(x) if x.abs() >= 1e15 => format!("{x:e}"),
        Value::Float(x) => x.to_string(),
        Value::Array(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
        Value::Datetime(_) => "a date".into(),
        other => other.to_string(),
    };
    let is_number = matches!(value, Value::Integer(_) | Value::Float(_));
    let list_of = |is: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(is));
    let needed = match (setting.kind, value) {
        (Kind::Whole | Kind::Seed, Value::Integer(0..)) => "is too large".to_string(),
        (Kind::Whole | Kind::Seed, Value::Integer(_)) => "must be 0 or more".to_string(),
        (Kind::Whole | Kind::Seed, _) => "must be a whole number, such as 10".to_string(),
        (Kind::Number, _) if !is_number => "must be a number, such as 0.5".to_string(),
        (Kind::Seconds, _) if !is_number => "must be a number of seconds, such as 90".to_string(),
        (Kind::Numbers, _) if !list_of(|x| x.is_float() || x.is_integer()) => {
            "must be a list of numbers, such as [1.5, 2]".to_string()
        }
        (Kind::Toggle(_), _) if !value.is_bool() => "must be true or false".to_string(),
        (Kind::Choice(names), _) if !names.iter().any(|name| value.as_str() == Some(name)) => {
            format!("must be {}", either(names))
        }
        (Kind::Schedule(_), _) if !(is_number || value.is_str()) => {
            "must be a number or a text".to_string()
        }
        (Kind::Text | Kind::Path, _) if !value.is_str() => "must be a text in quotes".to_string(),
        (Kind::Texts, _) if !list_of(Value::is_str) => {
            "must be a list of strings, such as [\"a\", \"b\"]".to_string()
        }
        _ => return None,
    };
    Some(format!("`{}` = {found}: {needed}", setting.name))
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
