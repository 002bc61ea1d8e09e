//! `config.json`: all that is needed to do a run again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::path_text;
use super::sidecar::Sums;
use crate::data::Gaps;
use crate::math::kernels::Isa;
use crate::models::{ReadOptions, Stored};
use crate::read::Chosen;
use crate::settings::FitConfig;
use crate::{Error, Result};

/// The version of the directory's layout. Version 2 has checksums of the sidecars; version 1 is still
/// read.
pub const FORMAT: u32 = 2;

/// The oldest version that is read.
const OLDEST: u32 = 1;

/// `config.json`: all that is needed to do the run again.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct RunConfig<M: Stored> {
    /// The version of the directory's layout.
    pub format: u32,
    /// The version of lehr that started the run.
    pub lehr: String,
    /// The model's name.
    pub model: String,
    /// The model's settings.
    pub params: M::Params,
    /// The fit's settings, the seed among them.
    pub fit: FitConfig,
    /// Settings that `resume` changed.
    #[serde(default)]
    pub extension: Extension,
    /// The data.
    pub data: DataSource<ReadOptions<M>>,
    /// What was taken from the data: units and priors.
    pub frozen: M::Frozen,
    /// The model's sidecars (since format 2); known once they are written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: Sums,
    /// The run that this one went on from with new data.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub parent: Option<PathBuf>,
    /// How many items this run and those before it have been fitted to, if there were any before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<usize>,
    /// How many steps those made.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub origin: u64,
    /// The machine.
    pub cpu: Cpu,
    /// When the run started, in seconds since 1970.
    pub created: u64,
}

impl<M: Stored> RunConfig<M> {
    /// The configuration of a run that starts now.
    pub(super) fn new(model: &M, fit: &FitConfig, data: DataSource<ReadOptions<M>>) -> Self {
        RunConfig {
            format: FORMAT,
            lehr: env!("CARGO_PKG_VERSION").to_string(),
            model: model.name().to_string(),
            params: model.params().clone(),
            fit: fit.clone(),
            extension: Extension::default(),
            data,
            frozen: model.frozen(),
            files: Sums::new(),
            parent: None,
            population: None,
            origin: 0,
            cpu: Cpu::here(),
            created: now(),
        }
    }

    /// N, the number of items that the model stands for: what was asked for, else all items that this
    /// run and those before it were fitted to.
    pub fn population(&self) -> usize {
        let items = self.data.items;
        let fitted = items.saturating_sub(self.fit.holdout.count(items));
        self.population.or(self.fit.population).unwrap_or(fitted)
    }

    /// The file's bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        json(self)
    }
}

/// What a later `resume` changed: the schedules keep the rhythm of the first plan.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// The new total of steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The new tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tol: Option<f64>,
    /// The new time limit, for the next session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

/// Which data were fitted, and where they came from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSource<R> {
    /// The file, absolute; none if the data came from a program's memory.
    #[serde(default, with = "path_text::option")]
    pub path: Option<PathBuf>,
    /// Whether that was a pipe, which cannot be read again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipe: bool,
    /// How it was read.
    pub options: R,
    /// A hash of its numbers; the same for the same numbers in any format.
    pub fingerprint: String,
    /// How many items it has, the held-out ones included.
    pub items: usize,
    /// The columns' names, if it has any.
    pub columns: Vec<String>,
    /// What is missing in it.
    #[serde(default, skip_serializing_if = "Gaps::is_none")]
    pub gaps: Gaps,
    /// Which columns of it are the data, if not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// Whether it was read for a model that was there before: what that does not know is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown_dropped: bool,
}

/// Reads `config.json`, or a part of it; `path` is what messages call it.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T> {
    let wrong = |e: serde_json::Error| {
        if e.is_eof() {
            let what = if bytes.is_empty() { "it is empty" } else { "its end is missing" };
            return Error::damaged(path, what);
        }
        let message = format!("{e}; this file is written by lehr and not meant to be edited");
        Error::parse_at(path, e.line() as u64, None, message)
    };
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(wrong)?;
    let format = value.get("format").and_then(serde_json::Value::as_u64);
    let known = u64::from(OLDEST)..=u64::from(FORMAT);
    if !format.is_some_and(|format| known.contains(&format)) {
        let found = format.map_or("no version".to_string(), |f| format!("version {f}"));
        return Err(Error::run(
            path,
            format!(
                "is {found} of the format, and this lehr reads versions {OLDEST} to {FORMAT}; \
                 update lehr"
            ),
        ));
    }
    serde_json::from_slice(bytes).map_err(wrong)
}

/// A value as a JSON file for people.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("plain values become JSON");
    text.push(b'\n');
    text
}

/// The time now, in seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// What a result depends on, to the last bit, besides the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// The architecture.
    pub arch: String,
    /// The instruction set of the kernels.
    pub kernels: Isa,
    /// Features of interest that the CPU has.
    pub features: Vec<String>,
}

impl Cpu {
    /// This machine's.
    pub fn here() -> Self {
        #[allow(unused_mut)]
        let mut features = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            macro_rules! note {
                ($($name:tt),*) => {$(
                    if is_x86_feature_detected!($name) {
                        features.push($name.to_string());
                    }
                )*};
            }
            note!("sse4.2", "avx", "avx2", "fma", "avx512f");
        }
        Cpu { arch: std::env::consts::ARCH.to_string(), kernels: Isa::detect(), features }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
