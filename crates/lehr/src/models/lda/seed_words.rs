//! Seed words: what the prior of a topic adds to eta of a few words, so that the topic is about them in the end, too.
//!
//! beta_k ~ Dirichlet(eta + c_k) with c_kw = strength times how often the documents have word w, for the seed words of
//! topic k; 0 for all others. A fit's lambda holds eta and what the words add; c is constant, sparse, and added
//! wherever lambda is read. So a step, its decay and its guards are those of a model without seeds.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::LdaParams;
use crate::data::Vocabulary;
use crate::error::{Advice, advice, setting};
use crate::lambda::Lambda;
use crate::math::special::digamma;
use crate::store::path_text;
use crate::{Error, Result, read};

/// The words that topics are to have, in a file or as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeedWords {
    /// A file that [`read::seed_words`] reads.
    File(#[serde(with = "path_text")] PathBuf),
    /// The topics themselves, the first one for topic 0.
    Topics(Vec<SeedTopic>),
}

/// A topic to be: its name, and words that it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedTopic {
    /// What people call it.
    pub name: String,
    /// Its words.
    pub words: Vec<SeedWord>,
}

/// A word of a topic to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedWord {
    /// The word, or its number from 0 where words have no names.
    pub word: String,
    /// How strong, if not as all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
}

/// How strong seed words are by default: as if each had occurred in its topic as often as it does in all
/// documents.
pub(super) const STRENGTH: f64 = 1.0;

/// The most and the least that a strength can be.
const STRENGTHS: (f64, f64) = (1e-6, 1e6);

/// Unknown words that a message lists.
pub(super) const LISTED: usize = 10;

/// Whether a strength is allowed.
pub(super) fn check_strength(field: &str, strength: f64) -> Result<()> {
    let (least, most) = STRENGTHS;
    if (least..=most).contains(&strength) {
        return Ok(());
    }
    Err(Error::config(field, strength, "must be a positive number; 1 is usual, 0.1 is weak"))
}

/// What seed words add to eta, as a run keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedPrior {
    /// The names of the first topics.
    pub names: Vec<String>,
    /// Word, topic, and what is added to eta there; words rise, and the topics of each do.
    pub added: Vec<(u32, u32, f64)>,
    /// The words that are not in the vocabulary; a fit tells them, a run does not keep them.
    #[serde(skip)]
    unknown: Vec<String>,
    /// How many words were given.
    #[serde(skip)]
    n_given: usize,
}

impl SeedPrior {
    /// What the settings ask for, for a vocabulary of words that occur so often.
    pub(super) fn new(
        params: &LdaParams,
        vocabulary: &Vocabulary,
        counts: &[f64],
    ) -> Result<Option<Self>> {
        let Some(seeds) = &params.seed_words else { return Ok(None) };
        let (topics, path) = match seeds {
            SeedWords::File(path) => (&read::seed_words(path)?, Some(path.as_path())),
            SeedWords::Topics(topics) => (topics, None),
        };
        let found = Found::of(topics, params, vocabulary).map_err(|wrong| at(path, wrong))?;
        let added = found.added.iter().map(|(&(word, topic), strength)| {
            // A word that training documents do not have counts like one that they have once.
            (word, topic, strength * counts[word as usize].max(1.0))
        });
        Ok(Some(SeedPrior {
            names: topics.iter().map(|topic| topic.name.clone()).collect(),
            added: added.collect(),
            unknown: found.unknown,
            n_given: topics.iter().map(|topic| topic.words.len()).sum(),
        }))
    }

    /// Whether what a run has kept fits its vocabulary and its number of topics.
    pub(super) fn is_valid(&self, n_words: usize, n_topics: usize) -> bool {
        let rises =
            self.added.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1));
        let in_range = |&(word, topic, c): &(u32, u32, f64)| {
            (word as usize) < n_words && (topic as usize) < n_topics && c > 0.0 && c.is_finite()
        };
        rises && self.names.len() <= n_topics && self.added.iter().all(in_range)
    }

    /// The part of [`SeedPrior::added`] of a word.
    #[inline]
    pub(super) fn of(&self, word: usize) -> &[(u32, u32, f64)] {
        let first = self.added.partition_point(|&(w, ..)| (w as usize) < word);
        let rest = &self.added[first..];
        &rest[..rest.partition_point(|&(w, ..)| w as usize == word)]
    }

    /// What a fit should say of words that are not there.
    pub(super) fn note(&self) -> Option<Advice> {
        let n = self.unknown.len();
        if n == 0 {
            return None;
        }
        let mut listed = self.unknown[..n.min(LISTED)].join(", ");
        if n > LISTED {
            listed += &format!(" and {} more", n - LISTED);
        }
        let (are, they) = if n == 1 { ("is", "it does") } else { ("are", "they do") };
        Some(advice![format!(
            "{n} of {} seed words {are} not in the vocabulary, and {they} nothing: {listed}",
            self.n_given
        )])
    }

    /// The sum of what is added, by topic.
    fn totals(&self, n_topics: usize) -> Vec<f64> {
        let mut totals = vec![0.0; n_topics];
        self.added.iter().for_each(|&(_, topic, c)| totals[topic as usize] += c);
        totals
    }
}

/// The parameters of the topics' priors and posteriors, with seed words or without.
impl super::Lda {
    /// Whether anything is added to lambda.
    pub(super) fn adds(&self) -> bool {
        self.seed_prior.is_some() || self.word_prior.is_some()
    }

    /// Whether anything is added to a word's row.
    #[inline]
    pub(super) fn adds_to(&self, word: usize) -> bool {
        self.more_of(word) > 0.0 || !self.added(word).is_empty()
    }

    /// How much more than the smallest eta a word has, whatever the topic.
    #[inline]
    pub(super) fn more_of(&self, word: usize) -> f64 {
        self.word_prior.as_ref().map_or(0.0, |prior| prior.more(word))
    }

    /// What seed words add to eta of a word.
    #[inline]
    pub(super) fn added(&self, word: usize) -> &[(u32, u32, f64)] {
        self.seed_prior.as_ref().map_or(&[], |seeds| seeds.of(word))
    }

    /// Adds to a row of lambda what its word has more than others.
    #[inline]
    fn add_to(&self, word: usize, row: &mut [f64]) {
        if self.word_prior.is_some() {
            let more = self.more_of(word);
            row.iter_mut().for_each(|x| *x += more);
        }
        self.added(word).iter().for_each(|&(_, topic, c)| row[topic as usize] += c);
    }

    /// The other way round, for lambda that is given as a whole: at least eta is left.
    pub fn take_seeds(&self, word: usize, row: &mut [f64]) {
        let eta = self.base_eta();
        let take = |x: &mut f64, c: f64| *x = (*x - c).max(eta.min(*x));
        let more = self.more_of(word);
        if more > 0.0 {
            row.iter_mut().for_each(|x| take(x, more));
        }
        self.added(word).iter().for_each(|&(_, topic, c)| take(&mut row[topic as usize], c));
    }

    /// The sum over all words of what is added, by topic.
    pub(super) fn added_totals(&self) -> Vec<f64> {
        let n_topics = self.params.topics;
        let more = self.word_prior.as_ref().map_or(0.0, |prior| prior.all_more);
        let mut totals =
            self.seed_prior.as_ref().map_or_else(|| vec![0.0; n_topics], |s| s.totals(n_topics));
        totals.iter_mut().for_each(|total| *total += more);
        totals
    }

    /// The sum of each topic's parameters.
    pub(super) fn topic_totals(&self, lambda: &Lambda) -> Vec<f64> {
        let mut totals = lambda.totals().to_vec();
        if self.adds() {
            totals.iter_mut().zip(self.added_totals()).for_each(|(total, c)| *total += c);
        }
        totals
    }

    /// A word's row of the topics' parameters; `prior` is room for K numbers of eta.
    pub(super) fn read_word(&self, lambda: &Lambda, word: usize, prior: &[f64], row: &mut [f64]) {
        lambda.read(word, prior, row);
        self.add_to(word, row);
    }

    /// By how much seed words raise the sum of digamma(lambda_kw) over all topics and words; all rows are current.
    pub(super) fn digamma_of_seeds(&self, lambda: &Lambda) -> f64 {
        let added = self.seed_prior.as_ref().map_or(&[][..], |seeds| &seeds.added);
        let raise = |&(word, topic, c): &(u32, u32, f64)| {
            let x = lambda.table().row(word as usize)[topic as usize];
            digamma(x + c) - digamma(x)
        };
        added.iter().map(raise).sum()
    }
}

/// Where a message says that something is wrong: in the file, or in the setting.
fn at(path: Option<&Path>, wrong: Advice) -> Error {
    match path {
        Some(path) => Error::parse(path, wrong),
        None => Error::config("seed_words", "the topics", wrong),
    }
}

/// The number of a word as people write it; `numbers` are those of the vocabulary's names.
pub(super) fn number_of(
    words: &Vocabulary,
    numbers: &HashMap<&str, u32>,
    word: &str,
) -> Option<u32> {
    match words.names() {
        // As it is written, or as text that is read becomes words.
        Some(_) => {
            let known = numbers.get(word);
            known.or_else(|| numbers.get(word.to_lowercase().as_str())).copied()
        }
        None => word.parse().ok().filter(|&n: &u32| (n as usize) < words.n_words()),
    }
}

/// Seed words that are in a vocabulary.
struct Found {
    /// Strengths by word and topic.
    added: BTreeMap<(u32, u32), f64>,
    unknown: Vec<String>,
}

impl Found {
    fn of(topics: &[SeedTopic], params: &LdaParams, words: &Vocabulary) -> Result<Self, Advice> {
        check_topics(topics, params)?;
        let numbers = words.numbers();
        let usual = params.seed_strength.unwrap_or(STRENGTH);
        let mut found = Found { added: BTreeMap::new(), unknown: Vec::new() };
        for (k, topic) in topics.iter().enumerate() {
            for SeedWord { word, strength } in &topic.words {
                let strength = strength.unwrap_or(usual);
                let Some(w) = number_of(words, &numbers, word) else {
                    found.unknown.push(word.clone());
                    continue;
                };
                if let Some(before) = found.added.insert((w, k as u32), strength)
                    && before != strength
                {
                    return Err(format!(
                        "topic '{}' has the word '{word}' with strength {before} and with {strength}; keep one",
                        topic.name
                    )
                    .into());
                }
            }
        }
        if found.added.is_empty() {
            return Err(found.none_known(words));
        }
        found.check_apart(topics)?;
        Ok(found)
    }

    fn none_known(&self, words: &Vocabulary) -> Advice {
        if self.unknown.is_empty() {
            return "no topic has a word; give one of them a word at least".into();
        }
        let begin = format!(
            "none of {} seed words is in the vocabulary of {} words",
            self.unknown.len(),
            words.n_words()
        );
        let first = self.unknown.first().map_or("", String::as_str);
        match words.names() {
            Some(names) => {
                let some = names[..names.len().min(3)].join(", ");
                format!("{begin}: found '{first}', and it has words like {some}; spell them alike")
                    .into()
            }
            None => advice![
                format!("{begin}, which has no names: found '{first}'; name the words with "),
                setting("vocab"),
                ", or give their numbers from 0",
            ],
        }
    }

    /// Topics of the same words could not be told apart.
    fn check_apart(&self, topics: &[SeedTopic]) -> Result<(), Advice> {
        let mut by_topic = vec![Vec::new(); topics.len()];
        self.added.iter().for_each(|(&(w, k), c)| by_topic[k as usize].push((w, c.to_bits())));
        let mut before = HashMap::new();
        for (k, words) in by_topic.into_iter().enumerate().filter(|(_, words)| !words.is_empty()) {
            if let Some(other) = before.insert(words, k) {
                let (a, b): (&SeedTopic, &SeedTopic) = (&topics[other], &topics[k]);
                return Err(format!(
                    "topics '{}' and '{}' have the same seed words, and nothing could tell them apart; give one of \
                     them another word, or leave it out",
                    a.name, b.name
                )
                .into());
            }
        }
        Ok(())
    }
}

/// What can be wrong with topics whatever the vocabulary is.
fn check_topics(topics: &[SeedTopic], params: &LdaParams) -> Result<(), Advice> {
    if topics.is_empty() {
        return Err("has no topics; a topic is a name and words".into());
    }
    if topics.len() > params.topics {
        return Err(advice![
            format!("has {} topics, and ", topics.len()),
            setting("topics").to(params.topics),
            " asks for fewer; ask for as many at least",
        ]);
    }
    let mut names = HashMap::new();
    for (k, topic) in topics.iter().enumerate() {
        if topic.name.trim().is_empty() {
            return Err(format!("topic {k} has no name").into());
        }
        if let Some(before) = names.insert(topic.name.as_str(), k) {
            return Err(format!(
                "topics {before} and {k} are both called '{}'; put their words together, or give them two names",
                topic.name
            )
            .into());
        }
        for SeedWord { word, strength } in &topic.words {
            let (least, most) = STRENGTHS;
            if let Some(x) = strength.filter(|x| !(least..=most).contains(x)) {
                return Err(format!(
                    "topic '{}', word '{word}': found strength {x}; it must be a positive number, 1 is usual",
                    topic.name
                )
                .into());
            }
        }
    }
    Ok(())
}
