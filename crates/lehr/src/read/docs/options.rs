//! The options of a reader of documents.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::{HEADER, Header};
use super::ngrams::MOST;
use crate::error::{advice, setting};
use crate::settings::{Kind, Setting, choices};
use crate::store::path_text;
use crate::{Error, Result};

/// How a corpus is to be read. An option that has no meaning for the format of the file is refused.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DocsOptions {
    /// The format; recognised by content and name if absent.
    pub format: Option<CorpusFormat>,
    /// A file with one word a line: line i names word i. For text, and for Parquet whose terms are
    /// words, it fixes the vocabulary, and other words are left out.
    #[serde(with = "path_text::option")]
    pub vocab: Option<PathBuf>,
    /// SVMlight: words are numbered from 1 instead of from 0.
    pub one_based: bool,
    /// Matrix Market: rows are words and columns are documents instead of the other way round.
    pub transpose: bool,
    /// Tables, JSON and Parquet: the column or field that holds the documents; in JSON, `a.b` is field b of the
    /// object a. By default the one called text, or else the only one that holds text.
    pub field: Option<String>,
    /// Tables, JSON and Parquet: the column or field that holds the documents' ids.
    pub id: Option<String>,
    /// Tables in text: whether the first line holds the columns' names, as it does by default.
    pub header: Header,
    /// Whether ids are wanted if a column or field is called id though none is named. No setting: a run has no
    /// use for the ids of what it is fitted to.
    #[serde(skip)]
    pub ids: bool,
    /// Text: whether [`Docs::text`](crate::data::Docs::text) has how each document starts. No setting: only who shows
    /// documents has a use for it.
    #[serde(skip)]
    pub texts: bool,
    /// Text: how it is split into words, by default into runs of letters in lower case.
    pub tokens: Option<Tokens>,
    /// Text: digits are parts of words as letters are.
    pub digits: bool,
    /// Text: up to this many words side by side, without those that are left out, count as a word of their own as well,
    /// joined by `_`. By default 1: none do.
    pub ngrams: Option<usize>,
    /// Text: the words to leave out, English function words by default.
    pub stop_words: Option<StopWords>,
    /// Text: a word in fewer documents is left out. By default 5, but no more than a hundredth of
    /// the documents, so that small corpora keep their words.
    pub min_docs: Option<u32>,
    /// Text: a word in a larger share of the documents is left out. By default 0.5, and 1 for fewer
    /// than 20 documents.
    pub max_docs: Option<f64>,
    /// Text: only this many words are kept, those that occur most often. By default 100,000.
    pub max_words: Option<usize>,
    /// Text: a word of fewer letters is left out. By default 3.
    pub min_length: Option<usize>,
}

const GROUP: &str = "Documents";

/// The settings of documents: the fields of [`DocsOptions`].
pub const DOCS: &[Setting] = &[
    Setting {
        name: "vocab",
        kind: Kind::Path,
        value_name: "FILE",
        help: "The words' names: line i names word i. Next to docword.x.txt, vocab.x.txt is used automatically. Of \
               a text, only these words are kept",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "format",
        kind: Kind::Choice(CorpusFormat::NAMES),
        value_name: "FORMAT",
        help: "The format of the file",
        default: "recognised",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "one_based",
        kind: Kind::Toggle(false),
        help: "svmlight: words are numbered from 1, not from 0",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "transpose",
        kind: Kind::Toggle(false),
        help: "matrix-market: rows are words and columns are documents",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "field",
        kind: Kind::Text,
        value_name: "NAME",
        help: "csv, json, jsonl, parquet: the column or field with the documents; in JSON also a.b, field b of \
               the object a",
        default: "text, or the only one with text",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "id",
        kind: Kind::Text,
        value_name: "NAME",
        help: "csv, json, jsonl, parquet: the column or field with each document's id, which 'lehr transform' \
               copies",
        default: "id, if there is one",
        group: GROUP,
        fit_only: true,
        ..Setting::BLANK
    },
    Setting { group: GROUP, ..HEADER },
    Setting {
        name: "tokens",
        kind: Kind::Choice(Tokens::NAMES),
        value_name: "HOW",
        help: "texts: how they are split: words (runs of letters, in lower case), whitespace (what stands between blanks, as \
               it is) or unicode (by the rules of Unicode, and by dictionary in Chinese, Japanese and Thai)",
        default: "words",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "digits",
        kind: Kind::Toggle(false),
        help: "texts: digits are parts of words, as letters are",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "ngrams",
        kind: Kind::Whole,
        value_name: "N",
        help: "texts: up to N words side by side count as a word of their own as well, like new_york; stop words are left \
               out before",
        default: "1",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "stop_words",
        kind: Kind::Text,
        value_name: "LIST",
        help: "texts: the words to leave out: english, dutch, french, german, italian, portuguese, spanish, none or a FILE \
               with one a line",
        default: "english",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "min_length",
        kind: Kind::Whole,
        value_name: "N",
        help: "texts: leave out words of fewer letters",
        default: "3",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "min_docs",
        kind: Kind::Whole,
        value_name: "N",
        help: "texts: leave out words in fewer documents",
        default: "5, at most 1 % of them",
        group: GROUP,
        fit_only: true,
        ..Setting::BLANK
    },
    Setting {
        name: "max_docs",
        kind: Kind::Number,
        value_name: "SHARE",
        help: "texts: leave out words in a larger share of the documents",
        default: "0.5",
        group: GROUP,
        fit_only: true,
        ..Setting::BLANK
    },
    Setting {
        name: "max_words",
        kind: Kind::Whole,
        value_name: "N",
        help: "texts: keep only N words, the most frequent ones",
        default: "100000",
        group: GROUP,
        fit_only: true,
        ..Setting::BLANK
    },
];

choices! {
    /// A format of corpora.
    pub enum CorpusFormat {
        /// UCI bag of words: lines with D, W and NNZ, then `document word count`, numbered from 1.
        Uci = "uci",
        /// LDA-C: `n word:count ...`, words numbered from 0.
        Ldac = "ldac",
        /// SVMlight or libsvm: `label word:count ...`, words numbered from 0 (see `one_based`).
        Svmlight = "svmlight",
        /// Matrix Market coordinates, documents as rows (see `transpose`).
        MatrixMarket = "matrix-market",
        /// A sparse matrix saved by `scipy.sparse.save_npz`, documents as rows.
        Npz = "npz",
        /// Parquet with columns for document, term and count, or with one of texts (see `field`).
        Parquet = "parquet",
        /// Text, one document a line.
        Text = "text",
        /// JSON lines: a document a line, as in `json`.
        Jsonl = "jsonl",
        /// A JSON list of documents: objects (see `field`), texts or lists of words.
        Json = "json",
        /// A table in text, separated by commas, semicolons or tabs, with a column of documents (see `field`).
        Csv = "csv",
        /// A converted corpus, as `Docs::save` writes it.
        Lehr = "lehr",
    }
}

choices! {
    /// How text is split into words.
    pub enum Tokens {
        /// Unbroken runs of letters, in lower case.
        Words = "words",
        /// What stands between blanks, as it is.
        Whitespace = "whitespace",
        /// By the rules of Unicode (UAX 29), and by dictionary where words have no blanks between them: Chinese, Japanese,
        /// Thai and others. In lower case. For builds with the feature `segmenter`.
        Unicode = "unicode",
    }
}

choices! {
    /// A language other than English whose function words are known.
    pub enum Language {
        /// Dutch.
        Dutch = "dutch",
        /// French.
        French = "french",
        /// German.
        German = "german",
        /// Italian.
        Italian = "italian",
        /// Portuguese.
        Portuguese = "portuguese",
        /// Spanish.
        Spanish = "spanish",
    }
}

/// Which words of a text are left out because they say nothing about its topic.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StopWords {
    /// The built-in list of English function words; in a configuration "english".
    #[default]
    English,
    /// Those of another language; in a configuration its name, in lower case.
    Of(Language),
    /// None; in a configuration "none".
    None,
    /// Those in a file, one a line; in a configuration its path.
    File(PathBuf),
}

impl From<String> for StopWords {
    fn from(text: String) -> Self {
        match text.as_str() {
            "english" => StopWords::English,
            "none" => StopWords::None,
            _ => match text.parse() {
                Ok(language) => StopWords::Of(language),
                Err(_) => StopWords::File(text.into()),
            },
        }
    }
}

impl From<StopWords> for String {
    fn from(words: StopWords) -> Self {
        words.to_string()
    }
}

impl fmt::Display for StopWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopWords::English => f.write_str("english"),
            StopWords::Of(language) => f.write_str(language.name()),
            StopWords::None => f.write_str("none"),
            StopWords::File(path) => path.display().fmt(f),
        }
    }
}

impl CorpusFormat {
    /// Whether its documents are texts.
    pub(super) fn is_text(self) -> bool {
        matches!(
            self,
            CorpusFormat::Text | CorpusFormat::Jsonl | CorpusFormat::Json | CorpusFormat::Csv
        )
    }
}

impl DocsOptions {
    /// Refuses options that the format has no use for, and values that no file can meet; `texts` says whether the
    /// documents are texts.
    pub(super) fn check(&self, path: &Path, format: CorpusFormat, texts: bool) -> Result<()> {
        self.check_use(path, format, texts)?;
        if let Some(share) = self.max_docs
            && !(share > 0.0 && share <= 1.0)
        {
            let allowed = "a share of the documents: give a number above 0 and up to 1";
            return Err(Error::config("max_docs", share, allowed));
        }
        if let Some(n) = self.ngrams.filter(|n| !(1..=MOST).contains(n)) {
            let allowed = format!("must be from 1 (words alone) to {MOST}; 2 is usual");
            return Err(Error::config("ngrams", n, allowed));
        }
        if cfg!(not(feature = "segmenter")) && self.tokens == Some(Tokens::Unicode) {
            let found = "this build of lehr has no segmenter; build it with the feature segmenter, or use words or whitespace";
            return Err(Error::config("tokens", Tokens::Unicode, found));
        }
        if self.digits && self.tokens == Some(Tokens::Whitespace) {
            let found = advice![
                "has no use with ",
                setting("tokens").to(Tokens::Whitespace),
                ": words are taken as they are; leave it out",
            ];
            return Err(Error::config("digits", true, found));
        }
        if self.max_words == Some(0) {
            let allowed = "no word would be left; give 1 or more, or leave it out";
            return Err(Error::config("max_words", 0, allowed));
        }
        Ok(())
    }

    fn check_use(&self, path: &Path, format: CorpusFormat, texts: bool) -> Result<()> {
        const TEXT: &str = "text, csv, json, jsonl and parquet with texts";
        const FIELDS: &str = "csv, json, jsonl and parquet with texts";
        let has_fields = texts && format != CorpusFormat::Text;
        let shown = |value: Option<String>, field, users| value.map(|value| (field, value, users));
        let flag = |set: bool| set.then(|| "true".to_string());
        let header = (self.header != Header::Auto).then(|| self.header.to_string());
        let pruning = [
            shown(self.stop_words.as_ref().map(ToString::to_string), "stop_words", TEXT),
            shown(self.min_docs.map(|value| value.to_string()), "min_docs", TEXT),
            shown(self.max_docs.map(|value| value.to_string()), "max_docs", TEXT),
            shown(self.max_words.map(|value| value.to_string()), "max_words", TEXT),
            shown(self.min_length.map(|value| value.to_string()), "min_length", TEXT),
        ];
        // How texts are split is of use with a fixed vocabulary, too.
        let splitting = [
            shown(self.tokens.map(|tokens| tokens.to_string()), "tokens", TEXT),
            shown(flag(self.digits), "digits", TEXT),
            shown(self.ngrams.map(|value| value.to_string()), "ngrams", TEXT),
        ];
        let others = [
            (
                format != CorpusFormat::Svmlight,
                shown(flag(self.one_based), "one_based", "svmlight"),
            ),
            (
                format != CorpusFormat::MatrixMarket,
                shown(flag(self.transpose), "transpose", "matrix-market"),
            ),
            (!has_fields, shown(self.field.clone(), "field", FIELDS)),
            (!has_fields, shown(self.id.clone(), "id", FIELDS)),
            (format != CorpusFormat::Csv, shown(header, "header", "csv")),
        ];
        let idle = others.into_iter().filter_map(|(idle, option)| option.filter(|_| idle));
        let pruning = pruning.into_iter().flatten();
        let of_texts = splitting.into_iter().flatten().chain(pruning.clone());
        let mut idle = idle.chain(of_texts.filter(|_| !texts));
        if let Some((field, value, users)) = idle.next() {
            let found = advice![
                format!("has a meaning for the format {users} only, and {} ", path.display()),
                format!("is read as {format}; leave it out, or give "),
                setting("format"),
                " if that is wrong",
            ];
            return Err(Error::config(field, value, found));
        }
        if let (Some(vocab), Some((field, value, _))) = (&self.vocab, pruning.into_iter().next()) {
            let found = advice![
                "chooses words, but ",
                setting("vocab").to(vocab.display()),
                " fixes them already; leave out one of the two",
            ];
            return Err(Error::config(field, value, found));
        }
        Ok(())
    }
}
