//! Ways to leave an optimum of a mixture: components that move, join or restart. No pass over the data is needed,
//! since the sums of every component can be read off lambda.

use super::clusters::{Hyper, Parts, worth};
use super::readout::{sizes, sort_by_size};
use super::{Mixture, Spread, start};
use crate::data::Points;
use crate::lambda::Lambda;
use crate::math::kernels::TILE;
use crate::math::rng::Rng;
use crate::math::stop;
use crate::math::table::Table;
use crate::model::{Kicking, Model, Stats};
use crate::settings::Kick;
use crate::step::update::{follow_raw, from_raw};

/// The share of the pairs that a merge looks at, so that it is not always the same one; and where one of them moves on.
const PAIRS: f64 = 0.3;
const PAIRS_TO_FREE: f64 = 0.6;

/// Multiplications that a merge may make to look for a pair.
const WORK: f64 = 1e8;

/// Two components whose evidence falls by more than this, and by more than so much for each of their items, are not worth
/// a run as one. The bound of the two has their items' entropy as well, so that the evidence is generous.
const LOSS: f64 = 5.0;
const LOSS_OF_ITEM: f64 = 0.02;

/// Random items of which the one that fits worst is where a component moves.
const CANDIDATES: usize = 3;

/// Components with fewer items than this have nothing to merge.
const LEAST: f64 = 0.5;

impl Kicking<Mixture> for Mixture {
    fn kick(&self, kick: Kick, points: &Points, rng: &mut Rng, lambda: &mut Table) -> bool {
        let k = self.params.components;
        let mut raw = self.raw(lambda);
        let size = sizes(self, lambda).iter().sum::<f64>() / k as f64;
        match kick {
            Kick::Swap => {
                // The smaller of two: it has less to lose.
                let [a, b] = [0, 1].map(|_| rng.below(k as u64) as usize);
                let smaller = self.sums(&raw, b).count < self.sums(&raw, a).count;
                let component = if smaller { b } else { a };
                self.clear(component, &mut raw);
                let item = self.ill_fitted(points, lambda, rng);
                self.put(component, size, points, item, &mut raw);
            }
            Kick::Merge | Kick::MergeBirth => {
                let share = if kick == Kick::Merge { PAIRS } else { PAIRS_TO_FREE };
                let Some((gain, (i, j))) = self.pair_to_merge(&raw, share, rng) else {
                    return false;
                };
                let items = self.sums(&raw, i).count + self.sums(&raw, j).count;
                if kick == Kick::Merge && gain < -(LOSS + LOSS_OF_ITEM * items) {
                    return false;
                }
                let freed = self.merge(i, j, &mut raw);
                if kick == Kick::MergeBirth {
                    let item = self.ill_fitted(points, lambda, rng);
                    self.put(freed, size, points, item, &mut raw);
                }
            }
            Kick::Restart => raw = start::quickly(self, points, rng),
            Kick::Noise => return false,
        }
        from_raw(self, &raw, lambda);
        if !self.joint() {
            // Means have the prior's precisions so far.
            follow_raw(self, &raw, lambda);
        }
        sort_by_size(self, lambda);
        true
    }

    fn sizes(&self, lambda: &Table) -> Vec<f64> {
        sizes(self, lambda)
    }
}

impl Mixture {
    /// The sums that lambda stands for: what it has beyond the prior.
    fn raw(&self, lambda: &Table) -> Stats {
        let layout = self.layout();
        let mut raw = Stats::new(layout.n_rows, layout.raw_width);
        let mut eta = vec![0.0; layout.width];
        for (r, row) in lambda.rows().enumerate() {
            self.prior(&[], r, &mut eta);
            let (parts, priors) = (self.parts(row), self.parts(&eta));
            let moments = self.valid_moments(&parts);
            let pairs = parts[0].scatter.iter().zip(priors[0].scatter);
            let mut scatter: Vec<f64> = pairs.map(|(x, prior)| x - prior).collect();
            let mut total = 0.0;
            for (i, m) in moments.iter().enumerate() {
                let count = parts[i].weights[0] - priors[i].weights[0];
                total += count;
                let (_, own, _) = self.place(r * self.per_row() + i);
                let out = &mut raw.row_mut(r)[own..];
                out[0] = count;
                match &m.spread {
                    Spread::Beta(_) => {
                        let pairs = parts[i].linear.iter().zip(priors[i].linear);
                        out[1..].iter_mut().zip(pairs).for_each(|(o, (x, prior))| *o = x - prior);
                    }
                    Spread::Covariance(covariance) => {
                        out[1..].iter_mut().zip(&m.mean).for_each(|(o, x)| *o = count * x);
                        self.shape.add_outer(count, &m.mean, &m.mean, &mut scatter);
                        self.shape.add_covariance(-count, covariance, &mut scatter);
                    }
                }
            }
            self.add_ridge(-total, &mut scatter);
            let (_, _, second) = self.place(r * self.per_row());
            self.shape.add_as_second(&scatter, &mut raw.row_mut(r)[second..]);
        }
        raw
    }

    /// The prior's guess of a covariance.
    fn spread(&self) -> Vec<f64> {
        // With the usual degrees of freedom the scatter is that guess.
        let divisor = 1.0 + self.prior.degrees_of_freedom - self.shape.usual_freedom();
        self.prior.scatter.iter().map(|s| s / divisor.max(0.1)).collect()
    }

    /// The mean of a component's items, and its own sums' part of the second moments.
    fn mean_of(&self, k: usize, raw: &Stats) -> (f64, Vec<f64>) {
        let sums = self.sums(raw, k);
        let mean = |x: &f64| if sums.count > 0.0 { x / sums.count } else { 0.0 };
        (sums.count, sums.first.iter().map(mean).collect())
    }

    /// Takes a component's items away. Of tied ones, what they vary by around their mean stays with the others.
    fn clear(&self, k: usize, raw: &mut Stats) {
        let (row, own, second) = self.place(k);
        if self.shape.is_tied() {
            let (count, mean) = self.mean_of(k, raw);
            let mut about = vec![0.0; self.shape.scatter().len()];
            self.shape.add_outer(-count, &mean, &mean, &mut about);
            self.shape.add_as_second(&about, &mut raw.row_mut(row)[second..]);
            raw.row_mut(row)[own..own + 1 + self.n_dims()].fill(0.0);
        } else {
            raw.row_mut(row).fill(0.0);
        }
    }

    /// Of a few random items the one that the mixture fits worst.
    fn ill_fitted(&self, points: &Points, lambda: &Table, rng: &mut Rng) -> u32 {
        let items: Vec<u32> =
            (0..CANDIDATES).map(|_| rng.below(points.n_items() as u64) as u32).collect();
        let lambda = Lambda::new(lambda.clone(), false, Vec::new());
        let densities = self.log_predictive(&lambda, &points.subset(&items));
        let worst = (0..items.len()).min_by(|&a, &b| densities[a].total_cmp(&densities[b]));
        items[worst.unwrap_or(0)]
    }

    /// Gives an empty component `size` items around this one.
    fn put(&self, k: usize, size: f64, points: &Points, item: u32, raw: &mut Stats) {
        let mut tile = vec![0.0; self.n_dims() * TILE];
        self.units.load(points, &[item], &mut tile);
        let there = |x: &f64| if x.is_nan() { 0.0 } else { *x };
        let x: Vec<f64> = tile.iter().step_by(TILE).map(there).collect();
        let spread = match self.shape.is_tied() {
            true => vec![0.0; self.shape.scatter().len()],
            false => self.spread(),
        };
        self.add_around(k, size, &x, &spread, raw);
    }

    /// Joins two components; the larger one stays, and the other is empty then.
    fn merge(&self, i: usize, j: usize, raw: &mut Stats) -> usize {
        let (i, j) =
            if self.sums(raw, i).count >= self.sums(raw, j).count { (i, j) } else { (j, i) };
        let ((to, a, _), (from, b, _)) = (self.place(i), self.place(j));
        // Of tied components the second moments are those of all, and stay.
        let width = if self.shape.is_tied() { 1 + self.n_dims() } else { raw.row(to).len() };
        let taken = raw.row(from)[b..b + width].to_vec();
        raw.row_mut(from)[b..b + width].fill(0.0);
        raw.row_mut(to)[a..a + width].iter_mut().zip(taken).for_each(|(x, y)| *x += y);
        j
    }

    /// Among some of the pairs of components, the one that gains most evidence as one.
    fn pair_to_merge(
        &self,
        raw: &Stats,
        share: f64,
        rng: &mut Rng,
    ) -> Option<(f64, (usize, usize))> {
        let (components, parts) = self.parts_of(raw);
        let n = parts.len();
        let share = share.min(self.share_of_pairs(n));
        let pairs = || (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let mut chosen: Vec<(usize, usize)> = pairs().filter(|_| rng.uniform() < share).collect();
        if chosen.is_empty() && n > 1 {
            chosen.extend(pairs().nth(rng.below((n * (n - 1) / 2) as u64) as usize));
        }
        let mut best: Option<(f64, (usize, usize))> = None;
        self.each_gain(&parts, chosen, |gain, pair| {
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, pair));
            }
        });
        best.map(|(gain, (i, j))| (gain, (components[i], components[j])))
    }

    /// The share of the pairs of this many components that can be looked at.
    fn share_of_pairs(&self, n: usize) -> f64 {
        let d = self.n_dims() as f64;
        let is_diagonal = self.shape.searched().scatter().is_diagonal();
        let of_pair = if is_diagonal { d } else { d.powi(3) / 3.0 };
        WORK / (of_pair * (n * n) as f64 / 2.0).max(1.0)
    }

    /// The components that have items, and the counts, means and scatters of these.
    fn parts_of(&self, raw: &Stats) -> (Vec<usize>, Parts) {
        let shape = self.shape.searched();
        let mut parts = Parts::default();
        let total: f64 =
            (0..self.params.components).map(|k| self.sums(raw, k).count.max(0.0)).sum();
        let components: Vec<usize> =
            (0..self.params.components).filter(|&k| self.sums(raw, k).count >= LEAST).collect();
        // What all tied components vary by, around their means.
        let mut within = vec![0.0; shape.scatter().len()];
        if self.shape.is_tied() {
            self.shape.add_second(self.sums(raw, 0).second, &mut within);
            for &k in &components {
                let (count, mean) = self.mean_of(k, raw);
                self.shape.add_outer(-count, &mean, &mean, &mut within);
            }
        }
        for &k in &components {
            let (count, mean) = self.mean_of(k, raw);
            let mut scatter: Vec<f64>;
            if self.shape.is_tied() {
                scatter = within.iter().map(|s| s * count / total).collect();
            } else {
                scatter = vec![0.0; shape.scatter().len()];
                self.shape.add_second(self.sums(raw, k).second, &mut scatter);
                self.shape.add_outer(-count, &mean, &mean, &mut scatter);
            }
            parts.counts.push(count);
            parts.means.push(mean);
            parts.scatters.push(scatter);
        }
        (components, parts)
    }

    /// What each of these pairs gains in evidence as one.
    fn each_gain(
        &self,
        parts: &Parts,
        pairs: impl IntoIterator<Item = (usize, usize)>,
        mut see: impl FnMut(f64, (usize, usize)),
    ) {
        let (shape, prior) = (self.shape.searched(), &self.prior);
        let hyper = Hyper {
            mean: prior.mean.clone(),
            beta: if self.joint() { prior.mean_precision } else { 1.0 },
            nu: prior.degrees_of_freedom,
            scatter: prior.scatter.clone(),
            concentration: if self.sticks() { prior.concentration } else { 1.0 },
        };
        let worth = worth(&hyper, shape);
        let of = |k: usize| worth(parts.counts[k], &parts.means[k], parts.scatters[k].clone());
        let own: Vec<f64> = (0..parts.len()).map(of).collect();
        for (i, j) in pairs {
            stop::check();
            let (count, mean, scatter) = parts.joined(i, j, shape);
            see(worth(count, &mean, scatter) - own[i] - own[j], (i, j));
        }
    }

    /// Pairs of components that might as well be one, those that lose least evidence first, `most` of them at most. The
    /// evidence knows nothing of the entropy of the items that both have a part of, so that the bound of the two as one
    /// is lower than it says; [`Mixture::merged`] and a pass over the data tell by how much. None where there are too
    /// many pairs to look at.
    pub fn merges(&self, lambda: &Table, most: usize) -> Vec<Merge> {
        let raw = self.raw(lambda);
        let (components, parts) = self.parts_of(&raw);
        let n = parts.len();
        if self.share_of_pairs(n) < 1.0 {
            return Vec::new();
        }
        let mut all = Vec::new();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        self.each_gain(&parts, pairs, |evidence, (i, j)| {
            all.push(Merge { components: (components[i], components[j]), evidence });
        });
        all.sort_by(|a, b| b.evidence.total_cmp(&a.evidence));
        all.truncate(most);
        all
    }

    /// The state with two components as one, the other being empty; its components are in the order of `lambda`.
    pub fn merged(&self, lambda: &Table, (i, j): (usize, usize)) -> Table {
        let (mut raw, mut merged) = (self.raw(lambda), lambda.clone());
        self.merge(i, j, &mut raw);
        from_raw(self, &raw, &mut merged);
        if !self.joint() {
            follow_raw(self, &raw, &mut merged);
        }
        merged
    }
}

/// Two components that might be one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// Which.
    pub components: (usize, usize),
    /// What they gain in evidence as one; below 0, what they lose.
    pub evidence: f64,
}
