//! The topics of a run, for people and for programs.

use std::fmt::Write;

use serde::Serialize;

use lehr::data::{Docs, FromFile};
use lehr::models::Stored;
use lehr::models::lda::{Coherence, Lda, LearnAlpha, Topic};
use lehr::read::DocsOptions;
use lehr::store::DataSource;
use lehr_plot::terminal::histogram_bar;

use crate::args::{TopicOrder, TopicsArgs};
use crate::look;
use crate::models::OpenRun;
use crate::text::{self, counted, rounded, wrapped};

/// Columns of the bar of a topic's size.
const BAR: usize = 12;

/// A topic as JSON has it. Topics are numbered from 0, like the columns of `lehr transform` and rows in Python.
#[derive(Debug, Serialize)]
pub struct Listed {
    topic: usize,
    share: f64,
    alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coherence: Option<f64>,
    words: Vec<Probable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    relevant: Vec<Relevant>,
}

#[derive(Debug, Serialize)]
struct Probable {
    word: String,
    probability: f64,
}

#[derive(Debug, Serialize)]
struct Relevant {
    word: String,
    relevance: f64,
}

#[derive(Serialize)]
struct Topics {
    model: &'static str,
    words: usize,
    documents: usize,
    eta: f64,
    relevance: f64,
    /// How many words of a topic its coherence looks at.
    #[serde(skip_serializing_if = "Option::is_none")]
    coherence_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_coherence: Option<f64>,
    /// Why there is no coherence.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_coherence: Option<String>,
    topics: Vec<Listed>,
}

impl Listed {
    /// A topic with its words' names.
    pub fn new(run: &OpenRun<Lda>, topic: &Topic, coherence: Option<f64>) -> Self {
        let word = |w: usize| run.model.vocabulary().show(w);
        let probable = |&(w, probability): &(usize, f64)| Probable { word: word(w), probability };
        let relevant = |&(w, relevance): &(usize, f64)| Relevant { word: word(w), relevance };
        Listed {
            topic: topic.topic,
            share: topic.share,
            alpha: topic.alpha,
            coherence,
            words: topic.by_probability.iter().map(probable).collect(),
            relevant: topic.by_relevance.iter().map(relevant).collect(),
        }
    }
}

/// Prints the topics.
pub fn show(run: &OpenRun<Lda>, args: &TopicsArgs) -> anyhow::Result<()> {
    check(args)?;
    let lambda = &run.saved.model_state().lambda;
    let mut topics = run.model.topics(lambda, args.top.max(args.coherence), args.relevance);
    let (coherence, why_not) = match coherence(run, &topics, args) {
        Ok(coherence) => (coherence, None),
        Err(why_not) => (vec![None; topics.len()], Some(why_not)),
    };
    if args.sort == TopicOrder::Coherence
        && let Some(why_not) = &why_not
    {
        anyhow::bail!("--sort coherence: there is none, since {why_not}");
    }
    for topic in &mut topics {
        topic.by_probability.truncate(args.top);
        topic.by_relevance.truncate(args.top);
    }
    let mut listed: Vec<(Topic, Option<f64>)> = topics.into_iter().zip(coherence).collect();
    let largest = listed.first().map_or(1.0, |(topic, _)| topic.share);
    if args.sort == TopicOrder::Coherence {
        let value = |c: Option<f64>| c.unwrap_or(f64::NEG_INFINITY);
        listed.sort_by(|a, b| value(b.1).total_cmp(&value(a.1)));
    }
    let known: Vec<f64> = listed.iter().filter_map(|(_, c)| *c).collect();
    let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    if args.json {
        return text::print_json(&Topics {
            model: "lda",
            words: run.config.frozen.words,
            documents: run.config.frozen.documents,
            eta: run.model.eta(lambda),
            relevance: args.relevance,
            coherence_words: why_not.is_none().then_some(args.coherence),
            mean_coherence: mean,
            no_coherence: why_not,
            topics: listed.iter().map(|(topic, c)| Listed::new(run, topic, *c)).collect(),
        });
    }
    let mut out = heading(run, args, mean, why_not.as_deref());
    let width = look::width();
    for (topic, coherence) in &listed {
        out += &block(run, topic, *coherence, largest, args, width);
    }
    text::print(&out)
}

fn check(args: &TopicsArgs) -> anyhow::Result<()> {
    if args.top == 0 {
        anyhow::bail!("--top 0: must be at least 1");
    }
    if !(0.0..=1.0).contains(&args.relevance) {
        anyhow::bail!("--relevance {}: must be between 0 and 1; 0.6 is usual", args.relevance);
    }
    if args.coherence < 2 {
        anyhow::bail!(
            "--coherence {}: must be at least 2, since it looks at pairs of words; --no-coherence \
             leaves it out",
            args.coherence
        );
    }
    Ok(())
}

/// The coherence of each topic in the run's own documents, or why there is none.
fn coherence(
    run: &OpenRun<Lda>,
    topics: &[Topic],
    args: &TopicsArgs,
) -> Result<Vec<Option<f64>>, String> {
    if args.no_coherence {
        return Err("it was not asked for".into());
    }
    let docs = training_documents(&run.model, &run.config.data)?;
    let words = |topic: &Topic| -> Vec<usize> {
        topic.by_probability.iter().take(args.coherence).map(|(word, _)| *word).collect()
    };
    let counts = Coherence::new(&docs, topics.iter().flat_map(words));
    if let Some(fault) = docs.fault() {
        return Err(fault.to_string());
    }
    Ok(topics.iter().map(|topic| counts.npmi(&words(topic))).collect())
}

/// The documents that a model was fitted to, or why they cannot be had.
pub fn training_documents(model: &Lda, data: &DataSource<DocsOptions>) -> Result<Docs, String> {
    let Some(path) = &data.path else {
        return Err("the training documents are in no file".into());
    };
    if data.pipe {
        return Err("the training documents came through a pipe".into());
    }
    let docs = match data.unknown_dropped {
        false => Docs::read(path, &data.options),
        true => model.read_new(path, &data.options).map(|(docs, _)| docs),
    };
    let docs = docs.map_err(|error| {
        if path.exists() {
            format!("the training documents cannot be read ({error})")
        } else {
            format!("the training documents, {}, are gone", path.display())
        }
    })?;
    if docs.fingerprint() != data.fingerprint {
        return Err(format!("{} has changed since the fit", path.display()));
    }
    Ok(docs)
}

fn heading(
    run: &OpenRun<Lda>,
    args: &TopicsArgs,
    mean: Option<f64>,
    why_not: Option<&str>,
) -> String {
    let frozen = &run.config.frozen;
    let mut out = format!(
        "{}: {} of {} in {}\n",
        args.run.display(),
        counted(run.config.params.topics as u64, "topic"),
        counted(frozen.words as u64, "word"),
        counted(frozen.documents as u64, "document"),
    );
    match (mean, why_not) {
        (Some(mean), _) => {
            let _ = writeln!(
                out,
                "share of all words; coherence of the first {} words (NPMI), {mean:.3} on average",
                args.coherence
            );
        }
        (None, Some(_)) if args.no_coherence => {}
        (None, why_not) => {
            let why_not = why_not.unwrap_or("a topic has fewer than two words");
            let _ = writeln!(out, "no coherence: {why_not}");
        }
    }
    if args.relevance < 1.0 {
        let _ = writeln!(
            out,
            "the second line of words is by relevance ({})",
            rounded(args.relevance, 3)
        );
    }
    out
}

/// A topic in a few lines.
fn block(
    run: &OpenRun<Lda>,
    topic: &Topic,
    coherence: Option<f64>,
    largest: f64,
    args: &TopicsArgs,
    width: usize,
) -> String {
    let mut facts = String::new();
    if let Some(coherence) = coherence {
        let _ = write!(facts, "  npmi {coherence:>6.3}");
    }
    if run.config.params.learned_alpha() == LearnAlpha::Asymmetric {
        let _ = write!(facts, "  alpha {}", rounded(topic.alpha, 3));
    }
    let first = begin(run, topic, largest) + &facts;
    let mut out = format!("\n{}\n", first.trim_end());
    let indent = " ".repeat(digits(run) + 2);
    let names = |words: &[(usize, f64)]| -> Vec<String> {
        words.iter().map(|(w, _)| run.model.vocabulary().show(*w)).collect()
    };
    let mut lists = vec![names(&topic.by_probability)];
    if args.relevance < 1.0 {
        lists.push(names(&topic.by_relevance));
    }
    for names in lists {
        out += &wrapped(&indent, names.iter().map(String::as_str), width);
    }
    out
}

/// A topic in one line, its words cut where the line ends.
pub fn line(run: &OpenRun<Lda>, topic: &Topic, largest: f64) -> String {
    let mut out = begin(run, topic, largest) + " ";
    let width = look::width();
    for (word, _) in &topic.by_probability {
        let name = run.model.vocabulary().show(*word);
        if out.chars().count() + 1 + name.chars().count() > width {
            break;
        }
        let _ = write!(out, " {name}");
    }
    out + "\n"
}

/// Number, share and bar.
fn begin(run: &OpenRun<Lda>, topic: &Topic, largest: f64) -> String {
    let bar = histogram_bar(topic.share, largest, BAR);
    let digits = digits(run);
    format!("{:>digits$}  {:>5.1} %  {bar:<BAR$}", topic.topic, 100.0 * topic.share)
}

fn digits(run: &OpenRun<Lda>) -> usize {
    run.config.params.topics.saturating_sub(1).to_string().len()
}
