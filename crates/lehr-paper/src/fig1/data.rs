//! The ratings of figure 1: the user's files, or ratings made from planted factors.

use std::collections::HashSet;

use lehr::data::{Duplicates, Ids, Ratings, Side};
use lehr::math::rng::{Address, Purpose, Rng};
use lehr::read::{self, RatingsOptions};

use crate::Options;
use crate::data::{MOVIELENS_1M, MOVIELENS_10M, NETFLIX_10M, Public, first_of};

/// Ratings, and how long they are fitted.
pub struct Set {
    /// Its name in the figures.
    pub name: String,
    /// The end of its figure's file name.
    pub suffix: &'static str,
    /// Where it comes from, for the page.
    pub about: String,
    /// The ratings; copies share their memory.
    pub ratings: Ratings,
    /// Sweeps of every run.
    pub sweeps: u64,
    /// c in M_t = c t.
    pub slope: f64,
    /// Whether it is small enough for more scales of the start and for long runs.
    pub small: bool,
}

/// The paper's: M_t = 50 t.
const SLOPE: f64 = 50.0;

/// MovieLens 1M, and ten million ratings if the user has them.
pub fn read(options: &Options) -> anyhow::Result<Vec<Set>> {
    let (million, path) = first_of(options, &[MOVIELENS_1M])?;
    let ratings = read::ratings(&path, &RatingsOptions::default())?;
    million.check_rows(&path, ratings.n_ratings())?;
    let mut sets = vec![set(million, "1m", ratings, 80, "")];
    // Who has the one million only should have that much of the figure.
    if let Ok((ten, path)) = first_of(options, &[MOVIELENS_10M, NETFLIX_10M]) {
        let ratings = read::ratings(&path, &RatingsOptions::default())?;
        ten.check_rows(&path, ratings.n_ratings())?;
        let role = if ten.name == MOVIELENS_10M.name {
            ""
        } else {
            ", **which stand in for MovieLens 10M**: nearly as many ratings, but of fewer users and more \
             movies, and whole stars only"
        };
        sets.push(set(ten, "10m", ratings, 60, role));
    } else {
        sets[0].about.push_str(
            " The paper's second data set, MovieLens 10M, was not there, nor its stand-in: only the first \
             half of the figure was run.",
        );
    }
    Ok(sets)
}

fn set(public: Public, suffix: &'static str, ratings: Ratings, sweeps: u64, role: &str) -> Set {
    let Public { name, origin, .. } = public;
    let (counts, print) = (counts(&ratings), ratings.fingerprint());
    let about = format!("**{name}** ({origin}){role}: {counts}, fingerprint {print}.");
    let (name, small) = (public.name.to_string(), suffix == "1m");
    Set { name, suffix, about, ratings, sweeps, slope: SLOPE, small }
}

fn counts(ratings: &Ratings) -> String {
    let of = |side| ratings.ids(side).len();
    let (users, items) = (of(Side::User), of(Side::Item));
    format!("{} ratings, {users} users, {items} items", ratings.n_ratings())
}

const N_USERS: usize = 300;
const N_ITEMS: usize = 200;
const N_RATINGS: usize = 12_000;
const PLANTED: usize = 6;

/// Ratings in whole stars from planted factors; a few users and items have most of them, as in life.
pub fn made(seed: u64) -> anyhow::Result<Set> {
    let mut rng = Address::new(seed, Purpose::Data, 0, 0).rng(0);
    let users = planted(N_USERS, &mut rng);
    let items = planted(N_ITEMS, &mut rng);
    let often = |n: usize, rng: &mut Rng| ((n as f64) * rng.uniform().powf(1.5)) as usize;
    let (mut user, mut item, mut value) = (Vec::new(), Vec::new(), Vec::new());
    let mut rated = HashSet::new();
    while value.len() < N_RATINGS {
        let (i, j) = (often(N_USERS, &mut rng), often(N_ITEMS, &mut rng));
        if !rated.insert((i, j)) {
            continue;
        }
        let liking: f64 = users[i].iter().zip(&items[j]).map(|(u, v)| u * v).sum();
        user.push(i as u32);
        item.push(j as u32);
        value.push((liking + 0.6 * rng.normal()).round().clamp(1.0, 5.0) as f32);
    }
    let ids = |n: usize| -> Ids { (0..n as i64).collect() };
    let ratings = Ratings::new(ids(N_USERS), ids(N_ITEMS), user, item, value, Duplicates::Refuse)?;
    let about = format!(
        "**Synthetic ratings**, whole stars from 1 to 5 from {PLANTED} planted factors and noise: {}. Small, to \
         show that all of it works; what it shows of the paper's claims is about these ratings only.",
        counts(&ratings)
    );
    let name = "synthetic ratings".to_string();
    // M_t is to a row's number of ratings here about what 50 t is in MovieLens.
    Ok(Set { name, suffix: "made", about, ratings, sweeps: 40, slope: 10.0, small: true })
}

/// Factors whose first is large in all rows, which gives ratings their mean.
fn planted(n: usize, rng: &mut Rng) -> Vec<[f64; PLANTED]> {
    let row = |rng: &mut Rng| {
        std::array::from_fn(|k| match k {
            0 => 1.9 + 0.2 * rng.normal(),
            _ => 0.5 * rng.normal(),
        })
    };
    (0..n).map(|_| row(rng)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_ratings_are_stars_and_follow_the_seed() {
        let (a, b, c) = (made(1).unwrap(), made(1).unwrap(), made(2).unwrap());
        assert_eq!(a.ratings.n_ratings(), N_RATINGS);
        assert!(a.ratings.triples().eq(b.ratings.triples()));
        assert!(!a.ratings.triples().eq(c.ratings.triples()));
        assert!(a.ratings.triples().all(|(_, _, y)| (1.0..=5.0).contains(&y) && y.fract() == 0.0));
        assert!((3.0..4.2).contains(&a.ratings.mean()), "{}", a.ratings.mean());
    }
}
