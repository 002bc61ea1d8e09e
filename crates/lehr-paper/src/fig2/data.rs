//! The documents of figure 2: the user's file, or documents made from planted topics.

use lehr::data::Docs;
use lehr::math::rng::{Address, Purpose, Rng};
use lehr::read::{self, DocsOptions};
use lehr::step::sample::split;

use crate::Options;
use crate::data::{NEW_YORK_TIMES, REUTERS, first_of};

/// Documents to fit and documents to score.
pub struct Corpus {
    /// Its name in the figures.
    pub name: String,
    /// Where it comes from, for the page.
    pub about: String,
    /// The documents that topics are fitted to.
    pub training: Docs,
    /// The documents that are scored.
    pub heldout: Docs,
}

/// As in the paper.
const HELD_OUT: usize = 1000;

/// The New York Times if the user has them, else Reuters news.
pub fn read(options: &Options) -> anyhow::Result<Corpus> {
    let (public, path) = first_of(options, &[NEW_YORK_TIMES, REUTERS])?;
    let docs = read::docs(&path, &DocsOptions::default())?;
    public.check_rows(&path, docs.n_items())?;
    let role = if public.name == NEW_YORK_TIMES.name {
        ""
    } else {
        ", **which stand in for the New York Times**: the same kind of text and length of article, about a third \
         as many"
    };
    let about = format!("**{}** ({}){role}", public.name, public.origin);
    Ok(parted(public.name.into(), about, &docs, HELD_OUT, options.seed))
}

/// Cuts a corpus into documents to fit and documents to score, by the seed.
fn parted(name: String, about: String, docs: &Docs, held_out: usize, seed: u64) -> Corpus {
    let (kept, held_out) = split(docs.n_items(), held_out, seed, Purpose::Holdout);
    let (training, heldout) = (docs.subset(&kept), docs.subset(&held_out));
    let about = format!(
        "{about}. {} documents to fit, {} others to score, chosen by the seed; {} different words. \
         Fingerprint {}.",
        training.n_items(),
        heldout.n_items(),
        docs.n_words(),
        docs.fingerprint(),
    );
    Corpus { name, about, training, heldout }
}

const N_DOCS: usize = 700;
const N_SCORED: usize = 100;
const N_WORDS: usize = 400;
const PLANTED: usize = 10;
const LENGTH: u64 = 60;

/// Documents that mix a few planted topics each.
pub fn made(seed: u64) -> anyhow::Result<Corpus> {
    let mut rng = Address::new(seed, Purpose::Data, 0, 0).rng(0);
    let topics: Vec<Vec<f64>> = (0..PLANTED).map(|_| shares(N_WORDS, 0.05, &mut rng)).collect();
    let rows: Vec<Vec<(u32, f64)>> = (0..N_DOCS)
        .map(|_| {
            let mix = shares(PLANTED, 0.2, &mut rng);
            let length = LENGTH / 2 + rng.below(LENGTH);
            let word = |rng: &mut Rng| {
                let topic = drawn(&mix, rng);
                (drawn(&topics[topic], rng) as u32, 1.0)
            };
            (0..length).map(|_| word(&mut rng)).collect()
        })
        .collect();
    let docs = Docs::from_rows(rows, N_WORDS)?;
    let about = format!(
        "**Synthetic documents** of {} to {} words from {PLANTED} planted topics. Small, to show that all of it works; \
         what they show of the paper's claims is about these documents only",
        LENGTH / 2,
        LENGTH / 2 + LENGTH - 1,
    );
    Ok(parted("synthetic documents".into(), about, &docs, N_SCORED, seed))
}

/// A draw from a symmetric Dirichlet distribution.
fn shares(n: usize, concentration: f64, rng: &mut Rng) -> Vec<f64> {
    let mut shares: Vec<f64> = (0..n).map(|_| rng.gamma(concentration)).collect();
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|x| *x /= total);
    shares
}

/// One of several with the given shares.
fn drawn(shares: &[f64], rng: &mut Rng) -> usize {
    let mut left = rng.uniform();
    let found = shares.iter().position(|x| {
        left -= x;
        left <= 0.0
    });
    found.unwrap_or(shares.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_documents_follow_the_seed() {
        let (a, b, c) = (made(1).unwrap(), made(1).unwrap(), made(2).unwrap());
        assert_eq!((a.training.n_items(), a.heldout.n_items()), (N_DOCS - N_SCORED, N_SCORED));
        let print = |corpus: &Corpus| (corpus.training.fingerprint(), corpus.heldout.fingerprint());
        assert_eq!(print(&a), print(&b));
        assert_ne!(print(&a), print(&c));
    }
}
