//! Lines of document, word and count below a header with their numbers: UCI and Matrix Market.

use super::builder::Builder;
use super::lines::Lines;
use super::numbers::{count, whole};
use super::vocab::Names;
use crate::data::Docs;
use crate::{Error, Result};

use super::super::records::blank_split;
use super::super::source::shown;

/// What the header says.
pub(super) struct Header {
    pub docs: Size,
    pub words: Size,
    pub entries: Size,
    /// Whether the word comes first in a line.
    pub word_first: bool,
    /// Whether lines have no count: every entry counts once.
    pub pattern: bool,
}

/// A number of the header.
pub(super) struct Size {
    pub size: u64,
    /// Its name there, e.g. "W".
    pub name: &'static str,
    /// The line that it stands in.
    pub line: u64,
}

impl Size {
    /// Checks a number of documents or words.
    pub(super) fn check(&self, lines: &Lines<'_>, what: &str) -> Result<()> {
        if self.size <= u64::from(u32::MAX) {
            return Ok(());
        }
        let Size { size, name, line } = self;
        let message =
            format!("{name} = {size} {what}; there may be at most {}: mend the header", u32::MAX);
        Err(Error::parse_at(lines.path(), *line, None, message))
    }

    /// In words, with the place where it can be mended.
    fn shown(&self, what: &str) -> String {
        format!(
            "the {} {what} that the header promises ({}, line {})",
            self.size, self.name, self.line
        )
    }
}

/// Reads the lines behind the header.
pub(super) fn read(mut lines: Lines<'_>, header: &Header, names: Option<Names>) -> Result<Docs> {
    let path = lines.path();
    header.docs.check(&lines, "documents")?;
    header.words.check(&lines, "words")?;
    if let Some(names) = &names {
        names.check(path, header.words.size)?;
    }
    let (n_docs, n_words) = (header.docs.size, header.words.size);
    let mut builder = Builder::with_capacity(lines.credible(header.entries.size, 8));
    let mut n_entries = 0;
    while let Some(line) = lines.read()? {
        let (mut doc, mut word, count) = match fast(line) {
            Some((doc, word, count)) if !header.pattern => (doc, word, count as f32),
            _ if line.trim_ascii().is_empty() => continue,
            _ => {
                let parsed = slow(line, header);
                parsed.map_err(|(column, text)| lines.fault(column, text))?
            }
        };
        if header.word_first {
            (doc, word) = (word, doc);
        }
        // One comparison for 0 and for too much: 0 wraps around.
        if doc.wrapping_sub(1) >= n_docs {
            return Err(beyond(&lines, "document", doc, &header.docs));
        }
        if word.wrapping_sub(1) >= n_words {
            return Err(beyond(&lines, "word", word, &header.words));
        }
        n_entries += 1;
        if n_entries > header.entries.size {
            let promised = header.entries.shown("entries");
            let text = format!("the line is one more than {promised}; mend the header");
            return Err(lines.fault("", text));
        }
        builder.push((doc - 1) as u32, (word - 1) as u32, count);
    }
    if n_entries < header.entries.size {
        return Err(Error::parse(
            path,
            format!(
                "only {n_entries} entries follow, not {}; the file is cut off, or the header is wrong",
                header.entries.shown("entries")
            ),
        ));
    }
    builder.finish(path, n_docs, n_words, names)
}

fn beyond(lines: &Lines<'_>, column: &str, number: u64, size: &Size) -> Error {
    let text = match number {
        0 => format!("found 0; {column}s are numbered from 1"),
        _ => {
            let promised = size.shown(&format!("{column}s"));
            format!("found {number}, which is beyond {promised}; mend the line or the header")
        }
    };
    lines.fault(column, text)
}

/// Three whole numbers of at most 9 digits with one blank between them, as nearly every line has.
#[inline]
fn fast(line: &[u8]) -> Option<(u64, u64, u32)> {
    let mut numbers = [0u32; 3];
    let mut at = 0;
    for (n, number) in numbers.iter_mut().enumerate() {
        let begin = at;
        while let Some(digit) = line.get(at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            *number = number.wrapping_mul(10).wrapping_add(u32::from(digit));
            at += 1;
        }
        if at == begin || at > begin + 9 {
            return None;
        }
        if n < 2 {
            if line.get(at) != Some(&b' ') {
                return None;
            }
            at += 1;
        }
    }
    (at == line.len()).then_some((u64::from(numbers[0]), u64::from(numbers[1]), numbers[2]))
}

/// Any line, or the column and what is wrong there.
fn slow(line: &[u8], header: &Header) -> Result<(u64, u64, f32), (&'static str, String)> {
    let mut fields = blank_split(line);
    let columns = if header.word_first { ["word", "document"] } else { ["document", "word"] };
    let n_fields = if header.pattern { 2 } else { 3 };
    let found = blank_split(line).count();
    if found != n_fields {
        let [first, second] = columns;
        let third = if header.pattern { "" } else { " count" };
        return Err((
            "",
            format!(
                "has {found} fields, and `{first} {second}{third}` are {n_fields}: {}",
                shown(line)
            ),
        ));
    }
    let mut number = |column: &'static str| {
        let field = fields.next().unwrap_or_default();
        whole(field).ok_or_else(|| {
            (column, format!("found {}; {column}s are numbered from 1", shown(field)))
        })
    };
    let (first, second) = (number(columns[0])?, number(columns[1])?);
    let count = match fields.next() {
        Some(field) => count(field).map_err(|text| ("count", text))?,
        None => 1.0,
    };
    Ok((first, second, count))
}
