//! The figures of the Dirichlet process: how often there are four clusters, mean sorted shares, cumulative shares as boxes.

use lehr_plot::{Colour, Figure, Legend, Panel, Series};

use super::{Fig4, Method, RHOS, SETS, Setting, TRUTH, rho_name};
use crate::{Picture, Record, Records};

/// Clusters that are drawn; the others hold next to nothing.
pub const DRAWN: usize = 10;

/// All figures.
pub fn all(fig: &Fig4, records: &Records) -> Vec<Picture> {
    vec![shares(fig, records), boxes(fig, records), right(records)]
}

/// The two kinds of stochastic runs with their colours.
fn groups(rho: usize) -> [(&'static str, Colour, Vec<Method>); 2] {
    [
        ("SVI", Colour::BLUE, vec![Method::Svi { rho }]),
        ("SVI+", Colour::VERMILION, Method::plus(rho).to_vec()),
    ]
}

fn of<'a>(records: &'a Records, setting: Setting, methods: &[Method]) -> Vec<&'a Record> {
    methods.iter().flat_map(|method| records.of(&setting.name(), &method.name())).collect()
}

/// The sorted shares of some runs.
fn lists<'a>(records: &'a Records, setting: Setting, methods: &[Method]) -> Vec<&'a Vec<f64>> {
    of(records, setting, methods).into_iter().filter_map(|r| r.lists.get("shares")).collect()
}

/// Positions from 1 with the numbers at them.
fn numbered(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    values.into_iter().enumerate().map(|(i, x)| ((i + 1) as f64, x)).collect()
}

fn dots(values: impl IntoIterator<Item = f64>) -> Series {
    Series::scatter(numbered(values)).colour(Colour::BLACK).radius(4.0).opacity(1.0).label("truth")
}

/// The settings of the first data set, which have figures of their own.
fn first_set() -> impl Iterator<Item = Setting> {
    Setting::all().into_iter().filter(|setting| setting.set == 0)
}

fn shares(fig: &Fig4, records: &Records) -> Picture {
    let mut figure =
        Figure::new("Mean share of the data, clusters sorted by size, when noise ends");
    figure.columns = Some(RHOS.len());
    let mean = |runs: Vec<&Vec<f64>>| {
        let n = runs.len().max(1) as f64;
        numbered((0..DRAWN).map(|k| runs.iter().filter_map(|r| r.get(k)).sum::<f64>() / n))
    };
    for setting in first_set() {
        for rho in 0..RHOS.len() {
            let mut panel = Panel::new(format!("{}, {}", short(setting), rho_name(rho)))
                .x_label("cluster, by size")
                .y_label("share of the data")
                .x_range(0.4, DRAWN as f64 + 0.6)
                .y_range(0.0, 0.65)
                .with(dots(fig.truths[setting.set].iter().copied()));
            let batch = mean(lists(records, setting, &[Method::Batch]));
            panel = panel.with(Series::line(batch).colour(Colour::GREY).label("batch VI"));
            for (name, colour, methods) in groups(rho) {
                let line = mean(lists(records, setting, &methods));
                panel = panel.with(Series::line(line).colour(colour).label(name));
            }
            figure = figure.with(panel);
        }
    }
    Picture {
        suffix: String::new(),
        caption: format!(
            "The paper's Figure 4, top, on *{}*: the first {DRAWN} of 50 clusters; dots are the true shares of the 4.",
            SETS[0]
        ),
        figure,
    }
}

fn boxes(fig: &Fig4, records: &Records) -> Picture {
    let sums = |shares: &[f64]| -> Vec<f64> {
        let add = |sum: &mut f64, share: &f64| {
            *sum += share;
            Some(*sum)
        };
        shares.iter().scan(0.0, add).collect()
    };
    let mut figure = Figure::new("Share of the data in the first clusters when noise ends");
    figure.columns = Some(RHOS.len());
    for setting in first_set() {
        for rho in 0..RHOS.len() {
            let mut panel = Panel::new(format!("{}, {}", short(setting), rho_name(rho)))
                .x_label("up to this cluster, by size")
                .y_label("cumulative share")
                .x_range(0.4, DRAWN as f64 + 0.6)
                .y_range(0.0, 1.05);
            for (name, colour, methods) in groups(rho) {
                let runs: Vec<Vec<f64>> =
                    lists(records, setting, &methods).into_iter().map(|run| sums(run)).collect();
                let at = |k: usize| runs.iter().filter_map(|run| run.get(k).copied()).collect();
                let samples = (0..DRAWN).map(|k| ((k + 1) as f64, at(k)));
                let label = format!("{name}, {} runs", runs.len());
                panel = panel.with(Series::boxes(samples).colour(colour).label(label));
            }
            figure = figure.with(panel.with(dots(sums(&fig.truths[setting.set]))));
        }
    }
    Picture {
        suffix: "cumulative".into(),
        caption: format!("The paper's Figure 4, bottom, on *{}*.", SETS[0]),
        figure,
    }
}

/// A setting without its data set.
fn short(setting: Setting) -> String {
    let name = setting.name();
    name.split_once(", ").map_or(name.clone(), |(_, rest)| rest.to_string())
}

/// How often each method found four clusters.
fn right(records: &Records) -> Picture {
    let mut figure =
        Figure::new(format!("Share of the runs that have {TRUTH} clusters when noise ends"));
    figure.columns = Some(4);
    let share = |runs: Vec<&Record>| {
        let found: Vec<f64> =
            runs.iter().filter_map(|r| r.end.get("clusters_before").copied()).collect();
        let hits = found.iter().filter(|&&count| count as usize == TRUTH).count();
        hits as f64 / found.len().max(1) as f64
    };
    let names = ["batch", "search", "slow", "falling", "0.1", "0.3"];
    for setting in Setting::all() {
        let alone = [Method::Batch, Method::Search].map(|m| share(of(records, setting, &[m])));
        let mut panel = Panel::new(setting.name())
            .y_label("share of the runs")
            .y_range(0.0, 1.05)
            .x_range(-0.6, names.len() as f64 - 0.4)
            .x_names(names)
            .with(
                Series::scatter(alone.into_iter().enumerate().map(|(i, x)| (i as f64, x)))
                    .colour(Colour::BLACK)
                    .radius(4.0)
                    .opacity(1.0)
                    .label("no batches"),
            );
        for (place, (name, colour, _)) in groups(0).into_iter().enumerate() {
            let at = |rho: usize| {
                let (_, _, methods) = groups(rho).into_iter().nth(place).expect("there are two");
                // Side by side, so that none hides the other.
                let x = 2.0 + rho as f64 - 0.12 + 0.24 * place as f64;
                (x, share(of(records, setting, &methods)))
            };
            let dots = (0..RHOS.len()).map(at);
            panel = panel
                .with(Series::scatter(dots).colour(colour).radius(4.0).opacity(1.0).label(name));
        }
        if setting != Setting::all()[0] {
            panel = panel.legend(Legend::Hidden);
        }
        figure = figure.with(panel);
    }
    let steps: Vec<String> = names[2..]
        .iter()
        .enumerate()
        .map(|(rho, name)| format!("{name}: {}", rho_name(rho)))
        .collect();
    Picture {
        suffix: "right".into(),
        caption: format!(
            "How often there are {TRUTH} clusters, by data set, process, prior and step size ({}); SVI+ with every M.",
            steps.join("; ")
        ),
        figure,
    }
}
