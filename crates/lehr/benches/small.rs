//! What a step costs beside the kernels where there is little to do: a mixture of few items, as a search fits by the
//! thousand. `cargo bench -p lehr --bench small -- [N D K [STEPS]]`; without numbers 500 x 10 with K = 25. Prints one JSON
//! line: microseconds of a step, by part of the loop. `local` is line 5 of the algorithm: the kernels and what calls them.

use std::error::Error;
use std::time::Instant;

use lehr::data::Points;
use lehr::math::rng::{Address, Purpose};
use lehr::models::{Mixture, MixtureParams};
use lehr::settings::FitConfig;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds its own argument.
    let arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let numbers: Vec<usize> = arguments.map(|a| a.parse()).collect::<Result<_, _>>()?;
    let (n, d, k, steps) = match numbers[..] {
        [] => (500, 10, 25, 2000),
        [n, d, k] => (n, d, k, 2000),
        [n, d, k, steps] => (n, d, k, steps),
        _ => return Err("give N, D and K, and perhaps a number of steps".into()),
    };
    // Five clusters, far apart.
    let mut rng = Address::new(1, Purpose::Data, 0, 0).rng(0);
    let numbers = (0..n * d).map(|i| rng.normal() + 4.0 * ((i / d) % 5) as f64);
    let points = Points::new(numbers.collect(), d)?;
    let mixture = Mixture::new(MixtureParams::gmm(k), &points)?;
    let config = FitConfig { steps: Some(steps as u64), tol: 0.0, ..FitConfig::default() };
    let begin = Instant::now();
    let fitted = lehr::fit(&mixture, &points).config(config).threads(1).run()?;
    let per_step = |seconds: f64| 1e6 * seconds / steps as f64;
    let (all, parts) = (per_step(begin.elapsed().as_secs_f64()), fitted.timings);
    let [local, update, observe] = [parts.local, parts.update, parts.observe].map(per_step);
    println!(
        r#"{{"step":{all:.2},"local":{local:.2},"update":{update:.2},"observe":{observe:.2},"bound":{}}}"#,
        fitted.outcome.bound
    );
    Ok(())
}
