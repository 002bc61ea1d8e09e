//! The files that a model keeps beside its checkpoint: their checksums, kept in `config.json`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::{Error, Result};

/// What a file must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// Its size.
    pub bytes: u64,
    /// XXH3 of its content, 128 bits in hexadecimal.
    pub checksum: String,
}

impl Sum {
    fn of(path: &Path) -> Result<Self> {
        let cannot_read = |e: io::Error| Error::io(path, "cannot read", e);
        let mut file = File::open(path).map_err(cannot_read)?;
        let (mut hash, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Sum { bytes, checksum: format!("{:032x}", hash.digest128()) }),
                Ok(n) => {
                    hash.update(&buffer[..n]);
                    bytes += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(cannot_read(e)),
            }
        }
    }
}

/// The checksums of these files of a folder.
pub(super) fn sums(folder: &Path, names: &[&str]) -> Result<BTreeMap<String, Sum>> {
    names.iter().map(|&name| Ok((name.to_string(), Sum::of(&folder.join(name))?))).collect()
}

/// Whether these files are what they were when the run began; says which one is not. Runs of format 1
/// have no checksums, and nothing is checked.
pub(super) fn check(folder: &Path, names: &[&str], sums: &BTreeMap<String, Sum>) -> Result<()> {
    for &name in names {
        let Some(expected) = sums.get(name) else { continue };
        let path = folder.join(name);
        let found = Sum::of(&path)?;
        if found.bytes != expected.bytes {
            let what = format!("it has {} bytes, and had {}", found.bytes, expected.bytes);
            return Err(Error::damaged(path, what));
        }
        if found != *expected {
            return Err(Error::damaged(
                path,
                "its checksum is not that of the file that was written",
            ));
        }
    }
    Ok(())
}
