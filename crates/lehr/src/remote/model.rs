//! A model as it is sent to workers: what a run directory keeps of it.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::wire::{decode, encode};
use crate::models::Stored;
use crate::store::Files;
use crate::{Error, Result};

/// A model in a message.
#[derive(Serialize, Deserialize)]
pub(super) struct Packed {
    /// The name that runs call it by.
    pub name: String,
    params: String,
    frozen: String,
    files: Vec<(String, Vec<u8>)>,
}

/// A model as bytes, for [`worker`](super::worker).
pub fn pack<M: Stored>(model: &M) -> Result<Vec<u8>> {
    let mut files = Vec::new();
    model.sidecars(&mut |name, bytes| {
        files.push((name.to_string(), bytes));
        Ok(())
    })?;
    Ok(encode(&Packed { files, ..Packed::settings_of(model) }))
}

impl Packed {
    /// A model of which workers need the settings alone.
    pub fn settings_of<M: Stored>(model: &M) -> Self {
        // As JSON, which is how configurations are kept: their types may skip fields, which bytes alone cannot.
        let text = |value: serde_json::Result<String>| value.expect("plain values become JSON");
        let params = text(serde_json::to_string(model.params()));
        let frozen = text(serde_json::to_string(&model.frozen()));
        Packed { name: model.name().to_string(), params, frozen, files: Vec::new() }
    }

    /// The settings, and what was taken from the data.
    pub fn settings<P: DeserializeOwned, F: DeserializeOwned>(&self) -> Result<(P, F)> {
        let wrong = |error: serde_json::Error| Error::data(format!("the model sent: {error}"));
        let params = serde_json::from_str(&self.params).map_err(wrong)?;
        Ok((params, serde_json::from_str(&self.frozen).map_err(wrong)?))
    }

    pub fn of(bytes: &[u8]) -> Result<Self> {
        decode(bytes)
    }

    /// The model, as it was.
    pub fn unpack<M: Stored>(&self) -> Result<M> {
        let (params, frozen) = self.settings()?;
        M::restore(params, frozen, self)
    }
}

impl Files for Packed {
    fn place(&self) -> &Path {
        Path::new("the model sent")
    }

    fn find(&self, name: &str) -> io::Result<Cow<'_, [u8]>> {
        let found = self.files.iter().find(|(own, _)| own == name);
        let (_, bytes) = found.ok_or(io::ErrorKind::NotFound)?;
        Ok(Cow::Borrowed(bytes))
    }
}
