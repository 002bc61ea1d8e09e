//! Which format a corpus is in: content first, since a name may lie; then the name.

use super::super::digits::whole;
use super::super::source::Source;
use super::{CorpusFormat, matrix_market, pairs};
use crate::error::{Advice, advice, setting};
use crate::{Error, Result, data};

/// How many lines decide between formats that look alike.
const LINES: usize = 100;

/// The format of a file that is not text, by its first bytes; `None` for text.
pub(super) fn binary(
    source: &Source<'_>,
    asked: Option<CorpusFormat>,
) -> Result<Option<CorpusFormat>> {
    let refused = |message: Advice| Err(Error::parse(source.path, message));
    if source.head.starts_with(b"\x93NUMPY") {
        return refused("is a dense NumPy array; documents are read from sparse matrices: save one with scipy.sparse.save_npz(file, scipy.sparse.csr_matrix(x))".into());
    }
    let magics: [(&[u8], CorpusFormat); 3] = [
        (data::MAGIC, CorpusFormat::Lehr),
        (b"PAR1", CorpusFormat::Parquet),
        (b"PK\x03\x04", CorpusFormat::Npz),
    ];
    let found = magics.into_iter().find(|(magic, _)| source.head.starts_with(magic));
    let found = found.map(|(_, format)| format);
    let is_binary = |format| magics.iter().any(|&(_, binary)| binary == format);
    let named = |ending: &str| source.name.ends_with(ending);
    let claimed = match asked {
        Some(format) => Some(format),
        None if named(".npz") => Some(CorpusFormat::Npz),
        None if named(".parquet") => Some(CorpusFormat::Parquet),
        None if named(".lehr") => Some(CorpusFormat::Lehr),
        None => None,
    };
    match (found, claimed) {
        (Some(found), Some(asked_for)) if asked.is_some() && found != asked_for => {
            refused(advice![
                format!("is in the format {found}, and "),
                setting("format"),
                format!(" asks for {asked_for}; leave it out"),
            ])
        }
        (None, Some(claimed)) if is_binary(claimed) => {
            let is_not = format!("is not in the format {claimed} although ");
            refused(match asked {
                Some(_) => {
                    let wrong = " says so; leave it out, or give the right one";
                    advice![is_not, setting("format"), wrong]
                }
                None => {
                    let wrong = "its name says so; if it is text, name it .txt or give ";
                    advice![is_not, wrong, setting("format")]
                }
            })
        }
        (found, _) => Ok(found),
    }
}

/// The format of a file of this name, in lower case and without .gz, that starts with `head`.
pub(super) fn text(name: &str, head: &[u8]) -> CorpusFormat {
    let lines = || head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    if head.len() >= matrix_market::MAGIC.len()
        && head[..matrix_market::MAGIC.len()].eq_ignore_ascii_case(matrix_market::MAGIC)
    {
        return CorpusFormat::MatrixMarket;
    }
    let mut first = lines();
    let header: Vec<&[u8]> = first.by_ref().take(3).collect();
    if header.len() == 3 && header.iter().all(|line| whole(line).is_some()) {
        return CorpusFormat::Uci;
    }
    let object = lines().find(|line| !line.is_empty()).and_then(|line| line.strip_prefix(b"{"));
    if object.is_some_and(|inside| inside.trim_ascii_start().starts_with(b"\"")) {
        return CorpusFormat::Jsonl;
    }
    if head.trim_ascii_start().strip_prefix(b"[").is_some_and(holds_objects) {
        return CorpusFormat::Json;
    }
    // The last line may be cut off in the middle of a pair.
    let complete = head.iter().rposition(|&byte| byte == b'\n').map_or(head, |at| &head[..at]);
    if let Some(format) = pairs::recognise(complete.split(|&byte| byte == b'\n').take(LINES)) {
        return format;
    }
    let extension = name.rsplit('.').next().unwrap_or_default();
    match extension {
        _ if name.starts_with("docword.") => CorpusFormat::Uci,
        "mtx" | "mm" => CorpusFormat::MatrixMarket,
        "ldac" | "lda-c" => CorpusFormat::Ldac,
        "svm" | "svmlight" | "libsvm" => CorpusFormat::Svmlight,
        "jsonl" | "ndjson" => CorpusFormat::Jsonl,
        "json" => CorpusFormat::Json,
        "csv" | "tsv" | "tab" => CorpusFormat::Csv,
        _ => CorpusFormat::Text,
    }
}

/// Whether the inside of a list starts with an object, which no text does.
fn holds_objects(inside: &[u8]) -> bool {
    let object = inside.trim_ascii_start().strip_prefix(b"{");
    object.is_some_and(|inside| inside.trim_ascii_start().starts_with(b"\""))
}
