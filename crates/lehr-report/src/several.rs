//! Several runs of one model on one page: their scores, their climbs, and what they have in common.

use lehr::Result;
use lehr::store::Run;
use lehr_plot::caption::rounded;
use lehr_plot::{Colour, Panel, Point, Series};
use serde::Serialize;

use crate::chart::{Cell, Chart};
use crate::head::{best_restart, seconds};
use crate::{Reported, page};

/// A component or topic has come back if another run has one as similar as this.
const CAME_BACK: f64 = 0.7;
/// Climbs that are drawn.
const DRAWN: usize = 12;

/// A run among several.
pub struct Member<M: Reported> {
    /// What it is called.
    pub name: String,
    /// The run.
    pub run: Run<M>,
}

/// What two fits have in common.
pub struct Alike {
    /// What the parts are called.
    pub what: &'static str,
    /// For each part of the first a row with its similarities to those of the second, from 0 to 1.
    pub similarity: Vec<Vec<f64>>,
    /// The models' own numbers of both.
    pub numbers: (Vec<usize>, Vec<usize>),
}

/// What a page of several runs shows, also one of a sweep.
#[derive(Serialize)]
pub(crate) struct Several {
    pub title: String,
    pub about: String,
    pub header: Vec<&'static str>,
    pub runs: Vec<Vec<String>>,
    pub verdict: Option<String>,
    pub matched: Option<Matched>,
    pub notes: Vec<String>,
    pub charts: Vec<Chart>,
}

/// Which parts of the best run came back in the others.
#[derive(Serialize)]
pub(crate) struct Matched {
    what: &'static str,
    reference: String,
    said: String,
    others: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    number: usize,
    came_back: usize,
    /// For each of the other runs its partner and how similar it is.
    partners: Vec<Option<(usize, String)>>,
}

/// The page of several runs of one model.
pub fn several<M: Reported>(members: &[Member<M>]) -> Result<String> {
    let bound = |member: &Member<M>| {
        let shown = best_restart(&member.run.saved);
        member
            .run
            .trace
            .iter()
            .rfind(|seen| seen.restart == shown)
            .map_or(f64::NAN, |seen| seen.bound)
    };
    let best = (0..members.len()).max_by(|&a, &b| {
        let of = |at: usize| {
            Some(bound(&members[at])).filter(|x| x.is_finite()).unwrap_or(f64::NEG_INFINITY)
        };
        of(a).total_cmp(&of(b)).then(b.cmp(&a))
    });
    let mut notes = Vec::new();
    let prints: Vec<&str> =
        members.iter().map(|m| m.run.config.data.fingerprint.as_str()).collect();
    if prints.windows(2).any(|pair| pair[0] != pair[1]) {
        notes.push(
            "The runs were fitted to different data: their bounds do not compare.".to_string(),
        );
    }
    let row = |member: &Member<M>| {
        let (run, last) = (&member.run, bound(member));
        let shown = best_restart(&run.saved);
        let heldout =
            run.trace.iter().rfind(|seen| seen.restart == shown).and_then(|seen| seen.heldout);
        let stop = run.saved.outcomes().iter().find(|o| o.restart == shown);
        vec![
            member.name.clone(),
            M::heading(run),
            run.config.fit.seed.to_string(),
            rounded(last, 7),
            heldout.map_or("-".into(), |x| rounded(x, 5)),
            stop.map_or("not yet".into(), |outcome| outcome.stop.to_string()),
            seconds(run.saved.model_state().seconds),
        ]
    };
    let matched = best.and_then(|best| matched(members, best));
    if matched.is_none() && members.len() > 1 {
        notes.push("Their parts are not compared: the model's have no order, or the runs have different words or columns.".into());
    }
    let charts = vec![climbs(members)];
    let view = Several {
        title: format!("{} runs of {}", members.len(), members.first().map_or("", |m| m.run.config.model.as_str())),
        about: "What was fitted, and how well it went. Bounds and held-out scores are higher for better fits of the same data."
            .into(),
        header: vec!["run", "model", "seed", "bound", "held out", "ended", "time"],
        runs: members.iter().map(row).collect(),
        verdict: best.map(|best| format!("{} has the highest bound.", members[best].name)),
        matched,
        notes,
        charts,
    };
    page::of_several(&view.title, &view, &view.charts)
}

/// The bounds of all runs against passes.
fn climbs<M: Reported>(members: &[Member<M>]) -> Chart {
    let mut panel = Panel::new("").x_label("passes over the data").y_label("bound");
    let mut rows: Vec<Vec<Cell>> = Vec::new();
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
        rows.extend(
            points
                .iter()
                .map(|point| vec![member.name.as_str().into(), point.0.into(), point.1.into()]),
        );
        if at < DRAWN {
            let line = Series::line(points[from.min(points.len())..].to_vec());
            panel = panel.with(line.colour(Colour::nth(at)).label(&member.name));
        }
    }
    let more = match members.len().saturating_sub(DRAWN) {
        0 => String::new(),
        n => format!("{n} more runs are not drawn."),
    };
    Chart::new("climbs", "Bounds against passes", panel, (560.0, 280.0))
        .note(more)
        .numbers(&["run", "passes", "bound"], rows)
}

/// Pairs of parts, the most similar first, each part in one pair at most.
fn pairs(similarity: &[Vec<f64>]) -> Vec<Option<(usize, f64)>> {
    let mut all: Vec<(usize, usize, f64)> = Vec::new();
    for (i, row) in similarity.iter().enumerate() {
        all.extend(row.iter().enumerate().map(|(j, &s)| (i, j, s)));
    }
    all.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    let mut found = vec![None; similarity.len()];
    let mut taken = vec![false; similarity.first().map_or(0, Vec::len)];
    for (i, j, s) in all {
        if found[i].is_none() && !taken[j] {
            found[i] = Some((j, s));
            taken[j] = true;
        }
    }
    found
}

fn matched<M: Reported>(members: &[Member<M>], best: usize) -> Option<Matched> {
    let mut what = "part";
    let mut rows: Vec<Row> = Vec::new();
    let others: Vec<usize> = (0..members.len()).filter(|&at| at != best).collect();
    for &other in &others {
        let alike = M::alike(&members[best].run, &members[other].run)?;
        what = alike.what;
        if rows.is_empty() {
            let row = |&number: &usize| Row { number, came_back: 0, partners: Vec::new() };
            rows = alike.numbers.0.iter().map(row).collect();
        }
        for (row, partner) in rows.iter_mut().zip(pairs(&alike.similarity)) {
            row.came_back += usize::from(partner.is_some_and(|(_, s)| s >= CAME_BACK));
            row.partners.push(partner.map(|(j, s)| (alike.numbers.1[j], format!("{s:.2}"))));
        }
    }
    let n = others.len();
    let most = (4 * n).div_ceil(5);
    let back = rows.iter().filter(|row| row.came_back >= most).count();
    (n > 0).then(|| Matched {
        what,
        reference: members[best].name.clone(),
        said: format!(
            "{back} of {} {what}s of {} came back in at least {most} of the {n} other runs.",
            rows.len(),
            members[best].name
        ),
        others: others.iter().map(|&at| members[at].name.clone()).collect(),
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_one_partner_and_the_most_similar_come_first() {
        let similarity = [vec![0.9, 0.8], vec![0.95, 0.1], vec![0.2, 0.3]];
        assert_eq!(pairs(&similarity), [Some((1, 0.8)), Some((0, 0.95)), None]);
        assert_eq!(pairs(&[]), []);
    }
}
