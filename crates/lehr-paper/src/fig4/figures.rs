//! The figures of the Dirichlet process: mean sorted shares as bars, cumulative shares as boxes, counts.

use lehr_plot::{Colour, Figure, Legend, Panel, Series};

use super::{Fig4, Method, PRIORS, TRUTH};
use crate::{Picture, Records};

/// Clusters that are drawn; the others hold next to nothing.
const DRAWN: usize = 10;

/// Which methods are drawn together, with their name and colour.
type Group = (&'static str, Colour, fn(&Method) -> bool);

/// The methods of the paper's figure, all |S| and M together.
pub const GROUPS: [Group; 3] = [
    ("batch VI", Colour::GREY, |m| matches!(m, Method::Batch)),
    ("SVI", Colour::BLUE, |m| matches!(m, Method::Svi { .. })),
    ("SVI+", Colour::VERMILION, |m| matches!(m, Method::SviPlus { .. })),
];

const MOMENTS: [(&str, &str); 2] = [("before", "when noise ends"), ("after", "after the quench")];

/// All figures.
pub fn all(fig: &Fig4, records: &Records) -> Vec<Picture> {
    vec![bars(fig, records), boxes(fig, records), counts(records)]
}

/// The sorted shares of every run of a group.
fn shares<'a>(
    records: &'a Records,
    prior: &str,
    moment: &str,
    group: fn(&Method) -> bool,
) -> Vec<&'a Vec<f64>> {
    let name = format!("shares_{moment}");
    Method::all()
        .iter()
        .filter(|method| group(method))
        .flat_map(|method| records.of(prior, &method.name()))
        .filter_map(|record| record.lists.get(&name))
        .collect()
}

/// Positions from 1 with the numbers at them.
fn numbered(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    values.into_iter().enumerate().map(|(i, x)| ((i + 1) as f64, x)).collect()
}

fn dots(values: impl IntoIterator<Item = f64>) -> Series {
    Series::scatter(numbered(values)).colour(Colour::BLACK).radius(4.0).opacity(1.0).label("truth")
}

fn bars(fig: &Fig4, records: &Records) -> Picture {
    let mut figure =
        Figure::new("Mean share of the data, clusters sorted by size, when noise ends");
    figure.columns = Some(GROUPS.len());
    for prior in PRIORS {
        for (name, colour, group) in GROUPS {
            let runs = shares(records, prior, "before", group);
            let n = runs.len().max(1) as f64;
            let mean = (0..DRAWN).map(|k| runs.iter().filter_map(|r| r.get(k)).sum::<f64>() / n);
            figure = figure.with(
                Panel::new(format!("{name}, {prior}, {} runs", runs.len()))
                    .x_label("cluster, by size")
                    .y_label("share of the data")
                    .x_range(0.4, DRAWN as f64 + 0.6)
                    .y_range(0.0, 0.65)
                    .with(Series::bars(numbered(mean)).colour(colour).label("mean of the runs"))
                    .with(dots(fig.truth.iter().copied())),
            );
        }
    }
    Picture {
        suffix: String::new(),
        caption: format!(
            "The paper's Figure 4, top, with each prior: the first {DRAWN} of 50 clusters; dots are the true \
             shares of the 4."
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
    let mut figure = Figure::new("Share of the data in the first clusters, all runs");
    figure.columns = Some(MOMENTS.len());
    for prior in PRIORS {
        for (moment, when) in MOMENTS {
            let mut panel = Panel::new(format!("{prior}, {when}"))
                .x_label("up to this cluster, by size")
                .y_label("cumulative share")
                .x_range(0.4, DRAWN as f64 + 0.6)
                .y_range(0.0, 1.05);
            for (name, colour, group) in GROUPS.into_iter().skip(1) {
                let runs: Vec<Vec<f64>> = shares(records, prior, moment, group)
                    .into_iter()
                    .map(|run| sums(run))
                    .collect();
                let at = |k: usize| runs.iter().filter_map(|run| run.get(k).copied()).collect();
                let samples = (0..DRAWN).map(|k| ((k + 1) as f64, at(k)));
                let label = format!("{name}, {} runs", runs.len());
                panel = panel.with(Series::boxes(samples).colour(colour).label(label));
            }
            figure = figure.with(panel.with(dots(sums(&fig.truth))));
        }
    }
    Picture {
        suffix: "cumulative".into(),
        caption:
            "The paper's Figure 4, bottom, with each prior, when noise ends and after batch VI has \
                  finished the runs."
                .into(),
        figure,
    }
}

/// How often each number of clusters was found.
fn counts(records: &Records) -> Picture {
    let mut figure = Figure::new("How many clusters hold at least 1 % of the data");
    figure.columns = Some(MOMENTS.len());
    for prior in PRIORS {
        let most = MOMENTS
            .iter()
            .flat_map(|(moment, _)| records.iter().map(move |r| (moment, r)))
            .filter(|(_, r)| r.setting == prior)
            .filter_map(|(moment, r)| r.end.get(&format!("clusters_{moment}")))
            .fold(TRUTH as f64, |most, &count| most.max(count));
        for (moment, when) in MOMENTS {
            let mut panel = Panel::new(format!("{prior}, {when}"))
                .y_label("clusters")
                .y_range(0.0, most + 1.0)
                .x_names(GROUPS.map(|group| group.0))
                .legend(Legend::Hidden);
            for (i, (_, colour, group)) in GROUPS.into_iter().enumerate() {
                let key = format!("clusters_{moment}");
                let methods = Method::all().into_iter().filter(group);
                let found: Vec<f64> =
                    methods.flat_map(|method| records.ends(prior, &method.name(), &key)).collect();
                let n = found.len().max(1) as f64;
                // Side by side, in the order of the runs.
                let spread =
                    |(at, count): (usize, f64)| (i as f64 - 0.3 + 0.6 * at as f64 / n, count);
                let dots = found.into_iter().enumerate().map(spread);
                panel = panel.with(Series::scatter(dots).colour(colour));
            }
            let four = [(-0.5, 4.0), (2.5, 4.0)];
            panel = panel
                .x_range(-0.5, 2.5)
                .with(Series::line(four).colour(Colour::BLACK).width(1.0).dash([4.0, 4.0]));
            figure = figure.with(panel);
        }
    }
    Picture {
        suffix: "counts".into(),
        caption: "The number of clusters of every run, a dot each; from left to right |S| grows, and M for \
                  SVI+. The dashed line is the truth, 4."
            .into(),
        figure,
    }
}
