//! What it takes to do a run again: a command, and a configuration file.

use std::path::Path;

use lehr::{Error, Result};
use serde::Serialize;
use toml::{Table, Value};

/// The settings of a fit as a file that `lehr fit --config` reads.
pub fn configuration(
    params: &impl Serialize,
    fit: &impl Serialize,
    data: &impl Serialize,
) -> Result<String> {
    let sections =
        [section("model", params)?, section("fit", fit)?, section("data", data)?].join("\n");
    Ok(sections)
}

fn section(name: &str, settings: &impl Serialize) -> Result<String> {
    let wrong = |error: &dyn std::error::Error| {
        Error::data(format!("the settings cannot be written as TOML: {error}"))
    };
    let table = Table::try_from(settings).map_err(|error| wrong(&error))?;
    toml::to_string(&Table::from_iter([(name.to_string(), Value::Table(table))]))
        .map_err(|error| wrong(&error))
}

/// A path, or any text, as it can be pasted into a shell.
pub fn quoted(path: &Path) -> String {
    let Some(text) = path.to_str() else { return spelled(path) };
    let plain = |c: char| c.is_alphanumeric() || "/\\:._-+,=@%~".contains(c);
    let is_plain = !text.is_empty() && text.chars().all(plain);
    if is_plain { text.to_string() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A path that is no text, as shells take it: its bytes spelled out.
fn spelled(path: &Path) -> String {
    let spell = |&byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    let bytes = path.as_os_str().as_encoded_bytes();
    format!("$'{}'", bytes.iter().map(spell).collect::<String>())
}
