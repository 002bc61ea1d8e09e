//! `config.json`: all that is needed to do a run again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::math::kernels::Isa;
use crate::model::Dataset;
use crate::models::Stored;
use crate::run::beside::Sum;
use crate::settings::FitConfig;

/// `config.json`: all that is needed to do the run again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record<P, F, R> {
    /// The version of the directory's layout.
    pub format: u32,
    /// The version of lehr that began the run.
    pub lehr: String,
    /// The model's name.
    pub model: String,
    /// The model's settings.
    pub params: P,
    /// The fit's settings, the seed among them.
    pub fit: FitConfig,
    /// Settings that `resume` changed.
    #[serde(default)]
    pub extension: Extension,
    /// The data.
    pub data: DataRecord<R>,
    /// What was taken from the data: units and priors.
    pub frozen: F,
    /// The files that the model keeps beside its checkpoint (since format 2).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Sum>,
    /// The run that this one went on from with new data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<PathBuf>,
    /// How many items this run and those before it have been fitted to, if there were any before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<usize>,
    /// How many steps those made.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub origin: u64,
    /// The machine.
    pub cpu: Cpu,
    /// When the run began, in seconds since 1970.
    pub created: u64,
}

/// The record of a model's run.
pub type RecordOf<M> =
    Record<<M as Stored>::Params, <M as Stored>::Frozen, <M as Stored>::ReadOptions>;

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

/// Which data were fitted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecord<R> {
    /// The file, absolute; none if the data came from a program's memory.
    pub path: Option<PathBuf>,
    /// How it was read.
    pub options: R,
    /// A hash of its numbers; the same for the same numbers in any format.
    pub fingerprint: String,
    /// How many items it has, the held-out ones included.
    pub items: usize,
    /// The columns' names, if it has any.
    pub columns: Vec<String>,
    /// Whether it was read for a model that was there before: what that does not know is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown_dropped: bool,
}

impl<R: Clone> DataRecord<R> {
    /// The record of data as they were read.
    pub(crate) fn new<M: Stored<ReadOptions = R>>(
        path: Option<&Path>,
        options: &R,
        data: &M::Data,
    ) -> Self {
        DataRecord {
            path: path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())),
            options: options.clone(),
            fingerprint: M::fingerprint(data),
            items: data.n_items(),
            columns: M::column_names(data),
            unknown_dropped: false,
        }
    }
}

/// What decides the bits of a result beside the settings.
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
