//! Latent Dirichlet allocation.

mod eval;
mod report;
mod table;
pub mod topics;

use std::path::Path;

use serde::Serialize;

use lehr::fit::Observation;
use lehr::lambda::Lambda;
use lehr::models::lda::{Lda, LearnAlpha};
use lehr::read::{DocsOptions, Header};
use lehr::store::{Run, RunConfig, RunResult};
use lehr::write::{Column, TableFormat};
use lehr_plot::terminal::TermSeries;

use super::{Head, NewData, OpenRun, Served, items, largest, left_out};
use crate::args::{About, BesideArgs, DataArgs, EvalArgs};
use crate::output::TableFile;
use crate::text::{self, counted, number, plural, quoted, rounded};

/// Words of each topic in `show`.
const SHOWN_WORDS: usize = 8;
/// Topics in `show`.
const SHOWN_TOPICS: usize = 5;

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    bound_sample: Option<usize>,
    eta: f64,
    topics: Vec<topics::Listed>,
}

const EXAMPLES: &str = "\
Examples:
  lehr fit lda news.jsonl -k 50 --field body --holdout 500 -o runs/news
  lehr fit lda reviews.csv --field review -k 20 -o runs/reviews
  lehr fit lda small.txt -k 10 --stop-words none               batch VI
  lehr fit lda docword.txt.gz --vocab vocab.txt -k 150 --batch 1000 \\
      --effective 100 --steps 1500                             SVI+
  lehr fit lda corpus.lehr -k 50 --batch 1000 --seed-topics runs/news
      from the topics of an earlier run
  lehr fit lda news.jsonl -k 50 --seed-words seeds.txt
      topics that are about given words; a line: sport: goal team league";

impl Served for Lda {
    const ABOUT: &'static [About] = &[About {
        model: "lda",
        title: "Latent Dirichlet allocation: K topics of documents",
        data: "The documents: text, CSV, TSV, JSON, JSON lines, UCI docword, LDA-C, SVMlight, Matrix Market \
               (also .gz), .npz, Parquet, or what 'lehr convert' wrote",
        examples: EXAMPLES,
        required: ("topics", "how many topics? Give -k K, e.g. -k 50"),
        usual: &["topics", "vocab", "field", "stop_words"],
        implied: &[],
        presets: &[],
    }];
    const ITEM: &'static str = "document";
    const READS_IDS: bool = true;

    fn options(
        flags: &DataArgs,
        config: &RunConfig<Self>,
        path: &Path,
    ) -> anyhow::Result<DocsOptions> {
        let run = config.data.options.clone();
        // The model has its words; those of the new documents are not chosen again. The format is
        // recognised unless the file looks like the run's own.
        let alike = config.data.path.as_deref().is_some_and(|own| ending(path) == ending(own));
        let base = DocsOptions {
            format: run.format.filter(|_| alike),
            // Words are known by their numbers as well if the file has gone.
            vocab: run.vocab.filter(|vocab| vocab.exists()),
            min_docs: None,
            max_docs: None,
            max_words: None,
            ..run
        };
        let options: DocsOptions = flags.over(&config.model, base)?;
        let id = flags.id.clone().or(options.id).filter(|_| flags.ids);
        Ok(DocsOptions { id, ids: flags.ids, ..options })
    }

    fn take_back(options: &mut DocsOptions, flags: &DataArgs, field: &str) -> bool {
        if flags.has(field) {
            return false;
        }
        match field {
            "one_based" => std::mem::take(&mut options.one_based),
            "transpose" => std::mem::take(&mut options.transpose),
            "field" => options.field.take().is_some(),
            "id" if flags.id.is_none() => options.id.take().is_some(),
            "header" => std::mem::take(&mut options.header) != Header::default(),
            "tokens" => options.tokens.take().is_some(),
            "digits" => std::mem::take(&mut options.digits),
            "ngrams" => options.ngrams.take().is_some(),
            "stop_words" => options.stop_words.take().is_some(),
            "min_length" => options.min_length.take().is_some(),
            _ => false,
        }
    }

    fn eval(run: &OpenRun<Self>, new: &NewData<Self>, args: &EvalArgs) -> anyhow::Result<()> {
        eval::run(run, new, args)
    }

    fn transform(
        run: &OpenRun<Self>,
        new: &NewData<Self>,
        output: &TableFile<'_>,
    ) -> anyhow::Result<String> {
        check_known(new)?;
        let k = run.config.params.topics;
        let (model, lambda) = (&run.model, &run.saved.model_state().lambda);
        let ids = new.data.ids();
        let (mut theta, mut main) = (Vec::new(), Vec::new());
        let mut reader = model.topic_reader(lambda, &new.data);
        output.write_blocks(new.data.n_items(), k + 1, |rows, add| {
            theta.resize(rows.len() * k, 0.0);
            reader.fill(rows.clone(), true, &mut theta);
            if let Some(fault) = new.data.fault() {
                return Err(fault.into());
            }
            main.clear();
            main.extend(theta.chunks_exact(k).map(|shares| largest(shares) as i64));
            let mut columns = Vec::new();
            // An array holds the shares alone.
            if output.format != TableFormat::Npy {
                columns.extend(ids.as_deref().map(|ids| Column::text("id", &ids[rows])));
                columns.push(Column::i64("main_topic", &main));
            }
            columns.push(Column::matrix("topic", &theta, k));
            Ok(add(&columns)?)
        })?;
        let mut done = format!("{} in {}", items::<Self>(&new.data), counted(k as u64, "topic"));
        let empty = (0..new.data.n_items()).filter(|&n| new.data.doc(n).is_empty()).count();
        if empty > 0 {
            done += &format!(
                "; {} without known words: {} the prior's",
                plural(empty as u64, "is", "are"),
                if empty == 1 { "its shares are" } else { "their shares are" }
            );
        }
        if let Some(left_out) = left_out(&new.unknown, Some(new.data.tokens())) {
            done += &format!("\n{left_out}");
        }
        Ok(done)
    }

    fn summary(result: &RunResult) -> Vec<String> {
        let begins = ["held out: ", "          "];
        let scores = scores(&result.measures);
        let mut lines: Vec<String> =
            scores.iter().zip(begins).map(|(score, begin)| format!("{begin}{score}")).collect();
        lines.extend(noise(&result.measures, result.guard_hits));
        lines
    }

    fn title(run: &OpenRun<Self>) -> String {
        let params = &run.config.params;
        let lambda = &run.saved.model_state().lambda;
        let mut text = format!(
            "lda with {}, {}, {}",
            counted(params.topics as u64, "topic"),
            alpha(run, lambda),
            eta(run, lambda)
        );
        if params.learns_eta() {
            text += " (learned)";
        }
        if params.exact {
            text += ", exact local steps";
        }
        if let Some(seeds) = &params.seed_topics {
            text += &format!(", topics from {}", seeds.display());
        }
        if let n @ 1.. = run.model.n_seeded() {
            text += &format!(", seed words for {}", counted(n as u64, "topic"));
        }
        text
    }

    fn data_size(run: &OpenRun<Self>) -> String {
        let config = &run.config;
        let docs = config.data.items;
        let held_out = match config.fit.holdout.count(docs) {
            0 => String::new(),
            n => format!(", {n} of them held out"),
        };
        let tokens: f64 = run.model.word_counts().iter().sum();
        format!(
            "{docs} documents{held_out}, {} words, {} training tokens",
            config.frozen.words,
            number(tokens)
        )
    }

    fn state(run: &OpenRun<Self>, last: Option<&Observation>) -> String {
        let Some(last) = last else { return String::new() };
        let mut text = String::new();
        for (score, begin) in scores(&last.measures).iter().zip(["held out", "        "]) {
            text += &format!("{begin}  {score}\n");
        }
        let hits = run.saved.model_state().guard_hits;
        for line in noise(&last.measures, hits) {
            text += &format!("noise     {line}\n");
        }
        text
    }

    fn listing(run: &OpenRun<Self>, top: Option<usize>) -> String {
        let topics = run.model.topics(&run.saved.model_state().lambda, SHOWN_WORDS, 0.6);
        let shown = top.unwrap_or(SHOWN_TOPICS).min(topics.len());
        let mut text = format!("the largest {}\n", counted(shown as u64, "topic"));
        if shown == topics.len() {
            text = "topics, the largest first\n".to_string();
        }
        for topic in &topics[..shown] {
            text += &topics::line(run, topic, topics[0].share);
        }
        text += &format!("lehr topics {} shows all\n", quoted(run.directory.path()));
        text
    }

    fn charts(observations: &[&Observation]) -> Vec<(&'static str, TermSeries)> {
        let points = observations.iter().map(|o| (o.step as f64, o.bound));
        let mut charts = vec![("bound against steps", TermSeries::new("bound", points))];
        let scores: Vec<_> =
            observations.iter().filter_map(|o| Some((o.step as f64, o.heldout?))).collect();
        if scores.len() > 1 {
            let title = "held-out completion against steps, in nats per word";
            charts.push((title, TermSeries::new("completion", scores)));
        }
        charts
    }

    fn given(run: &Run<Self>, args: &BesideArgs) -> anyhow::Result<Self::Given> {
        report::given(run, args)
    }

    fn show_json(run: &OpenRun<Self>, observations: &[&Observation]) -> anyhow::Result<()> {
        let state = run.saved.model_state();
        let topics = run.model.topics(&state.lambda, SHOWN_WORDS, 0.6);
        text::print_json(&Summary {
            head: Head::of(run, observations),
            bound_sample: observations.last().and_then(|o| o.bound_sample),
            eta: run.model.eta(&state.lambda),
            topics: topics.iter().map(|topic| topics::Listed::new(run, topic, None)).collect(),
        })
    }
}

/// Refuses data of which nothing is left.
fn check_known(new: &NewData<Lda>) -> anyhow::Result<()> {
    if new.data.tokens() > 0.0 {
        return Ok(());
    }
    match new.unknown.words {
        0 => anyhow::bail!("all its documents are empty; there is nothing to look at"),
        n => anyhow::bail!(
            "none of its {} is in the model's vocabulary; give --vocab if words are numbered \
             otherwise, or --format if it was read as the wrong one",
            counted(n as u64, "word")
        ),
    }
}

/// The ending of a file's name, whether gzipped or not.
fn ending(path: &Path) -> Option<std::ffi::OsString> {
    let plain = path.with_extension("");
    let inner = if path.extension().is_some_and(|e| e == "gz") { plain.as_path() } else { path };
    inner.extension().map(std::ffi::OsStr::to_owned)
}

/// Alpha in words.
fn alpha(run: &OpenRun<Lda>, lambda: &Lambda) -> String {
    let alpha = run.model.alpha(lambda);
    let (least, most) =
        alpha.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    match run.config.params.learned_alpha() {
        LearnAlpha::No if least < most => {
            format!("alpha {} to {}", rounded(least, 4), rounded(most, 4))
        }
        LearnAlpha::No => format!("alpha {}", rounded(most, 4)),
        LearnAlpha::Symmetric => format!("alpha {} (learned)", rounded(most, 4)),
        LearnAlpha::Asymmetric => {
            format!("alpha {} to {} (learned)", rounded(least, 4), rounded(most, 4))
        }
    }
}

/// Eta in words.
fn eta(run: &OpenRun<Lda>, lambda: &Lambda) -> String {
    let Some(each) = run.model.word_eta() else {
        return format!("eta {}", rounded(run.model.eta(lambda), 4));
    };
    let most = each.iter().copied().fold(0.0, f64::max);
    format!("eta {} to {} by word", rounded(run.model.eta(lambda), 4), rounded(most, 4))
}

type Measures = std::collections::BTreeMap<String, f64>;

/// The held-out scores, if there are any, in two lines.
fn scores(measures: &Measures) -> Vec<String> {
    let get = |name: &str| measures.get(name).copied();
    let mut lines = Vec::new();
    if let (Some(completion), Some(unigram)) = (get("completion"), get("unigram")) {
        let gain = completion - unigram;
        lines.push(format!(
            "completion {} nats per word (perplexity {}), {} {} than word frequencies",
            rounded(completion, 5),
            perplexity(completion),
            rounded(gain.abs(), 3),
            if gain < 0.0 { "worse" } else { "better" }
        ));
    }
    if let (Some(local), Some(full)) = (get("local"), get("full")) {
        let shown = |score| format!("{} ({})", rounded(score, 5), perplexity(score));
        lines.push(format!("bound local {}, full {}", shown(local), shown(full)));
    }
    lines
}

/// exp(-score), as a person reads it.
fn perplexity(score: f64) -> String {
    rounded((-score).exp(), 5)
}

/// What noise did to lambda, if there was any.
fn noise(measures: &Measures, guard_hits: u64) -> Vec<String> {
    if guard_hits == 0 {
        return Vec::new();
    }
    let mass = measures
        .get("mass")
        .map(|mass| format!("the topics hold {} of the words' mass", rounded(*mass, 4)));
    let guard = match measures.get("clamped_share") {
        Some(share) => format!(
            "the guard changed {} % of the entries that noise moved",
            rounded(100.0 * share, 3)
        ),
        None => format!("the guard acted {}", counted(guard_hits, "time")),
    };
    vec![mass.into_iter().chain([guard]).collect::<Vec<_>>().join("; ")]
}
