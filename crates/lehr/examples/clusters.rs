//! Clusters in a table: a Dirichlet-process mixture finds how many there are, and labels new points.

use lehr::model::{Address, Purpose};
use lehr::{FitConfig, Mixture, MixtureParams, Points, Result};

/// Synthetic points around three centres in the plane.
fn points(n_items: usize) -> Result<Points> {
    let centres = [[0.0, 0.0], [6.0, 1.0], [2.0, 7.0]];
    let mut rng = Address::new(1, Purpose::Data, 0, 0).rng(0);
    let mut values = Vec::new();
    for n in 0..n_items {
        values.extend(centres[n % 3].map(|c| c + rng.normal()));
    }
    Points::new(values, 2)
}

/// Fits up to ten clusters and prints those that hold points.
pub fn main() -> Result<()> {
    let points = points(900)?;
    let mixture = Mixture::new(MixtureParams::dpgmm(10), &points)?;
    let config = FitConfig { n_init: 3, ..FitConfig::default() };
    let fitted = lehr::fit(&mixture, &points).config(config).run()?;
    let lambda = fitted.state.lambda.table();

    println!("the best of 3 starts has the bound {:.2}; clusters:", fitted.outcome.bound);
    for component in mixture.components(lambda).iter().filter(|c| c.size > 1.0) {
        let [x, y] = [component.mean[0], component.mean[1]];
        println!("{:5.0} points around ({x:.1}, {y:.1})", component.size);
    }
    let new = Points::new(vec![0.3, -0.2, 4.0, 4.0], 2)?;
    let shares = mixture.responsibilities(lambda, &new);
    for (n, shares) in shares.chunks(10).enumerate() {
        let best = (0..10).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0);
        println!("new point {}: cluster {best}, with probability {:.2}", n + 1, shares[best]);
    }
    Ok(())
}
