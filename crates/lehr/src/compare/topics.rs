//! Topics by the words that they have in common.

use super::{Comparable, Comparison, Parts, in_common, matched};
use crate::models::Lda;
use crate::store::Run;
use crate::{Error, Result};

/// Words that a topic is called by.
const LABEL: usize = 8;

impl Comparable for Lda {
    fn compare(first: &Run<Lda>, second: &Run<Lda>) -> Result<Comparison> {
        let places = common_words(&first.model, &second.model)?;
        let words = first.model.vocabulary().n_words();
        let (a, b) = (shares(first, words, Some), shares(second, words, |w| places[w]));
        let overlap = |i: usize, j: usize| -> f64 {
            in_common(&a[i * words..][..words], &b[j * words..][..words])
        };
        let numbers = [first, second].map(|run| (0..n_topics(run)).collect::<Vec<_>>());
        let of = Parts {
            parts: "topics",
            by: "words",
            n_common: places.iter().flatten().count(),
            numbers: [&numbers[0], &numbers[1]],
        };
        Ok(matched(&of, overlap))
    }

    fn labels(run: &Run<Lda>) -> Vec<String> {
        let first = run.model.first_words(run.lambda(), LABEL);
        let label = |(topic, words): (usize, Vec<usize>)| -> String {
            let words: Vec<String> =
                words.into_iter().map(|w| run.model.vocabulary().show(w)).collect();
            match run.model.topic_name(topic) {
                Some(name) => format!("{name}: {}", words.join(" ")),
                None => words.join(" "),
            }
        };
        first.into_iter().enumerate().map(label).collect()
    }
}

/// Topics as a row of shares of the first model's words, 0 where only the other has a word.
fn shares(run: &Run<Lda>, width: usize, place: impl Fn(usize) -> Option<usize>) -> Vec<f64> {
    let lambda = run.model.components(run.lambda());
    let mut out = vec![0.0; n_topics(run) * width];
    let rows = lambda.chunks_exact(run.model.vocabulary().n_words());
    for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
        let total: f64 = row.iter().sum();
        for (w, x) in row.iter().enumerate() {
            if let Some(at) = place(w) {
                out[at] = x / total;
            }
        }
    }
    out
}

fn n_topics(run: &Run<Lda>) -> usize {
    run.lambda().width()
}

/// For each word of the second model its number in the first one.
fn common_words(first: &Lda, second: &Lda) -> Result<Vec<Option<usize>>> {
    let (a, b) = (first.vocabulary(), second.vocabulary());
    if let (Some(_), Some(names)) = (a.names(), b.names()) {
        let numbers = a.numbers();
        let found: Vec<_> =
            names.iter().map(|name| numbers.get(name.as_str()).map(|&n| n as usize)).collect();
        if found.iter().all(Option::is_none) {
            return Err(Error::data(
                "the two runs have no word in common; their topics cannot be compared",
            ));
        }
        return Ok(found);
    }
    if a.n_words() == b.n_words() {
        return Ok((0..b.n_words()).map(Some).collect());
    }
    Err(Error::data(format!(
        "the words of one of the runs have no names, and there are {} and {} of them; topics are compared by words",
        a.n_words(),
        b.n_words()
    )))
}
