//! Priors that are not the same for all: alpha of each topic, and eta of words.
//!
//! beta_kw has the prior parameter eta_w, whatever the topic. A fit's lambda holds the smallest of them and what the
//! words add; eta_w less that is constant, and added wherever lambda is read, as what seed words add is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::LdaParams;
use super::seed_words::{LISTED, number_of};
use crate::data::Vocabulary;
use crate::error::{Advice, advice, setting};
use crate::store::path_text;
use crate::{Error, Result, read};

/// The least and the most that a parameter of a Dirichlet prior can be.
pub(super) const RANGE: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// The message for all others.
pub(super) const ALLOWED: &str = "must be between 1e-6 and 1e6, usually between 0.001 and 10";

/// The prior of a document's topics: one number for all, or one for each. As text: `0.1` or `0.5,0.1,0.1`.
///
/// ```
/// use lehr::models::lda::Alpha;
///
/// let alpha: Alpha = "0.5,0.1,0.1".parse().unwrap();
/// assert_eq!(alpha, Alpha::Each(vec![0.5, 0.1, 0.1]));
/// assert_eq!(Alpha::from(0.1), "0.1".parse().unwrap());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Given", untagged)]
pub enum Alpha {
    /// The same for all topics.
    All(f64),
    /// Topic by topic.
    Each(Vec<f64>),
}

/// Alpha in a file: a number, a list, or a text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or one for each topic")]
enum Given {
    Number(f64),
    List(Vec<f64>),
    Text(String),
}

impl TryFrom<Given> for Alpha {
    type Error = String;

    fn try_from(given: Given) -> Result<Self, String> {
        match given {
            Given::Number(x) => Ok(Alpha::All(x)),
            Given::List(each) => Ok(Alpha::Each(each)),
            Given::Text(text) => text.parse(),
        }
    }
}

impl From<f64> for Alpha {
    fn from(x: f64) -> Self {
        Alpha::All(x)
    }
}

impl FromStr for Alpha {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            part.trim().parse::<f64>().map_err(|_| {
                format!(
                    "'{text}' is no prior of topics: use a number (0.1), or one for each topic \
                     (0.5,0.1,0.1)"
                )
            })
        };
        match text.contains(',') {
            false => number(text).map(Alpha::All),
            true => text.split(',').map(number).collect::<Result<_, _>>().map(Alpha::Each),
        }
    }
}

impl fmt::Display for Alpha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Alpha::All(x) => write!(f, "{x}"),
            Alpha::Each(each) => {
                let each: Vec<String> = each.iter().map(f64::to_string).collect();
                f.write_str(&each.join(","))
            }
        }
    }
}

impl Alpha {
    /// Of each of this many topics.
    pub(super) fn of(&self, topics: usize) -> Vec<f64> {
        match self {
            Alpha::All(x) => vec![*x; topics],
            Alpha::Each(each) => each.clone(),
        }
    }

    /// Whether every number is allowed, and there are as many as topics.
    pub(super) fn check(&self, topics: usize) -> Result<()> {
        if let Alpha::Each(each) = self
            && each.len() != topics
        {
            let allowed = advice![
                format!("has {} numbers, and ", each.len()),
                setting("topics").to(topics),
                " asks for another number of topics; give one number for all, or one for each",
            ];
            return Err(Error::config("alpha", self.to_string(), allowed));
        }
        match self.of(topics).iter().find(|x| !RANGE.contains(x)) {
            Some(wrong) => Err(Error::config("alpha", wrong, ALLOWED)),
            None => Ok(()),
        }
    }
}

/// The prior of words of their own, in a file or as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WordEta {
    /// A file that [`read::word_numbers`] reads.
    File(#[serde(with = "path_text")] PathBuf),
    /// A number for each word of the vocabulary, in its order.
    Each(Vec<f64>),
    /// Some words, or their numbers from 0 where words have no names; others have eta.
    Words(Vec<(String, f64)>),
}

/// Eta of every word, as a run keeps it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WordPrior {
    /// Eta by word.
    pub eta: Vec<f64>,
    /// The smallest of them.
    pub base: f64,
    /// How much larger each is.
    more: Vec<f64>,
    /// The sum of that.
    pub all_more: f64,
    /// The words that are not in the vocabulary, and how many were given.
    unknown: (Vec<String>, usize),
}

impl WordPrior {
    /// Of a number for each word; none if there are none or a number is not allowed.
    pub fn of(eta: Vec<f64>) -> Option<Self> {
        let base = eta.iter().copied().reduce(f64::min)?;
        let more: Vec<f64> = eta.iter().map(|eta| eta - base).collect();
        let all_more = more.iter().sum();
        eta.iter().all(|eta| RANGE.contains(eta)).then(|| WordPrior {
            eta,
            base,
            more,
            all_more,
            unknown: (Vec::new(), 0),
        })
    }

    /// What the settings ask for.
    pub fn new(params: &LdaParams, vocabulary: &Vocabulary) -> Result<Option<Self>> {
        let Some(given) = &params.word_eta else { return Ok(None) };
        let from_file;
        let (words, path) = match given {
            WordEta::Each(each) => return Self::of_each(each, vocabulary).map(Some),
            WordEta::Words(words) => (words, None),
            WordEta::File(path) => {
                from_file = read::word_numbers(path)?;
                (&from_file, Some(path.as_path()))
            }
        };
        let wrong = |message: Advice| match path {
            Some(path) => Error::parse(path, message),
            None => Error::config("word_eta", "the words", message),
        };
        let numbers = vocabulary.numbers();
        let mut eta = vec![params.start_eta(); vocabulary.n_words()];
        let mut told = vec![None; vocabulary.n_words()];
        let mut unknown = Vec::new();
        for (word, x) in words {
            if !RANGE.contains(x) {
                return Err(wrong(format!("word '{word}': found {x}; eta {ALLOWED}").into()));
            }
            let Some(w) = number_of(vocabulary, &numbers, word) else {
                unknown.push(word.clone());
                continue;
            };
            if let Some(before) = told[w as usize].replace(*x)
                && before != *x
            {
                let message = format!("the word '{word}' has eta {before} and {x}; keep one");
                return Err(wrong(message.into()));
            }
            eta[w as usize] = *x;
        }
        if unknown.len() == words.len() {
            let first = unknown.first().map_or("no words", String::as_str);
            return Err(wrong(
                format!(
                    "none of {} words is in the vocabulary of {} words: found '{first}'; spell them as the \
                     documents do",
                    words.len(),
                    vocabulary.n_words()
                )
                .into(),
            ));
        }
        let unknown = (unknown, words.len());
        Ok(Self::of(eta).map(|prior| WordPrior { unknown, ..prior }))
    }

    fn of_each(each: &[f64], vocabulary: &Vocabulary) -> Result<Self> {
        if each.len() != vocabulary.n_words() {
            let allowed = format!(
                "the vocabulary has {} words; give a number for each",
                vocabulary.n_words()
            );
            return Err(Error::config("word_eta", format!("{} numbers", each.len()), allowed));
        }
        if let Some((w, x)) = each.iter().enumerate().find(|(_, x)| !RANGE.contains(x)) {
            return Err(Error::config("word_eta", x, format!("word {w}: {ALLOWED}")));
        }
        Ok(Self::of(each.to_vec()).expect("the vocabulary is not empty and all are in range"))
    }

    /// How much more than the smallest eta a word has.
    #[inline]
    pub fn more(&self, word: usize) -> f64 {
        self.more[word]
    }

    /// What a fit should say of words that are not there.
    pub fn note(&self) -> Option<Advice> {
        let (unknown, n_given) = (&self.unknown.0, self.unknown.1);
        let n = unknown.len();
        if n == 0 {
            return None;
        }
        let mut listed = unknown[..n.min(LISTED)].join(", ");
        if n > LISTED {
            listed += &format!(" and {} more", n - LISTED);
        }
        let (are, they) = if n == 1 { ("is", "it does") } else { ("are", "they do") };
        Some(advice![format!(
            "{n} of {n_given} words with an eta of their own {are} not in the vocabulary, and {they} nothing: {listed}"
        )])
    }
}

/// The path of a file with them, if there is one.
pub(super) fn path_of(given: &mut Option<WordEta>) -> Option<&mut PathBuf> {
    match given {
        Some(WordEta::File(path)) => Some(path),
        _ => None,
    }
}

/// Whether settings about eta go together.
pub(super) fn check_eta(params: &LdaParams) -> Result<()> {
    if params.word_eta.is_some() && params.learn_eta == Some(true) {
        let allowed = advice![
            "eta cannot be learned where words have their own; leave out this or ",
            setting("word_eta"),
        ];
        return Err(Error::config("learn_eta", "yes", allowed));
    }
    Ok(())
}
