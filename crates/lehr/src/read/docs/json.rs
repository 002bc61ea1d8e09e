//! Reads a JSON list of documents, one of them in memory at a time.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;

use super::super::source::Source;
use super::fields::{Fault, Fields};
use super::gather::Gather;
use crate::error::advice;
use crate::{Error, Result};

/// A longer document is taken for something else.
const LONGEST: u64 = 64 << 20;

/// Reads a list whose entries are objects, texts or lists of words.
pub(super) fn read(mut source: Source<'_>, gather: &mut Gather<'_>) -> Result<()> {
    let left = Rc::new(Cell::new(LONGEST));
    let reader = std::mem::replace(&mut source.reader, BufReader::new(Box::new(io::empty())));
    let mut json =
        serde_json::Deserializer::from_reader(Limited { reader, left: Rc::clone(&left) });
    let mut fields = Fields::new(gather.options());
    let (mut n_docs, mut fault) = (0, None);
    let list =
        List { fields: &mut fields, gather, left: &left, n_docs: &mut n_docs, fault: &mut fault };
    let read = list.deserialize(&mut json).and_then(|()| json.end());
    match read {
        Ok(()) => fields.check(gather),
        Err(error) => Err(located(&source, error, n_docs, fault)),
    }
}

/// An error with its place: the line, and which document it is.
#[cold]
fn located(
    source: &Source<'_>,
    error: serde_json::Error,
    n_docs: u64,
    fault: Option<Fault>,
) -> Error {
    let (path, line) = (source.path, error.line() as u64);
    if let Some((field, found)) = fault {
        let column = (!field.is_empty()).then_some(field);
        let place = if n_docs == 0 { String::new() } else { format!("document {n_docs}: ") };
        return Error::parse_at(path, line, column, found.behind(place));
    }
    let next = n_docs + 1;
    if error.is_io() {
        let error = io::Error::from(error);
        return match error.get_ref().is_some_and(|inner| inner.is::<TooLong>()) {
            true => Error::parse(path, format!("document {next} {TooLong}")),
            false => source.cannot_read(error),
        };
    }
    not_json(path, line, next, &error)
}

fn not_json(path: &Path, line: u64, next: u64, error: &serde_json::Error) -> Error {
    let message = advice![format!(
        "is not a JSON list of documents: {error}, in document {next} or behind it; give [{{\"text\": \"...\"}}, ...], or one object a line in a file named .jsonl"
    )];
    Error::parse_at(path, line.max(1), None, message)
}

/// The list, as far as it has come.
struct List<'l, 'a> {
    fields: &'l mut Fields,
    gather: &'l mut Gather<'a>,
    /// How many more bytes the document at hand may take.
    left: &'l Cell<u64>,
    n_docs: &'l mut u64,
    /// What is wrong with a document that is JSON.
    fault: &'l mut Option<Fault>,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of documents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        while let Some(value) = list.next_element::<Value>()? {
            *self.n_docs += 1;
            if let Err(fault) = self.fields.add(value, self.gather) {
                *self.fault = Some(fault);
                // What it says is in `fault`; the deserializer adds the place.
                return Err(A::Error::custom("a document cannot be used"));
            }
            self.left.set(LONGEST);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> std::result::Result<(), A::Error> {
        let first = object.next_entry::<String, IgnoredAny>()?.map(|(name, _)| name);
        let first = first.map_or(String::new(), |name| format!(", whose first field is {name:?}"));
        *self.fault = Some((
            String::new(),
            format!(
                "holds one JSON object{first}, and not a list of documents; give the list alone, or one object a line in a file named .jsonl"
            )
            .into(),
        ));
        Err(A::Error::custom("an object"))
    }
}

/// A reader that ends with an error where a document is too long.
struct Limited<R> {
    reader: R,
    left: Rc<Cell<u64>>,
}

#[derive(Debug)]
struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("is longer than 64 MiB; give a list of documents")
    }
}

impl std::error::Error for TooLong {}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(|| io::Error::other(TooLong))?);
        Ok(read)
    }
}
