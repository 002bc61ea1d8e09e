//! Watching a fit: prints the bound while annealed batches run, and stops it when it has seen enough.

use lehr::model::{Address, Purpose};
use lehr::{FitConfig, Mixture, MixtureParams, Observation, Points, Result, Watcher};

/// Prints what it sees, and wants no more than `most` lines.
struct Printer {
    lines: usize,
    most: usize,
}

impl Watcher for Printer {
    fn observe(&mut self, seen: &Observation) -> Result<()> {
        self.lines += 1;
        let Observation { step, bound, rho, effective, .. } = seen;
        println!("step {step:3}  bound {bound:9.2}  rho {rho:.3}  M {effective:3.0}");
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        self.lines == self.most
    }
}

/// Fits a mixture and prints how it goes.
pub fn main() -> Result<()> {
    let mut rng = Address::new(1, Purpose::Data, 0, 0).rng(0);
    let values = (0..1000).map(|n| f64::from(n % 4) * 4.0 + rng.normal()).collect();
    let points = Points::new(values, 1)?;
    let mixture = Mixture::new(MixtureParams::gmm(4), &points)?;
    // SVI+: batches of 100 with the noise of 20, growing to none in 60 steps.
    let effective = "geometric:20:60".parse().expect("a schedule");
    let config = FitConfig { batch: Some(100), effective, ..FitConfig::default() };

    let mut printer = Printer { lines: 0, most: 12 };
    let fitted = lehr::fit(&mixture, &points).config(config).watch(&mut printer).run()?;
    let (outcome, done) = (&fitted.outcome, fitted.is_complete());
    println!("{} after {} steps; complete: {done}", outcome.stop, outcome.steps);
    Ok(())
}
