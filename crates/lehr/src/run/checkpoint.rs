//! A fit's progress as a safetensors file: numpy reads lambda without us, and we notice any change.
//!
//! Tensors, all f64: `lambda`, the model to use (the best finished restart, or the only climb);
//! what the model adds in the user's units (a mixture: `weights`, `means`, `covariances`); and
//! `climb.lambda` if the climb under way is another one. The metadata hold the rest of the
//! progress as JSON under `progress` and a checksum of everything under `checksum`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::math::table::Table;
use crate::models::{NamedArray, Stored};
use crate::run::fit::{Outcome, Progress, State};
use crate::{Error, Result, write};

/// The version of the file's layout.
pub const FORMAT: u32 = 1;

/// What is saved: progress that can go on, or the end.
#[derive(Debug, Clone, PartialEq)]
pub enum Saved {
    /// A fit under way.
    Pending(Progress),
    /// A finished fit: the best state, its index among the outcomes, and all outcomes.
    Complete(State, usize, Vec<Outcome>),
}

impl Saved {
    /// The state whose lambda is the model to use.
    pub fn model_state(&self) -> &State {
        match self {
            Saved::Pending(Progress { best: Some((_, state)), .. }) => state,
            Saved::Pending(progress) => &progress.state,
            Saved::Complete(state, ..) => state,
        }
    }

    /// The restarts that have ended.
    pub fn outcomes(&self) -> &[Outcome] {
        match self {
            Saved::Pending(progress) => &progress.done,
            Saved::Complete(_, _, outcomes) => outcomes,
        }
    }
}

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
    seconds: f64,
}

impl Counters {
    fn of(state: &State) -> Self {
        let State { step, items, guard_hits, seconds, .. } = *state;
        Counters { step, items, guard_hits, seconds }
    }

    fn with(self, lambda: Table) -> State {
        let Counters { step, items, guard_hits, seconds } = self;
        State { lambda, step, items, guard_hits, seconds }
    }
}

/// An array as safetensors wants it: little-endian bytes.
struct Array {
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Array {
    fn dtype(&self) -> Dtype {
        Dtype::F64
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

fn array(shape: Vec<usize>, values: &[f64]) -> Array {
    Array { shape, bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect() }
}

fn table(table: &Table) -> Array {
    array(vec![table.n_rows(), table.width()], table.values())
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
    let lambda = &saved.model_state().lambda;
    let mut tensors = vec![("lambda".to_string(), table(lambda))];
    for NamedArray { name, shape, values } in model.readable(lambda) {
        tensors.push((name.to_string(), array(shape, &values)));
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
            if best.is_some() {
                tensors.push(("climb.lambda".to_string(), table(&state.lambda)));
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
    let parts = tensors.iter().map(|(name, a)| (&**name, Dtype::F64, &*a.shape, &*a.bytes));
    metadata.insert("checksum".to_string(), checksum(&metadata, parts));
    let views = tensors.iter().map(|(name, array)| (name.clone(), array));
    let bytes = safetensors::serialize(views, Some(metadata))
        .map_err(|error| Error::run(path, format!("cannot be written: {error}")))?;
    write::atomically(path, |file| file.write_all(&bytes))
}

/// Reads a checkpoint of this model, refusing one that is cut, changed or of another model.
pub fn load<M: Stored>(path: &Path, model: &M) -> Result<Saved> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, "cannot read", error))?;
    let damaged = |what: &str| {
        Error::run(
            path,
            format!(
                "is damaged ({what}); restore it from a backup, or fit again into another directory"
            ),
        )
    };
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
    let read = |name: &str| -> Result<Table> {
        let view = tensors.tensor(name).map_err(|e| damaged(&e.to_string()))?;
        let layout = model.layout();
        let values: Vec<f64> = match view.dtype() {
            Dtype::F64 => view
                .data()
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")))
                .collect(),
            _ => return Err(damaged("lambda is not f64")),
        };
        if view.shape() != [layout.n_rows, layout.width] {
            return Err(damaged("lambda has another shape than the model"));
        }
        let table = Table::from_values(layout.n_rows, layout.width, values)
            .ok_or_else(|| damaged("lambda has another size than its shape"))?;
        let valid = (0..layout.n_rows).all(|r| {
            table.row(r).iter().all(|x| x.is_finite()) && model.in_domain(r, table.row(r))
        });
        if valid { Ok(table) } else { Err(damaged("lambda is not a valid parameter")) }
    };
    if meta.best.is_some_and(|at| at >= meta.done.len()) || (meta.complete && meta.best.is_none()) {
        return Err(damaged("its best restart does not exist"));
    }
    let lambda = read("lambda")?;
    Ok(match (meta.complete, meta.best, meta.best_counters) {
        (true, Some(best), _) => Saved::Complete(meta.climb.with(lambda), best, meta.done),
        (_, Some(best), Some(counters)) => Saved::Pending(Progress {
            restart: meta.restart,
            state: meta.climb.with(read("climb.lambda")?),
            done: meta.done,
            best: Some((best, counters.with(lambda))),
        }),
        (_, None, _) => Saved::Pending(Progress {
            restart: meta.restart,
            state: meta.climb.with(lambda),
            done: meta.done,
            best: None,
        }),
        _ => return Err(damaged("its best restart has no counters")),
    })
}
