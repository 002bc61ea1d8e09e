//! Reads Parquet tables with a row per document, term and count; those with a row per text are in `parquet_texts`.

use std::collections::HashMap;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;

use parquet::schema::types::ColumnDescPtr;

use super::builder::Builder;
use super::fields::{self, listed};
use super::gather::Gather;
use super::numbers::checked;
use super::vocab::Names;
use super::{CorpusFormat, DocsOptions, parquet_texts, words};
use crate::data::{Docs, Vocabulary};
use crate::error::{advice, setting};
use crate::{Error, Result};

use super::super::parquet::{damaged, guarded, type_name};
use super::super::parquet_file::Opened;
use super::super::parquet_values::{CellPlace, Kind, Values, values};
use super::super::source::Source;

/// The names of the three columns.
const NAMES: [&[&str]; 3] =
    [&["document", "doc", "doc_id"], &["term", "word", "word_id"], &["count", "n", "value"]];

pub(super) fn read(
    source: Source<'_>,
    options: &DocsOptions,
    names: Option<Names>,
    model: Option<&Vocabulary>,
) -> Result<Docs> {
    guarded(source.path, || {
        let mut opened = Opened::new(&source)?;
        let table = Columns::of(&opened);
        let texts = options.field.is_some() || !table.is_counts();
        options.check(source.path, CorpusFormat::Parquet, texts)?;
        if texts {
            let room = source.room.as_ref();
            let mut gather = Gather::new(source.path, options, names, model, room)?;
            parquet_texts::read(&mut opened, &table, &mut gather)?;
            return gather.finish();
        }
        read_rows(&source, &mut opened, table, names, options.ids)
    })
}

/// The columns of a table and how messages call them.
pub(super) struct Columns {
    pub described: Vec<ColumnDescPtr>,
    pub labels: Vec<String>,
}

impl Columns {
    fn of(opened: &Opened) -> Self {
        let described = opened.reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let labels = described.iter().map(|column| column.path().string()).collect();
        Columns { described, labels }
    }

    fn named(&self) -> [Option<usize>; 3] {
        NAMES.map(|names| {
            let is_one = |label: &String| names.contains(&label.to_lowercase().as_str());
            self.labels.iter().position(is_one)
        })
    }

    /// Whether a row is a document, a term and a count, and not a text.
    fn is_counts(&self) -> bool {
        let holds_text = |at: &usize| Kind::of(&self.described[*at]) == Some(Kind::Texts);
        let is_text = |label: &String| label.eq_ignore_ascii_case(fields::FIELD);
        match self.named() {
            [Some(_), Some(_), Some(_)] => true,
            _ if self.labels.iter().any(is_text) => false,
            [None, None, None] => self.labels.len() >= 3 && !holds_text(&2),
            _ => true,
        }
    }
}

fn read_rows(
    source: &Source<'_>,
    opened: &mut Opened,
    table: Columns,
    names: Option<Names>,
    with_ids: bool,
) -> Result<Docs> {
    let path = source.path;
    let Columns { described: columns, labels } = &table;
    let damaged = |error| damaged(path, error);
    let chosen = choose(path, &table)?;
    let mut kinds = [Kind::Integers; 3];
    for (kind, (&at, part)) in kinds.iter_mut().zip(chosen.iter().zip(NAMES)) {
        *kind = Kind::of(&columns[at])
            .filter(|kind| part[0] != "count" || *kind != Kind::Texts)
            .ok_or_else(|| {
                let allowed = if part[0] == "count" { "numbers" } else { "integers or text" };
                Error::parse(
                    path,
                    format!(
                        "column {} does not hold {allowed} but {}",
                        labels[at],
                        type_name(&columns[at])
                    ),
                )
            })?;
        if part[0] != "count" && *kind == Kind::Floats {
            return Err(Error::parse(
                path,
                format!(
                    "column {} holds floats; documents and terms are integers or text: cast it",
                    labels[at]
                ),
            ));
        }
    }

    let mut builder = Builder::default().spilling(source.room.as_ref());
    let (mut docs, mut terms) = (Keys::default(), Keys::default());
    let mut n_rows = 0;
    for g in 0..opened.reader.num_row_groups() {
        opened.check_group(g, &chosen)?;
        let group = opened.reader.get_row_group(g).map_err(damaged)?;
        let mut read = Vec::with_capacity(3);
        for &at in &chosen {
            let column = group.get_column_reader(at).map_err(damaged)?;
            let place = CellPlace { path, column: &labels[at], first: n_rows };
            read.push(values(column, &columns[at], &place)?);
        }
        let (Some(count), Some(term), Some(doc)) = (read.pop(), read.pop(), read.pop()) else {
            continue;
        };
        if doc.len() != term.len() || doc.len() != count.len() {
            return Err(damaged(ParquetError::General(
                "columns differ in their numbers of rows".into(),
            )));
        }
        for i in 0..doc.len() {
            let fault = |part: usize, text: String| {
                CellPlace { path, column: &labels[chosen[part]], first: n_rows }.fault(i, &text)
            };
            let d = docs.number(&doc, i).map_err(|text| fault(0, text))?;
            let v = terms.number(&term, i).map_err(|text| fault(1, text))?;
            let count = match &count {
                Values::Integers(values) => values[i] as f64,
                Values::Floats(values) => values[i],
                Values::Texts(_) => f64::NAN,
            };
            let count = checked(count).map_err(|text| fault(2, text))?;
            if let (Some(names), Kind::Integers) = (&names, kinds[1])
                && u64::from(v) >= names.len()
            {
                return Err(fault(
                    1,
                    format!("found word {v}, numbered from 0, and {}", names.beyond()),
                ));
            }
            builder.push(d, v, count);
        }
        n_rows += doc.len();
    }
    let texts = kinds[1] == Kind::Texts;
    let n_words = match &names {
        Some(names) if !texts => names.len(),
        _ => terms.size,
    };
    if n_rows == 0 {
        return Err(Error::parse(path, "has no rows; give a file with at least one document"));
    }
    let (n_docs, named) = (docs.size, kinds[0] == Kind::Texts && with_ids);
    let found = match texts {
        false => builder.finish(path, n_docs, n_words, names)?,
        true => {
            let found = builder.finish(path, n_docs, n_words, None)?;
            let found = found.with_vocabulary(terms.into_names())?;
            match names {
                None => found,
                Some(names) => words::matched(found, &names.into_vocabulary()?)?.0,
            }
        }
    };
    if named { found.with_ids(docs.into_names()) } else { Ok(found) }
}

/// The columns with documents, terms and counts: by name, or the first three.
fn choose(path: &Path, table: &Columns) -> Result<[usize; 3]> {
    let labels = &table.labels;
    match table.named() {
        [Some(doc), Some(term), Some(count)] => Ok([doc, term, count]),
        [None, None, None] if labels.len() >= 3 => Ok([0, 1, 2]),
        _ => Err(unclear(path, table)),
    }
}

/// The error for a table whose documents cannot be found.
pub(super) fn unclear(path: &Path, table: &Columns) -> Error {
    Error::parse(
        path,
        advice![
            format!("has the columns {}; name the one with texts with ", listed(&table.labels)),
            setting("field"),
            ", or call three of them document, term and count",
        ],
    )
}

/// Numbers for documents or terms: their own, or those in which strings appear.
#[derive(Default)]
struct Keys {
    numbers: HashMap<String, u32>,
    size: u64,
}

impl Keys {
    fn number(&mut self, values: &Values, i: usize) -> std::result::Result<u32, String> {
        let number = match values {
            Values::Integers(values) => {
                u32::try_from(values[i]).ok().filter(|&n| n < u32::MAX).ok_or_else(|| {
                    format!(
                        "found {}; numbers go from 0 to {}: number without gaps, or give text",
                        values[i],
                        u32::MAX - 1
                    )
                })?
            }
            Values::Texts(values) => {
                let text = std::str::from_utf8(values[i].data())
                    .map_err(|_| "is not UTF-8".to_string())?;
                match self.numbers.get(text) {
                    Some(&number) => number,
                    None => {
                        let number = u32::try_from(self.numbers.len())
                            .map_err(|_| "there are too many".to_string())?;
                        self.numbers.insert(text.to_string(), number);
                        number
                    }
                }
            }
            Values::Floats(_) => return Err("is a float".into()),
        };
        self.size = self.size.max(u64::from(number) + 1);
        Ok(number)
    }

    fn into_names(self) -> Vec<String> {
        let mut names = vec![String::new(); self.numbers.len()];
        self.numbers.into_iter().for_each(|(name, number)| names[number as usize] = name);
        names
    }
}
