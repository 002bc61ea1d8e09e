//! Topics of documents: sizes, words, a map, and what documents show of them.

mod documents;
mod groups;
mod pictures;
mod words;

use std::collections::BTreeMap;

use lehr::Result;
use lehr::data::Docs;
use lehr::fit::Observation;
use lehr::models::lda::{Coherence, Lda, LearnAlpha};
use lehr::store::Run;
use lehr_plot::caption::{counted, rounded};
use lehr_plot::{Panel, Series};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::chart::Chart;
use crate::head::Number;
use crate::{Part, Reported, spectrum};
pub use documents::Document;
pub use groups::Groups;
use words::{WordRow, Words};

/// Words of a topic that its coherence and its exclusivity look at.
const TOP: usize = 10;
/// Topics that are listed as similar.
const NEAREST: usize = 3;
/// Documents of a topic.
const DOCUMENTS: usize = 5;
/// The width of the map, and its margin.
const MAP: (f64, f64) = (600.0, 34.0);
/// Bars that have names.
const NAMED: usize = 30;
/// Topics that are drawn on it: the numbers of more could not be read.
const MAPPED: usize = 100;
/// How far apart the middles of discs are at least, and rounds in which they are moved.
const NUMBER: f64 = 17.0;
/// The same where numbers have three digits.
const LONG_NUMBER: f64 = 23.0;
const ROUNDS: usize = 200;

/// What a page of topics is made with besides the run.
#[derive(Default)]
pub struct Given {
    /// Documents to show, in the words of the model.
    pub documents: Option<Docs>,
    /// What is known of these: where they come from, what was left out.
    pub notes: Vec<String>,
    /// For each document what it belongs to, e.g. a month, and what that is called.
    pub groups: Option<(String, Vec<String>)>,
    /// Documents to look for coherence in, or why there are none.
    pub counted: Option<std::result::Result<Docs, String>>,
}

/// What a page of topics shows.
#[derive(Serialize)]
pub struct Topics {
    topics: Vec<Topic>,
    /// Words of each topic in the tables, and in those that scripts make.
    n_words: usize,
    map: Map,
    notes: Vec<String>,
    /// Why there is no coherence.
    no_coherence: Option<String>,
    groups: Option<Groups>,
    has_documents: bool,
    /// How many documents there were to choose from.
    n_documents: usize,
    /// How much of a document is shown.
    cut: String,
    pub(crate) charts: Vec<Chart>,
    #[serde(skip)]
    pub(crate) data: Value,
}

/// A topic.
#[derive(Serialize)]
struct Topic {
    topic: usize,
    /// What it is called, if it has a name.
    name: Option<String>,
    /// In percent.
    share: String,
    #[serde(skip)]
    size: f64,
    /// The width of its bar, in percent of the largest.
    bar: String,
    alpha: Option<String>,
    coherence: Option<String>,
    exclusivity: String,
    /// The first words in a line.
    begin: String,
    words: Vec<WordRow>,
    nearest: Vec<Near>,
    documents: Vec<Document>,
}

#[derive(Serialize)]
struct Near {
    topic: usize,
    similarity: String,
}

/// The map of topics.
#[derive(Serialize)]
struct Map {
    wide: f64,
    high: f64,
    places: Vec<Place>,
    /// The share of the squared distances that it shows, in percent.
    shown: String,
    /// How many topics there are, if not all are drawn.
    of: Option<usize>,
}

#[derive(Serialize)]
struct Place {
    topic: usize,
    x: f64,
    y: f64,
    r: f64,
    /// In percent.
    share: String,
    /// Its first words.
    begin: String,
    #[serde(skip)]
    size: f64,
}

impl Reported for Lda {
    type Given = Given;
    const SCORE: &'static str = "Held-out completion (nats per word)";

    fn heading(run: &Run<Self>) -> String {
        format!("LDA with {}", counted(run.config.params.topics as u64, "topic"))
    }

    fn data(run: &Run<Self>) -> String {
        let docs = run.config.data.items;
        let held_out = match run.config.fit.holdout.count(docs) {
            0 => String::new(),
            n => format!(" ({n} of them held out)"),
        };
        let words = counted(run.config.frozen.words as u64, "word");
        let tokens: f64 = run.model.word_counts().iter().sum();
        let docs = counted(docs as u64, "document");
        format!("{docs}{held_out}, a vocabulary of {words}, {} training tokens", rounded(tokens, 9))
    }

    fn numbers(run: &Run<Self>, last: Option<&Observation>) -> Vec<Number> {
        let mut numbers = Vec::new();
        let measure = |name: &str| last.and_then(|last| last.measures.get(name).copied());
        if let (Some(completion), Some(unigram)) = (measure("completion"), measure("unigram")) {
            numbers.push(Number::new(
                "perplexity of hidden words",
                rounded((-completion).exp(), 4),
                format!(
                    "Half of every held-out document predicts the other half: the model is as unsure of a word as if \
                     it had to choose among this many equally likely ones. Word frequencies alone leave {}.",
                    rounded((-unigram).exp(), 4)
                ),
            ));
        }
        let tokens: f64 = run.model.word_counts().iter().sum();
        if let Some(last) = last.filter(|_| tokens > 0.0) {
            numbers.push(Number::new(
                "bound per word",
                format!("{} nats", rounded(last.bound / tokens, 5)),
                "The objective: a lower bound on the log probability of the training documents, everything \
                 counted. It compares fits of the same documents.",
            ));
        }
        let shares: Vec<f64> =
            run.model.topics(run.lambda(), 1, 1.0).iter().map(|topic| topic.share).collect();
        let entropy: f64 = shares.iter().filter(|&&s| s > 0.0).map(|s| -s * s.ln()).sum();
        numbers.push(Number::new(
            "topics in effect",
            format!("{} of {}", rounded(entropy.exp(), 3), shares.len()),
            "The exponential of the entropy of the topics' sizes: all of them if they are equally large, fewer if a few \
             hold most of the words.",
        ));
        numbers
    }

    fn warnings(run: &Run<Self>, last: Option<&Observation>) -> Vec<String> {
        let mass = last.and_then(|last| last.measures.get("mass").copied());
        let far = mass.filter(|mass| (mass - 1.0).abs() > 0.05);
        let noisy = !matches!(run.config.fit.effective.to_string().as_str(), "off" | "auto");
        let said = |mass: f64| {
            let why = match (noisy, mass > 1.0) {
                (true, _) => "noise has changed their mass",
                (false, true) => "the last batches were of longer documents than most",
                (false, false) => "the last batches were of shorter documents than most",
            };
            let times = rounded(mass, 4);
            format!("The topics hold {times} times the words that the documents have: {why}.")
        };
        let mut all: Vec<String> = far.into_iter().map(said).collect();
        let listed = run.model.topics(run.lambda(), 1, 1.0);
        let empty = listed.iter().filter(|topic| is_empty(run, topic)).count();
        if empty > 0 {
            all.push(format!(
                "{empty} of {} topics hold fewer words than a document has on average: their words are chance, and fewer \
                 topics would do.",
                listed.len()
            ));
        }
        all.extend(unsettled(run));
        all
    }

    fn part(run: &Run<Self>, given: &Given) -> Result<Part> {
        Ok(Part::Topics(topics(run, given)?))
    }
}

/// Whether a topic holds fewer words than a document has on average.
fn is_empty(run: &Run<Lda>, topic: &lehr::models::lda::Topic) -> bool {
    let items = run.config.data.items;
    let trained = (items - run.config.fit.holdout.count(items)) as f64;
    topic.share * trained < 1.0
}

/// Says so if most local steps ended because they had made all iterations.
fn unsettled(run: &Run<Lda>) -> Option<String> {
    /// The share of all iterations that says so.
    const MOST: f64 = 0.8;
    let most = run.config.params.local_iterations;
    let made = run.result.as_ref()?.local_iterations as f64;
    let mut items: BTreeMap<u32, u64> = BTreeMap::new();
    for seen in &run.trace {
        let own = items.entry(seen.restart).or_default();
        *own = seen.items.max(*own);
    }
    let mean = made / items.values().sum::<u64>() as f64;
    (mean.is_finite() && mean > MOST * f64::from(most)).then(|| {
        format!(
            "Documents took {} of at most {most} iterations on average: many have not settled, and --local-iterations \
             with more would let them.",
            rounded(mean, 3)
        )
    })
}

/// The sum of products, in blocks, so that the sum of many small numbers keeps its digits.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let block = |(a, b): (&[f32], &[f32])| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    a.chunks(256).zip(b.chunks(256)).map(|pair| f64::from(block(pair))).sum()
}

fn topics(run: &Run<Lda>, given: &Given) -> Result<Topics> {
    let words = Words::of(run);
    let k = words.k;
    let listed = run.model.topics(run.lambda(), TOP, 1.0);
    let largest = listed.first().map_or(1.0, |topic| topic.share).max(1e-300);
    let (coherence, no_coherence) = coherence(&listed, k, given);
    let similar = similarities(&words);
    let mut notes = given.notes.clone();
    let mut documents: Vec<Vec<Document>> = Vec::new();
    let mut groups = None;
    if let Some(docs) = &given.documents {
        let shares = documents::Shares::of(run, docs, DOCUMENTS, given.groups.as_ref());
        docs.fault().map_or(Ok(()), Err)?;
        documents = shares.documents(&words, docs);
        groups = shares.groups.filter(|groups| !groups.groups.is_empty());
        if let (Some((name, _)), None) = (&given.groups, &groups) {
            notes.push(format!("There are no shares by {name}: no document has one."));
        }
    } else {
        notes.push(
            "The page has no documents, since none were given; with --data FILE it shows those that each topic has most \
             of."
                .into(),
        );
    }
    let relevant = words.relevant();
    let mut by_number: Vec<Option<Topic>> = (0..k).map(|_| None).collect();
    let mut facts: Vec<Value> = vec![Value::Null; k];
    for topic in &listed {
        let number = topic.topic;
        let rows = words.rows(number, &relevant[number]);
        let begin: Vec<&str> = rows.iter().take(8).map(|row| row.word.as_str()).collect();
        let exclusivity = words.exclusivity(&topic.by_probability);
        let asymmetric = run.config.params.learned_alpha() == LearnAlpha::Asymmetric;
        let two = |x: f64| (100.0 * x).round() / 100.0;
        facts[number] = json!({
            "name": run.model.topic_name(number).unwrap_or_default(),
            "share": topic.share,
            "begin": begin.join(" "),
            "coherence": coherence[number].map(two),
            "exclusivity": two(exclusivity),
        });
        by_number[number] = Some(Topic {
            topic: number,
            name: run.model.topic_name(number).map(str::to_string),
            share: format!("{:.1}", 100.0 * topic.share),
            size: topic.share,
            bar: format!("{:.1}", 100.0 * topic.share / largest),
            alpha: asymmetric.then(|| rounded(topic.alpha, 3)),
            coherence: coherence[number].map(|npmi| format!("{npmi:.2}")),
            exclusivity: format!("{exclusivity:.2}"),
            begin: begin.join(" "),
            words: rows,
            nearest: nearest(&similar, k, number),
            documents: documents.get_mut(number).map(std::mem::take).unwrap_or_default(),
        });
    }
    // The largest first, by their own numbers.
    let topics: Vec<Topic> =
        listed.iter().filter_map(|topic| by_number[topic.topic].take()).collect();
    let data = json!({
        "words": words.data(&relevant),
        "topics": facts,
        "groups": groups.as_ref().map(Groups::data),
    });
    let drawn = on_map(run, &listed);
    let map = map(&similar, k, &listed[..drawn], &topics);
    let mut charts = vec![sizes(&topics, &listed), pictures::map(&map)];
    charts.extend(groups.as_ref().map(|groups| pictures::groups(groups, &topics)));
    Ok(Topics {
        n_words: run.config.frozen.words,
        map,
        notes,
        no_coherence,
        charts,
        has_documents: given.documents.is_some(),
        n_documents: given.documents.as_ref().map_or(0, Docs::n_items),
        cut: given.documents.as_ref().map_or(String::new(), documents::cut),
        topics,
        groups,
        data,
    })
}

impl Topics {
    /// The words of the topics in a picture, which the page has as lists.
    pub(crate) fn words(&self) -> Chart {
        pictures::words(&self.topics)
    }
}

/// The coherence of each topic by its number, or why there is none.
fn coherence(
    listed: &[lehr::models::lda::Topic],
    k: usize,
    given: &Given,
) -> (Vec<Option<f64>>, Option<String>) {
    let none = |why: &str| (vec![None; k], Some(why.to_string()));
    let docs = match &given.counted {
        None => return none("there were no documents to count words in"),
        Some(Err(why)) => return none(why),
        Some(Ok(docs)) => docs,
    };
    let top = |topic: &lehr::models::lda::Topic| -> Vec<usize> {
        topic.by_probability.iter().map(|(word, _)| *word).collect()
    };
    let counts = Coherence::new(docs, listed.iter().flat_map(top));
    if let Some(fault) = docs.fault() {
        return none(&fault.to_string());
    }
    let mut found = vec![None; k];
    for topic in listed {
        found[topic.topic] = counts.npmi(&top(topic));
    }
    (found, None)
}

/// How much the topics' words overlap: sums of the roots of p q, 1 for the same and 0 for nothing in common.
fn similarities(words: &Words) -> Vec<f64> {
    let k = words.k;
    let roots: Vec<Vec<f32>> = (0..k).into_par_iter().map(|topic| words.root(topic)).collect();
    let rows: Vec<Vec<f64>> = (0..k)
        .into_par_iter()
        .map(|i| {
            (0..k)
                .map(
                    |j| if i == j { 1.0 } else { dot(&roots[i.min(j)], &roots[i.max(j)]).min(1.0) },
                )
                .collect()
        })
        .collect();
    rows.concat()
}

fn nearest(similar: &[f64], k: usize, topic: usize) -> Vec<Near> {
    let row = &similar[topic * k..][..k];
    let mut others: Vec<usize> = (0..k).filter(|&other| other != topic).collect();
    others.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
    let near = |&other: &usize| Near { topic: other, similarity: format!("{:.2}", row[other]) };
    others.iter().take(NEAREST).map(near).collect()
}

/// How many of the topics, the largest first, are drawn on the map: those that hold next to nothing lie anywhere, and
/// would decide where all others lie.
fn on_map(run: &Run<Lda>, listed: &[lehr::models::lda::Topic]) -> usize {
    let held = listed.iter().filter(|topic| !is_empty(run, topic)).count();
    (if held > 2 { held } else { listed.len() }).min(MAPPED)
}

/// Topics in a plane: classical scaling of Hellinger distances. `similar` is of all `k` topics, `shown` has what the page
/// says of those that are `listed`.
fn map(similar: &[f64], k: usize, listed: &[lehr::models::lda::Topic], shown: &[Topic]) -> Map {
    let of = (listed.len() < k).then_some(k);
    let squared: Vec<f64> = listed
        .iter()
        .flat_map(|a| listed.iter().map(|b| 1.0 - similar[a.topic * k + b.topic]))
        .collect();
    let begin = |at: usize| shown.get(at).map_or(String::new(), |topic| topic.begin.clone());
    let k = listed.len();
    let (places, share) = spectrum::map(&squared, k);
    let (wide, margin) = MAP;
    let ends = |axis: usize| {
        let along = || places.iter().map(|place| place[axis]);
        (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max))
    };
    let [(left, right), (low, up)] = [0, 1].map(ends);
    // The axis on which topics differ most is the first, and the longest.
    let scale = (wide - 2.0 * margin) / (right - left).max(up - low).max(1e-12);
    let high = ((up - low) * scale + 2.0 * margin).max(0.4 * wide).ceil();
    let middle = [0.5 * (left + right), 0.5 * (low + up)];
    let at = |[x, y]: [f64; 2]| {
        [wide / 2.0 + (x - middle[0]) * scale, high / 2.0 - (y - middle[1]) * scale]
    };
    let largest = listed.first().map_or(1.0, |topic| topic.share).max(1e-300);
    // Fewer topics have room for larger discs.
    let radius = (0.25 * wide / (k as f64).sqrt()).clamp(9.0, 30.0);
    let disc = |(place, topic): (&[f64; 2], &lehr::models::lda::Topic)| {
        (at(*place), (radius * (topic.share / largest).sqrt()).max(4.0))
    };
    let (mut centres, radii): (Vec<[f64; 2]>, Vec<f64>) =
        places.iter().zip(listed).map(disc).unzip();
    let number = if listed.iter().any(|topic| topic.topic > 99) { LONG_NUMBER } else { NUMBER };
    move_apart(&mut centres, &radii, [wide, high], number);
    let rounded = |x: f64| (10.0 * x).round() / 10.0;
    let place = |(n, topic): (usize, &lehr::models::lda::Topic)| Place {
        topic: topic.topic,
        x: rounded(centres[n][0]),
        y: rounded(centres[n][1]),
        r: rounded(radii[n]),
        share: format!("{:.1}", 100.0 * topic.share),
        begin: begin(n),
        size: topic.share,
    };
    let places = listed.iter().enumerate().map(place).collect();
    Map { wide, high, places, shown: format!("{:.0}", 100.0 * share), of }
}

/// Moves discs away from each other until the numbers in them can be read; a disc may still cover the rim of another.
fn move_apart(centres: &mut [[f64; 2]], radii: &[f64], size: [f64; 2], number: f64) {
    for _ in 0..ROUNDS {
        let mut moved = false;
        for i in 0..centres.len() {
            for j in 0..i {
                let least = (0.75 * (radii[i] + radii[j])).max(number);
                let [dx, dy] = [0, 1].map(|axis| centres[i][axis] - centres[j][axis]);
                let distance = dx.hypot(dy);
                if distance >= least {
                    continue;
                }
                // Two at one place part along a direction of their own.
                let [dx, dy] = match distance > 1e-9 {
                    true => [dx / distance, dy / distance],
                    false => [(i as f64).cos(), (i as f64).sin()],
                };
                let step = 0.5 * (least - distance).min(4.0);
                for (axis, way) in [dx, dy].into_iter().enumerate() {
                    let inside = |at: f64, r: f64| {
                        let edge = r.max(number / 2.0) + 1.0;
                        at.clamp(edge, size[axis] - edge)
                    };
                    centres[i][axis] = inside(centres[i][axis] + step * way, radii[i]);
                    centres[j][axis] = inside(centres[j][axis] - step * way, radii[j]);
                }
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}

/// The topics' sizes as bars.
fn sizes(topics: &[Topic], listed: &[lehr::models::lda::Topic]) -> Chart {
    let named = listed.len() <= NAMED;
    // Ranks count from 1.
    let place = |at: usize| (at + usize::from(!named)) as f64;
    let bars = listed.iter().enumerate().map(|(at, topic)| (place(at), 100.0 * topic.share));
    let names = listed.iter().map(|topic| topic.topic.to_string());
    let panel = Panel::new("").x_label("topic").y_label("share of words, in percent");
    // Names of very many bars would be a grey band.
    let panel = if named { panel.x_names(names) } else { panel.x_label("rank of the topic") };
    let rows = topics.iter().zip(listed).map(|(shown, topic)| {
        vec![
            topic.topic.into(),
            topic.share.into(),
            shown
                .coherence
                .as_deref()
                .and_then(|text| text.parse().ok())
                .unwrap_or(f64::NAN)
                .into(),
            shown.exclusivity.parse().unwrap_or(f64::NAN).into(),
            shown.begin.as_str().into(),
        ]
    });
    Chart::new("sizes", "Sizes of the topics", panel.with(Series::bars(bars)), (460.0, 220.0))
        .numbers(&["topic", "share", "npmi", "exclusivity", "words"], rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discs_move_apart_until_their_numbers_can_be_read() {
        let mut centres = vec![[300.0, 300.0]; 30];
        centres.push([10.0, 10.0]);
        let radii = vec![9.0; 31];
        move_apart(&mut centres, &radii, [640.0, 600.0], NUMBER);
        assert_eq!(centres[30], [10.0, 10.0]);
        for (i, a) in centres.iter().enumerate() {
            for b in &centres[..i] {
                assert!((a[0] - b[0]).hypot(a[1] - b[1]) > NUMBER - 1.0, "{a:?} {b:?}");
            }
        }
    }
}
