//! Reads sparse matrices in the coordinate form of Matrix Market.

use super::DocsOptions;
use super::lines::Lines;
use super::triples::{self, Header, Size};
use super::vocab::Names;
use crate::data::Docs;
use crate::{Error, Result};

use super::super::digits::whole;
use super::super::records::blank_split;
use super::super::source::shown;

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"%%MatrixMarket";

pub(super) fn read(
    mut lines: Lines<'_>,
    options: &DocsOptions,
    names: Option<Names>,
) -> Result<Docs> {
    let pattern = banner(&mut lines)?;
    loop {
        let Some(line) = lines.read()? else {
            return Err(Error::parse(
                lines.path(),
                "ends before the line with its numbers of rows, columns and entries; write it again with scipy.io.mmwrite",
            ));
        };
        if line.starts_with(b"%") || line.trim_ascii().is_empty() {
            continue;
        }
        let sizes: Option<Vec<u64>> = blank_split(line).map(whole).collect();
        let Some([rows, columns, entries]) = sizes.as_deref().and_then(|sizes| sizes.first_chunk())
        else {
            let found = shown(line);
            return Err(lines.fault(
                "",
                format!("found {found}; the first line behind the comments is the numbers of rows, columns and entries"),
            ));
        };
        let size = |&size: &u64, name| Size { size, name, line: lines.number };
        let (rows, columns) = (size(rows, "rows"), size(columns, "columns"));
        let (docs, words) = if options.transpose { (columns, rows) } else { (rows, columns) };
        let entries = size(entries, "entries");
        let header = Header { docs, words, entries, word_first: options.transpose, pattern };
        return triples::read(lines, &header, names);
    }
}

/// Reads the first line; says whether entries have no values.
fn banner(lines: &mut Lines<'_>) -> Result<bool> {
    let line = lines.read()?.unwrap_or_default();
    let text = String::from_utf8_lossy(line).to_lowercase();
    let fields: Vec<&str> = text.split_whitespace().collect();
    let refused = |what: &str, advice: &str| Err(lines.fault("", format!("{what}; {advice}")));
    match fields[..] {
        ["%%matrixmarket", "matrix", "array", ..] => refused(
            "is a dense array",
            "write the matrix in coordinate form, e.g. with scipy.io.mmwrite(file, scipy.sparse.csr_matrix(x))",
        ),
        ["%%matrixmarket", "matrix", "coordinate", field, symmetry] => {
            if symmetry != "general" {
                return refused(
                    &format!("is a {symmetry} matrix"),
                    "documents and words are a general one: write it with scipy.io.mmwrite(file, x, symmetry='general')",
                );
            }
            match field {
                "real" | "integer" | "unsigned-integer" => Ok(false),
                "pattern" => Ok(true),
                _ => refused(
                    &format!("holds {field} numbers"),
                    "counts are real, integer or pattern",
                ),
            }
        }
        _ => refused(
            &format!("found {}", shown(text.as_bytes())),
            "a Matrix Market file starts with `%%MatrixMarket matrix coordinate real general`",
        ),
    }
}
