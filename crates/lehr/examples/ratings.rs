//! Ratings: predicts those that are missing, says how sure it is, and recommends.

use lehr::data::{Duplicates, Ids, Side};
use lehr::models::pmf::By;
use lehr::{Pmf, PmfParams, Ratings, Result};

/// Synthetic ratings: even users like westerns, odd ones space films; two of five are missing.
fn ratings(n_users: usize) -> Result<Ratings> {
    let (mut users, mut items) = (Ids::default(), Ids::default());
    let (mut user, mut item, mut rating) = (Vec::new(), Vec::new(), Vec::new());
    for (i, j) in (0..n_users).flat_map(|i| (0..8).map(move |j| (i, j))) {
        if (3 * i + 2 * j) % 5 < 3 {
            user.push(users.insert(&format!("user {i}")));
            let kind = if j < 4 { "Western" } else { "Space" };
            item.push(items.insert(&format!("{kind} {}", j % 4 + 1)));
            let likes = (i % 2 == 0) == (j < 4);
            rating.push(if likes { 4.5 } else { 1.5 } + 0.5 * ((i + j) % 3) as f32 - 0.5);
        }
    }
    Ratings::new(users, items, user, item, rating, Duplicates::Refuse)
}

/// Fits two latent dimensions and prints what two users have not rated.
pub fn main() -> Result<()> {
    let ratings = ratings(60)?;
    let pmf = Pmf::new(PmfParams::new(2), &ratings)?;
    let fitted = lehr::fit(&pmf, &ratings).run()?;
    let predictor = pmf.predictor(&fitted.state.lambda);

    for name in ["user 0", "user 1"] {
        let Some(number) = pmf.find_user(name) else { continue };
        let user = predictor.user(Some(number));
        println!("not yet rated by {name}, best first:");
        for best in predictor.recommend(&user, 3, By::Mean, pmf.seen(number)) {
            let (film, rating) = (pmf.ids(Side::Item).get(best.item as usize), best.prediction);
            println!("  {film}: {:.1} ± {:.1}", rating.mean, rating.variance.sqrt());
        }
    }
    Ok(())
}
