//! What several test files share: every model there is, data to try it on, and a fit that is watched.

#![allow(dead_code)]

#[path = "../../examples/bernoulli.rs"]
pub mod bernoulli;
pub mod bits_of;
pub mod pairs_by_hand;
pub mod topics_by_hand;

use lehr::data::{Docs, Duplicates, Ids, Points, Ratings, Side};
use lehr::fit::Observation;
use lehr::fit::{Fitted, State, Watcher};
use lehr::math::rng::{Address, Purpose, Rng};
use lehr::math::table::Table;
use lehr::model::{Model, SharedModel};
use lehr::models::mixture::{Covariance, Defaults, Factorisation, Start, Weights};
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams, Shipped};
use lehr::{FitConfig, Result};

pub use bernoulli::BernoulliMixture;

/// Random numbers for synthetic data.
pub fn rng(seed: u64) -> Rng {
    Address::new(seed, Purpose::Data, 0, 0).rng(0)
}

/// Items from `n_clusters` round clusters in `n_dims` dimensions, whose centres are `spread`
/// deviations of a cluster apart on average.
pub fn clusters(
    n_items: usize,
    n_dims: usize,
    n_clusters: usize,
    spread: f64,
    seed: u64,
) -> Points {
    let mut rng = rng(seed);
    let centres: Vec<f64> = (0..n_clusters * n_dims).map(|_| spread * rng.normal()).collect();
    let mut values = Vec::with_capacity(n_items * n_dims);
    for _ in 0..n_items {
        let k = rng.below(n_clusters as u64) as usize;
        values.extend(centres[k * n_dims..][..n_dims].iter().map(|c| c + rng.normal()));
    }
    Points::new(values, n_dims).unwrap()
}

/// Points of two columns as the text of a table.
pub fn as_csv(points: &Points) -> String {
    let (mut text, mut row) = (String::from("a,b\n"), [0.0; 2]);
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        text += &format!("{},{}\n", row[0], row[1]);
    }
    text
}

/// The settings of every kind of mixture, with a name for messages; with a plain prior and start, so that weighted items
/// are exactly like copies. `defaults.rs` has what is learned.
pub fn every_mixture(components: usize) -> Vec<(String, MixtureParams)> {
    let mut all = Vec::new();
    for factorisation in [Factorisation::NormalWishart, Factorisation::Independent] {
        for weights in [Weights::Dirichlet, Weights::Sticks] {
            for covariance in SHAPES {
                let name = format!("{factorisation:?}, {weights:?}, {covariance:?}");
                let base = MixtureParams {
                    start: Start::KmeansPlusPlus,
                    defaults: Defaults::Volume,
                    ..MixtureParams::gmm(components)
                };
                all.push((name, MixtureParams { factorisation, weights, covariance, ..base }));
            }
        }
    }
    all
}

/// All the shapes of a mixture's components.
pub const SHAPES: [Covariance; 4] =
    [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical];

/// All the starts of a mixture.
pub const STARTS: [Start; 5] =
    [Start::Merge, Start::KmeansPlusPlus, Start::Kmeans, Start::Points, Start::Responsibilities];

/// The mixture of Bernoullis for the letters of the example.
pub fn letters_model() -> BernoulliMixture {
    BernoulliMixture { n_components: 5, n_columns: 25, a0: 0.3, b0: 0.6 }
}

/// A random point of Dirichlet(a).
pub fn dirichlet(rng: &mut Rng, a: &[f64]) -> Vec<f64> {
    // Gammas of tiny shape underflow: never all of them.
    let x: Vec<f64> = a.iter().map(|&a| rng.gamma(a) + 1e-300).collect();
    let sum: f64 = x.iter().sum();
    x.iter().map(|x| x / sum).collect()
}

/// A number drawn from shares that add up to 1.
pub fn draw(rng: &mut Rng, shares: &[f64]) -> usize {
    let mut left = rng.uniform();
    for (k, share) in shares.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return k;
        }
    }
    shares.len() - 1
}

/// Documents of `length` words each, drawn from topics (rows of shares) that Dirichlet(alpha) mixes.
pub fn documents(
    topics: &[Vec<f64>],
    alpha: &[f64],
    n_docs: usize,
    length: usize,
    seed: u64,
) -> Docs {
    let mut rng = rng(seed);
    let rows: Vec<Vec<(u32, f64)>> = (0..n_docs)
        .map(|_| {
            let theta = dirichlet(&mut rng, alpha);
            let mut word = || {
                let k = draw(&mut rng, &theta);
                draw(&mut rng, &topics[k]) as u32
            };
            (0..length).map(|_| (word(), 1.0)).collect()
        })
        .collect();
    Docs::from_rows(rows, topics[0].len()).unwrap()
}

/// Topics that share no word: `per_topic` words each.
pub fn block_topics(n_topics: usize, per_topic: usize) -> Vec<Vec<f64>> {
    let share = |k: usize, w: usize| if w / per_topic == k { 1.0 / per_topic as f64 } else { 0.0 };
    (0..n_topics).map(|k| (0..n_topics * per_topic).map(|w| share(k, w)).collect()).collect()
}

/// Documents from planted topics, an empty one and one of a single word among them.
pub fn small_corpus(n_docs: usize, seed: u64) -> Docs {
    let mut rng = rng(seed);
    let topics: Vec<Vec<f64>> = (0..3).map(|_| dirichlet(&mut rng, &[0.2; 24])).collect();
    let made = documents(&topics, &[0.4; 3], n_docs, 12, seed + 1);
    let pairs = |n: usize| made.doc(n).iter().map(|e| (e.word, f64::from(e.count))).collect();
    let row = |n: usize| match n {
        3 => Vec::new(),
        5 => vec![(7, 1.0)],
        n => pairs(n),
    };
    Docs::from_rows((0..n_docs).map(row), 24).unwrap()
}

/// Ratings by numbers of users and items, whose ids are those numbers.
pub fn ratings_of(n_users: usize, n_items: usize, triples: &[(u32, u32, f32)]) -> Ratings {
    let ids = |n: usize| {
        let mut ids = Ids::default();
        for id in 0..n as i64 {
            ids.insert_integer(id);
        }
        ids
    };
    let (user, (item, value)) = triples.iter().map(|&(i, j, y)| (i, (j, y))).unzip();
    Ratings::new(ids(n_users), ids(n_items), user, item, value, Duplicates::Refuse).unwrap()
}

/// Ratings drawn from a matrix factorisation: `d` dimensions, biases and a mean, and noise.
pub struct MadeRatings {
    pub ratings: Ratings,
    /// Each user's factors and bias, then each item's.
    pub factors: Vec<Vec<f64>>,
    pub mean: f64,
}

impl MadeRatings {
    /// The rating without noise.
    pub fn truth(&self, user: usize, item: usize) -> f64 {
        let (u, v) =
            (&self.factors[user], &self.factors[self.ratings.ids(Side::User).len() + item]);
        let d = u.len() - 1;
        let product: f64 = u[..d].iter().zip(&v[..d]).map(|(u, v)| u * v).sum();
        product + u[d] + v[d] + self.mean
    }
}

/// About `n_ratings` ratings, of which the last user and the last item have none. `scale` is the standard
/// deviation of a factor and `sd` that of the noise.
pub fn made_ratings(
    (n_users, n_items, d): (usize, usize, usize),
    n_ratings: usize,
    (scale, bias, sd): (f64, f64, f64),
    seed: u64,
) -> MadeRatings {
    let mut rng = rng(seed);
    let variable = |rng: &mut Rng| -> Vec<f64> {
        (0..=d).map(|k| if k < d { scale } else { bias } * rng.normal()).collect()
    };
    let factors: Vec<_> = (0..n_users + n_items).map(|_| variable(&mut rng)).collect();
    let share = n_ratings as f64 / ((n_users - 1) * (n_items - 1)) as f64;
    let mut made = MadeRatings { ratings: ratings_of(1, 1, &[(0, 0, 1.0)]), factors, mean: 3.5 };
    let everything = (0..n_users - 1).flat_map(|i| (0..n_items - 1).map(move |j| (i, j)));
    // Long tails: the first items and users have most of the ratings.
    let weight = |i: usize, n: usize| 2.0 * (1.0 - i as f64 / n as f64);
    let chosen: Vec<(usize, usize)> = everything
        .filter(|&(i, j)| rng.uniform() < share * weight(i, n_users) * weight(j, n_items))
        .collect();
    // `truth` needs to know where the items start.
    made.ratings = ratings_of(n_users, n_items, &[(0, 0, 1.0)]);
    let triples: Vec<_> = chosen
        .iter()
        .map(|&(i, j)| (i as u32, j as u32, (made.truth(i, j) + sd * rng.normal()) as f32))
        .collect();
    made.ratings = ratings_of(n_users, n_items, &triples);
    made
}

/// Every combination of what a matrix factorisation can learn and leave.
pub fn every_pmf(d: usize) -> Vec<(String, PmfParams)> {
    (0..32u32)
        .map(|bits| {
            let on = |bit: u32| bits >> bit & 1 == 1;
            let params = PmfParams {
                gauge: on(0),
                ard: on(1),
                biases: on(2),
                centre: on(3),
                learn_noise: on(4),
                exact: true,
                ..PmfParams::new(d)
            };
            let names = ["gauge", "ard", "biases", "centre", "noise"];
            let name: Vec<_> =
                (0..5).filter(|&bit| on(bit)).map(|bit| names[bit as usize]).collect();
            (format!("pmf [{}]", name.join(" ")), params)
        })
        .collect()
}

/// A work for every model: what a law is checked with.
pub trait ForModel {
    /// The work.
    fn run<M: Model>(&self, name: &str, model: &M, data: &M::Data);
}

/// A work for every model in which all rows share a batch.
pub trait ForSharedModel {
    /// The work.
    fn run<M: SharedModel>(&self, name: &str, model: &M, data: &M::Data);
}

/// A work for every model of points.
pub trait ForPointsModel {
    /// The work.
    fn run<M: SharedModel<Data = Points>>(&self, name: &str, model: &M, data: &Points);
}

/// A model that ships, with settings and data to try it with. A new model on the list is asked for them by
/// the compiler.
pub trait Tried: Shipped {
    /// Hands a name for messages, a model and its data to `work`, in every kind that there is.
    fn every_kind(n_items: usize, work: &mut dyn FnMut(&str, &Self, &Self::Data));
}

/// All eight Gaussian mixtures.
impl Tried for Mixture {
    fn every_kind(n_items: usize, work: &mut dyn FnMut(&str, &Self, &Points)) {
        let points = clusters(n_items, 3, 4, 2.0, 7);
        for (name, params) in every_mixture(5) {
            work(&name, &Mixture::new(params, &points).unwrap(), &points);
        }
    }
}

/// LDA in its two precisions.
impl Tried for Lda {
    fn every_kind(n_items: usize, work: &mut dyn FnMut(&str, &Self, &Docs)) {
        let docs = small_corpus(n_items, 7);
        for (name, exact) in [("LDA", false), ("LDA, exact", true)] {
            work(
                name,
                &Lda::new(LdaParams { exact, ..LdaParams::fixed(4) }, &docs).unwrap(),
                &docs,
            );
        }
    }
}

impl Tried for Pmf {
    fn every_kind(n_items: usize, work: &mut dyn FnMut(&str, &Self, &Ratings)) {
        let size = (n_items / 20 + 2, n_items / 30 + 2, 2);
        let made = made_ratings(size, n_items, (1.0, 0.5, 0.5), 7);
        for (name, params) in [
            ("PMF", PmfParams::new(3)),
            ("PMF, exact", PmfParams { exact: true, ..PmfParams::new(3) }),
            ("PMF, paper", PmfParams::paper(2)),
        ] {
            work(name, &Pmf::new(params, &made.ratings).unwrap(), &made.ratings);
        }
    }
}

/// Does the work with every model that ships, and with the mixture of Bernoullis.
pub fn for_every_model<W: ForModel>(n_items: usize, work: &W) {
    macro_rules! every {
        ($($module:ident $Model:ident),*) => {$(
            lehr::models::$Model::every_kind(n_items, &mut |name, model, data| {
                work.run(name, model, data);
            });
        )*};
    }
    lehr::for_each_model!(every);
    work.run("Bernoulli", &letters_model(), &letters(n_items));
}

/// Does the work with every model in which one batch serves all rows: those of points, and LDA.
pub fn for_every_shared_model<W: ForSharedModel>(n_items: usize, work: &W) {
    Mixture::every_kind(n_items, &mut |name, model, data| work.run(name, model, data));
    work.run("Bernoulli", &letters_model(), &letters(n_items));
    Lda::every_kind(n_items, &mut |name, model, data| work.run(name, model, data));
}

/// Does the work with every model of points.
pub fn for_every_points_model(n_items: usize, work: &impl ForPointsModel) {
    Mixture::every_kind(n_items, &mut |name, model, data| work.run(name, model, data));
    work.run("Bernoulli", &letters_model(), &letters(n_items));
}

fn letters(n_items: usize) -> Points {
    bernoulli::noisy_letters(n_items, 0.2, 7).unwrap()
}

/// The hyperparameters of a model at the start.
pub fn hyper<M: Model>(model: &M) -> Vec<f64> {
    model.learner().map_or(Vec::new(), |learner| learner.hyper())
}

/// Whether a row is at least as concentrated as its prior: the model's own word, or number by number, up to
/// rounding, for models that do not say.
pub fn above_prior<M: Model>(model: &M, hyper: &[f64], row: usize, values: &[f64]) -> bool {
    if let Some(domain) = model.domain() {
        return domain.above_prior(hyper, row, values);
    }
    let mut eta = vec![f64::NAN; values.len()];
    model.prior(hyper, row, &mut eta);
    values.iter().zip(&eta).all(|(x, eta)| *x >= (1.0 - 1e-9) * eta)
}

/// A start at a fixed address.
pub fn start<M: Model>(model: &M, data: &M::Data) -> Table {
    let layout = model.layout();
    let mut lambda = Table::new(layout.n_rows, layout.width);
    model.start(data, Address::new(3, Purpose::Init, 0, 0), &mut lambda).unwrap();
    lambda
}

/// Keeps all observations.
#[derive(Default)]
pub struct Recorder(pub Vec<Observation>);

impl Watcher for Recorder {
    fn observe(&mut self, observation: &Observation) -> Result<()> {
        self.0.push(observation.clone());
        Ok(())
    }
}

/// A fit and the bounds it saw.
pub fn watched<M: Model>(
    model: &M,
    data: &M::Data,
    config: &FitConfig,
    threads: usize,
) -> (Fitted, Vec<f64>) {
    let mut recorder = Recorder::default();
    let fit = lehr::fit(model, data).config(config.clone()).threads(threads);
    let fitted = fit.watch(&mut recorder).run().unwrap();
    (fitted, recorder.0.iter().map(|o| o.bound).collect())
}

/// `steps` sweeps of batch VI from a given lambda: the last state and the bounds before, between and
/// after the sweeps.
pub fn sweeps<M: Model>(model: &M, data: &M::Data, lambda: Table, steps: u64) -> (State, Vec<f64>) {
    let config = FitConfig { steps: Some(steps), tol: 0.0, ..FitConfig::default() };
    let mut recorder = Recorder::default();
    let fit = lehr::fit(model, data).config(config).threads(1).from(State::at(model, lambda));
    let fitted = fit.watch(&mut recorder).run().unwrap();
    (fitted.state, recorder.0.iter().map(|o| o.bound).collect())
}

/// Some numbers bit by bit: what "the same" means where nothing may differ.
pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// The largest difference, relative to the largest number; 0 if all numbers are 0.
pub fn deviation(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |top, x| top.max(x.abs()));
    let difference = |(a, b): (&f64, &f64)| (a - b).abs();
    let worst = found.iter().zip(expected).map(difference).fold(0.0, f64::max);
    if worst == 0.0 { 0.0 } else { worst / largest }
}
