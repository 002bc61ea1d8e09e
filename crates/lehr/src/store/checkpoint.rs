//! A fit's progress as a safetensors file: numpy reads lambda without us, and we notice any change.
//!
//! Tensors, f64 if nothing else is said: `lambda`, the model to use (the best finished restart, or
//! the only climb); `hyper`, its learned hyperparameters, if any; what the model adds in the user's
//! units (a mixture: `weights`, `means`, `covariances`; LDA: `alpha`, `eta`). If the climb under way is
//! another one, or has rows that are not up to date, or local state: `climb.lambda`, `climb.hyper`,
//! `climb.since`, `climb.totals` and (f32) `climb.warm`. The metadata hold the rest of the progress
//! as JSON under `progress`, under `observations` how many lines of the trace belong to it, and a checksum
//! of everything under `checksum`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::lambda::{Lambda, Lazy};
use crate::math::table::Table;
use crate::models::{NamedArray, Stored};
use crate::run::fit::{Outcome, Progress, State};
use crate::step::warm::Warm;
use crate::{Error, Result, write};

pub use crate::store::saved::Saved;

/// The version of the file's layout.
pub const FORMAT: u32 = 1;

/// Everything but the tables.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    format: u32,
    complete: bool,
    restart: u32,
    climb: Counters,
    done: Vec<Outcome>,
    best: Option<usize>,
    best_counters: Option<Counters>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counters {
    step: u64,
    items: u64,
    guard_hits: u64,
    guard_checks: u64,
    seconds: f64,
    /// ln P of a lazy lambda that is not settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    now: Option<f64>,
}

impl Counters {
    fn of(state: &State) -> Self {
        let State { step, items, guard_hits, guard_checks, seconds, .. } = *state;
        let now = state.lambda.parts().1.map(|lazy| lazy.now).filter(|&now| now != 0.0);
        Counters { step, items, guard_hits, guard_checks, seconds, now }
    }

    fn with(self, lambda: Lambda, warm: Warm) -> State {
        let Counters { step, items, guard_hits, guard_checks, seconds, .. } = self;
        State { lambda, warm, step, items, guard_hits, guard_checks, seconds }
    }
}

/// An array as safetensors wants it: little-endian bytes.
struct Array<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl View for &Array<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

fn array(shape: Vec<usize>, values: &[f64]) -> Array<'_> {
    let bytes = if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        Cow::Owned(values.iter().flat_map(|x| x.to_le_bytes()).collect())
    };
    Array { dtype: Dtype::F64, shape, bytes }
}

fn array32(shape: Vec<usize>, values: &[f32]) -> Array<'_> {
    let bytes = Cow::Owned(values.iter().flat_map(|x| x.to_le_bytes()).collect());
    Array { dtype: Dtype::F32, shape, bytes }
}

fn table(table: &Table) -> Array<'_> {
    array(vec![table.n_rows(), table.width()], table.values())
}

/// The tensors of a climb from which it can go on to the last bit.
fn climb_tensors<'a>(state: &'a State, tensors: &mut Vec<(&'static str, Array<'a>)>) {
    let (stored, lazy) = state.lambda.parts();
    tensors.push(("climb.lambda", table(stored)));
    let hyper = &state.lambda.hyper;
    if !hyper.is_empty() {
        tensors.push(("climb.hyper", array(vec![hyper.len()], hyper)));
    }
    if let Some(lazy) = lazy {
        tensors.push(("climb.since", array(vec![lazy.since.len()], &lazy.since)));
        tensors.push(("climb.totals", array(vec![lazy.totals.len()], &lazy.totals)));
    }
    if state.warm.is_on() {
        let warm = state.warm.values();
        tensors.push(("climb.warm", array32(vec![warm.len()], warm)));
    }
}

/// Covers all metadata but the checksum itself, and every tensor's name, type, shape and bytes, in
/// order of names.
fn checksum<'a>(
    metadata: &HashMap<String, String>,
    tensors: impl Iterator<Item = (&'a str, Dtype, &'a [usize], &'a [u8])>,
) -> String {
    let mut hash = Xxh3::new();
    let mut texts: Vec<_> = metadata.iter().filter(|(key, _)| *key != "checksum").collect();
    texts.sort();
    for (key, text) in texts {
        hash.update(format!("{key:?} {text:?}\n").as_bytes());
    }
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_by_key(|tensor| tensor.0);
    for (name, dtype, shape, bytes) in tensors {
        hash.update(format!("{name:?} {dtype:?} {shape:?}\n").as_bytes());
        hash.update(bytes);
    }
    format!("{:032x}", hash.digest128())
}

/// Writes a checkpoint in one step: whatever happens, `path` holds the old one or the new one.
pub fn save<M: Stored>(path: &Path, model: &M, saved: &Saved) -> Result<()> {
    write(path, None, model, saved, None)
}

/// The same; the old one is called `previous` afterwards. `observations` go with it.
pub(super) fn write<M: Stored>(
    path: &Path,
    previous: Option<&Path>,
    model: &M,
    saved: &Saved,
    observations: Option<u64>,
) -> Result<()> {
    let lambda = &saved.model_state().lambda;
    let current = settled(model, lambda);
    let mut tensors = vec![("lambda", table(current.table()))];
    if !lambda.hyper.is_empty() {
        tensors.push(("hyper", array(vec![lambda.hyper.len()], &lambda.hyper)));
    }
    let readable = model.readable(&current);
    for NamedArray { name, shape, values } in &readable {
        tensors.push((name, array(shape.clone(), values)));
    }
    let meta = match saved {
        Saved::Complete(state, best, outcomes) => Meta {
            format: FORMAT,
            complete: true,
            restart: outcomes[*best].restart,
            climb: Counters::of(state),
            done: outcomes.clone(),
            best: Some(*best),
            best_counters: None,
        },
        Saved::Pending(Progress { restart, state, done, best }) => {
            // A lazy lambda's totals are kept along; summed afresh they would differ in their last bits.
            let lazy = state.lambda.parts().1.is_some();
            if best.is_some() || lazy || state.warm.is_on() {
                climb_tensors(state, &mut tensors);
            }
            Meta {
                format: FORMAT,
                complete: false,
                restart: *restart,
                climb: Counters::of(state),
                done: done.clone(),
                best: best.as_ref().map(|(at, _)| *at),
                best_counters: best.as_ref().map(|(_, state)| Counters::of(state)),
            }
        }
    };
    let progress = serde_json::to_string(&meta).expect("plain numbers become JSON");
    let mut metadata = HashMap::from([
        ("progress".to_string(), progress),
        ("lehr".to_string(), env!("CARGO_PKG_VERSION").to_string()),
        ("model".to_string(), model.name().to_string()),
    ]);
    metadata.extend(observations.map(|n| ("observations".to_string(), n.to_string())));
    let parts = tensors.iter().map(|(name, a)| (*name, a.dtype, &*a.shape, &*a.bytes));
    metadata.insert("checksum".to_string(), checksum(&metadata, parts));
    let views = tensors.iter().map(|(name, array)| (*name, array));
    let bytes = safetensors::serialize(views, Some(metadata))
        .map_err(|error| Error::run(path, format!("cannot be written: {error}")))?;
    match previous {
        None => write::whole(path, &bytes),
        Some(previous) => write::whole_keeping(path, previous, &bytes),
    }
}

/// Whether every row is a valid parameter.
fn are_valid<M: Stored>(model: &M, hyper: &[f64], table: &Table) -> bool {
    const TESTED: usize = 32;
    let rows: Vec<usize> = (0..table.n_rows()).collect();
    rows.chunks(TESTED).all(|rows| {
        let width = table.width();
        let values = &table.values()[rows[0] * width..][..rows.len() * width];
        let mut valid = [false; TESTED];
        model.check_rows(hyper, rows, values, false, &mut valid[..rows.len()]);
        values.iter().all(|x| x.is_finite()) && valid[..rows.len()].iter().all(|&valid| valid)
    })
}

/// The natural parameters with every row up to date.
pub(crate) fn settled<'a, M: Stored>(model: &M, lambda: &'a Lambda) -> Cow<'a, Lambda> {
    if lambda.is_settled() {
        return Cow::Borrowed(lambda);
    }
    let hyper = lambda.hyper.clone();
    let table = lambda.current(|row, eta| model.prior(&hyper, row, eta));
    Cow::Owned(Lambda::new(table, model.layout().lazy, hyper))
}

/// Reads a checkpoint of this model, refusing one that is cut, changed or of another model.
pub fn load<M: Stored>(path: &Path, model: &M) -> Result<Saved> {
    Ok(read(path, model)?.0)
}

/// The same, with the observations that go with it, if that is known.
pub(super) fn read<M: Stored>(path: &Path, model: &M) -> Result<(Saved, Option<u64>)> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, "cannot read", error))?;
    let damaged = |what: &str| Error::damaged(path, what);
    let tensors = SafeTensors::deserialize(&bytes).map_err(|e| damaged(&e.to_string()))?;
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| damaged(&e.to_string()))?;
    let metadata = header.metadata().clone().unwrap_or_default();
    let progress = metadata.get("progress").ok_or_else(|| damaged("no progress in it"))?;
    let expected = metadata.get("checksum").ok_or_else(|| damaged("no checksum in it"))?;
    let views = tensors.tensors();
    let parts = views.iter().map(|(name, v)| (&**name, v.dtype(), v.shape(), v.data()));
    let found = checksum(&metadata, parts);
    if found != *expected {
        return Err(damaged("its checksum does not match its content"));
    }
    // The version is looked at before the rest, which another version may lay out differently.
    let format = serde_json::from_str::<serde_json::Value>(progress)
        .ok()
        .and_then(|meta| meta.get("format")?.as_u64());
    if format != Some(u64::from(FORMAT)) {
        let found = format.map_or("no version".to_string(), |f| format!("version {f}"));
        return Err(Error::run(
            path,
            format!(
                "holds {found} of the format, and this lehr reads version {FORMAT}; update lehr"
            ),
        ));
    }
    if metadata.get("model").is_none_or(|name| name != model.name()) {
        let name = metadata.get("model").map_or("?", String::as_str);
        return Err(Error::run(
            path,
            format!("holds a {name} where config.json has a {}; do not mix runs", model.name()),
        ));
    }
    let meta: Meta = serde_json::from_str(progress).map_err(|e| damaged(&e.to_string()))?;
    let numbers = |name: &str| -> Result<Option<(Vec<usize>, Vec<f64>)>> {
        let Ok(view) = tensors.tensor(name) else { return Ok(None) };
        if view.dtype() != Dtype::F64 {
            return Err(damaged(&format!("{name} is not f64")));
        }
        let chunks = view.data().chunks_exact(8);
        let values = chunks.map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")));
        Ok(Some((view.shape().to_vec(), values.collect())))
    };
    let list =
        |name: &str| -> Result<Option<Vec<f64>>> { Ok(numbers(name)?.map(|(_, values)| values)) };
    let layout = model.layout();
    let read = |name: &str, hyper: &[f64]| -> Result<Table> {
        let (shape, values) =
            numbers(name)?.ok_or_else(|| damaged(&format!("there is no {name} in it")))?;
        if shape != [layout.n_rows, layout.width] {
            return Err(damaged("lambda has another shape than the model"));
        }
        let table = Table::from_values(layout.n_rows, layout.width, values)
            .ok_or_else(|| damaged("lambda has another size than its shape"))?;
        let hyper_valid = hyper.len() == model.hyper().len() && hyper.iter().all(|x| x.is_finite());
        if hyper_valid && are_valid(model, hyper, &table) {
            Ok(table)
        } else {
            Err(damaged("lambda is not a valid parameter"))
        }
    };
    let settled = |name: &str, hyper_name: &str| -> Result<Lambda> {
        let hyper = list(hyper_name)?.unwrap_or_default();
        Ok(Lambda::new(read(name, &hyper)?, layout.lazy, hyper))
    };
    // The climb under way, if it is kept on its own.
    let climb = |counters: &Counters| -> Result<Option<(Lambda, Warm)>> {
        if tensors.tensor("climb.lambda").is_err() {
            return Ok(None);
        }
        let hyper = list("climb.hyper")?.unwrap_or_default();
        let stored = read("climb.lambda", &hyper)?;
        let lazy = match (layout.lazy, list("climb.since")?, list("climb.totals")?) {
            (false, None, None) => None,
            (true, Some(since), Some(totals)) => {
                Some(Lazy { since, now: counters.now.unwrap_or(0.0), totals })
            }
            _ => return Err(damaged("its lambda lacks a part, or has one too many")),
        };
        let lambda = Lambda::from_parts(stored, lazy, hyper)
            .ok_or_else(|| damaged("the parts of its lambda do not fit together"))?;
        let warm = match tensors.tensor("climb.warm") {
            Err(_) => Warm::off(),
            Ok(view) => {
                let chunks = view.data().chunks_exact(4);
                let values: Vec<f32> =
                    chunks.map(|b| f32::from_le_bytes(b.try_into().expect("four bytes"))).collect();
                let width = model.warm_width();
                Warm::from_values(values.len().checked_div(width).unwrap_or(0), width, values)
                    .filter(|_| view.dtype() == Dtype::F32)
                    .ok_or_else(|| damaged("its local state does not fit the model"))?
            }
        };
        Ok(Some((lambda, warm)))
    };
    if meta.best.is_some_and(|at| at >= meta.done.len()) || (meta.complete && meta.best.is_none()) {
        return Err(damaged("its best restart does not exist"));
    }
    let lambda = settled("lambda", "hyper")?;
    let observations = metadata.get("observations").and_then(|n| n.parse().ok());
    let saved = match (meta.complete, meta.best, meta.best_counters) {
        (true, Some(best), _) => {
            Saved::Complete(meta.climb.with(lambda, Warm::off()), best, meta.done)
        }
        (_, Some(best), Some(counters)) => {
            let climb = climb(&meta.climb)?.ok_or_else(|| damaged("its climb is missing"))?;
            Saved::Pending(Progress {
                restart: meta.restart,
                state: meta.climb.with(climb.0, climb.1),
                done: meta.done,
                best: Some((best, counters.with(lambda, Warm::off()))),
            })
        }
        (_, None, _) => {
            let (lambda, warm) = climb(&meta.climb)?.unwrap_or((lambda, Warm::off()));
            Saved::Pending(Progress {
                restart: meta.restart,
                state: meta.climb.with(lambda, warm),
                done: meta.done,
                best: None,
            })
        }
        _ => return Err(damaged("its best restart has no counters")),
    };
    Ok((saved, observations))
}
