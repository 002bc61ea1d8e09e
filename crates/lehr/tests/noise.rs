//! The statistics of SVI+: mean, covariance and skewness of the noisy gradient over the choice of the
//! batch and the noise together, for every law. Seeds are fixed; every bound is six standard errors,
//! estimated from the same draws.

use std::path::{Path, PathBuf};

use lehr::math::rng::{Address, Purpose};
use lehr::step::anneal::{Anneal, Law, weights};
use lehr::step::sample::{Batch, Sampler, Sampling};
use lehr::step::schedule::Effective;

const LAWS: [Law; 5] = [Law::Gaussian, Law::Gamma, Law::Subsample, Law::Lagged, Law::Exact];

fn anneal(law: Law, corrected: bool, m: f64) -> Anneal {
    let effective = Effective::Constant(m);
    Anneal { effective, law, corrected, until: u64::MAX, seed: 11, restart: 2 }
}

/// Draws `n` independent annealed batches of `size` out of `population`.
fn for_batches(
    anneal: Anneal,
    population: usize,
    size: usize,
    n: u64,
    mut each: impl FnMut(&Batch) + Send,
) {
    let mut sampler = Sampler::new(population, Some(size), Sampling::WithReplacement, 5, 2);
    let mut batch = Batch::default();
    // One thread of its own: batches this small are not worth waking others.
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| {
        for i in 1..=n {
            // Every other step, since `lagged` looks back by one.
            let t = 2 * i;
            sampler.draw(t, &mut batch);
            anneal.weigh(t, &mut sampler, &mut batch);
            each(&batch);
        }
    });
}

/// Mean and its standard error.
#[derive(Default, Clone, Copy)]
struct Estimate {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Estimate {
    fn add(&mut self, x: f64) {
        self.n += 1.0;
        self.sum += x;
        self.squares += x * x;
    }

    fn mean(&self) -> f64 {
        self.sum / self.n
    }

    fn error(&self) -> f64 {
        ((self.squares / self.n - self.mean().powi(2)) / self.n).sqrt()
    }

    fn check(&self, expected: f64, what: &str) {
        let (mean, error) = (self.mean(), self.error());
        let sigmas = (mean - expected) / error;
        println!(
            "{what}: {mean:.6} for {expected:.6}, {sigmas:+.2} standard errors of {error:.1e}"
        );
        assert!(sigmas.abs() < 6.0, "{what}: {mean} for {expected}, standard error {error}");
    }
}

/// A skewed population of statistics in two correlated dimensions.
fn vectors() -> Vec<[f64; 2]> {
    exponential(40)
        .into_iter()
        .enumerate()
        .map(|(n, x)| {
            let y = ((n * 7 % 40) as f64 / 8.0).sin();
            [x, 0.5 * x + y]
        })
        .collect()
}

/// The quantiles of an exponential distribution.
fn exponential(n: usize) -> Vec<f64> {
    (0..n).map(|i| -(1.0 - (i as f64 + 0.5) / n as f64).ln()).collect()
}

/// Mean, variance and third central moment of a finite population.
fn moments(xs: &[f64]) -> [f64; 3] {
    let n = xs.len() as f64;
    let mean = xs.iter().sum::<f64>() / n;
    let central = |power| xs.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    [mean, central(2), central(3)]
}

#[test]
fn mean_and_covariance_of_the_noisy_gradient() {
    let (size, m, n) = (8, 2.0, 100_000);
    let population = vectors();
    let [mean_x, ..] = moments(&population.iter().map(|t| t[0]).collect::<Vec<_>>());
    let [mean_y, ..] = moments(&population.iter().map(|t| t[1]).collect::<Vec<_>>());
    let covariance = |a: usize, b: usize| {
        let mean = [mean_x, mean_y];
        let products = population.iter().map(|t| (t[a] - mean[a]) * (t[b] - mean[b]));
        products.sum::<f64>() / population.len() as f64
    };
    for law in LAWS {
        for corrected in [true, false] {
            let mut first = [Estimate::default(); 2];
            let mut second = [Estimate::default(); 3];
            for_batches(anneal(law, corrected, m), population.len(), size, n, |batch| {
                let sum: f64 = batch.weights.iter().sum();
                assert!(batch.noisy && (sum - size as f64).abs() < 1e-12 * (size * size) as f64);
                let mut gradient = [0.0; 2];
                for (&item, w) in batch.items.iter().zip(&batch.weights) {
                    for (g, t) in gradient.iter_mut().zip(population[item as usize]) {
                        *g += w * t / size as f64;
                    }
                }
                let [x, y] = [gradient[0] - mean_x, gradient[1] - mean_y];
                first[0].add(x);
                first[1].add(y);
                second[0].add(x * x);
                second[1].add(x * y);
                second[2].add(y * y);
            });
            let what = |part: &str| format!("{law:?}, corrected {corrected}, {part}");
            first[0].check(0.0, &what("mean of x"));
            first[1].check(0.0, &what("mean of y"));
            // Of the batch, then of the noise. A batch's own covariance lacks 1/|S| of the
            // population's; the paper's form does not make up for it. A subsample is M plain draws, and the exact
            // covariance is the population's.
            let s = size as f64;
            let is_whole = corrected || matches!(law, Law::Subsample | Law::Exact);
            let own = if is_whole { 1.0 } else { 1.0 - 1.0 / s };
            let factor = 1.0 / s + own * (1.0 / m - 1.0 / s);
            if is_whole {
                assert!((factor - 1.0 / m).abs() < 1e-15);
            }
            second[0].check(factor * covariance(0, 0), &what("covariance xx"));
            second[1].check(factor * covariance(0, 1), &what("covariance xy"));
            second[2].check(factor * covariance(1, 1), &what("covariance yy"));
        }
    }
}

/// Given the batch, the noise of `exact` has the covariance (1/M - 1/|S|) C of equation (11), C being that of all items
/// and not the batch's own, whatever the batch; and every item has one local step.
#[test]
fn exact_noise_has_the_covariance_of_all_items_whatever_the_batch() {
    let (size, m, n) = (8, 2.0, 60_000);
    let population = vectors();
    let mean = |a: usize| population.iter().map(|t| t[a]).sum::<f64>() / population.len() as f64;
    let mean = [mean(0), mean(1)];
    let covariance = |a: usize, b: usize| {
        let products = population.iter().map(|t| (t[a] - mean[a]) * (t[b] - mean[b]));
        products.sum::<f64>() / population.len() as f64
    };
    let sums = |batch: &Batch, count: usize| {
        let mut sums = [0.0; 2];
        for (&item, w) in batch.items.iter().zip(&batch.weights).take(count) {
            let weight = if batch.noisy { *w } else { 1.0 };
            sums.iter_mut().zip(population[item as usize]).for_each(|(s, t)| *s += weight * t);
        }
        sums.map(|sum| sum / size as f64)
    };
    for t in [1, 2] {
        let mut sampler =
            Sampler::new(population.len(), Some(size), Sampling::WithReplacement, 5, 2);
        let mut second = [Estimate::default(); 3];
        for seed in 0..n {
            let mut batch = Batch::default();
            sampler.draw(t, &mut batch);
            let plain = sums(&batch, size);
            let drawn = batch.items.clone();
            Anneal { seed, ..anneal(Law::Exact, true, m) }.weigh(t, &mut sampler, &mut batch);
            let noisy = sums(&batch, batch.items.len());
            let [x, y] = [noisy[0] - plain[0], noisy[1] - plain[1]];
            second[0].add(x * x);
            second[1].add(x * y);
            second[2].add(y * y);
            if seed == 0 {
                assert_eq!(batch.items[..size], drawn, "S_t comes first");
                let mut all = batch.items[size..].to_vec();
                all.extend(drawn);
                all.sort_unstable();
                all.dedup();
                assert_eq!(all, (0..population.len() as u32).collect::<Vec<_>>());
                assert!(batch.items[size..].iter().all(|item| !batch.items[..size].contains(item)));
            }
        }
        let factor = 1.0 / m - 1.0 / size as f64;
        second[0].check(factor * covariance(0, 0), "noise alone, covariance xx");
        second[1].check(factor * covariance(0, 1), "noise alone, covariance xy");
        second[2].check(factor * covariance(1, 1), "noise alone, covariance yy");
    }
}

#[test]
fn with_a_full_batch_exact_is_the_papers_gaussian() {
    let drawn = |law: Law, corrected: bool| {
        let mut sampler = Sampler::new(30, None, Sampling::Epochs, 5, 2);
        let mut batch = Batch::default();
        sampler.draw(1, &mut batch);
        anneal(law, corrected, 6.0).weigh(1, &mut sampler, &mut batch);
        batch.weights.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    let paper = drawn(Law::Gaussian, false);
    assert_eq!((drawn(Law::Exact, true), drawn(Law::Exact, false)), (paper.clone(), paper));
    assert_ne!(drawn(Law::Gaussian, true), drawn(Law::Exact, true));
}

/// With the |S|/(|S|-1) correction these formulas are exact at every size, because
/// E[(mean of S - mu) (sum of squares of S)] = m3 (|S| - 1) / |S| for independent draws.
#[test]
fn skewness_of_the_noisy_gradient() {
    let population = exponential(50);
    let [mean, variance, third] = moments(&population);
    let g = third / variance.powf(1.5);
    let skewness = |law: Option<Law>, m: usize, size: usize| {
        let mut cubes = Estimate::default();
        // Without a law: plain SVI with a batch of M.
        let (annealing, size) = match law {
            Some(law) => (anneal(law, true, m as f64), size),
            None => (Anneal { effective: Effective::Off, ..anneal(Law::Gaussian, true, 1.0) }, m),
        };
        let scale = (variance / m as f64).powf(1.5);
        for_batches(annealing, population.len(), size, 250_000, |batch| {
            let terms = batch.items.iter().zip(&batch.weights);
            let sum: f64 = terms.map(|(&item, w)| w * population[item as usize]).sum();
            cubes.add((sum / size as f64 - mean).powi(3) / scale);
        });
        cubes
    };
    for (m, size) in [(4, 6), (4, 16)] {
        let (root, tau) = ((m as f64).sqrt(), size as f64 / m as f64);
        let what = |law: &str| format!("skewness of {law} at tau = {tau}");
        let plain = skewness(None, m, size);
        let gaussian = skewness(Some(Law::Gaussian), m, size);
        let lagged = skewness(Some(Law::Lagged), m, size);
        plain.check(g / root, &what("plain SVI with a batch of M"));
        gaussian.check(g * (3.0 * tau - 2.0) / (tau * tau * root), &what("gaussian"));
        lagged.check(g / (tau * tau * root), &what("lagged"));
        skewness(Some(Law::Exact), m, size).check(g / (tau * tau * root), &what("exact"));
        // What follows from it: Algorithm 1 is more skewed than plain SVI for 1 < tau < 2.
        let excess = gaussian.mean() - plain.mean();
        assert_eq!(excess > 0.0, tau < 2.0, "{excess} at tau = {tau}");
        assert!(lagged.mean() < gaussian.mean() && lagged.mean() < plain.mean());
    }
}

#[test]
fn an_effective_size_of_the_batch_or_more_gives_exact_ones() {
    let one = 1f64.to_bits();
    for law in LAWS {
        for corrected in [true, false] {
            for m in [16.0, 16.5, 1e300, f64::INFINITY, f64::NAN] {
                let mut w = [0.5; 16];
                let address = Address::new(1, Purpose::Noise, 0, 1);
                weights(law, m, corrected, address, &mut w);
                assert!(w.iter().all(|w| w.to_bits() == one), "{law:?} {m}: {w:?}");
                for_batches(anneal(law, corrected, m), 100, 16, 3, |batch| {
                    assert!(!batch.noisy && batch.items.len() == 16 && batch.weights.len() == 16);
                    assert!(batch.weights.iter().all(|w| w.to_bits() == one));
                });
            }
            // One item cannot be centred.
            for_batches(anneal(law, corrected, 0.5), 100, 1, 3, |batch| {
                assert!(!batch.noisy && batch.weights[0].to_bits() == one);
            });
        }
    }
}

#[test]
fn two_in_five_weights_are_negative_at_1000_and_50() {
    let mut negative = Estimate::default();
    for t in 0..200 {
        let mut w = vec![0.0; 1000];
        weights(Law::Gaussian, 50.0, true, Address::new(3, Purpose::Noise, 0, t), &mut w);
        w.iter().for_each(|&w| negative.add(if w < 0.0 { 1.0 } else { 0.0 }));
    }
    // The normal distribution function at -1 / sqrt(1000/50 - 1).
    negative.check(0.409_272_904_191, "share of negative weights");
    for law in [Law::Gamma, Law::Subsample] {
        let mut w = vec![0.0; 1000];
        weights(law, 50.0, true, Address::new(3, Purpose::Noise, 0, 1), &mut w);
        assert!(w.iter().all(|&w| w >= 0.0), "{law:?}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let pools = [1, 2, 7]
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    for law in LAWS {
        // Several draws each: a different order of additions shows in some of them only.
        for (size, step) in [2, 1000, 40_001, 40_001, 100_000, 100_000].into_iter().zip(1..) {
            let draws = pools.each_ref().map(|pool| {
                let mut w = vec![0.0; size];
                let address = Address::new(9, Purpose::Noise, 1, step);
                pool.install(|| weights(law, size as f64 / 3.0, true, address, &mut w));
                w.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            });
            assert!(draws[0] == draws[1] && draws[0] == draws[2], "{law:?} {size}");
        }
    }
}

/// SVI+ lives in one file. Others may hold what it is made of, or draw a start, but no noise.
#[test]
fn noise_is_drawn_in_one_file() {
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    // Which file may hold which word.
    let allowed = |file: &str, word: &str| match file {
        "step/anneal.rs" => true,
        // Draws from a fitted model, to choose by or to look at.
        "models/pmf/recommend.rs" | "models/mixture/sample.rs" => word == ".normal()",
        _ => word == ".normal()" && file.ends_with("/start.rs"),
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&source, &mut found);
    assert!(found.len() > 20, "{found:?}");
    let mut homes = 0;
    for path in found {
        let file = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap();
        // Unit tests stand at the end of a file.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let line = line.split("//").next().unwrap();
            for word in ["fill_normal", ".normal()", "Purpose::Noise"] {
                if line.contains(word) {
                    homes += usize::from(file == "step/anneal.rs");
                    assert!(allowed(&file, word), "{file}:{}: {word}", number + 1);
                }
            }
        }
    }
    assert!(homes >= 2, "the scan no longer finds the noise in step/anneal.rs");
}
