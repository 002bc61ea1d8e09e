//! Latent Dirichlet allocation: topics of words, and documents that mix them.
//!
//! ```text
//! joint    beta_k ~ Dirichlet(eta)      theta_d ~ Dirichlet(alpha)      w_di ~ sum_k theta_dk beta_k
//! q        q(beta_k) = Dirichlet(lambda_k)     q(theta_d) = Dirichlet(gamma_d)     q(z) eliminated
//! lambda   row w holds lambda_kw for every topic k: a word's topics lie side by side
//! local    theta_dk = exp(E ln theta_dk)       b_kw = exp(E ln beta_kw)       z_dw = sum_k theta_dk b_kw
//!          gamma_dk = alpha_k + theta_dk sum_w n_dw b_kw / z_dw, iterated until it converges
//! raw      s_kw = b_kw sum_d w_d n_dw theta_dk / z_dw
//! natural  lambda_kw = eta + s_kw
//! bound    sum_d { sum_w n_dw ln z_dw + E_q[ln p(theta_d) - ln q(theta_d)] } + E_q[ln p(beta) - ln q(beta)]
//! ```
//! A batch touches the words it has; all other rows of lambda decay lazily.

mod params;
mod priors;
mod expect;
mod lists;
mod names;
mod local;
mod bound;
mod coherence;
mod diagnostics;
mod hyper;
mod seed_words;
mod start;
mod score;
mod shares;
mod readout;
mod stored;

pub use coherence::{Coherence, Coherences};
pub use diagnostics::{Diagnostics, SAME, TopicDiagnostics, TopicDocuments};
pub use expect::Expect;
pub use local::{Documents, Scratch};
pub(super) use params::TABLES;
pub use params::{FIT, LdaParams, LearnAlpha, Priors, SETTINGS};
pub use priors::{Alpha, WordEta};
pub use readout::Topic;
pub use score::{DocScores, Rounded};
pub use seed_words::{SeedPrior, SeedTopic, SeedWord, SeedWords};
pub use shares::TopicReader;
pub use stored::Frozen;

use self::priors::WordPrior;
use crate::data::{Docs, Vocabulary};
use crate::lambda::Lambda;
use crate::math::kernels::{Isa, RowFormat};
use crate::math::rng::Address;
use crate::math::table::Table;
use crate::model::{
    Ask, Dataset, Domain, HyperStep, Judge, Layout, Learn, Model, RowSet, Scores, Shard, Sharding,
    Shared,
};
use crate::step::guard::Guard;
use crate::{Error, FitConfig, Result};

/// Parameters closer to 0 than this, relative to eta, count as outside of their domain.
const MARGIN: f64 = 1e-6;

/// How many documents ahead of its turn one is asked for: those of a batch lie far apart.
const SOON: usize = 4;

/// An LDA model, ready to be fitted to documents.
///
/// ```
/// use lehr::data::Docs;
/// use lehr::models::{Lda, LdaParams};
///
/// // Twenty documents about words 0 to 2, twenty about words 3 to 5.
/// let doc = |n: u32| (0..3).map(|w| (3 * (n % 2) + w, 4.0)).collect();
/// let docs = Docs::from_rows((0..40).map(doc), 6)?;
/// let lda = Lda::new(LdaParams::new(2), &docs)?;
/// let fitted = lehr::fit(&lda, &docs).threads(1).run()?;
/// let topics = lda.topics(&fitted.state.lambda, 3, 0.6);
/// let mut words: Vec<usize> = topics[0].by_probability.iter().map(|(word, _)| *word).collect();
/// words.sort();
/// assert!(words == [0, 1, 2] || words == [3, 4, 5]);
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lda {
    params: LdaParams,
    vocabulary: Vocabulary,
    /// How often each word occurs in the training documents.
    word_counts: Vec<f64>,
    /// How many training documents.
    n_docs: usize,
    /// Topics to start with, K rows of V numbers, and whether they are natural parameters already.
    seeds: Option<start::Seeds>,
    /// What seed words add to eta.
    seed_prior: Option<SeedPrior>,
    /// Eta of every word, if it is not the same for all.
    word_prior: Option<WordPrior>,
    /// What topics were called once they were seen: a name for each, or none at all.
    names: Vec<String>,
    isa: Isa,
}

impl Lda {
    /// A model for these documents.
    pub fn new(params: LdaParams, docs: &Docs) -> Result<Self> {
        params.check()?;
        if docs.n_words() == 0 {
            return Err(Error::data("the vocabulary is empty; there is nothing to learn from"));
        }
        let word_counts = docs.word_counts();
        let tokens: f64 = word_counts.iter().sum();
        // Under priors that stay as they are, documents without words leave topics at their prior.
        if tokens == 0.0 && params.priors != Priors::Fixed {
            return Err(Error::data("all documents are empty; there is nothing to learn from"));
        }
        let params = params.said(tokens, docs.n_words());
        let vocabulary = docs.vocabulary().clone();
        let seeds = match &params.seed_topics {
            None => None,
            Some(path) => Some(start::Seeds::read(path, &params, &vocabulary)?),
        };
        let seed_prior = SeedPrior::new(&params, &vocabulary, &word_counts)?;
        let word_prior = WordPrior::new(&params, &vocabulary)?;
        let n_docs = docs.n_items();
        let isa = Isa::detect();
        let names = Vec::new();
        Ok(Lda {
            params,
            vocabulary,
            word_counts,
            n_docs,
            seeds,
            seed_prior,
            word_prior,
            names,
            isa,
        })
    }

    /// The same model computing with another instruction set, for comparisons.
    pub fn with_isa(self, isa: Isa) -> Self {
        Lda { isa, ..self }
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The same model with names for its words, which a matrix of counts does not have.
    pub fn with_words(&self, names: Vec<String>) -> Result<Self> {
        Ok(Lda { vocabulary: self.vocabulary.with_names(names)?, ..self.clone() })
    }

    /// How often each word occurs in the training documents.
    pub fn word_counts(&self) -> &[f64] {
        &self.word_counts
    }

    /// Alpha of every topic, as it is.
    pub fn alpha<'a>(&self, lambda: &'a Lambda) -> &'a [f64] {
        split_hyper(&lambda.hyper).1
    }

    /// Eta, as it is; the smallest, if words have their own.
    pub fn eta(&self, lambda: &Lambda) -> f64 {
        lambda.hyper[0]
    }

    /// Eta of every word, if it is not the same for all.
    pub fn word_eta(&self) -> Option<&[f64]> {
        self.word_prior.as_ref().map(|prior| &prior.eta[..])
    }

    /// Eta at the start; the smallest, if words have their own.
    fn base_eta(&self) -> f64 {
        self.word_prior.as_ref().map_or_else(|| self.params.start_eta(), |prior| prior.base)
    }

    fn tokens(&self) -> f64 {
        self.word_counts.iter().sum()
    }
}

/// Eta, alpha of every topic, and the running mean of E ln theta that alpha is learned from.
fn split_hyper(hyper: &[f64]) -> (f64, &[f64], &[f64]) {
    let (alpha, means) = hyper[1..].split_at((hyper.len() - 1) / 2);
    (hyper[0], alpha, means)
}

impl Model for Lda {
    type Data = Docs;
    type Expect = Expect;
    type Pass = Shared<Documents>;
    type Scratch = Scratch;

    fn name(&self) -> &'static str {
        "lda"
    }

    fn layout(&self) -> Layout {
        let k = self.params.topics;
        Layout { lazy: true, ..Layout::one_phase(self.vocabulary.n_words(), k, k) }
    }

    fn prior(&self, hyper: &[f64], _row: usize, eta: &mut [f64]) {
        eta.fill(hyper[0]);
    }

    fn start(&self, _data: &Docs, address: Address, lambda: &mut Table) -> Result<()> {
        start::fill(self, address, lambda);
        Ok(())
    }

    fn support(&self, data: &Docs, items: &[u32], rows: &mut RowSet) {
        rows.collect_from(items, |items, rows| {
            for (i, &n) in items.iter().enumerate() {
                if let Some(&soon) = items.get(i + SOON) {
                    data.prefetch(soon as usize);
                }
                data.doc(n as usize).iter().for_each(|entry| rows.add(entry.word));
                Dataset::release(data, 1);
            }
        });
    }

    fn refresh(&self, lambda: &Lambda, rows: &RowSet, expect: &mut Expect) {
        expect::refresh(self, lambda, rows, RowFormat::Whole, expect);
    }

    fn refresh_for_batch(&self, lambda: &Lambda, rows: &RowSet, expect: &mut Expect) {
        expect::refresh(self, lambda, rows, RowFormat::Pairs, expect);
    }

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn local_step(
        &self,
        expect: &Expect,
        shard: Shard<'_, Docs>,
        ask: Ask,
        scratch: &mut Scratch,
        local: &mut Documents,
        bounds: &mut [f64],
    ) {
        local::step(self, expect, shard, ask, scratch, local, bounds);
    }

    fn in_domain(&self, _row: usize, lambda: &[f64]) -> bool {
        let floor = MARGIN * self.base_eta().min(1.0);
        // No early exit, so that the loop vectorises.
        lambda.iter().fold(true, |valid, &x| valid & (x > floor))
    }

    fn global_bound(&self, lambda: &Lambda, _expect: &Expect) -> f64 {
        bound::of_topics(self, lambda)
    }

    fn sharding(&self) -> Sharding {
        Sharding::OF_DOCS
    }

    fn fit_defaults(&self, config: &mut FitConfig) {
        self.params.fit_defaults(config);
    }

    fn warm_width(&self) -> usize {
        self.params.topics
    }

    fn domain(&self) -> Option<&dyn Domain<Self>> {
        Some(self)
    }

    fn learner(&self) -> Option<&dyn Learn<Self>> {
        Some(self)
    }

    fn judge(&self) -> Option<&dyn Judge<Self>> {
        Some(self)
    }
}

impl Domain<Lda> for Lda {
    fn guards(&self) -> &'static [Guard] {
        // A prior that is learned moves away from under lambda: below it is no mistake then.
        let all = Guard::OF_ENTRIES;
        if self.params.learns_eta() { &all[..all.len() - 1] } else { all }
    }

    fn above_prior(&self, _hyper: &[f64], _row: usize, lambda: &[f64]) -> bool {
        let least = (1.0 - 1e-9) * self.base_eta();
        lambda.iter().all(|&x| x >= least)
    }

    /// A row moves on the way to its prior and more, and all priors are above the floor.
    fn is_valid_when_noiseless(&self) -> bool {
        true
    }
}

impl Learn<Lda> for Lda {
    fn hyper(&self) -> Vec<f64> {
        hyper::start(self)
    }

    fn width(&self) -> usize {
        self.params.topics
    }

    fn learn(&self, step: HyperStep<'_, Lda>, lambda: &mut Lambda, _expect: &mut Expect) {
        hyper::learn(self, step, lambda);
    }
}

impl Judge<Lda> for Lda {
    fn score(&self, lambda: &Lambda, data: &Docs, population: usize) -> Scores {
        let scores = self.score_docs(lambda, data, population);
        let mut named = vec![
            ("local", scores.local),
            ("full", scores.full),
            ("completion", scores.completion),
            ("unigram", scores.unigram),
        ];
        // Documents of one word have none to predict, and the trace has no way to say so.
        named.retain(|(_, score)| score.is_finite());
        Scores { main: scores.completion, named }
    }

    fn measures(&self, lambda: &Lambda, population: usize) -> Vec<(&'static str, f64)> {
        let tokens = self.tokens() / self.n_docs.max(1) as f64 * population as f64;
        let prior = self.eta(lambda) * (lambda.n_rows() * lambda.width()) as f64;
        vec![("mass", lambda.totals().iter().sum::<f64>() / (tokens + prior))]
    }

    fn bound_sample(&self) -> Option<usize> {
        Some(1000)
    }

    fn words(&self, population: usize) -> Option<f64> {
        Some(self.tokens() / self.n_docs.max(1) as f64 * population as f64)
    }
}
