//! Several runs of one model on one page: their scores, their bounds, and what they have in common.

use lehr::Result;
use lehr::compare::Comparable;
use lehr::store::Run;
use lehr_plot::caption::rounded;
use lehr_plot::{Colour, Panel, Point, Series};
use serde::Serialize;

use crate::chart::{Cell, Chart};
use crate::head::{best_restart, data_name, method, seconds};
use crate::{Reported, page};

/// A part has come back if another run has one that has this much in common with it.
const CAME_BACK: f64 = 0.5;
/// Runs whose bounds are drawn.
const DRAWN: usize = 12;
/// Letters of what a part is called.
const LABEL: usize = 48;

/// A run among several.
pub struct Member<M: Reported> {
    /// What it is called.
    pub name: String,
    /// The run.
    pub run: Run<M>,
}

/// A page of several runs, of a sweep, or of both.
#[derive(Serialize)]
pub struct Several {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
    pub(crate) matched: Option<Matched>,
}

/// Fits in a table, and charts of them.
#[derive(Serialize)]
pub(crate) struct Section {
    /// What tells it from others of the page.
    pub id: String,
    pub title: String,
    pub about: String,
    pub header: Vec<&'static str>,
    /// Columns of text.
    pub texts: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
    pub verdict: Option<String>,
    pub notes: Vec<String>,
    pub charts: Vec<Chart>,
    pub again: Option<Again>,
}

/// How to make it again.
#[derive(Serialize)]
pub(crate) struct Again {
    pub command: String,
    pub configuration: String,
}

/// Which parts of the best run came back in the others.
#[derive(Serialize)]
pub(crate) struct Matched {
    /// What the parts are, in the plural, and by what they are compared.
    parts: &'static str,
    by: &'static str,
    reference: String,
    said: Vec<String>,
    /// Each of the other runs, and what it has in common with the best one on average.
    others: Vec<(String, String)>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    number: usize,
    label: Option<String>,
    came_back: usize,
    /// For each of the other runs its partner and what they have in common.
    partners: Vec<Option<(usize, String)>>,
}

impl Several {
    /// Puts what there is to say of other fits behind this.
    pub fn and(mut self, other: Several) -> Self {
        self.title = format!("{}, and {}", self.title, other.title);
        self.sections.extend(other.sections);
        self
    }

    /// The page.
    pub fn page(self) -> Result<String> {
        page::of_several(&self)
    }

    /// Its charts.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.sections.iter().flat_map(|section| &section.charts)
    }
}

impl Section {
    /// Without columns that say nothing of any fit.
    pub fn without_empty(mut self) -> Self {
        for at in (0..self.header.len()).rev() {
            if !self.rows.is_empty() && self.rows.iter().all(|row| row[at] == "-") {
                self.header.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
            }
        }
        self
    }
}

/// The last bound and the last held-out score of the start that was kept.
fn scores<M: Reported>(run: &Run<M>) -> (f64, Option<f64>) {
    let shown = best_restart(&run.saved);
    let last = run.trace.iter().rfind(|seen| seen.restart == shown);
    last.map_or((f64::NAN, None), |seen| (seen.bound, seen.heldout))
}

/// What there is to say of several runs of one model; `size` is what is called their size, K or d.
pub fn several<M: Reported + Comparable>(members: &[Member<M>], size: &'static str) -> Several {
    let best = (0..members.len()).max_by(|&a, &b| {
        let of = |at: usize| {
            Some(scores(&members[at].run).0)
                .filter(|bound| bound.is_finite())
                .unwrap_or(f64::NEG_INFINITY)
        };
        of(a).total_cmp(&of(b)).then(b.cmp(&a))
    });
    let mut notes = Vec::new();
    let prints: Vec<&str> =
        members.iter().map(|m| m.run.config.data.fingerprint.as_str()).collect();
    let held_out = |m: &Member<M>| m.run.config.fit.holdout.count(m.run.config.data.items);
    let same_data = prints.windows(2).all(|pair| pair[0] == pair[1]);
    let same_items = same_data && members.windows(2).all(|p| held_out(&p[0]) == held_out(&p[1]));
    if !same_data {
        notes.push("The runs were fitted to different data: their bounds do not compare.".into());
    } else if !same_items {
        notes.push(
            "The runs hold out different numbers of items: their bounds do not compare.".into(),
        );
    }
    let row = |member: &Member<M>| {
        let run = &member.run;
        let (bound, heldout) = scores(run);
        let shown = best_restart(&run.saved);
        let stop = run.saved.outcomes().iter().find(|o| o.restart == shown);
        vec![
            member.name.clone(),
            M::heading(run),
            run.config.fit.seed.to_string(),
            rounded(bound, 7),
            heldout.map_or("-".into(), |x| rounded(x, 5)),
            stop.map_or("not yet".into(), |outcome| outcome.stop.to_string()),
            seconds(run.saved.model_state().seconds),
            method(&run.config.fit),
        ]
    };
    let matched =
        best.filter(|_| members.len() > 1).and_then(|best| match matched(members, best) {
            Ok(matched) => Some(matched),
            Err(error) => {
                notes.push(format!("What the runs have in common is not shown: {error}."));
                None
            }
        });
    let mut about =
        "Bounds and held-out scores, in nats, are higher for better fits of the same data."
            .to_string();
    if let Some(first) = members.first().filter(|_| same_data) {
        about = format!("Fitted to {}: {}. {about}", data_name(&first.run), M::data(&first.run));
    }
    let mut charts = vec![bounds(members)];
    charts.extend(same_items.then(|| by_size(members, size)).flatten());
    let model = members.first().map_or("", |m| m.run.config.model.as_str());
    let section = Section {
        id: "runs".into(),
        title: "Runs".into(),
        about,
        header: vec!["run", "model", "seed", "bound", "held out", "stopped", "time", "method"],
        texts: vec!["model", "stopped", "method"],
        rows: members.iter().map(row).collect(),
        verdict: best
            .filter(|_| same_items && members.len() > 1)
            .map(|best| verdict(members, best)),
        notes,
        charts,
        again: None,
    }
    .without_empty();
    Several { title: counted_runs(members.len(), model), sections: vec![section], matched }
}

/// Which run is best by its bound, and by its held-out score if all have one: larger models have lower bounds and may
/// predict better.
fn verdict<M: Reported>(members: &[Member<M>], best: usize) -> String {
    let heldout: Option<Vec<f64>> = members.iter().map(|member| scores(&member.run).1).collect();
    let highest = heldout
        .and_then(|all| (0..all.len()).max_by(|&a, &b| all[a].total_cmp(&all[b]).then(b.cmp(&a))));
    let name = |at: usize| &members[at].name;
    match highest {
        None => format!("{} has the highest bound.", name(best)),
        Some(at) if at == best => {
            format!("{} has the highest bound and the highest held-out score.", name(best))
        }
        Some(at) => {
            format!(
                "{} has the highest bound, {} the highest held-out score.",
                name(best),
                name(at)
            )
        }
    }
}

fn counted_runs(n: usize, model: &str) -> String {
    format!("{} of {model}", lehr_plot::caption::counted(n as u64, "run"))
}

/// The bounds of all runs against passes.
fn bounds<M: Reported>(members: &[Member<M>]) -> Chart {
    let mut panel = Panel::new("").x_label("passes over the data").y_label("bound (nats)");
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut skipped = false;
    for (at, member) in members.iter().enumerate() {
        let (run, shown) = (&member.run, best_restart(&member.run.saved));
        let items = run.config.data.items - run.config.fit.holdout.count(run.config.data.items);
        let seen = run
            .trace
            .iter()
            .filter(|seen| seen.restart == shown && (seen.run == 0 || seen.event.is_some()));
        let points: Vec<Point> =
            seen.map(|seen| (seen.items as f64 / items.max(1) as f64, seen.bound)).collect();
        let from = lehr_plot::first_drawn(&points);
        skipped |= from > 0;
        rows.extend(
            points
                .iter()
                .map(|point| vec![member.name.as_str().into(), point.0.into(), point.1.into()]),
        );
        if at < DRAWN {
            let line = Series::line(points[from.min(points.len())..].to_vec());
            let line = line.colour(Colour::nth(at)).label(&member.name);
            // Colours start again after the last; these lines are dashed.
            let dashed = at >= Colour::PALETTE.len();
            panel = panel.with(if dashed { line.dash([6.0, 3.0]) } else { line });
        }
    }
    let mut more = match members.len().saturating_sub(DRAWN) {
        0 => String::new(),
        n => format!("{n} more runs are not drawn. "),
    };
    if skipped {
        more += "First steps that lie far below are not drawn.";
    }
    Chart::new("bound", "Bounds against passes", panel, (480.0, 280.0))
        .note(more)
        .numbers(&["run", "passes", "bound"], rows)
}

/// Mean and standard error; no error of one.
fn mean_and_error(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt()))
}

/// The scores against the size, if the runs have several sizes: held-out ones if all runs have them, else bounds.
fn by_size<M: Reported>(members: &[Member<M>], size: &'static str) -> Option<Chart> {
    let all: Vec<(usize, f64, Option<f64>)> = members
        .iter()
        .map(|member| {
            let (bound, heldout) = scores(&member.run);
            (size_of(&member.run), bound, heldout)
        })
        .collect();
    let mut sizes: Vec<usize> = all.iter().map(|(size, ..)| *size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() < 2 {
        return None;
    }
    let held_out = all.iter().all(|(.., heldout)| heldout.is_some());
    let (id, what, title) = match held_out {
        true => ("size-held-out", "held-out score (nats)", "Held-out score against size"),
        false => ("size-bound", "bound (nats)", "Bound against size"),
    };
    let score = |&(_, bound, heldout): &(usize, f64, Option<f64>)| {
        heldout.filter(|_| held_out).unwrap_or(bound)
    };
    let dots = all.iter().map(|one| (one.0 as f64, score(one)));
    let mut panel = Panel::new("").x_label(size).y_label(what).x_whole();
    if sizes[sizes.len() - 1] >= 10 * sizes[0] {
        panel = panel.x_log();
    }
    let mut line = Vec::new();
    let mut rows = Vec::new();
    let mut bars = Vec::new();
    for &size in &sizes {
        let own: Vec<f64> =
            all.iter().filter(|one| one.0 == size).map(score).filter(|x| x.is_finite()).collect();
        let (mean, error) = mean_and_error(&own);
        line.push((size as f64, mean));
        if let Some(error) = error {
            bars.push([(size as f64, mean - error), (size as f64, mean + error)]);
        }
        rows.push(vec![
            size.into(),
            own.len().into(),
            mean.into(),
            error.unwrap_or(f64::NAN).into(),
        ]);
    }
    panel = panel.with(Series::line(line).colour(Colour::BLUE));
    for bar in bars {
        panel = panel.with(Series::line(bar).colour(Colour::BLUE).width(1.5));
    }
    panel = panel.with(Series::scatter(dots).colour(Colour::BLUE).radius(3.0));
    Some(
        Chart::new(id, title, panel, (480.0, 280.0))
            .note("Dots are runs; the line goes through the means of each size, with a standard error where there are several runs.")
            .numbers(&[size, "runs", "mean", "se"], rows),
    )
}

/// K, or d.
fn size_of<M: Reported>(run: &Run<M>) -> usize {
    let params = serde_json::to_value(&run.config.params).unwrap_or_default();
    params.get(M::SIZE).and_then(serde_json::Value::as_u64).unwrap_or(0) as usize
}

fn matched<M: Reported + Comparable>(members: &[Member<M>], best: usize) -> Result<Matched> {
    let reference = &members[best];
    let labels = M::labels(&reference.run);
    let (mut parts, mut by) = ("parts", "");
    let mut rows: Vec<Row> = Vec::new();
    let mut others = Vec::new();
    for (_, other) in members.iter().enumerate().filter(|(at, _)| *at != best) {
        let found = M::compare(&reference.run, &other.run)?;
        (parts, by) = (found.parts, found.by);
        if rows.is_empty() {
            let mut numbers: Vec<usize> = found.pairs.iter().map(|pair| pair.first).collect();
            numbers.extend(&found.only_first);
            numbers.sort_unstable();
            let row = |number: usize| Row {
                number,
                label: labels.get(number).map(|label| cut(label)),
                came_back: 0,
                partners: Vec::new(),
            };
            rows = numbers.into_iter().map(row).collect();
        }
        for row in &mut rows {
            let pair = found.pairs.iter().find(|pair| pair.first == row.number);
            row.came_back += usize::from(pair.is_some_and(|pair| pair.similarity >= CAME_BACK));
            row.partners.push(pair.map(|pair| (pair.second, format!("{:.2}", pair.similarity))));
        }
        others.push((other.name.clone(), format!("{:.2}", found.mean)));
    }
    let said = said(&rows, others.len(), parts, &reference.name);
    rows.sort_by(|a, b| b.came_back.cmp(&a.came_back).then(a.number.cmp(&b.number)));
    Ok(Matched { parts, by, reference: reference.name.clone(), said, others, rows })
}

/// As many whole words of a label as there is room for; of a single long word its first letters.
fn cut(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_string();
    }
    let begin: String = label.chars().take(LABEL - 1).collect();
    match begin.rsplit_once(' ') {
        Some((words, _)) => format!("{words} \u{2026}"),
        None => format!("{begin}\u{2026}"),
    }
}

/// How many came back in how many of `n` runs.
fn said(rows: &[Row], n: usize, parts: &str, name: &str) -> Vec<String> {
    let back = |least: usize| rows.iter().filter(|row| row.came_back >= least).count();
    let of = rows.len();
    if n == 1 {
        return vec![format!("{} of {of} {parts} of {name} came back in the other run.", back(1))];
    }
    let most = (4 * n).div_ceil(5);
    let all = if n == 2 { "both".to_string() } else { format!("all {n}") };
    let mut said =
        vec![format!("{} of {of} {parts} of {name} came back in {all} other runs.", back(n))];
    if most < n {
        said.push(format!("{} of {of} came back in at least {most} of the {n}.", back(most)));
    }
    said.push(format!("{} of {of} came back in none.", of - back(1)));
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_several_has_an_error() {
        assert_eq!(mean_and_error(&[2.0]), (2.0, None));
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 6.0]);
        // Variance 14/3, of four.
        assert_eq!((mean, error), (3.0, Some((14.0_f64 / 3.0 / 4.0).sqrt())));
    }

    #[test]
    fn labels_are_cut_between_words() {
        assert_eq!(cut("a few words"), "a few words");
        let long = format!("{} secondword", "x".repeat(LABEL - 5));
        assert_eq!(cut(&long), format!("{} \u{2026}", "x".repeat(LABEL - 5)));
        assert_eq!(cut(&"x".repeat(LABEL + 1)), format!("{}\u{2026}", "x".repeat(LABEL - 1)));
    }

    #[test]
    fn it_is_said_how_many_came_back() {
        let row = |came_back| Row { number: 0, label: None, came_back, partners: Vec::new() };
        let rows: Vec<Row> = [9, 8, 8, 7, 0].map(row).into();
        assert_eq!(
            said(&rows, 9, "topics", "a"),
            [
                "1 of 5 topics of a came back in all 9 other runs.",
                "3 of 5 came back in at least 8 of the 9.",
                "1 of 5 came back in none."
            ]
        );
        assert_eq!(
            said(&rows[4..], 1, "topics", "a"),
            ["0 of 1 topics of a came back in the other run."]
        );
    }
}
