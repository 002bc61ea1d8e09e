//! Settings, which come as JSON: the tables of them, and what is wrong with one, told with its name, its value and
//! what is allowed.

use lehr::Error;
use lehr::models::TABLES;
use lehr::settings::{Kind, Setting, Tables};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use crate::errors::raised;

/// The settings of every model, as JSON: by model and by section, a list of them.
#[pyfunction]
pub fn tables() -> String {
    let sections = |tables: &Tables| {
        let rows = |settings: &[Setting]| -> Vec<Value> {
            settings.iter().map(|setting| row(tables, setting)).collect()
        };
        json!({"own": rows(tables.own), "fit": rows(&tables.of_fit()), "data": rows(tables.data)})
    };
    let all = TABLES.iter().map(|tables| (tables.model.to_string(), sections(tables)));
    Value::Object(all.collect()).to_string()
}

fn row(tables: &Tables, setting: &Setting) -> Value {
    json!({
        "name": setting.name,
        "kind": kind(setting.kind),
        "choices": choices(setting.kind),
        "known": tables.choices(setting),
        "default": setting.default,
        "help": setting.help,
        "python": setting.python,
        "old": setting.old,
    })
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Whole => "whole",
        Kind::Seed => "seed",
        Kind::Number | Kind::Seconds => "number",
        Kind::Numbers => "numbers",
        Kind::Toggle(_) => "toggle",
        Kind::Choice(_) => "choice",
        Kind::Schedule(_) => "schedule",
        Kind::Text | Kind::Path => "text",
        Kind::Texts => "texts",
    }
}

fn choices(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Choice(names) => names,
        _ => &[],
    }
}

/// Whether a setting says how to read a file.
pub fn is_option(name: &str) -> bool {
    TABLES.iter().flat_map(|tables| tables.data).any(|setting| setting.name == name)
}

/// The settings of a model or a fit.
pub fn settings<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    raised(read(json).map_err(|wrong| Error::config(&wrong.field, wrong.value, wrong.allowed)))
}

/// The parameter that says how to read a file, all of it.
pub const OPTIONS: &str = "data_options";

/// One entry of that parameter.
pub fn one_option(name: &str, value: &str) -> String {
    format!("{{'{name}': {value}}}")
}

/// How to read a file.
pub fn options_of<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    raised(read(json).map_err(|wrong| {
        let value = match wrong.field.as_str() {
            "" => wrong.value,
            field => one_option(field, &wrong.value),
        };
        Error::config(OPTIONS, value, wrong.allowed)
    }))
}

/// How to read a file, where `base` has what is not said.
pub fn options_over<T: DeserializeOwned + Serialize>(base: &T, json: &str) -> PyResult<T> {
    let given: Value = serde_json::from_str(json).unwrap_or_default();
    let mut all = serde_json::to_value(base).unwrap_or_default();
    match (all.as_object_mut(), given) {
        (Some(all), Value::Object(given)) => all.extend(given),
        // Its error is reported as if there were nothing below it.
        _ => return options_of(json),
    }
    options_of(&all.to_string())
}

struct Wrong {
    field: String,
    value: String,
    allowed: String,
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, Wrong> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(json)).map_err(
        |error| {
            let field = match error.path().iter().next() {
                Some(Segment::Map { key }) => key.clone(),
                _ => String::new(), // of no setting, but of all of them
            };
            let all: Value = serde_json::from_str(json).unwrap_or_default();
            let value = match all.get(&field) {
                None => json.to_string(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let text = error.into_inner().to_string().replace('`', "'");
            // The place in generated JSON says nothing.
            let text = text.split(" at line ").next().unwrap_or(&text);
            Wrong { allowed: allowed(text), field, value }
        },
    )
}

/// What is allowed, in the words of what has read the value.
fn allowed(text: &str) -> String {
    // The message has the value already, as it was written.
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
    let text = quoted.map_or(text, |(_, rest)| rest.strip_prefix(':').unwrap_or(rest).trim_start());
    let whole = ["u8", "u16", "u32", "u64", "usize"].iter().any(|kind| text.ends_with(kind));
    if whole && text.starts_with("invalid ") {
        let why = if text.starts_with("invalid type") {
            // A fraction, or more than fits into 64 bits.
            "must be a whole number that fits this setting"
        } else if text.contains("integer '-") {
            "must not be negative"
        } else {
            "the number is too large for this setting"
        };
        return format!("is out of range; {why}");
    }
    text.into()
}
