//! Reads text, one document a line or a JSON value.

use serde_json::Value;

use super::CorpusFormat;
use super::fields::Fields;
use super::gather::{Body, Gather};
use super::lines::Lines;
use crate::Result;

/// Reads the lines of a text or of a file of JSON lines.
pub(super) fn read(
    mut lines: Lines<'_>,
    format: CorpusFormat,
    gather: &mut Gather<'_>,
) -> Result<()> {
    let mut fields = Fields::new(gather.options());
    while let Some(line) = lines.read()? {
        let added = match format {
            CorpusFormat::Jsonl if line.trim_ascii().is_empty() => continue,
            CorpusFormat::Jsonl => match serde_json::from_slice::<Value>(line) {
                Ok(value) => fields.add(value, gather),
                Err(error) => {
                    let found = format!("is not JSON ({error}); give one object a line");
                    Err((String::new(), found.into()))
                }
            },
            _ => match decoded(line) {
                Ok(text) => gather.add(&Body::Text(text.into()), None).map_err(whole_line),
                Err(found) => Err(whole_line(found)),
            },
        };
        added.map_err(|(field, found)| lines.fault(&field, found))?;
    }
    if format == CorpusFormat::Jsonl { fields.check(gather) } else { Ok(()) }
}

fn whole_line(found: String) -> super::fields::Fault {
    (String::new(), found.into())
}

/// A line or a cell as text, or what is wrong with it.
pub(super) fn decoded(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| {
        let byte = bytes[error.valid_up_to()];
        format!(
            "is not UTF-8 (byte 0x{byte:02x}); convert the file, e.g. with iconv -f latin1 -t utf-8"
        )
    })
}
