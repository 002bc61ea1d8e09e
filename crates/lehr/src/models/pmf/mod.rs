//! Probabilistic matrix factorisation: ratings from the inner products of users' and items' factors.
//!
//! ```text
//! joint    u_i ~ N(0, c I)     v_j ~ N(0, diag(c_k))     y_ij ~ N(u_i'v_j + a_i + b_j + mu, sigma^2)
//!          with biases a_i ~ N(0, c_a), b_j ~ N(0, c_b); mu is the mean of the ratings
//! q        q(u_i, a_i) and q(v_j, b_j), a Gaussian for every user and every item
//! lambda   a row for every user, then one for every item: the precision matrix, packed, and
//!          h = precision times mean, of x = (u, a)
//! raw      with (o, b) the other side's factors and bias, sums over the row's own ratings of
//!          E[o o'], E[o], E[b o], E[b], E[b^2], (y - mu) E[o], (y - mu) E[b]
//! natural  precision = prior + 1/sigma^2 [ E[oo'] E[o]; E[o]' n ]
//!          h         = 1/sigma^2 [ (y - mu) E[o] - E[b o]; (y - mu) - E[b] ]
//! bound    sum_ij { -1/2 ln(2 pi sigma^2) - E[(y - u'v - a - b - mu)^2] / (2 sigma^2) } - sum KL
//! ```
//! Every row is a global variable with its own ratings as |S| and N, its own M and its own noise. Users
//! are updated first, then items, which see the new users; to update both at once diverges.

mod columns;
mod params;
mod expect;
mod local;
mod user_shard;
mod error;
mod bound;
mod hyper;
mod implicit;
mod gauge;
mod start;
mod readout;
mod pairs;
mod lists;
mod ranking;
mod recommend;
mod explain;
mod similar;
mod fold;
mod stored;

pub use expect::Expect;
pub(crate) use expect::{Apart, ItemMoments, ItemTable};
pub use explain::Moved;
pub use fold::Folded;
pub use lists::{ListOptions, Lists};
pub use local::Scratch;
pub use pairs::Pair;
pub(super) use params::TABLES;
pub use params::{FIT, PAPER_FIT, PmfParams, SETTINGS};
pub use ranking::{ListScores, RankingOptions, RankingScores};
pub use readout::{Factor, Prediction, Predictor, RatingScores, UncertaintyScores};
pub use recommend::{By, Recommendation};
pub use similar::Similar;
pub use stored::Frozen;
pub(crate) use user_shard::{Places, Rule, UserShard, numbered};

use std::sync::Arc;

use crate::data::{Grouped, Ids, Ratings, Side};
use crate::error::{Advice, advice, setting};
use crate::lambda::Lambda;
use crate::math::kernels::{Isa, is_positive_definite};
use crate::math::packed::Symmetric;
use crate::math::rng::Address;
use crate::math::table::Table;
use crate::model::{
    Ask, Domain, HyperStep, Judge, Layout, Learn, Model, PerRow, Phase, RowSet, RowShard, Scores,
    Stats, Target,
};
use crate::remote::Users;
use crate::settings::FitConfig;
use crate::step::engine::Engine;
use crate::step::guard::Guard;
use crate::{Error, Result};
use columns::Columns;
use hyper::Hyper;

/// The guard `reject-below-prior` asks for this share of the prior's precision.
const KAPPA: f64 = 0.5;

/// A matrix factorisation, ready to be fitted to ratings.
///
/// ```
/// use lehr::data::{Duplicates, Ids, Ratings};
/// use lehr::models::{Pmf, PmfParams};
///
/// // Users 0 to 9 like even items, users 10 to 19 odd ones; every third rating is unknown.
/// let (mut users, mut items) = (Ids::default(), Ids::default());
/// let (mut user, mut item, mut rating) = (Vec::new(), Vec::new(), Vec::new());
/// for (i, j) in (0..20).flat_map(|i| (0..12).map(move |j| (i, j))).filter(|(i, j)| (i + j) % 3 > 0) {
///     user.push(users.insert_integer(i));
///     item.push(items.insert_integer(j));
///     rating.push(if (i < 10) == (j % 2 == 0) { 5.0 } else { 1.0 });
/// }
/// let ratings = Ratings::new(users, items, user, item, rating, Duplicates::Refuse)?;
/// let pmf = Pmf::new(PmfParams::new(2), &ratings)?;
/// let fitted = lehr::fit(&pmf, &ratings).threads(1).run()?;
/// let predictor = pmf.predictor(&fitted.state.lambda);
/// let unknown = predictor.predict(pmf.find_user("0"), pmf.find_item("6"));
/// assert!((unknown.mean - 5.0).abs() < 0.5, "{unknown:?}");
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pmf {
    params: PmfParams,
    columns: Columns,
    users: Arc<Ids>,
    items: Arc<Ids>,
    /// What each user has rated in training.
    seen: Arc<Grouped>,
    /// Rows of lambda that have no ratings in training.
    unrated: Vec<u32>,
    /// mu; 0 if ratings are not centred.
    mean: f64,
    /// The variance of the ratings.
    variance: f64,
    /// c.
    prior_variance: f64,
    isa: Isa,
}

impl Pmf {
    /// A model for these ratings.
    pub fn new(params: PmfParams, ratings: &Ratings) -> Result<Self> {
        params.check()?;
        if ratings.n_ratings() == 0 {
            return Err(Error::data("there are no ratings; there is nothing to learn from"));
        }
        let [n_users, n_items] = [Side::User, Side::Item].map(|side| ratings.ids(side).len());
        let (mean, variance) = match params.implicit {
            false => (if params.centre { ratings.mean() } else { 0.0 }, ratings.variance()),
            true => {
                if ratings.is_weighted() {
                    return Err(Error::data(
                        "ratings with weights and implicit feedback do not go together: there a value says how often \
                         an item was used, which is its weight already; leave the weights out",
                    ));
                }
                implicit::check(ratings)?;
                // Of 0 and 1 over all pairs; the bias of an item is how many use it.
                let used = ratings.n_ratings() as f64 / (n_users as f64 * n_items as f64);
                (0.0, used * (1.0 - used))
            }
        };
        let frozen =
            Frozen { users: n_users, items: n_items, ratings: ratings.n_ratings(), mean, variance };
        let (users, items) = (ratings.ids(Side::User).clone(), ratings.ids(Side::Item).clone());
        Ok(Pmf::assemble(params, frozen, users, items, ratings.side(Side::User).clone()))
    }

    fn assemble(
        params: PmfParams,
        frozen: Frozen,
        users: Arc<Ids>,
        items: Arc<Ids>,
        seen: Arc<Grouped>,
    ) -> Self {
        let columns = Columns::new(params.dims, params.biases);
        let mut rated = vec![false; users.len() + items.len()];
        for i in 0..seen.n_rows() {
            let (others, _) = seen.row(i);
            rated[i] = !others.is_empty();
            others.iter().for_each(|&j| rated[users.len() + j as usize] = true);
        }
        let unrated = (0..rated.len() as u32).filter(|&row| !rated[row as usize]).collect();
        let Frozen { mean, variance, .. } = frozen;
        // Ratings that are all equal have no scale of their own.
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let prior_variance = params.prior_variance.unwrap_or(scale);
        let isa = Isa::detect();
        Pmf { params, columns, users, items, seen, unrated, mean, variance, prior_variance, isa }
    }

    /// The same model computing with another instruction set, for comparisons.
    pub fn with_isa(self, isa: Isa) -> Self {
        Pmf { isa, ..self }
    }

    /// The names of one side.
    pub fn ids(&self, side: Side) -> &Ids {
        match side {
            Side::User => &self.users,
            Side::Item => &self.items,
        }
    }

    /// The number of a user, if the model knows it.
    pub fn find_user(&self, id: &str) -> Option<u32> {
        self.users.find(id)
    }

    /// The number of an item, if the model knows it.
    pub fn find_item(&self, id: &str) -> Option<u32> {
        self.items.find(id)
    }

    /// The items that a user has rated in training.
    pub fn seen(&self, user: u32) -> &[u32] {
        self.seen.row(user as usize).0
    }

    /// The least and the largest rating that the model was fitted to.
    pub fn scale(&self) -> (f64, f64) {
        let widened =
            |(least, most): (f64, f64), &y: &f32| (least.min(y.into()), most.max(y.into()));
        self.seen.values().iter().fold((f64::INFINITY, f64::NEG_INFINITY), widened)
    }

    /// sigma^2, as it is.
    pub fn noise_variance(&self, lambda: &Lambda) -> f64 {
        self.hyper_of(lambda).noise()
    }

    /// c: the prior variance of the users' factors.
    pub fn prior_variance(&self) -> f64 {
        self.prior_variance
    }

    /// The prior variance of each latent dimension of the items, as it is.
    pub fn item_variances<'a>(&self, lambda: &'a Lambda) -> &'a [f64] {
        Hyper::new(&lambda.hyper, self.columns).variances(Side::Item)
    }

    /// The mean of each user's or item's bias, if there are biases.
    pub fn biases(&self, lambda: &Lambda, side: Side) -> Option<Vec<f64>> {
        let of_row = |row: &[f64]| row[self.columns.d];
        let free = self.columns.free();
        let means = self.columns.biases.then(|| self.means(lambda, side))?;
        Some(means.chunks_exact(free).map(of_row).collect())
    }

    /// How much a use counts, if the model is of use and not of liking.
    pub fn confidence(&self) -> Option<f64> {
        let params = &self.params;
        params.implicit.then(|| params.confidence.unwrap_or(implicit::CONFIDENCE))
    }

    fn hyper_of<'a>(&self, lambda: &'a Lambda) -> Hyper<'a> {
        Hyper::new(&lambda.hyper, self.columns)
    }

    /// The side that a row of lambda belongs to.
    fn side_of(&self, row: usize) -> Side {
        if row < self.users.len() { Side::User } else { Side::Item }
    }

    /// The first row of a side.
    fn first_row(&self, side: Side) -> usize {
        match side {
            Side::User => 0,
            Side::Item => self.users.len(),
        }
    }

    fn n_rows_of(&self, side: Side) -> usize {
        self.ids(side).len()
    }
}

/// The side whose rows a phase updates.
fn side_of_phase(phase: usize) -> Side {
    if phase == 0 { Side::User } else { Side::Item }
}

impl Model for Pmf {
    type Data = Ratings;
    type Expect = Expect;
    type Pass = PerRow;
    type Scratch = Scratch;

    fn name(&self) -> &'static str {
        "pmf"
    }

    fn layout(&self) -> Layout {
        let (n_users, width) = (self.users.len(), self.columns.width());
        let n_rows = n_users + self.items.len();
        let phase = |rows| Phase { rows, columns: 0..width };
        Layout {
            phases: vec![phase(0..n_users), phase(n_users..n_rows)],
            ..Layout::one_phase(n_rows, width, self.columns.raw_width())
        }
    }

    fn prior(&self, hyper: &[f64], row: usize, eta: &mut [f64]) {
        eta.fill(0.0);
        let shape = Symmetric::full(self.columns.free());
        let variances = Hyper::new(hyper, self.columns).prior(self.side_of(row));
        for (k, variance) in variances.enumerate() {
            eta[shape.diagonal_index(k)] = 1.0 / variance;
        }
    }

    fn start(&self, _data: &Ratings, address: Address, lambda: &mut Table) -> Result<()> {
        start::fill(self, address, lambda);
        Ok(())
    }

    fn refresh(&self, lambda: &Lambda, rows: &RowSet, expect: &mut Expect) {
        expect::refresh(self, lambda, rows, expect);
    }

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn local_step(
        &self,
        expect: &Expect,
        shard: RowShard<'_, Ratings>,
        ask: Ask,
        scratch: &mut Scratch,
        stats: &mut [f64],
        bounds: &mut [f64],
    ) {
        local::row_step(self, expect, shard, ask, scratch, stats, bounds);
    }

    fn to_natural(&self, target: Target<'_>, raw: &Stats, increment: &mut [f64]) {
        local::to_natural(self, target.hyper, raw.row(target.row), increment);
    }

    fn in_domain(&self, _row: usize, lambda: &[f64]) -> bool {
        self.is_definite(&vec![0.0; self.columns.free()], lambda)
    }

    fn global_bound(&self, lambda: &Lambda, expect: &Expect) -> f64 {
        bound::minus_kl(self, lambda, expect)
    }

    fn pick(&self, expect: &Expect, held: &RowSet, wanted: &RowSet) -> Expect {
        expect.pick(self, held, wanted)
    }

    fn fit_defaults(&self, config: &mut FitConfig) {
        params::fit_defaults(config);
    }

    fn domain(&self) -> Option<&dyn Domain<Self>> {
        Some(self)
    }

    fn learner(&self) -> Option<&dyn Learn<Self>> {
        Some(self)
    }

    /// Shards of ratings are summed in one way, here and on workers.
    fn engine<'a>(&'a self, data: &'a Ratings) -> Result<Option<Box<dyn Engine<Self> + 'a>>> {
        match data.shards() {
            None => Ok(None),
            Some(folder) => Ok(Some(Box::new(Users::here(self, data, folder)?))),
        }
    }

    fn judge(&self) -> Option<&dyn Judge<Self>> {
        Some(self)
    }
}

impl Domain<Pmf> for Pmf {
    fn guards(&self) -> &'static [Guard] {
        Guard::OF_ROWS_WITH_PRIORS
    }

    fn above_prior(&self, hyper: &[f64], row: usize, lambda: &[f64]) -> bool {
        self.is_definite(&self.least_precision(hyper, row), lambda)
    }

    fn is_valid_when_noiseless(&self) -> bool {
        true
    }

    fn check_rows(
        &self,
        hyper: &[f64],
        rows: &[usize],
        proposals: &[f64],
        strict: bool,
        valid: &mut [bool],
    ) -> bool {
        let Some(&first) = rows.first() else { return true };
        let width = self.columns.width();
        // All of one phase, so of one prior.
        let least = match strict {
            true => self.least_precision(hyper, first),
            false => vec![0.0; self.columns.free()],
        };
        let mut scratch = Vec::new();
        let n = self.columns.free();
        is_positive_definite(self.isa, n, proposals, width, &least, valid, &mut scratch);
        true
    }

    fn broken(&self, expect: &Expect) -> Option<(usize, Advice)> {
        let row = expect.broken?;
        let what = advice![
            "its precision is singular as far as double precision can tell; the ratings are too large or \
             too small for their prior and noise variances, or M is too small: rescale them, give another ",
            setting("prior_variance"),
            " or ",
            setting("noise_variance"),
            ", or a larger ",
            setting("effective"),
        ];
        Some((row, what))
    }
}

impl Learn<Pmf> for Pmf {
    fn hyper(&self) -> Vec<f64> {
        hyper::start(self)
    }

    fn learn(&self, step: HyperStep<'_, Pmf>, lambda: &mut Lambda, expect: &mut Expect) {
        hyper::learn(self, step, lambda, expect);
    }
}

impl Judge<Pmf> for Pmf {
    fn score(&self, lambda: &Lambda, data: &Ratings, _population: usize) -> Scores {
        if self.confidence().is_none() {
            return self.predictor(lambda).scores(data).as_scores();
        }
        let k = |k| RankingOptions { k, relevant: None };
        let [ten, twenty] = [10, 20].map(|n| self.rank(lambda, data, k(n)).model);
        Scores { main: ten.ndcg, named: vec![("ndcg_10", ten.ndcg), ("recall_20", twenty.recall)] }
    }

    fn measures(&self, lambda: &Lambda, _population: usize) -> Vec<(&'static str, f64)> {
        let mut measures = vec![("noise_variance", self.noise_variance(lambda))];
        if self.params.ard {
            measures.push(("dims_in_use", self.dims_in_use(lambda) as f64));
        }
        measures
    }
}

impl Pmf {
    fn is_definite(&self, least: &[f64], lambda: &[f64]) -> bool {
        let mut valid = [false];
        let (n, width) = (self.columns.free(), self.columns.width());
        let scratch = &mut Vec::new();
        is_positive_definite(self.isa, n, lambda, width, least, &mut valid, scratch);
        valid[0]
    }

    /// What noise may not push the precision of a row below.
    fn least_precision(&self, hyper: &[f64], row: usize) -> Vec<f64> {
        let variances = Hyper::new(hyper, self.columns).prior(self.side_of(row));
        variances.map(|variance| KAPPA / variance).collect()
    }

    /// How many latent dimensions explain anything: those whose share of a rating's prior variance is
    /// more than a thousandth of the largest one's, and of sigma^2. What is pruned shrinks on for many
    /// sweeps, ever more slowly.
    pub fn dims_in_use(&self, lambda: &Lambda) -> usize {
        self.used_dims(lambda).len()
    }

    /// Which these are.
    pub fn used_dims(&self, lambda: &Lambda) -> Vec<usize> {
        let variances = self.item_variances(lambda);
        let largest = variances.iter().copied().fold(0.0, f64::max);
        let noise = self.noise_variance(lambda) / self.prior_variance;
        let is_used = |&k: &usize| variances[k] > 1e-3 * largest.max(noise);
        (0..variances.len()).filter(is_used).collect()
    }
}
