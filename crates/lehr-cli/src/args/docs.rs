//! How to read documents.

use std::path::PathBuf;

use clap::Args;

use lehr::read::{CorpusFormat, DocsOptions, StopWords};

use crate::text::{parse_number, parse_whole};

/// How to read documents.
#[derive(Debug, Args)]
#[command(next_help_heading = "Documents")]
pub struct DocsArgs {
    /// The words' names: line i names word i. Beside docword.x.txt, vocab.x.txt is used unasked. Of a
    /// text, only these words are kept.
    #[arg(long, value_name = "FILE")]
    pub vocab: Option<PathBuf>,
    /// uci, ldac, svmlight, matrix-market, npz, parquet, text, jsonl or lehr [default: recognised].
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<CorpusFormat>,
    /// svmlight: words are numbered from 1, not from 0.
    #[arg(long)]
    pub one_based: bool,
    /// matrix-market: rows are words and columns are documents.
    #[arg(long)]
    pub transpose: bool,
    /// jsonl: the field that holds the text [default: text].
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// text, jsonl: the words to leave out: english, none or a FILE with one a line [default:
    /// english].
    #[arg(long, value_name = "LIST")]
    pub stop_words: Option<String>,
    /// text, jsonl: leave out words of fewer letters [default: 3].
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub min_length: Option<usize>,
}

/// Which words of a text to keep, where there is no model yet that knows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Documents")]
pub struct WordsArgs {
    /// text, jsonl: leave out words in fewer documents [default: 5, at most 1 % of them].
    #[arg(long, value_name = "N", value_parser = parse_whole::<u32>, allow_negative_numbers = true)]
    pub min_docs: Option<u32>,
    /// text, jsonl: leave out words in a larger share of the documents [default: 0.5].
    #[arg(long, value_name = "SHARE", value_parser = parse_number, allow_negative_numbers = true)]
    pub max_docs: Option<f64>,
    /// text, jsonl: keep only so many words, the most frequent ones [default: 100000].
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub max_words: Option<usize>,
}

impl DocsArgs {
    /// These flags on top of other options.
    pub fn over(&self, base: DocsOptions) -> DocsOptions {
        DocsOptions {
            vocab: self.vocab.clone().or(base.vocab),
            format: self.format.or(base.format),
            one_based: self.one_based || base.one_based,
            transpose: self.transpose || base.transpose,
            field: self.field.clone().or(base.field),
            stop_words: self.stop_words.clone().map(StopWords::from).or(base.stop_words),
            min_length: self.min_length.or(base.min_length),
            ..base
        }
    }

    /// The flags that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let flags = [
            ("--vocab", self.vocab.is_some()),
            ("--format", self.format.is_some()),
            ("--one-based", self.one_based),
            ("--transpose", self.transpose),
            ("--field", self.field.is_some()),
            ("--stop-words", self.stop_words.is_some()),
            ("--min-length", self.min_length.is_some()),
        ];
        flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }
}

impl WordsArgs {
    /// These flags on top of other options.
    pub fn over(&self, base: DocsOptions) -> DocsOptions {
        DocsOptions {
            min_docs: self.min_docs.or(base.min_docs),
            max_docs: self.max_docs.or(base.max_docs),
            max_words: self.max_words.or(base.max_words),
            ..base
        }
    }
}
