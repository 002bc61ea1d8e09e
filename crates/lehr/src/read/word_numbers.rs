//! Reads words and a number of each, as priors of words are given.

use std::path::Path;

use super::seed_words::Named;
use crate::{Error, Result};

/// Reads words with their numbers. Of text a line is a word, a blank, a tab, a comma or a colon, and its number; blank
/// lines and lines that start with # are skipped. A file that starts with `{` is JSON: an object of words and numbers.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("eta.txt");
/// std::fs::write(&path, "# common words\nsaid 2\nnew_york, 0.5\n")?;
/// let found = lehr::read::word_numbers(&path)?;
/// assert_eq!(found, [("said".to_string(), 2.0), ("new_york".to_string(), 0.5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn word_numbers(path: &Path) -> Result<Vec<(String, f64)>> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, "read", error))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Error::parse(path, format!("is not UTF-8 ({error}); save it as plain text or JSON"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        let found: Named<f64> = serde_json::from_str(text).map_err(|error| {
            let allowed = "must be an object of words and numbers, e.g. {\"said\": 2}";
            Error::parse(path, format!("{error}; {allowed}"))
        })?;
        return Ok(found.0);
    }
    let mut words = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parts = line.rsplit_once([' ', '\t', ',', ':']);
        let found = parts.and_then(|(word, number)| {
            let word = word.trim_end_matches([' ', '\t', ',', ':']);
            Some((word.to_string(), number.parse::<f64>().ok()?))
        });
        match found.filter(|(word, _)| !word.is_empty()) {
            Some(found) => words.push(found),
            None => {
                let what = "has no word with a number behind it, e.g. 'said 2'";
                return Err(Error::parse_at(path, i as u64 + 1, None, what));
            }
        }
    }
    if words.is_empty() {
        return Err(Error::parse(path, "has no words; a line is a word and a number"));
    }
    Ok(words)
}
