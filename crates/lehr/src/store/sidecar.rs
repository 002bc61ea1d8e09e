//! Sidecar files, which a model stores next to its checkpoint: their checksums, kept in `config.json`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::files::Files;
use crate::{Error, Result};

/// Takes a sidecar: its name and what is in it.
pub type Keep<'a> = &'a mut dyn FnMut(&'static str, Vec<u8>) -> Result<()>;

/// What a file must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// Its size.
    pub bytes: u64,
    /// XXH3 of its content, 128 bits in hexadecimal.
    pub checksum: String,
}

/// The sums of a run's sidecars, by name.
pub type Sums = BTreeMap<String, Sum>;

impl Sum {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Sum { bytes: bytes.len() as u64, checksum: format!("{:032x}", xxh3_128(bytes)) }
    }

    fn check(&self, bytes: &[u8], path: &Path) -> Result<()> {
        let found = Sum::of(bytes);
        if found.bytes != self.bytes {
            let what = format!("it has {} bytes, and had {}", found.bytes, self.bytes);
            return Err(Error::damaged(path, what));
        }
        if found != *self {
            let what = "its checksum is not that of the file that was written";
            return Err(Error::damaged(path, what));
        }
        Ok(())
    }
}

/// The files of a run, each compared with its sum when it is read. Runs of format 1 have no sums, and
/// nothing is compared.
pub(super) struct Checked<'a> {
    pub files: &'a dyn Files,
    pub sums: &'a Sums,
}

impl Files for Checked<'_> {
    fn place(&self) -> &Path {
        self.files.place()
    }

    fn find(&self, name: &str) -> io::Result<Cow<'_, [u8]>> {
        self.files.find(name)
    }

    fn read(&self, name: &str) -> Result<Cow<'_, [u8]>> {
        let bytes = self.files.read(name)?;
        if let Some(sum) = self.sums.get(name) {
            sum.check(&bytes, &self.path(name))?;
        }
        Ok(bytes)
    }
}
