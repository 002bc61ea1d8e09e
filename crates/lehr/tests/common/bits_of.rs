//! Short fits as text in, hash out: what `bits.rs` knows of the library.

use serde::de::DeserializeOwned;

use lehr::FitConfig;
use lehr::data::{Dataset, Docs, FromFile, Points, Ratings, Side};
use lehr::fit::Observation;
use lehr::math::rng::Purpose;
use lehr::model::Model;
use lehr::models::{Lda, Mixture, Pmf, Stored};
use lehr::step::sample::split;
use lehr::store::{self, Begin, Items, Run, RunDirectory};
use lehr_kernels::Isa;
use xxhash_rust::xxh3::xxh3_128;

use super::{Recorder, bernoulli, clusters, letters_model, made_ratings, small_corpus};

/// Where a fit is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sink {
    None,
    Memory,
    Directory,
}

/// A hash of numbers and of a trace without what a clock says.
pub fn hash(numbers: &[f64], trace: &[Observation]) -> String {
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    for observation in trace {
        let mut line = serde_json::to_value(observation).unwrap();
        line.as_object_mut().unwrap().remove("seconds");
        bytes.extend(line.to_string().into_bytes());
    }
    format!("{:032x}", xxh3_128(&bytes))
}

/// Fits the model to its data and hashes what comes of it.
pub fn fit(
    model: &str,
    params: &str,
    config: &str,
    sink: Sink,
    isa: Isa,
    threads: usize,
) -> String {
    let config: FitConfig = toml_of(config);
    let config = FitConfig { threads, ..config };
    match model {
        "mixture" => {
            let file = points_file(&clusters(700, 3, 4, 2.0, 7));
            stored(file, toml_of(params), &config, sink, |model: Mixture| model.with_isa(isa))
        }
        // More than a wave of documents, or a few.
        "lda" | "large lda" => {
            let file = docs_file(&small_corpus(if model == "lda" { 300 } else { 5000 }, 7));
            stored(file, toml_of(params), &config, sink, |model: Lda| model.with_isa(isa))
        }
        "pmf" => {
            let file = ratings_file(&made_ratings((40, 30, 2), 700, (1.0, 0.5, 0.5), 7).ratings);
            stored(file, toml_of(params), &config, sink, |model: Pmf| model.with_isa(isa))
        }
        "bernoulli" => {
            let letters = bernoulli::noisy_letters(300, 0.2, 7).unwrap();
            plain(&letters_model(), &letters, None, &config)
        }
        other => panic!("no model {other}"),
    }
}

fn toml_of<T: DeserializeOwned>(inline: &str) -> T {
    toml::from_str(&inline.replace("; ", "\n")).unwrap_or_else(|e| panic!("{inline}: {e}"))
}

fn plain<M: Model>(
    model: &M,
    data: &M::Data,
    heldout: Option<&M::Data>,
    config: &FitConfig,
) -> String {
    let mut recorder = Recorder::default();
    let fit = lehr::fit(model, data).heldout(heldout).config(config.clone());
    let fitted = fit.watch(&mut recorder).run().unwrap();
    hash(fitted.state.lambda.table().values(), &recorder.0)
}

/// Whatever the sink, the data are those of a file.
fn stored<M: Stored>(
    (name, text): (&str, String),
    params: M::Params,
    config: &FitConfig,
    sink: Sink,
    with_isa: impl Fn(M) -> M,
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (path, run) = (folder.path().join(name), folder.path().join("run"));
    std::fs::write(&path, text).unwrap();
    if sink == Sink::Directory {
        store::fit_file::<M>(&run, &path, &Default::default(), params, config, &mut ()).unwrap();
        let fitted = Run::<M>::load(&run).unwrap();
        let trace = RunDirectory::open(&run).unwrap().trace().unwrap();
        return hash(fitted.lambda().table().values(), &trace);
    }
    let data = &M::Data::read(&path, &Default::default()).unwrap();
    if sink == Sink::Memory {
        let items = Items { data, source: None };
        let fitted = Run::<M>::fit(items, params, config, Begin::Random, &mut ()).unwrap();
        return hash(fitted.lambda().table().values(), &fitted.trace);
    }
    let held_out = config.holdout.count(data.n_items());
    if held_out == 0 {
        return plain(&with_isa(M::build(params, data).unwrap()), data, None, config);
    }
    let (kept, out) = split(data.n_items(), held_out, config.seed, Purpose::Holdout);
    let (train, heldout) = (data.subset(&kept), data.subset(&out));
    plain(&with_isa(M::build(params, &train).unwrap()), &train, Some(&heldout), config)
}

fn points_file(points: &Points) -> (&'static str, String) {
    let mut row = [0.0; 3];
    let mut text = String::from("a,b,c\n");
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        text += &format!("{},{},{}\n", row[0], row[1], row[2]);
    }
    ("points.csv", text)
}

fn docs_file(docs: &Docs) -> (&'static str, String) {
    let entries: Vec<(usize, u32, f32)> = (0..docs.n_items())
        .flat_map(|n| docs.doc(n).iter().map(move |e| (n, e.word, e.count)).collect::<Vec<_>>())
        .collect();
    let mut text = format!("{}\n{}\n{}\n", docs.n_items(), docs.n_words(), entries.len());
    for (n, word, count) in entries {
        text += &format!("{} {} {count}\n", n + 1, word + 1);
    }
    ("docword.txt", text)
}

/// Users and items in the order of their numbers, so that a file's order of ids is theirs.
fn ratings_file(ratings: &Ratings) -> (&'static str, String) {
    let side = ratings.side(Side::User);
    let mut text = String::from("user,item,rating\n");
    for user in 0..ratings.ids(Side::User).len() {
        let (items, values) = side.row(user);
        for (item, value) in items.iter().zip(values) {
            text += &format!("{user},{item},{value}\n");
        }
    }
    ("ratings.csv", text)
}
