//! A sweep: scores against size, and which size to take.

use std::path::Path;

use lehr::store::Run;
use lehr::sweep::{By, Row, Swept, Table};
use lehr_plot::caption::rounded;
use lehr_plot::{Colour, Panel, Series};

use crate::Reported;
use crate::again::{configuration, quoted};
use crate::chart::Chart;
use crate::head::{data_name, method};
use crate::several::{Again, Section, Several};

/// The rows of each shape.
pub fn shapes(table: &Table) -> Vec<(String, Vec<&Row>)> {
    let mut shapes: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in &table.rows {
        let shape = row.shape.clone().unwrap_or_default();
        match shapes.iter_mut().find(|(name, _)| *name == shape) {
            Some((_, rows)) => rows.push(row),
            None => shapes.push((shape, vec![row])),
        }
    }
    shapes
}

/// Bounds against size, and held-out scores with their standard errors if there are any; `size` is what it is called.
pub fn size_panels(table: &Table, size: &str) -> Vec<Panel> {
    let sizes = || table.rows.iter().map(|row| row.size as f64);
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let panel = |title: &str, label: &str| {
        let panel = Panel::new(title).x_label(size).y_label(label);
        if high >= 10.0 * low { panel.x_log() } else { panel.x_whole() }
    };
    let mut bound = panel("Bound: best of the starts, and each of them", "bound (nats)");
    let mut heldout = panel("Held out: mean and standard error of the folds", "score (nats)");
    for (at, (shape, rows)) in shapes(table).into_iter().enumerate() {
        let colour = Colour::nth(at);
        let line = |of: fn(&Row) -> f64| {
            let line = Series::line(rows.iter().map(|row| (row.size as f64, of(row))));
            let line = line.colour(colour);
            // One line needs no name.
            if shape.is_empty() { line } else { line.label(&shape) }
        };
        let dots = |of: fn(&Row) -> Vec<f64>| {
            let points =
                rows.iter().flat_map(|row| of(row).into_iter().map(|y| (row.size as f64, y)));
            Series::scatter(points.collect::<Vec<_>>()).colour(colour).radius(3.0)
        };
        bound = bound.with(line(|row| row.bound)).with(dots(|row| row.bounds.clone()));
        heldout = heldout.with(line(|row| row.heldout.unwrap_or(f64::NAN)));
        heldout = heldout.with(dots(|row| row.heldout.into_iter().collect()));
        for row in &rows {
            if let (Some(mean), Some(error)) = (row.heldout, row.heldout_se) {
                let size = row.size as f64;
                let bar = Series::line([(size, mean - error), (size, mean + error)]);
                heldout = heldout.with(bar.colour(colour).width(1.5));
            }
        }
    }
    if let (Some(row), By::Heldout) = (table.recommended(), table.by) {
        let place = [(row.size as f64, row.heldout.unwrap_or(f64::NAN))];
        let ring = Series::scatter(place).colour(Colour::BLACK).radius(6.0).label("recommended");
        heldout = heldout.with(ring);
    }
    match table.by {
        By::Heldout => vec![bound, heldout],
        By::Bound => vec![bound],
    }
}

/// Which size to take and why, in lines; none if there is nothing to choose from.
pub fn recommendation(table: &Table, size: &str) -> Option<String> {
    let (row, best, choice) = (table.recommended()?, table.best()?, table.choice.as_ref()?);
    let name = |row: &Row| match &row.shape {
        Some(shape) => format!("{shape} {size} = {}", row.size),
        None => format!("{size} = {}", row.size),
    };
    let error = match table.by {
        By::Heldout => "one standard error",
        By::Bound => "the spread over the starts",
    };
    let mut text = match choice.alike.len() {
        1 => format!("take {}: it is the best, and no other is within {error} of it", name(row)),
        _ if row == best => {
            format!("take {}: it is the best, and the simplest within {error} of it", name(row))
        }
        _ => format!("take {}: the simplest within {error} of the best, {}", name(row), name(best)),
    };
    let others: Vec<String> = choice.alike.iter().map(|&at| name(&table.rows[at])).collect();
    if others.len() > 1 {
        text += &format!("\ncannot be told apart: {}", others.join(", "));
    }
    if table.at_the_end {
        text += &format!("\nit is the largest {size} that was tried; larger ones may be better");
    }
    if table.by == By::Bound && table.rows.iter().all(|row| row.bound_sd.is_none()) {
        text += "\none start and no folds know no spread; --n-init 3 or --folds 5 would";
    }
    Some(text)
}

/// What there is to say of a sweep, which is called `name` and is number `at` of those on a page; `size` is what is called
/// its size, K or d, and `run` one of its runs.
pub fn sweep<M: Reported>(
    name: &str,
    at: usize,
    swept: &Swept,
    size: &'static str,
    run: Option<&Run<M>>,
) -> Several {
    let table = &swept.table;
    let or_dash = |x: Option<f64>, digits| x.map_or("-".into(), |x| rounded(x, digits));
    let row = |row: &Row| {
        vec![
            row.run.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            row.size.to_string(),
            row.shape.clone().unwrap_or_else(|| "-".into()),
            row.in_use.map_or("-".into(), |n| n.to_string()),
            rounded(row.bound, 7),
            or_dash(row.bound_sd, 2),
            or_dash(row.heldout, 6),
            or_dash(row.heldout_se, 2),
            match (table.recommended() == Some(row), table.best() == Some(row), row.alike) {
                (true, ..) => "take this".into(),
                (_, true, _) => "best".into(),
                (.., true) => "like the best".into(),
                _ => String::new(),
            },
        ]
    };
    let numbers = |row: &Row| {
        vec![
            row.size.into(),
            row.shape.as_deref().unwrap_or_default().into(),
            row.bound.into(),
            row.bound_sd.unwrap_or(f64::NAN).into(),
            row.heldout.unwrap_or(f64::NAN).into(),
            row.heldout_se.unwrap_or(f64::NAN).into(),
        ]
    };
    let charts: Vec<Chart> = size_panels(table, size)
        .into_iter()
        .zip([("bound", "Bound against size"), ("held-out", "Held-out score against size")])
        .map(|(mut panel, (id, title))| {
            // The title of the chart says it.
            let note = std::mem::take(&mut panel.title);
            Chart::new(&format!("sweep-{at}-{id}"), title, panel, (460.0, 280.0))
                .note(note)
                .numbers(
                    &[size, "shape", "bound", "bound_sd", "heldout", "heldout_se"],
                    table.rows.iter().map(numbers).collect(),
                )
        })
        .collect();
    let notes = match (table.rows.len(), swept.runs - swept.done.min(swept.runs)) {
        (0, _) => vec!["No run of the sweep has ended.".to_string()],
        (_, 0) => Vec::new(),
        (_, left) => vec![format!(
            "{left} of the sweep's {} runs have not ended, and 'lehr resume' makes them: what it says may change.",
            swept.runs
        )],
    };
    let title = format!("Sweep of {size}: {name}");
    let fitted = run.map_or(String::new(), |run| {
        let (model, method) = (&run.config.model, method(&run.config.fit));
        format!("Fitted to {}: {}; {model}, {method}. ", data_name(run), M::data(run))
    });
    let section = Section {
        id: format!("sweep-{at}"),
        title: format!("Sweep of {size}: {name}"),
        about: format!("{fitted}The same fit at several sizes. Bounds are the best of all starts, sd their spread; held-out scores are means \
                over the folds, in nats, se their standard error. All sizes have the same prior, so that bounds compare."),
        header: vec!["run", size, "shape", "in use", "bound", "sd", "held out", "se", ""],
        texts: vec!["shape", ""],
        rows: table.rows.iter().map(row).collect(),
        verdict: recommendation(table, size).map(|text| sentences(&text)),
        notes,
        charts,
        again: run.and_then(|run| again(table, size, run)),
    }
    .without_empty();
    Several { title, sections: vec![section], matched: None }
}

/// Lines of the terminal as sentences.
fn sentences(text: &str) -> String {
    let sentence = |line: &str| {
        let (first, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        format!("{}{rest}.", first.to_uppercase())
    };
    text.lines().map(sentence).collect::<Vec<_>>().join("\n")
}

/// The command and the configuration that make the sweep again. Several shapes have a prior each, which one file cannot say.
fn again<M: Reported>(table: &Table, size: &str, run: &Run<M>) -> Option<Again> {
    if table.rows.iter().any(|row| row.shape.is_some()) {
        return None;
    }
    let config = &run.config;
    let sizes: Vec<String> = table.rows.iter().map(|row| row.size.to_string()).collect();
    let folds = table.rows.iter().map(|row| row.heldouts.len()).max().unwrap_or(0);
    let command = format!(
        "lehr sweep {} {} -{} {} --folds {folds} --config sweep.toml -o sweeps/again",
        config.model,
        quoted(Path::new(&data_name(run))),
        size.to_lowercase(),
        sizes.join(",")
    );
    let configuration = configuration(&config.params, &config.fit, &config.data.options).ok()?;
    Some(Again { command, configuration })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_sentences() {
        assert_eq!(sentences("take K = 2: it is\nélan"), "Take K = 2: it is.\nÉlan.");
        assert_eq!(sentences(""), "");
    }
}
