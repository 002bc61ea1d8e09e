//! Names in a file: one JSON value per line, an integer or a text.

use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::Ids;
use super::ids::{Id, integer};
use crate::{Error, Result, write};

/// No name is that long.
const LONGEST: u64 = 64 << 20;

impl Ids {
    /// Writes all names in order, one JSON value per line: integers, or strings in quotes. An existing
    /// file is replaced in one step once the new one is complete.
    ///
    /// ```
    /// use lehr::data::Ids;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("items.jsonl");
    /// let ids: Ids = ["b\"1", "ü"].into_iter().collect();
    /// ids.save(&path)?;
    /// assert_eq!(std::fs::read_to_string(&path)?, "\"b\\\"1\"\n\"ü\"\n");
    /// assert_eq!(Ids::load(&path)?, ids);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: &Path) -> Result<()> {
        write::whole(path, &self.to_bytes())
    }

    /// What [`save`](Ids::save) writes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        for id in self.iter() {
            let written = match id {
                Id::Integer(number) => writeln!(text, "{number}"),
                Id::Text(name) => writeln!(text, "{}", serde_json::Value::from(name)),
            };
            written.expect("memory takes what is written");
        }
        text.into_bytes()
    }

    /// Reads the names that [`save`](Ids::save) wrote. A name that comes twice is refused.
    pub fn load(path: &Path) -> Result<Self> {
        let file =
            File::open(path).map_err(|error| Error::io(path, "cannot open the names", error))?;
        Ids::parse(BufReader::with_capacity(1 << 16, file), path)
    }

    /// The same names from bytes, which messages call `path`.
    pub(crate) fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        Ids::parse(bytes, path)
    }

    fn parse(mut reader: impl BufRead, path: &Path) -> Result<Self> {
        let mut ids = Ids::default();
        let mut line = Vec::new();
        for number in 1.. {
            let fault = |text: String| Error::parse_at(path, number, None, text);
            line.clear();
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            if read.map_err(|error| Error::io(path, "cannot read", error))? == 0 {
                break;
            }
            let name = line.trim_ascii_end();
            let found = match integer(name) {
                Some(number) => ids.insert_integer(number),
                None => {
                    let text: String = serde_json::from_slice(name).map_err(|_| {
                        fault("is neither an integer nor a text in double quotes; one id stands on each line".into())
                    })?;
                    ids.insert(&text)
                }
            };
            if u64::from(found) + 1 != number {
                let id = ids.get(found as usize);
                return Err(fault(format!("the id {id} is on line {} already", found + 1)));
            }
        }
        Ok(ids)
    }
}
