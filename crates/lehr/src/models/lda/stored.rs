//! How LDA is saved and loaded.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::priors::{self, WordPrior};
use super::{Lda, LdaParams, SeedPrior, SeedWords};
use crate::data::{Docs, Vocabulary, make_absolute};
use crate::error::{Advice, advice, setting};
use crate::lambda::Lambda;
use crate::math::kernels::Isa;
use crate::memory::{self, lacking};
use crate::model::Sharding;
use crate::models::{NamedArray, Stored};
use crate::read::{self, DocsOptions, Unknown};
use crate::settings::FitConfig;
use crate::store::{Files, Keep};
use crate::sweep::HasSize;
use crate::{Error, Result};

/// The size of the training corpus; its words are in `vocabulary.tsv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// V.
    pub words: usize,
    /// Whether the words have names.
    pub named: bool,
    /// How many documents the model was fitted to.
    pub documents: usize,
    /// What seed words add to eta, and the names of their topics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_prior: Option<SeedPrior>,
    /// Eta of every word, if it is not the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_eta: Option<Vec<f64>>,
    /// What topics were called once they were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topic_names: Vec<String>,
}

/// The file with the vocabulary in a run directory: a line for every word, with how often it occurs
/// in the training documents, a tab, and its name, in which a line break is `\n`, a carriage return
/// `\r` and a backslash `\\`.
const VOCABULARY: &str = "vocabulary.tsv";

fn escaped(name: &str) -> Cow<'_, str> {
    if !name.contains(['\\', '\n', '\r']) {
        return Cow::Borrowed(name);
    }
    name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").into()
}

fn unescaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        out.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    out
}

/// The bytes that a fit to this many documents of this many words has at once, the documents not counted.
fn needed(
    params: &LdaParams,
    (docs, words): (usize, usize),
    batch: usize,
    config: &FitConfig,
) -> u64 {
    let (k, words, docs) = (params.topics as u128, words as u128, docs as u128);
    // Of every word and topic: lambda, statistics and expectations, and the best of several fits so far.
    let several = config.n_init > 1 || config.search.is_some_and(|times| times > 0.0);
    let of_each = if params.exact { 24 } else { 20 } + if several { 16 } else { 0 };
    let of_words = k * words * of_each;
    // Of every document under way: q(theta), and its logarithm if alpha is learned; of every one what it keeps.
    let under_way = batch.min(Sharding::OF_DOCS.items * Sharding::OF_DOCS.wave) as u128;
    let of_docs = k * (under_way * 16 + if config.warm { docs * 4 } else { 0 });
    u64::try_from(of_words + of_docs).unwrap_or(u64::MAX)
}

impl HasSize for Lda {
    const SIZE: &'static str = "topics";

    fn with_size(params: &LdaParams, size: usize) -> LdaParams {
        LdaParams { topics: size, ..params.clone() }
    }

    fn with_shape(_params: &LdaParams, shape: &str) -> Result<LdaParams> {
        Err(Error::config("covariance", shape, "only mixtures have shapes; leave it out"))
    }

    fn check_size(params: &LdaParams, _data: &Docs, _n_items: usize) -> Result<()> {
        params.check()
    }

    fn n_parameters(params: &LdaParams, data: &Docs) -> f64 {
        params.topics as f64 * data.n_words() as f64
    }

    /// Scores are those of a word.
    fn n_scored(data: &Docs) -> f64 {
        data.tokens()
    }
}

impl Stored for Lda {
    type Params = LdaParams;
    type Frozen = Frozen;

    fn read_new(&self, path: &Path, options: &DocsOptions) -> Result<(Docs, Unknown)> {
        read::docs_with(path, options, &self.vocabulary)
    }

    fn check_fits(&self, data: &Docs, _names: &[String]) -> Result<()> {
        if data.n_words() == self.vocabulary.n_words() {
            return Ok(());
        }
        Err(Error::data(format!(
            "the documents have a vocabulary of {} words, and the model one of {}",
            data.n_words(),
            self.vocabulary.n_words()
        )))
    }

    fn foresee(params: &LdaParams, data: &Docs, config: &FitConfig) -> Result<Option<Advice>> {
        params.check()?;
        let batch = config.batch.map_or(data.n_items(), |batch| batch.min(data.n_items()));
        let size = (data.n_items(), data.n_words());
        let bytes = needed(params, size, batch, config);
        let available = memory::available();
        if bytes <= available {
            return Ok(None);
        }
        let (k, v) = (params.topics, data.n_words());
        Err(Error::memory(advice![
            format!("{k} topics of {v} words: a fit {}; try fewer ", lacking(bytes, available)),
            setting("topics"),
            ", or fewer words",
        ]))
    }

    fn build(params: LdaParams, data: &Docs) -> Result<Self> {
        Lda::new(params, data)
    }

    fn notes(&self, _names: &[String]) -> Vec<Advice> {
        let seeds = self.seed_prior.iter().filter_map(SeedPrior::note);
        seeds.chain(self.word_prior.iter().filter_map(WordPrior::note)).collect()
    }

    fn params(&self) -> &LdaParams {
        &self.params
    }

    fn frozen(&self) -> Frozen {
        Frozen {
            words: self.vocabulary.n_words(),
            named: self.vocabulary.names().is_some(),
            documents: self.n_docs,
            seed_prior: self.seed_prior.clone(),
            word_eta: self.word_eta().map(<[f64]>::to_vec),
            topic_names: self.names.clone(),
        }
    }

    const SIDECARS: &'static [&'static str] = &[VOCABULARY];

    fn sidecars(&self, keep: Keep<'_>) -> Result<()> {
        let mut text = String::new();
        for (w, count) in self.word_counts.iter().enumerate() {
            let name = self.vocabulary.names().map_or("", |names| &names[w]);
            writeln!(text, "{count}\t{}", escaped(name)).expect("memory takes what is written");
        }
        keep(VOCABULARY, text.into_bytes())
    }

    fn restore(params: LdaParams, frozen: Frozen, files: &dyn Files) -> Result<Self> {
        params.check()?;
        let path = files.path(VOCABULARY);
        let bytes = files.read(VOCABULARY)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| Error::parse(&path, format!("is not UTF-8 ({error})")))?;
        let (mut word_counts, mut names) = (Vec::new(), Vec::new());
        for (i, line) in text.lines().enumerate() {
            let parsed = line.split_once('\t').and_then(|(count, name)| {
                let count: f64 = count.parse().ok()?;
                (count >= 0.0 && count.is_finite()).then(|| (count, unescaped(name)))
            });
            let Some((count, name)) = parsed else {
                let message = "needs a count, a tab and a word; this file is written by lehr";
                return Err(Error::parse_at(&path, i as u64 + 1, None, message));
            };
            word_counts.push(count);
            names.push(name);
        }
        if word_counts.len() != frozen.words || frozen.words == 0 {
            return Err(Error::parse(
                &path,
                format!("has {} words, and the run has {}", word_counts.len(), frozen.words),
            ));
        }
        let vocabulary = if frozen.named {
            Vocabulary::named(names).map_err(|error| {
                Error::parse(&path, format!("{error}; this file is written by lehr, not edited"))
            })?
        } else {
            Vocabulary::unnamed(frozen.words)
        };
        let (n_docs, seed_prior, isa) = (frozen.documents, frozen.seed_prior, Isa::detect());
        if seed_prior.as_ref().is_some_and(|seeds| !seeds.is_valid(frozen.words, params.topics)) {
            let allowed =
                "they do not fit the topics and words; the configuration was changed by hand";
            return Err(Error::config("frozen", "seed words", allowed));
        }
        if !Lda::are_valid(&frozen.topic_names, params.topics) {
            let allowed = "there is not one for each topic; the configuration was changed by hand";
            return Err(Error::config("frozen", "names of topics", allowed));
        }
        let word_prior = match frozen.word_eta {
            None => None,
            Some(eta) => {
                let fits = eta.len() == frozen.words;
                let prior = WordPrior::of(eta).filter(|_| fits);
                Some(prior.ok_or_else(|| {
                    let allowed =
                        "it does not fit the vocabulary; the configuration was changed by hand";
                    Error::config("frozen", "eta of the words", allowed)
                })?)
            }
        };
        Ok(Lda {
            params,
            vocabulary,
            word_counts,
            n_docs,
            seeds: None,
            seed_prior,
            word_prior,
            names: frozen.topic_names,
            isa,
        })
    }

    fn extend(&mut self, data: &Docs) -> Result<()> {
        let counts = data.word_counts();
        if counts.iter().all(|&count| count == 0.0) {
            return Err(Error::data(
                "the new documents have no word that the model knows; is it the right vocabulary?",
            ));
        }
        self.n_docs += data.n_items();
        self.word_counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        Ok(())
    }

    fn is_given_its_start(&self) -> bool {
        self.seeds.is_some()
    }

    fn anchor(params: &mut LdaParams) {
        params.seed_topics.iter_mut().for_each(make_absolute);
        if let Some(SeedWords::File(path)) = &mut params.seed_words {
            make_absolute(path);
        }
        priors::path_of(&mut params.word_eta).into_iter().for_each(make_absolute);
    }

    fn readable(&self, lambda: &Lambda) -> Vec<NamedArray> {
        let alpha = self.alpha(lambda).to_vec();
        let eta = self.word_eta().map_or_else(|| vec![self.eta(lambda)], <[f64]>::to_vec);
        vec![
            NamedArray { name: "alpha", shape: vec![alpha.len()], values: alpha },
            NamedArray { name: "eta", shape: vec![eta.len()], values: eta },
        ]
    }
}
