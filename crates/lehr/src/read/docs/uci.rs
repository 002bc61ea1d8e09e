//! Reads UCI bags of words: D, W and NNZ on lines of their own, then triples.

use super::lines::Lines;
use super::triples::{self, Header, Size};
use super::vocab::Names;
use crate::data::Docs;
use crate::{Error, Result};

use super::super::digits::whole;
use super::super::source::shown;

pub(super) fn read(mut lines: Lines<'_>, names: Option<Names>) -> Result<Docs> {
    let docs = size(&mut lines, "D", "the number of documents")?;
    let words = size(&mut lines, "W", "the number of words")?;
    let entries = size(&mut lines, "NNZ", "the number of entries")?;
    let header = Header { docs, words, entries, word_first: false, pattern: false };
    triples::read(lines, &header, names)
}

fn size(lines: &mut Lines<'_>, name: &'static str, what: &str) -> Result<Size> {
    let expected = format!(
        "a UCI bag of words starts with D, W and NNZ, each on its own line, and this is {name}, {what}"
    );
    let Some(line) = lines.read()? else {
        return Err(Error::parse(lines.path(), format!("ends inside its header; {expected}")));
    };
    match whole(line.trim_ascii()) {
        Some(size) => Ok(Size { size, name, line: lines.number }),
        None => {
            let found = shown(line);
            Err(lines.fault("", format!("found {found}; {expected}: write it as a whole number")))
        }
    }
}
