//! A configuration file in TOML: `[fit]`, `[model]` and `[data]`.

use std::path::Path;

use anyhow::anyhow;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use lehr::FitConfig;

/// A configuration file; each model reads its own kind of data.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile<D: Default, F: Default = FitConfig> {
    /// How to fit.
    pub fit: F,
    /// The model's settings, which flags may complete.
    pub model: toml::Table,
    /// How to read the data.
    pub data: D,
}

/// A model's settings from the `[model]` table of the configuration file at `path`.
pub fn model_table<P: DeserializeOwned>(
    table: toml::Table,
    path: Option<&Path>,
) -> anyhow::Result<P> {
    table.try_into().map_err(|error: toml::de::Error| {
        let path = path.map_or(String::new(), |path| format!("{}: ", path.display()));
        anyhow!("{path}[model]: {}", error.message())
    })
}

impl<D: Default + DeserializeOwned, F: Default + DeserializeOwned> ConfigFile<D, F> {
    /// Reads a file, or gives an empty one.
    pub fn read(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(ConfigFile::default()) };
        let file = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| anyhow!("{file}: cannot read the configuration: {error}"))?;
        toml::from_str(&text).map_err(|error| {
            let Some(span) = error.span() else { return anyhow!("{file}: {}", error.message()) };
            let before = &text[..span.start.min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
            anyhow!("{file}, line {line}, column {column}: {}", error.message())
        })
    }
}
