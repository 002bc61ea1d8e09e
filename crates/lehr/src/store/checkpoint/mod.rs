//! A fit's progress as a safetensors file: numpy reads lambda without us, and we notice any change.
//!
//! Tensors, f64 if nothing else is said: `lambda`, the model to use (the best finished restart, or
//! the only climb); `hyper`, its learned hyperparameters, if any; what the model adds in the user's
//! units (a mixture: `weights`, `means`, `covariances`; LDA: `alpha`, `eta`). If the climb under way is
//! another one, or has rows that are not up to date, or local state: `climb.lambda`, `climb.hyper`,
//! `climb.since`, `climb.totals` and (f32) `climb.warm`; the same for every state that a driver holds,
//! from `driver.0.lambda` on. The metadata hold the rest of the progress as JSON under `progress`, under
//! `observations` how many lines of the trace belong to it, and a checksum of everything under `checksum`.

mod meta;
mod reader;
mod writer;

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::Dtype;
use xxhash_rust::xxh3::Xxh3;

use crate::models::Stored;
use crate::{Error, Result, write};

use super::saved::Saved;

pub use meta::FORMAT;
pub use reader::from_bytes;
pub(crate) use writer::settled;
pub use writer::to_bytes;

/// Writes a checkpoint in one step: whatever happens, `path` holds the old one or the new one.
pub fn save<M: Stored>(path: &Path, model: &M, saved: &Saved) -> Result<()> {
    write::whole(path, &to_bytes(model, saved, None)?)
}

/// Reads a checkpoint of this model, refusing one that is cut, changed or of another model.
pub fn load<M: Stored>(path: &Path, model: &M) -> Result<Saved> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, "cannot read", error))?;
    Ok(from_bytes(&bytes, path, model)?.0)
}

/// Covers all metadata but the checksum itself, and every tensor's name, type, shape and bytes, in
/// order of names.
fn checksum<'a>(
    metadata: &HashMap<String, String>,
    tensors: impl Iterator<Item = (&'a str, (Dtype, &'a [usize], &'a [u8]))>,
) -> String {
    let mut hash = Xxh3::new();
    let mut texts: Vec<_> = metadata.iter().filter(|(key, _)| *key != "checksum").collect();
    texts.sort();
    for (key, text) in texts {
        hash.update(format!("{key:?} {text:?}\n").as_bytes());
    }
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_by_key(|tensor| tensor.0);
    for (name, (dtype, shape, bytes)) in tensors {
        hash.update(format!("{name:?} {dtype:?} {shape:?}\n").as_bytes());
        hash.update(bytes);
    }
    format!("{:032x}", hash.digest128())
}
