//! Long runs: memory stays flat, and totals that are kept along do not drift from exact ones.
//!
//! `./nightly soak`: an hour, or `LEHR_SOAK_SECONDS`, a third for each model. Looks at /proc, so Linux only.

#![cfg(target_os = "linux")]

mod common;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

use common::{clusters, dirichlet, documents, made_ratings, rng};
use lehr::FitConfig;
use lehr::fit::{Progress, State, Watcher};
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams, Stored};
use lehr::step::schedule::Effective;
use lehr::store;

/// The loop sums from scratch every 1024 steps; the step before is where an error would be largest.
const SUMMED_EVERY: u64 = 1024;

/// Kilobytes of this process that are in memory.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

struct Soak {
    seconds: f64,
    begin: Instant,
    /// (seconds, kilobytes), some hundred of them.
    memory: Vec<(f64, u64)>,
    steps: u64,
    /// The prior of a lazy row's entries, where rows are lazy.
    eta: Option<f64>,
    /// The largest relative difference of a kept total from the sum it stands for.
    drift: f64,
    compared: u64,
}

impl Watcher for Soak {
    fn after_step(&mut self, state: &State, _: &dyn Fn() -> Progress) -> lehr::Result<()> {
        self.steps = state.step;
        let now = self.begin.elapsed().as_secs_f64();
        if self.memory.last().is_none_or(|(then, _)| now - then >= self.seconds / 300.0) {
            self.memory.push((now, resident()));
        }
        if let Some(eta) = self.eta.filter(|_| state.step % SUMMED_EVERY == SUMMED_EVERY - 1) {
            let table = state.lambda.current(|_, row| row.fill(eta));
            let mut sums = vec![0.0; table.width()];
            table.rows().for_each(|row| sums.iter_mut().zip(row).for_each(|(s, x)| *s += x));
            for (sum, total) in sums.iter().zip(state.lambda.totals()) {
                self.drift = self.drift.max((sum - total).abs() / sum);
            }
            self.compared += 1;
        }
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        self.begin.elapsed().as_secs_f64() >= self.seconds
    }
}

/// Fits for so long, with a checkpoint every so often, and judges.
fn soaked<M: Stored>(
    name: &str,
    data: &Path,
    params: M::Params,
    config: FitConfig,
    eta: Option<f64>,
) {
    let total: f64 =
        std::env::var("LEHR_SOAK_SECONDS").map_or(60.0, |seconds| seconds.parse().unwrap());
    let mut soak = Soak {
        seconds: total / 3.0,
        begin: Instant::now(),
        memory: Vec::new(),
        steps: 0,
        eta,
        drift: 0.0,
        compared: 0,
    };
    let config = FitConfig {
        steps: Some(u64::MAX / 2),
        tol: 0.0,
        checkpoint_every: Some(200),
        eval_every: Some(500),
        noise_end: 1.0,
        ..config
    };
    let run = data.with_file_name(name);
    store::fit_file::<M>(&run, data, &Default::default(), params, &config, &mut soak).unwrap();
    // The first tenth fills caches and buffers; then the last half is compared with the one before.
    let part = |from: f64, to: f64| {
        let inside = |(then, _): &&(f64, u64)| (from..to).contains(&(then / soak.seconds));
        soak.memory.iter().filter(inside).map(|(_, size)| *size).max().unwrap()
    };
    let (first, second) = (part(0.1, 0.55), part(0.55, 2.0));
    let drift = match soak.eta {
        Some(_) => format!("{:.1e} in {} comparisons", soak.drift, soak.compared),
        None => "no totals are kept".into(),
    };
    println!(
        "{name}: {} steps in {:.0} s; memory at most {:.1} MB, then {:.1} MB; drift: {drift}",
        soak.steps,
        soak.seconds,
        first as f64 / 1024.0,
        second as f64 / 1024.0,
    );
    assert!(second as f64 <= 1.02 * first as f64 + 4096.0, "{name}: memory grows");
    assert!(soak.drift < 1e-9, "{name}: totals drift");
    assert_eq!(eta.is_some(), soak.compared > 0, "{name}: too short to compare");
}

#[test]
#[ignore = "takes an hour; ./nightly soak"]
fn memory_is_flat_and_totals_do_not_drift() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };

    // Two thousand words, of which a batch of twenty documents has a few hundred: most rows are lazy.
    let mut rng = rng(1);
    let topics: Vec<Vec<f64>> = (0..20).map(|_| dirichlet(&mut rng, &[0.05; 2000])).collect();
    let docs = documents(&topics, &[0.1; 20], 2000, 60, 2);
    let mut text = format!("2000\n2000\n{}\n", (0..2000).map(|n| docs.doc(n).len()).sum::<usize>());
    for n in 0..2000 {
        for entry in docs.doc(n) {
            writeln!(text, "{} {} {}", n + 1, entry.word + 1, entry.count).unwrap();
        }
    }
    let effective = Effective::Constant(5.0);
    let batches = |batch| FitConfig { batch: Some(batch), effective, ..FitConfig::default() };
    let params = LdaParams::fixed(30);
    let eta = Some(params.start_eta());
    soaked::<Lda>("lda", &file("docword.txt", text), params, batches(20), eta);

    let ratings = made_ratings((300, 200, 3), 20_000, (1.0, 0.5, 0.5), 3).ratings;
    let mut text = String::new();
    for (user, item, value) in ratings.triples() {
        writeln!(text, "{user}::{item}::{value}::0").unwrap();
    }
    let noisy = FitConfig { effective, ..FitConfig::default() };
    soaked::<Pmf>("pmf", &file("ratings.dat", text), PmfParams::new(8), noisy, None);

    let points = clusters(5000, 4, 6, 2.0, 4);
    let mut text = String::from("a,b,c,d\n");
    let mut row = [0.0; 4];
    for n in 0..5000 {
        points.copy_row(n, &mut row);
        text += &(row.map(|x| x.to_string()).join(",") + "\n");
    }
    soaked::<Mixture>(
        "dpgmm",
        &file("points.csv", text),
        MixtureParams::dpgmm(20),
        batches(200),
        None,
    );
}
