//! Reads lines of `word:count` pairs, one document a line: LDA-C and SVMlight.

use super::builder::Builder;
use super::lines::Lines;
use super::numbers::count;
use super::vocab::Names;
use super::{CorpusFormat, DocsOptions, Room};
use crate::data::Docs;
use crate::error::{Advice, advice, setting};
use crate::{Error, Result};

use super::super::digits::whole;
use super::super::records::blank_split;
use super::super::source::shown;

/// LDA-C: the number of pairs, then the pairs.
pub(super) fn read_ldac(mut lines: Lines<'_>, names: Option<Names>) -> Result<Docs> {
    let mut docs = Pairs::new(names, 0, lines.room());
    while let Some(line) = lines.read()? {
        let parsed = add_ldac(&mut docs, line);
        parsed.map_err(|(field, text)| lines.fault(&field.to_string(), text))?;
    }
    docs.finish(&lines)
}

fn add_ldac(docs: &mut Pairs, line: &[u8]) -> Result<(), (usize, Advice)> {
    let mut fields = blank_split(line);
    let Some(first) = fields.next() else { return Ok(()) };
    let Some(promised) = whole(first) else {
        let found = shown(first);
        let message = format!("found {found}; a line of LDA-C starts with its number of pairs");
        return Err((1, message.into()));
    };
    let found = fields.clone().count() as u64;
    if found != promised {
        return Err((
            1,
            advice![
                format!(
                    "promises {promised} pairs, and {found} follow; fix the number or the line"
                ),
                ", or give ",
                setting("format").to(CorpusFormat::Svmlight),
                " if it is a label",
            ],
        ));
    }
    docs.add(fields, 2)
}

/// SVMlight: a label, perhaps a query's number, then the pairs, then perhaps a comment.
pub(super) fn read_svmlight(
    mut lines: Lines<'_>,
    options: &DocsOptions,
    names: Option<Names>,
) -> Result<Docs> {
    let mut docs = Pairs::new(names, u64::from(options.one_based), lines.room());
    while let Some(line) = lines.read()? {
        let line = without_comment(line);
        let (label, fields) = split_label(line);
        if label.is_none() && fields.clone().next().is_none() {
            continue;
        }
        let first = if label.is_some() { 2 } else { 1 };
        let parsed = docs.add(fields, first);
        parsed.map_err(|(field, text)| lines.fault(&field.to_string(), text))?;
    }
    docs.finish(&lines)
}

/// Which of the two formats these first lines are in, if in any: it is LDA-C if the first number of
/// every line is its number of pairs.
pub(super) fn recognise<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Option<CorpusFormat> {
    let (mut ldac, mut any) = (true, false);
    for line in lines {
        let bare = without_comment(line);
        let (label, fields) = split_label(bare);
        if label.is_none() && fields.clone().next().is_none() {
            continue;
        }
        let label = label?;
        let number = label.iter().all(|byte| byte.is_ascii_digit() || b"+-.,eE".contains(byte));
        let mut n_pairs = 0;
        for field in fields {
            let at = field.iter().position(|&byte| byte == b':')?;
            whole(&field[..at])?;
            std::str::from_utf8(&field[at + 1..]).ok()?.parse::<f64>().ok()?;
            n_pairs += 1;
        }
        if !number {
            return None;
        }
        any |= n_pairs > 0;
        ldac &= whole(label) == Some(n_pairs) && bare.len() == line.len();
    }
    any.then_some(if ldac { CorpusFormat::Ldac } else { CorpusFormat::Svmlight })
}

fn without_comment(line: &[u8]) -> &[u8] {
    line.iter().position(|&byte| byte == b'#').map_or(line, |at| &line[..at])
}

/// The label, if there is one, and the pairs; a query's number is left out.
fn split_label(line: &[u8]) -> (Option<&[u8]>, impl Iterator<Item = &[u8]> + Clone) {
    let mut fields = blank_split(line);
    let label = fields.clone().next().filter(|field| !field.contains(&b':'));
    if label.is_some() {
        fields.next();
    }
    (label, fields.filter(|field| !field.starts_with(b"qid:")))
}

/// The documents so far.
struct Pairs {
    builder: Builder,
    n_docs: u64,
    /// The number of the first word.
    base: u64,
    names: Option<Names>,
}

impl Pairs {
    fn new(names: Option<Names>, base: u64, room: Option<&Room>) -> Self {
        let builder = Builder::of_lines().spilling(room);
        Pairs { builder, n_docs: 0, base, names }
    }

    /// Adds a document, or says which field is wrong, counted on from `first`, and how.
    fn add<'l>(
        &mut self,
        fields: impl Iterator<Item = &'l [u8]>,
        first: usize,
    ) -> Result<(), (usize, Advice)> {
        let n_words = self.names.as_ref().map_or(u64::from(u32::MAX), Names::len);
        let doc = u32::try_from(self.n_docs)
            .map_err(|_| (1, format!("there may be at most {} documents", u32::MAX).into()))?;
        for (field, at) in fields.zip(first..) {
            let pair = field.iter().position(|&byte| byte == b':');
            let pair = pair.map(|colon| (whole(&field[..colon]), &field[colon + 1..]));
            let Some((Some(word), text)) = pair else {
                return Err((
                    at,
                    format!("found {}; a pair is word:count, with the word's number", shown(field))
                        .into(),
                ));
            };
            let Some(word) = word.checked_sub(self.base) else {
                let message = advice![
                    "found word 0 although ",
                    setting("one_based"),
                    " is set; leave it out if words are numbered from 0",
                ];
                return Err((at, message));
            };
            if word >= n_words {
                let limit = match &self.names {
                    Some(names) => names.beyond(),
                    None => format!("numbers go up to {}", n_words - 1),
                };
                let number = word + self.base;
                return Err((
                    at,
                    format!("found word {number}, numbered from {}, and {limit}", self.base).into(),
                ));
            }
            let count = count(text).map_err(|text| (at, text.into()))?;
            self.builder.push(doc, word as u32, count);
        }
        self.n_docs += 1;
        Ok(())
    }

    fn finish(self, lines: &Lines<'_>) -> Result<Docs> {
        let n_words = self.names.as_ref().map_or(self.builder.n_words(), Names::len);
        if n_words == 0 {
            return Err(Error::parse(
                lines.path(),
                "has no words at all; give a file with at least one pair word:count",
            ));
        }
        self.builder.finish(lines.path(), self.n_docs, n_words, self.names)
    }
}
