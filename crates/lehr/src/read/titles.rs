//! Reads what items are called, to show titles where there would be ids.

use std::collections::HashMap;
use std::path::Path;

use super::csv::name;
use super::ratings::{ITEM_NAMES, usual};
use super::records::{Records, Separator, has_colons};
use super::select::Columns;
use super::source::{Format, Needed, Source, recognise};
use crate::data::integer;
use crate::{Error, Result};

const NEEDED: Needed = Needed {
    files: "a text file with an id and a title per line (movies.dat, movie_titles.txt, u.item, .csv, .tsv; these may be gzipped)",
    least: "a file with an id and a title per line",
    most: Some(1 << 30),
};
const TITLE_NAMES: &[&str] = &[
    "title",
    "name",
    "movietitle",
    "moviename",
    "booktitle",
    "itemtitle",
    "itemname",
    "producttitle",
    "productname",
    "tracktitle",
    "trackname",
    "songname",
    "artistname",
];

/// Reads the titles of items, by id.
///
/// | file | line |
/// |---|---|
/// | MovieLens `movies.dat` | `id::title::genres` |
/// | MovieLens `u.item` | `id\|title\|...` |
/// | Netflix `movie_titles.txt` | `id,year,title`; the title is the rest of the line, commas and all |
/// | `.csv`, `.tsv` | with names: columns called title or name, and movieId, item, id or the like; without: an id, then a title; fields may be in double quotes |
///
/// Files may be gzipped. Lines that are not UTF-8 are read as Latin-1, in which the older of these
/// files are written. Of an id that comes twice, the first title counts; an empty title does not.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("movies.dat");
/// std::fs::write(&path, b"1::Toy Story (1995)::Animation\n73::Mis\xe9rables, Les (1995)::Drama\n")?;
/// let titles = lehr::read::titles(&path)?;
/// assert_eq!(titles["73"], "Misérables, Les (1995)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn titles(path: &Path) -> Result<HashMap<String, String>> {
    let mut source = Source::open(path, &NEEDED)?;
    if recognise(&mut source, &NEEDED)? != Format::Text {
        return Err(Error::parse(path, format!("is not text; give {}", NEEDED.files)));
    }
    let mut titles = HashMap::new();
    let mut records = Records::starting(source, 1);
    let mut at_record = records.read_record()?;
    let mut form = None;
    while at_record {
        let form = match &form {
            Some(form) => form,
            None => {
                let (found, has_names) = Form::of(path, &mut records)?;
                if has_names {
                    form = Some(found);
                    at_record = records.read_record()?;
                    continue;
                }
                form.insert(found)
            }
        };
        let Some((id, title)) = form.pick(&mut records)? else {
            return Err(Error::parse_at(
                path,
                records.line,
                None,
                format!("has no title; a line holds {}", form.line()),
            ));
        };
        if id.is_empty() {
            let message = "the id is empty; fill it in or leave the line out";
            return Err(Error::parse_at(path, records.line, None, message));
        }
        if !title.is_empty() {
            titles.entry(id).or_insert(title);
        }
        at_record = records.read_record()?;
    }
    if titles.is_empty() {
        return Err(Error::parse(path, format!("has no titles; give {}", NEEDED.least)));
    }
    Ok(titles)
}

/// How the lines are built.
enum Form {
    Colons,
    Pipes,
    /// The third field is the rest of the line.
    Netflix,
    Table {
        id: usize,
        title: usize,
    },
}

impl Form {
    /// The form of a file by its first record, and whether that holds names.
    fn of(path: &Path, records: &mut Records<'_>) -> Result<(Self, bool)> {
        let line = &records.text;
        let first = line.iter().position(|byte| matches!(byte, b'|' | b',' | b';' | b'\t' | b'"'));
        // An id and a title make two fields, too few to differ in number from a title with colons.
        let colons = line.windows(2).position(|two| two == b"::");
        if has_colons(line) || colons.is_some_and(|at| first.is_none_or(|first| at < first)) {
            return Ok((Form::Colons, false));
        }
        if first.is_some_and(|at| line[at] == b'|') {
            return Ok((Form::Pipes, false));
        }
        let raw: Vec<&[u8]> = line.splitn(3, |&byte| byte == b',').collect();
        if let [id, year, _] = raw[..]
            && records.separator == Separator::Byte(b',')
            && integer(id).is_some()
            && (year == b"NULL" || (year.len() == 4 && integer(year).is_some()))
        {
            return Ok((Form::Netflix, false));
        }
        let names: Vec<String> = records.cells()?.iter().map(|cell| name(cell)).collect();
        let Some(title) = usual(&names, TITLE_NAMES) else {
            return Ok((Form::Table { id: 0, title: 1 }, false));
        };
        let id = usual(&names, &["id"]).or_else(|| usual(&names, ITEM_NAMES)).unwrap_or(0);
        if id == title {
            let file = Columns { path, names: &names, n_columns: names.len() };
            return Err(Error::parse_at(
                path,
                records.line,
                None,
                format!(
                    "{} and none of them is known to hold ids; call it id, or put it first",
                    file.listed()
                ),
            ));
        }
        Ok((Form::Table { id, title }, true))
    }

    /// Id and title of the current record, if it has both.
    fn pick(&self, records: &mut Records<'_>) -> Result<Option<(String, String)>> {
        let pair = |id: &[u8], title: &[u8]| (decoded(id), decoded(title));
        let line = &records.text;
        Ok(match *self {
            Form::Colons => {
                let at = line.windows(2).position(|two| two == b"::");
                at.map(|at| {
                    let rest = &line[at + 2..];
                    let end = rest.windows(2).position(|two| two == b"::");
                    pair(&line[..at], &rest[..end.unwrap_or(rest.len())])
                })
            }
            Form::Pipes => {
                let mut cells = line.split(|&byte| byte == b'|');
                cells.next().zip(cells.next()).map(|(id, title)| pair(id, title))
            }
            Form::Netflix => {
                let mut cells = line.splitn(3, |&byte| byte == b',');
                cells.next().zip(cells.nth(1)).map(|(id, title)| pair(id, title))
            }
            Form::Table { id, title } => {
                let cells = records.cells()?;
                cells.get(id).zip(cells.get(title)).map(|(id, title)| pair(id, title))
            }
        })
    }

    /// What a line holds.
    fn line(&self) -> &'static str {
        match self {
            Form::Colons => "id::title",
            Form::Pipes => "id|title",
            Form::Netflix => "id,year,title",
            Form::Table { .. } => "an id and a title, separated by tabs, semicolons or commas",
        }
    }
}

/// Text in UTF-8 or, if it is not, in Latin-1, whose bytes are the first 256 signs of Unicode.
fn decoded(text: &[u8]) -> String {
    let text = text.trim_ascii();
    match std::str::from_utf8(text) {
        Ok(text) => text.to_string(),
        Err(_) => text.iter().map(|&byte| char::from(byte)).collect(),
    }
}
