//! The documents that each topic has most of, with their words coloured by topic.

use lehr::data::Docs;
use lehr::models::lda::Lda;
use lehr::store::Run;
use serde::Serialize;

use super::groups::{Groups, Sums};
use super::words::Words;

/// Documents whose topics are held at once.
const BLOCK: usize = 4096;
/// Letters of a document that are shown, and words of one that has no text.
const LETTERS: usize = 300;
const BAG: usize = 40;
/// Topics of a document that are named, each with its colour.
const COLOURS: usize = 3;
/// A topic is named if it has such a share of the document.
const LEAST: f64 = 0.05;

/// A document under a topic.
#[derive(Debug, Serialize)]
pub struct Document {
    /// Its number, counted from 1.
    number: usize,
    id: Option<String>,
    /// The topic's share of it, in percent.
    share: String,
    /// What else it is about.
    others: Vec<Other>,
    pieces: Vec<Piece>,
    /// Whether this is not all of it.
    cut: bool,
    /// Whether its words are not in their order.
    bag: bool,
}

#[derive(Debug, Serialize)]
struct Other {
    topic: usize,
    share: String,
    colour: usize,
}

/// Text of one colour: 0 is this topic's, none is none's.
#[derive(Debug, Serialize)]
struct Piece {
    text: String,
    colour: Option<usize>,
}

/// A document that a topic has much of.
struct Found {
    n: usize,
    share: f64,
    theta: Vec<f64>,
}

/// What all documents say of the topics.
pub struct Shares {
    best: Vec<Vec<Found>>,
    /// The topics' shares by group.
    pub groups: Option<Groups>,
}

impl Shares {
    /// Looks at all documents for the `top` ones of each topic.
    pub fn of(
        run: &Run<Lda>,
        docs: &Docs,
        top: usize,
        groups: Option<&(String, Vec<String>)>,
    ) -> Self {
        let k = run.config.params.topics;
        let mut best: Vec<Vec<Found>> = (0..k).map(|_| Vec::new()).collect();
        let mut sums = groups.map(|(name, groups)| Sums::new(name, groups, k));
        let mut theta = Vec::new();
        let mut reader = run.model.topic_reader(run.lambda(), docs);
        let n_docs = docs.n_items();
        for first in (0..n_docs).step_by(BLOCK) {
            let block = first..n_docs.min(first + BLOCK);
            theta.resize(block.len() * k, 0.0);
            reader.fill(block.clone(), true, &mut theta);
            for (n, theta) in block.zip(theta.chunks_exact(k)) {
                if docs.doc(n).is_empty() {
                    continue;
                }
                if let Some(sums) = &mut sums {
                    sums.add(n, theta);
                }
                for (best, &share) in best.iter_mut().zip(theta) {
                    let full = best.len() >= top;
                    if full && best.last().is_some_and(|last| last.share >= share) {
                        continue;
                    }
                    let at = best.partition_point(|found| found.share >= share);
                    best.insert(at, Found { n, share, theta: theta.to_vec() });
                    best.truncate(top);
                }
            }
        }
        Shares { best, groups: sums.map(Sums::done) }
    }

    /// The documents of each topic.
    pub fn documents(&self, words: &Words, docs: &Docs) -> Vec<Vec<Document>> {
        let (numbers, ids) = (words.numbers(), docs.ids());
        let of = |(topic, found): (usize, &Found)| {
            let mut order: Vec<usize> = (0..found.theta.len()).collect();
            order.sort_by(|&a, &b| found.theta[b].total_cmp(&found.theta[a]).then(a.cmp(&b)));
            // This topic has the first colour, whichever is the largest.
            let mut named = vec![topic];
            let large = |&&k: &&usize| k != topic && found.theta[k] >= LEAST;
            named.extend(order.iter().filter(large).take(COLOURS - 1));
            let colour = |w: usize| -> Option<usize> {
                let weight = |k: usize| found.theta[k] * words.topic(k)[w];
                let main =
                    (0..found.theta.len()).max_by(|&a, &b| weight(a).total_cmp(&weight(b)))?;
                named.iter().position(|&k| k == main)
            };
            let (pieces, cut, bag) = match docs.text(found.n) {
                Some(text) => {
                    let (pieces, cut) =
                        of_text(text, |word| numbers.get(word).and_then(|&w| colour(w)));
                    (pieces, cut, false)
                }
                None => of_bag(docs, found.n, words, colour),
            };
            let percent = |k: usize| format!("{:.0}", 100.0 * found.theta[k]);
            let other =
                |(colour, &topic): (usize, &usize)| Other { topic, share: percent(topic), colour };
            Document {
                number: found.n + 1,
                id: ids.as_ref().map(|ids| ids[found.n].clone()).filter(|id| !id.is_empty()),
                share: percent(topic),
                others: named.iter().enumerate().skip(1).map(other).collect(),
                pieces,
                cut,
                bag,
            }
        };
        self.best
            .iter()
            .enumerate()
            .map(|(topic, found)| found.iter().map(|found| of((topic, found))).collect())
            .collect()
    }
}

/// How much of a document is shown.
pub fn cut(docs: &Docs) -> String {
    let has_texts = (0..docs.n_items()).any(|n| docs.text(n).is_some());
    match has_texts {
        true => format!("texts are cut after {LETTERS} letters"),
        false => format!("of each its {BAG} most frequent words"),
    }
}

/// The start of a text in pieces, and whether it goes on.
fn of_text(text: &str, colour: impl Fn(&str) -> Option<usize>) -> (Vec<Piece>, bool) {
    // Line breaks and the like are blanks here, and many of them one.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = text.chars().take(LETTERS).collect();
    let cut = shown.len() < text.len();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut add = |text: &str, colour: Option<usize>| add(&mut pieces, text, colour);
    let is_word = |c: char| c.is_alphabetic();
    let mut rest = shown.as_str();
    while let Some(first) = rest.chars().next() {
        let word = is_word(first);
        let end = rest.find(|c| is_word(c) != word).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        add(run, if word { colour(&run.to_lowercase()) } else { None });
        rest = after;
    }
    (pieces, cut)
}

/// Adds text to the piece before it if that has its colour, blanks between words of one colour included: pages with many
/// pieces are large.
fn add(pieces: &mut Vec<Piece>, text: &str, colour: Option<usize>) {
    if let [.., before, blank] = pieces.as_mut_slice()
        && colour.is_some()
        && before.colour == colour
        && blank.colour.is_none()
        && blank.text == " "
    {
        before.text.push(' ');
        before.text.push_str(text);
        pieces.pop();
        return;
    }
    match pieces.last_mut() {
        Some(last) if last.colour == colour => last.text.push_str(text),
        _ => pieces.push(Piece { text: text.to_string(), colour }),
    }
}

/// The words of a document that has no text: those of one colour together, those that it has most often first.
fn of_bag(
    docs: &Docs,
    n: usize,
    words: &Words,
    colour: impl Fn(usize) -> Option<usize>,
) -> (Vec<Piece>, bool, bool) {
    let mut entries: Vec<(usize, f32)> =
        docs.doc(n).iter().map(|entry| (entry.word as usize, entry.count)).collect();
    entries.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let cut = entries.len() > BAG;
    entries.truncate(BAG);
    let mut entries: Vec<(Option<usize>, usize, f32)> =
        entries.into_iter().map(|(word, count)| (colour(word), word, count)).collect();
    entries.sort_by_key(|(colour, ..)| colour.unwrap_or(usize::MAX));
    let mut pieces = Vec::new();
    for (colour, word, count) in entries {
        let name = words.name(word);
        let text = if count == 1.0 { name.to_string() } else { format!("{name}\u{d7}{count}") };
        add(&mut pieces, &text, colour);
        add(&mut pieces, " ", None);
    }
    (pieces, cut, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_coloured_and_everything_else_stays_as_it_is() {
        let colour = |word: &str| ["glass", "élan"].iter().position(|known| *known == word);
        let (pieces, cut) = of_text("The <b>Glass</b>\n has  Élan; glasses.", colour);
        let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!((text.as_str(), cut), ("The <b>Glass</b> has Élan; glasses.", false));
        let coloured: Vec<(&str, usize)> =
            pieces.iter().filter_map(|p| Some((p.text.as_str(), p.colour?))).collect();
        assert_eq!(coloured, [("Glass", 0), ("Élan", 1)]);
        let (joined, _) = of_text("glass glass élan glass, glass", colour);
        let texts: Vec<&str> = joined.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, ["glass glass", " ", "élan", " ", "glass", ", ", "glass"]);
        let long = "é".repeat(LETTERS + 1);
        assert!(of_text(&long, colour).1 && !of_text(&long[2..], colour).1);
    }
}
