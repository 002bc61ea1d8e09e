//! The words' names from their own file, one word a line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::super::source::{Needed, Source, shown};
use super::lines::Lines;
use super::{CorpusFormat, DocsOptions};
use crate::data::Vocabulary;
use crate::error::{advice, setting};
use crate::{Error, Result};

const NEEDED: Needed = Needed {
    files: "a text file with one word a line",
    least: "a file with one word a line",
    most: Some(1 << 30),
};

/// Names, and the file that they come from.
pub(super) struct Names {
    path: PathBuf,
    words: Vec<String>,
    /// Whether the file was not asked for: it was found next to the corpus.
    beside: bool,
}

impl Names {
    /// The names that the options ask for. Next to `docword.x.txt` or `docword.x.txt.gz` of UCI's
    /// corpora, `vocab.x.txt` is used without being asked for.
    pub(super) fn find(
        path: &Path,
        format: CorpusFormat,
        options: &DocsOptions,
    ) -> Result<Option<Self>> {
        if let Some(vocab) = &options.vocab {
            return Names::read(vocab, false).map(Some);
        }
        if format != CorpusFormat::Uci {
            return Ok(None);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let Some(rest) = name.strip_prefix("docword.") else { return Ok(None) };
        let vocab = path.with_file_name(format!("vocab.{rest}"));
        if vocab.is_file() { Names::read(&vocab, true).map(Some) } else { Ok(None) }
    }

    fn read(path: &Path, beside: bool) -> Result<Self> {
        let mut source = Source::open(path, &NEEDED)?;
        source.check_text(&NEEDED)?;
        let mut lines = Lines::new(source);
        let mut words = Vec::new();
        let mut blank = None;
        while let Some(line) = lines.read()? {
            let word = line.trim_ascii();
            if word.is_empty() {
                blank = blank.or(Some(words.len() as u64 + 1));
                continue;
            }
            // Blank lines at the end are nothing; inside, they would shift every word behind them.
            if let Some(line) = blank {
                return Err(Error::parse_at(
                    path,
                    line,
                    None,
                    "the line is empty; line i names word i, so give every line a word",
                ));
            }
            match std::str::from_utf8(word) {
                Ok(word) => words.push(word.to_string()),
                Err(_) => {
                    let found = shown(word);
                    return Err(
                        lines.fault("", format!("{found} is not UTF-8; save the file as UTF-8"))
                    );
                }
            }
        }
        if words.is_empty() {
            return Err(Error::parse(path, format!("has no words; give {}", NEEDED.least)));
        }
        let mut seen = HashMap::with_capacity(words.len());
        for (word, line) in words.iter().zip(1u64..) {
            if let Some(before) = seen.insert(word.as_str(), line) {
                return Err(Error::parse_at(
                    path,
                    line,
                    None,
                    format!(
                        "{word:?} is on line {before} already; a word may stand there once: take one of the two out, or tell them apart"
                    ),
                ));
            }
        }
        Ok(Names { path: path.to_path_buf(), words, beside })
    }

    pub(super) fn len(&self) -> u64 {
        self.words.len() as u64
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Refuses names that are not as many as the words of the corpus.
    pub(super) fn check(&self, corpus: &Path, n_words: u64) -> Result<()> {
        if self.len() == n_words {
            return Ok(());
        }
        let name = corpus.file_name().unwrap_or_default().to_string_lossy();
        let found = format!("names {} words, but {name} has {n_words}", self.len());
        let message = if self.beside {
            let why = "; it was taken because it is next to it: rename it, or name another with ";
            advice![found, why, setting("vocab")]
        } else {
            advice![found, "; give the vocabulary file that belongs to it"]
        };
        Err(Error::parse(&self.path, message))
    }

    /// What is wrong with a word beyond these names.
    pub(super) fn beyond(&self) -> String {
        format!("{} names only {} words", self.path.display(), self.len())
    }

    pub(super) fn into_words(self) -> Vec<String> {
        self.words
    }

    pub(super) fn into_vocabulary(self) -> Result<Vocabulary> {
        Vocabulary::named(self.words)
    }
}
