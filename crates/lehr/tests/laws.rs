//! The laws that every model obeys, checked with every model: the eight Gaussian mixtures, the one of
//! the example that we do not ship, LDA and PMF. Some have a meaning only where all rows share a batch.

mod common;

use common::{
    ForModel, ForPointsModel, ForSharedModel, above_prior, bits, deviation, for_every_model,
    for_every_points_model, for_every_shared_model, hyper, start, sweeps, watched,
};
use lehr::FitConfig;
use lehr::data::Points;
use lehr::fit::State;
use lehr::lambda::Lambda;
use lehr::math::rng::{Address, Purpose};
use lehr::math::table::Table;
use lehr::model::{
    Ask, Dataset, Layout, Local, Model, RowSet, SHARD, Shard, Shared, SharedModel, Stats, Target,
};
use lehr::models::{Mixture, Stored};
use lehr::step::anneal::{Law, weights};
use lehr::step::engine::{Engine, Threads, Work};
use lehr::step::pass::{BatchOf, Pass};
use lehr::step::sample::Batch;
use lehr::step::schedule::Effective;
use lehr::step::warm::Warm;

/// Makes a test that checks one law with every model on `n_items` items.
macro_rules! law {
    (points: $name:ident($n_items:expr), $check:ident) => {
        #[test]
        fn $name() {
            struct Law;
            impl ForPointsModel for Law {
                fn run<M: SharedModel<Data = Points>>(&self, name: &str, model: &M, data: &Points) {
                    $check(name, model, data);
                }
            }
            for_every_points_model($n_items, &Law);
        }
    };
    (shared: $name:ident($n_items:expr), $check:ident) => {
        #[test]
        fn $name() {
            struct Law;
            impl ForSharedModel for Law {
                fn run<M: SharedModel>(&self, name: &str, model: &M, data: &M::Data) {
                    $check(name, model, data);
                }
            }
            for_every_shared_model($n_items, &Law);
        }
    };
    ($(#[$doc:meta])* $name:ident($n_items:expr), $check:ident) => {
        $(#[$doc])*
        #[test]
        fn $name() {
            struct Law;
            impl ForModel for Law {
                fn run<M: Model>(&self, name: &str, model: &M, data: &M::Data) {
                    $check(name, model, data);
                }
            }
            for_every_model($n_items, &Law);
        }
    };
}

const LAWS: [Law; 5] = [Law::Gaussian, Law::Gamma, Law::Subsample, Law::Lagged, Law::Exact];

fn raw_of<M: Model>(model: &M) -> Stats {
    let Layout { n_rows, raw_width, .. } = model.layout();
    Stats::new(n_rows, raw_width)
}

/// The laws of noise that the model of these data knows: where every row has its own batch, noise sits on it.
fn laws_of<D: Dataset>(data: &D) -> &'static [Law] {
    let per_row = !data.groups(0).is_empty();
    if per_row { &LAWS[..3] } else { &LAWS }
}

/// Everything, as the first pass of a step sees it: the batch, its rows and their expectations.
fn everything<M: Model>(
    model: &M,
    data: &M::Data,
    lambda: &Table,
) -> (BatchOf<M>, RowSet, M::Expect) {
    let items: Vec<u32> = (0..data.n_items() as u32).collect();
    let (mut engine, lambda) = (Threads::new(model, data), State::at(model, lambda.clone()).lambda);
    let mut expect = M::Expect::default();
    let all = M::Pass::for_bound(model, &mut engine, &lambda, &items, &mut expect).unwrap();
    (all.0, all.1, expect)
}

/// Statistics and bound of `items` at `lambda`, by the library's engine.
fn pass<M: SharedModel>(
    model: &M,
    data: &M::Data,
    lambda: &Table,
    items: Vec<u32>,
) -> (Stats, f64) {
    let mut stats = raw_of(model);
    let batch = Batch::of(items, data.n_items());
    let expect = expect_of(model, lambda);
    let bound = local_pass(model, &expect, data, &batch, &mut stats);
    (stats, bound)
}

fn expect_of<M: Model>(model: &M, lambda: &Table) -> M::Expect {
    let mut expect = M::Expect::default();
    let rows = RowSet::all(model.layout().n_rows);
    model.refresh(&State::at(model, lambda.clone()).lambda, &rows, &mut expect);
    expect
}

fn local_pass<M: Model>(
    model: &M,
    expect: &M::Expect,
    data: &M::Data,
    batch: &BatchOf<M>,
    stats: &mut Stats,
) -> f64 {
    let work = Work { model, expect, batch, ask: Ask::TRAIN, defers: false };
    Threads::new(model, data).sum(work, &mut Warm::off(), stats).unwrap().bound
}

law!(shared: statistics_become_parameters_linearly(300), linear);
fn linear<M: SharedModel>(name: &str, model: &M, data: &M::Data) {
    let lambda = start(model, data);
    let (one, _) = pass(model, data, &lambda, (0..100).collect());
    let (two, _) = pass(model, data, &lambda, (100..300).collect());
    let (a, b) = (0.7, -1.9);
    let mut both = raw_of(model);
    for (i, both) in both.values_mut().iter_mut().enumerate() {
        *both = a * one.values()[i] + b * two.values()[i];
    }
    for (at, phase) in model.layout().phases.iter().enumerate() {
        for row in 0..model.layout().n_rows {
            let natural = |raw: &Stats| {
                let mut increment = vec![f64::NAN; phase.columns.len()];
                let target = Target { hyper: &hyper(model), phase: at, row, old: lambda.row(row) };
                model.to_natural(target, raw, &mut increment);
                increment
            };
            let (one, two) = (natural(&one), natural(&two));
            let sum: Vec<f64> = one.iter().zip(&two).map(|(x, y)| a * x + b * y).collect();
            let found = deviation(&natural(&both), &sum);
            assert!(found < 1e-12, "{name}, phase {at}, row {row}: {found:e}");
            assert!(one.iter().all(|x| x.is_finite()), "{name}: phase {at} leaves gaps");
        }
    }
}

law!(prior_and_starts_lie_in_the_domain(60), domain);
fn domain<M: Model>(name: &str, model: &M, data: &M::Data) {
    let layout = model.layout();
    assert_eq!(layout.phases.first().unwrap().columns.start, 0, "{name}");
    assert_eq!(layout.phases.last().unwrap().columns.end, layout.width, "{name}");
    let mut eta = vec![f64::NAN; layout.width];
    for row in 0..layout.n_rows {
        model.prior(&hyper(model), row, &mut eta);
        assert!(eta.iter().all(|x| x.is_finite()), "{name}: {eta:?}");
        assert!(
            model.in_domain(row, &eta) && above_prior(model, &hyper(model), row, &eta),
            "{name}, row {row}"
        );
        let half: Vec<f64> = eta.iter().map(|x| 0.5 * x).collect();
        assert!(
            !above_prior(model, &hyper(model), row, &half),
            "{name}, row {row}: half the prior"
        );
        let negative: Vec<f64> = eta.iter().map(|x| -x).collect();
        assert!(!model.in_domain(row, &negative), "{name}, row {row}: minus the prior");
    }
    for restart in 0..20 {
        let mut lambda = Table::new(layout.n_rows, layout.width);
        let address = Address::new(1, Purpose::Init, restart, 0);
        model.start(data, address, &mut lambda).unwrap();
        let valid = |(row, values): (usize, &[f64])| {
            values.iter().all(|x| x.is_finite())
                && model.in_domain(row, values)
                && above_prior(model, &hyper(model), row, values)
        };
        assert!(lambda.rows().enumerate().all(valid), "{name}, restart {restart}");
        // Noiseless updates stay at or above the prior: what `reject-below-prior` relies on.
        let (state, _) = sweeps(model, data, lambda, 3);
        let hyper = &state.lambda.hyper;
        let valid = |(row, values): (usize, &[f64])| {
            model.in_domain(row, values) && above_prior(model, hyper, row, values)
        };
        assert!(state.lambda.table().rows().enumerate().all(valid), "{name}, restart {restart}");
        assert_eq!(state.guard_hits, 0, "{name}");
    }
}

law!(points: shards_are_merged_in_their_order(3000), merge);
fn merge<M: SharedModel<Data = Points>>(name: &str, model: &M, data: &Points) {
    let lambda = start(model, data);
    let items: Vec<u32> = (0..data.n_items() as u32).rev().collect();
    let (whole, whole_bound) = pass(model, data, &lambda, items.clone());
    let (mut sum, mut bound) = (raw_of(model), 0.0);
    for block in items.chunks(SHARD) {
        let (part, part_bound) = pass(model, data, &lambda, block.to_vec());
        sum.values_mut().iter_mut().zip(part.values()).for_each(|(s, p)| *s += p);
        bound += part_bound;
    }
    assert_eq!(bits(whole.values()), bits(sum.values()), "{name}");
    assert_eq!(whole_bound.to_bits(), bound.to_bits(), "{name}");
}

law!(shared: an_empty_batch_changes_nothing(300), empty);
fn empty<M: SharedModel>(name: &str, model: &M, data: &M::Data) {
    let lambda = start(model, data);
    let (nothing, bound) = pass(model, data, &lambda, Vec::new());
    assert!(nothing.values().iter().all(|&x| x.to_bits() == 0) && bound.to_bits() == 0, "{name}");
}

law!(shared: a_local_step_does_not_remember(300), adds);
fn adds<M: SharedModel>(name: &str, model: &M, data: &M::Data) {
    let lambda = start(model, data);
    let (expect, mut scratch) = (expect_of(model, &lambda), model.scratch());
    let layout = model.layout();
    let rows = RowSet::all(layout.n_rows);
    let mut local = M::Local::new(&layout);
    let mut run = |n_items: u32, stats: bool| {
        let items: Vec<u32> = (0..n_items).collect();
        let weights: Vec<f64> = items.iter().map(|&n| f64::from(n % 5) - 1.0).collect();
        let mut bounds = vec![f64::NAN; items.len()];
        let shard = Shard { data, items: &items, weights: &weights, rows: &rows, warm: &[] };
        let ask = Ask { stats, ..Ask::TRAIN };
        local.clear();
        model.local_step(&expect, shard, ask, &mut scratch, &mut local, &mut bounds);
        let mut out = raw_of(model);
        let all = 0..layout.n_rows;
        for slots in all.step_by(rows.part(layout.raw_width)) {
            let slots = slots..(slots + rows.part(layout.raw_width)).min(layout.n_rows);
            let width = layout.raw_width;
            let out = &mut out.values_mut()[slots.start * width..slots.end * width];
            if stats {
                M::Local::gather(
                    std::slice::from_ref(&local),
                    &expect,
                    &rows,
                    slots,
                    ask,
                    true,
                    out,
                );
            }
        }
        (bits(&bounds), bits(out.values()))
    };
    let first = run(30, true);
    assert!(first.0.iter().all(|&b| f64::from_bits(b).is_finite()), "{name}");
    run(29, true);
    assert_eq!(run(30, true), first, "{name}");
    assert_eq!(run(30, false).0, first.0, "{name}: bounds with no statistics");
    assert!(run(0, true).1.iter().all(|&x| x == 0), "{name}: no items");
}

law!(expectations_and_statistics_survive_the_wire(700), wire);
fn wire<M: Model>(name: &str, model: &M, data: &M::Data) {
    let lambda = start(model, data);
    let (batch, rows, expect) = everything(model, data, &lambda);
    let text = serde_json::to_string(&expect).unwrap();
    let received: M::Expect = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (mut here, mut there) = (raw_of(model), raw_of(model));
    (here.rows, there.rows) = (rows.clone(), rows);
    let one = local_pass(model, &expect, data, &batch, &mut here);
    let two = local_pass(model, &received, data, &batch, &mut there);
    assert_eq!(bits(here.values()), bits(there.values()), "{name}");
    assert_eq!(one.to_bits(), two.to_bits(), "{name}");
    let text = serde_json::to_string(&here).unwrap();
    let received: Stats = serde_json::from_str(&text).unwrap();
    assert_eq!(bits(received.values()), bits(here.values()), "{name}");
}

law!(an_effective_size_as_large_as_the_batch_is_plain_svi(1100), plain);
fn plain<M: Model>(name: &str, model: &M, data: &M::Data) {
    // The stopping rule is on: a run without noise must also end where plain SVI ends.
    for batch in [None, Some(200)] {
        let size = batch.unwrap_or(data.n_items()).min(data.largest_block()) as f64;
        // PMF looks at the bound less often where there may be noise, unless the settings say how often.
        let eval_every = batch.is_none().then_some(1);
        let base =
            FitConfig { batch, steps: Some(60), tol: 1e-4, eval_every, ..FitConfig::default() };
        let svi = watched(model, data, &base, 2);
        for &law in laws_of(data) {
            for effective in [
                Effective::Constant(size),
                Effective::Linear(size),
                Effective::Geometric { from: size, steps: 9 },
            ] {
                let config = FitConfig { effective, law, ..base.clone() };
                let found = watched(model, data, &config, 2);
                let what = format!("{name}, batch {batch:?}, {law:?}, {effective}");
                assert_eq!(found.0.outcome, svi.0.outcome, "{what}");
                assert_eq!(
                    bits(found.0.state.lambda.table().values()),
                    bits(svi.0.state.lambda.table().values()),
                    "{what}"
                );
                assert_eq!(bits(&found.1), bits(&svi.1), "{what}");
            }
        }
        let noisy = FitConfig { effective: Effective::Constant(0.2 * size), ..base.clone() };
        assert_ne!(watched(model, data, &noisy, 2).1, svi.1, "{name}: the noise does nothing");
    }
}

law!(one_two_and_seven_threads_give_the_same_bits(3000), threads);
fn threads<M: Model>(name: &str, model: &M, data: &M::Data) {
    let base = FitConfig { steps: Some(6), tol: 0.0, n_init: 2, ..FitConfig::default() };
    let mut configs = vec![base.clone(), FitConfig { batch: Some(1600), ..base.clone() }];
    for &law in laws_of(data) {
        let effective = Effective::Constant((0.125 * data.largest_block().min(1600) as f64).ceil());
        configs.push(FitConfig { batch: Some(1600), effective, law, ..base.clone() });
        configs.push(FitConfig { effective, law, ..base.clone() });
    }
    for config in configs {
        let run = |threads| {
            let (fitted, bounds) = watched(model, data, &config, threads);
            (bits(fitted.state.lambda.table().values()), bits(&bounds), fitted.state.guard_hits)
        };
        let one = run(1);
        for threads in [2, 7] {
            assert_eq!(run(threads), one, "{name}, {threads} threads, {config:?}");
        }
    }
}

law!(points: a_weight_counts_copies_of_the_row(120), copies);
fn copies<M: Model<Data = Points>>(name: &str, model: &M, data: &Points) {
    // Weights 0, 1, 2 and 3 on the one side; none, one, two and three copies on the other.
    let times = |n: u32| (n * 7 % 11 % 4) as usize;
    let all: Vec<u32> = (0..data.n_items() as u32).collect();
    let weights = all.iter().map(|&n| times(n) as f64).collect();
    let weighted = data.subset(&all).with_weights(weights).unwrap();
    let copied: Vec<u32> = all.iter().flat_map(|&n| vec![n; times(n)]).collect();
    let copied = data.subset(&copied);
    same_fit(name, model, &weighted, &copied, start(model, data));
}

law!(points: a_weight_of_zero_is_no_row(120), absent);
fn absent<M: Model<Data = Points>>(name: &str, model: &M, data: &Points) {
    let all: Vec<u32> = (0..data.n_items() as u32).collect();
    let weights = all.iter().map(|n| f64::from(u8::from(n % 3 > 0))).collect();
    let weighted = data.subset(&all).with_weights(weights).unwrap();
    let kept: Vec<u32> = all.iter().copied().filter(|n| n % 3 > 0).collect();
    same_fit(name, model, &weighted, &data.subset(&kept), start(model, data));
}

/// Twenty sweeps on either data set, from the same lambda, lead to the same place.
fn same_fit<M: Model>(name: &str, model: &M, one: &M::Data, two: &M::Data, lambda: Table) {
    let (state_one, bounds_one) = sweeps(model, one, lambda.clone(), 20);
    let (state_two, bounds_two) = sweeps(model, two, lambda, 20);
    for (a, b) in state_one.lambda.table().rows().zip(state_two.lambda.table().rows()) {
        assert!(deviation(a, b) < 1e-12, "{name}: lambda {:e}", deviation(a, b));
    }
    let found = deviation(&bounds_one, &bounds_two);
    assert!(found < 1e-12, "{name}: bounds {found:e}");
}

/// Units and priors count a weighted row as its copies too.
#[test]
fn weights_shape_the_default_priors_like_copies() {
    let data = common::clusters(80, 3, 3, 2.0, 5);
    let all: Vec<u32> = (0..80).collect();
    let weights = all.iter().map(|n| f64::from(n % 3)).collect();
    let weighted = data.subset(&all).with_weights(weights).unwrap();
    let copied: Vec<u32> = all.iter().flat_map(|&n| vec![n; n as usize % 3]).collect();
    for (name, params) in common::every_mixture(4) {
        let one = Mixture::new(params.clone(), &weighted).unwrap().frozen();
        let two = Mixture::new(params, &data.subset(&copied)).unwrap().frozen();
        assert_eq!(one.units.scale, two.units.scale, "{name}");
        assert!(deviation(&one.units.shift, &two.units.shift) < 1e-14, "{name}");
        assert!(deviation(&one.prior.scatter, &two.prior.scatter) < 1e-14, "{name}");
        let (one, two) = (one.prior.mean_precision_matrix, two.prior.mean_precision_matrix);
        assert!(deviation(&one, &two) < 1e-13, "{name}");
    }
}

#[test]
fn annealing_weights_sum_to_the_size_of_the_batch() {
    for law in LAWS {
        for size in [2, 3, 50, 1000, 20_000] {
            for effective in [1.0, 0.1 * size as f64, 0.9 * size as f64] {
                let mut out = vec![f64::NAN; size];
                let address = Address::new(5, Purpose::Noise, 0, size as u64);
                weights(law, effective.max(1.0), true, address, &mut out);
                let sum: f64 = out.iter().sum();
                let found = (sum / size as f64 - 1.0).abs();
                assert!(found < 1e-11, "{law:?}, |S| = {size}, M = {effective}: {sum}");
            }
        }
        let mut out = vec![f64::NAN; 9];
        weights(law, 9.0, true, Address::new(5, Purpose::Noise, 0, 0), &mut out);
        assert!(out.iter().all(|w| w.to_bits() == 1f64.to_bits()), "{law:?}");
    }
}

/// A mixture of Bernoullis that looks at the expectations it is given with the bound.
struct Watchful(common::BernoulliMixture);

impl Model for Watchful {
    type Data = Points;
    type Expect = Table;
    type Pass = Shared<Stats>;
    type Scratch = (Vec<f64>, Vec<f64>);

    fn name(&self) -> &'static str {
        "watchful"
    }

    fn layout(&self) -> Layout {
        self.0.layout()
    }

    fn prior(&self, hyper: &[f64], row: usize, eta: &mut [f64]) {
        self.0.prior(hyper, row, eta);
    }

    fn start(&self, data: &Points, address: Address, lambda: &mut Table) -> lehr::Result<()> {
        self.0.start(data, address, lambda)
    }

    fn refresh(&self, lambda: &Lambda, rows: &RowSet, expect: &mut Table) {
        self.0.refresh(lambda, rows, expect);
    }

    fn scratch(&self) -> Self::Scratch {
        self.0.scratch()
    }

    fn local_step(
        &self,
        expect: &Table,
        shard: Shard<'_, Points>,
        ask: Ask,
        scratch: &mut Self::Scratch,
        stats: &mut Stats,
        bounds: &mut [f64],
    ) {
        self.0.local_step(expect, shard, ask, scratch, stats, bounds);
    }

    fn to_natural(&self, target: Target<'_>, raw: &Stats, increment: &mut [f64]) {
        self.0.to_natural(target, raw, increment);
    }

    fn in_domain(&self, row: usize, lambda: &[f64]) -> bool {
        self.0.in_domain(row, lambda)
    }

    fn global_bound(&self, lambda: &Lambda, expect: &Table) -> f64 {
        let mut now = Table::default();
        self.0.refresh(lambda, &RowSet::all(self.layout().n_rows), &mut now);
        assert!(expect.values() == now.values(), "expectations of another lambda");
        self.0.global_bound(lambda, expect)
    }
}

/// Also at the end of a fit by batches, when no step follows that would need them.
#[test]
fn a_bound_comes_with_the_expectations_of_its_lambda() {
    let letters = common::bernoulli::noisy_letters(300, 0.2, 7).unwrap();
    let model = Watchful(common::letters_model());
    for batch in [None, Some(50)] {
        let base = FitConfig { tol: 0.0, eval_every: Some(3), ..FitConfig::default() };
        let config = FitConfig { batch, steps: Some(7), ..base };
        let (fitted, bounds) = watched(&model, &letters, &config, 1);
        assert_eq!(bounds.len(), 4, "steps 0, 3, 6 and the last");
        let engine = &mut Threads::new(&model, &letters);
        let exact = lehr::fit::bound(&model, &fitted.state.lambda, engine).unwrap();
        assert!((bounds[3] / exact - 1.0).abs() < 1e-12, "{} and {exact}", bounds[3]);
    }
}
