//! The topics of a run, for people and for programs.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use lehr::data::{Docs, FromFile};
use lehr::models::Stored;
use lehr::models::lda::{
    Coherence, Coherences, Diagnostics, Lda, LearnAlpha, SAME, Topic, TopicDiagnostics,
};
use lehr::read::DocsOptions;
use lehr::store::DataSource;
use lehr::write::TableFormat;
use lehr_plot::terminal::histogram_bar;

use super::table;
use crate::args::{DataArgs, TopicOrder, TopicsArgs};
use crate::look;
use crate::models::OpenRun;
use crate::output::TableFile;
use crate::text::{self, counted, in_line, rounded, wrapped};

/// Columns of the bar of a topic's size.
const BAR: usize = 12;

/// A topic as JSON has it. Topics are numbered from 0, like the columns of `lehr transform` and rows in Python.
#[derive(Debug, Serialize)]
pub struct Listed {
    pub(super) topic: usize,
    /// What seed words call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) share: f64,
    pub(super) alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) coherence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) more: Option<More>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) documents: Option<Documents>,
    pub(super) words: Vec<Probable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    relevant: Vec<Relevant>,
}

/// What --diagnostics tells.
#[derive(Debug, Clone, Serialize)]
pub(super) struct More {
    pub(super) umass: Option<f64>,
    pub(super) c_v: Option<f64>,
    pub(super) entropy: f64,
    pub(super) effective_words: f64,
    pub(super) exclusivity: f64,
    pub(super) nearest: Option<usize>,
    pub(super) overlap: f64,
}

/// What --documents tells.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Documents {
    pub(super) mean_share: f64,
    pub(super) effective_documents: f64,
    pub(super) main: usize,
    pub(super) top: Vec<Document>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Document {
    /// Its number, from 1 as in the file.
    pub(super) document: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) share: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Probable {
    pub(super) word: String,
    pub(super) probability: f64,
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
    /// The share of different words among the most probable words of all topics.
    #[serde(skip_serializing_if = "Option::is_none")]
    diversity: Option<f64>,
    /// Pairs of topics that say the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicates: Option<Vec<(usize, usize)>>,
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
            name: run.model.topic_name(topic.topic).map(str::to_string),
            share: topic.share,
            alpha: topic.alpha,
            coherence,
            more: None,
            documents: None,
            words: topic.by_probability.iter().map(probable).collect(),
            relevant: topic.by_relevance.iter().map(relevant).collect(),
        }
    }
}

/// Gives topics the names that are asked for, and has the run keep them.
pub fn call(run: &mut OpenRun<Lda>, args: &TopicsArgs) -> anyhow::Result<()> {
    let mut given = args.names.as_deref().map_or(Ok(Vec::new()), in_file)?;
    given.extend(args.name.iter().cloned());
    if given.is_empty() {
        return Ok(());
    }
    run.model = run.model.with_topic_names(given)?;
    run.config.frozen = run.model.frozen();
    Ok(run.directory.amend(&run.model)?)
}

/// The numbers of topics in a file, and their names.
fn in_file(path: &Path) -> anyhow::Result<Vec<(usize, String)>> {
    let mut named = Vec::new();
    for (topic, name) in lehr::read::titles(path)? {
        let Ok(number) = topic.parse() else {
            anyhow::bail!(
                "{}: found {topic:?} as the number of a topic to call {name:?}; topics are numbered from 0, and the \
                 first column has the number",
                path.display()
            );
        };
        named.push((number, name));
    }
    named.sort();
    Ok(named)
}

/// Prints the topics.
pub fn show(run: &OpenRun<Lda>, args: &TopicsArgs) -> anyhow::Result<()> {
    let output = args.output.as_deref().map(|path| TableFile::new(path, None, args.force));
    let output = output.transpose()?;
    if let Some(output) = output.as_ref().filter(|output| output.format == TableFormat::Npy) {
        anyhow::bail!(
            "{}: is an array, which has no room for words; write .csv, .tsv or .parquet",
            output.path.display()
        );
    }
    let lambda = &run.saved.model_state().lambda;
    let mut topics = run.model.topics(lambda, args.top.max(args.coherence), args.relevance);
    let (coherence, why_not) = match coherence(run, &topics, args) {
        Ok(coherence) => (coherence, None),
        Err(why_not) => (vec![Coherences::default(); topics.len()], Some(why_not)),
    };
    let diagnostics = args.diagnostics.then(|| run.model.diagnose(lambda, args.coherence));
    let documents = args.documents.as_deref().map(|path| documents(run, path, args)).transpose()?;
    if args.sort == TopicOrder::Coherence
        && let Some(why_not) = &why_not
    {
        anyhow::bail!("--sort coherence: there is none, since {why_not}");
    }
    for topic in &mut topics {
        topic.by_probability.truncate(args.top);
        topic.by_relevance.truncate(args.top);
    }
    let mut listed: Vec<(Topic, Coherences)> = topics.into_iter().zip(coherence).collect();
    let largest = listed.first().map_or(1.0, |(topic, _)| topic.share);
    if args.sort == TopicOrder::Coherence {
        let value = |c: Option<f64>| c.unwrap_or(f64::NEG_INFINITY);
        listed.sort_by(|a, b| value(b.1.npmi).total_cmp(&value(a.1.npmi)));
    }
    let known: Vec<f64> = listed.iter().filter_map(|(_, c)| c.npmi).collect();
    let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    let told: Vec<Listed> = listed
        .iter()
        .map(|(topic, c)| {
            let mut told = Listed::new(run, topic, c.npmi);
            told.more = diagnostics.as_ref().map(|all| More::new(&all.topics[topic.topic], c));
            told.documents = documents.as_ref().map(|all| all[topic.topic].clone());
            told
        })
        .collect();
    if let Some(output) = &output {
        return table::write(output, &told);
    }
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
            diversity: diagnostics.as_ref().map(|all| all.diversity),
            duplicates: diagnostics.map(|all| all.duplicates),
            topics: told,
        });
    }
    let mut out = heading(run, args, mean, why_not.as_deref());
    if let Some(all) = &diagnostics {
        out += &of_all(all, args);
    }
    let width = look::width();
    for ((topic, coherence), told) in listed.iter().zip(&told) {
        out += &block(run, topic, coherence.npmi, largest, args, width);
        out += &lines(told, &" ".repeat(digits(run) + 2));
    }
    text::print(&out)
}

/// Whether the arguments can be meant, before anything is read.
pub fn check(args: &TopicsArgs) -> anyhow::Result<()> {
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
) -> Result<Vec<Coherences>, String> {
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
    Ok(topics.iter().map(|topic| counts.of(&words(topic))).collect())
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

/// The documents of each topic.
fn documents(run: &OpenRun<Lda>, path: &Path, args: &TopicsArgs) -> anyhow::Result<Vec<Documents>> {
    let mut flags = DataArgs::default();
    flags.ids = true;
    let new = run.read_and_tell(path, &flags)?;
    super::check_known(&new).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let lambda = &run.saved.model_state().lambda;
    let found = run.model.topic_documents(lambda, &new.data, args.top_documents);
    if let Some(fault) = new.data.fault() {
        return Err(fault.into());
    }
    let ids = new.data.ids();
    let document = |&(n, share): &(usize, f64)| Document {
        document: n + 1,
        id: ids.as_ref().map(|ids| ids[n].clone()),
        share,
    };
    let told = found.iter().map(|topic| Documents {
        mean_share: topic.mean_share,
        effective_documents: topic.effective_documents,
        main: topic.main,
        top: topic.top.iter().map(document).collect(),
    });
    Ok(told.collect())
}

impl More {
    fn new(of: &TopicDiagnostics, coherent: &Coherences) -> Self {
        More {
            umass: coherent.umass,
            c_v: coherent.c_v,
            entropy: of.entropy,
            effective_words: of.effective_words,
            exclusivity: of.exclusivity,
            nearest: of.nearest,
            overlap: of.overlap,
        }
    }
}

/// What diagnostics say of all topics together.
fn of_all(all: &Diagnostics, args: &TopicsArgs) -> String {
    let mut out = format!(
        "diversity {:.3}: the share of different words among the first {} of all topics\n",
        all.diversity, args.coherence
    );
    for (a, b) in &all.duplicates {
        let _ = writeln!(out, "topics {a} and {b} say the same: more than {SAME} in common");
    }
    out
}

/// What diagnostics and documents say of a topic.
fn lines(told: &Listed, indent: &str) -> String {
    let mut out = String::new();
    if let Some(more) = &told.more {
        let _ = write!(
            out,
            "{indent}{} effective words, exclusivity {:.3}",
            rounded(more.effective_words, 3),
            more.exclusivity
        );
        for (name, value) in [("UMass", more.umass), ("C_V", more.c_v)] {
            if let Some(value) = value {
                let _ = write!(out, ", {name} {value:.3}");
            }
        }
        if let Some(nearest) = more.nearest {
            let _ = write!(out, ", {:.3} in common with topic {nearest}", more.overlap);
        }
        out += "\n";
    }
    if let Some(documents) = &told.documents {
        let _ = writeln!(
            out,
            "{indent}main topic of {}; {} effective documents",
            counted(documents.main as u64, "document"),
            rounded(documents.effective_documents, 3)
        );
        for Document { document, id, share } in &documents.top {
            let id = id.as_ref().map_or(String::new(), |id| format!("  {}", in_line(id)));
            let _ = writeln!(out, "{indent}{:>5.1} %  document {document}{id}", 100.0 * share);
        }
    }
    out
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
    if let Some(name) = run.model.topic_name(topic.topic) {
        let _ = write!(facts, "  {}", in_line(name));
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
    if let Some(name) = run.model.topic_name(topic.topic) {
        let _ = write!(out, " {}:", in_line(name));
    }
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
