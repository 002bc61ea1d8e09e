//! The words of a corpus: how many, and their names if they have any.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Error, Result};

/// The words, by their numbers from 0. Copies are cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    n_words: usize,
    names: Option<Arc<[String]>>,
}

impl Vocabulary {
    /// Words without names.
    pub fn unnamed(n_words: usize) -> Self {
        Vocabulary { n_words, names: None }
    }

    /// Words with names, no name twice.
    pub fn named(names: Vec<String>) -> Result<Self> {
        let mut seen = HashMap::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            if let Some(before) = seen.insert(name.as_str(), i) {
                return Err(Error::data(format!(
                    "word {} of the vocabulary, {name:?}, is word {} already",
                    i + 1,
                    before + 1
                )));
            }
        }
        Ok(Vocabulary { n_words: names.len(), names: Some(names.into()) })
    }

    /// The same words with other names, one for each.
    pub fn with_names(&self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.n_words {
            return Err(Error::data(format!(
                "{} names for {} words; give one for each word",
                names.len(),
                self.n_words
            )));
        }
        Vocabulary::named(names)
    }

    /// V.
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// The names, if there are any.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The number of each name; empty without names.
    pub(crate) fn numbers(&self) -> HashMap<&str, u32> {
        let names = self.names().unwrap_or_default();
        names.iter().zip(0..).map(|(name, number)| (name.as_str(), number)).collect()
    }

    /// A word to show: its name, or its number from 1 as in the file.
    pub fn show(&self, word: usize) -> String {
        match &self.names {
            Some(names) => names[word].clone(),
            None => format!("word {}", word + 1),
        }
    }
}
