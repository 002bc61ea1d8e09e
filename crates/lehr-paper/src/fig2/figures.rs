//! The figures of figure 2: the paper's own, then what else there is to see.

use lehr_plot::{Colour, Figure, Legend, Panel, Series, mean_line};

use super::data::Corpus;
use super::settings::{Method, Noise, Schedule, Settings};
use crate::{Picture, Records, X};

/// All figures.
pub fn all(corpus: &Corpus, settings: &Settings, records: &Records) -> Vec<Picture> {
    let main = &settings.schedules[0];
    let paper = settings.paper();
    let about = format!("LDA on {}, K = {}", corpus.name, settings.topics);
    let drawing = Drawing { settings, records };

    let panel = drawing.panel("", main, &paper, "local", X::Steps, true);
    let mut own = Figure::new(format!("{about}, {}", main.name)).with(panel);
    own.plot_size = Some((640.0, 400.0));

    let mut scores = Figure::new(format!("{about}, {}: three scores", main.name));
    let mut documents =
        Figure::new(format!("{about}, {}: at equal numbers of documents", main.name));
    for score in SCORES {
        let panel = |x| drawing.panel(score, main, &paper, score, x, false);
        scores.panels.push(panel(X::Steps));
        documents.panels.push(panel(X::Items).x_log());
    }

    let mut schedules = Figure::new(format!("{about}: three step sizes"));
    schedules.columns = Some(settings.schedules.len());
    for score in ["local", "completion"] {
        schedules.panels.extend(settings.schedules.iter().map(|schedule| {
            let title = format!("{score}, {}", schedule.name);
            drawing.panel(&title, schedule, &paper, score, X::Steps, false)
        }));
    }

    let [first, second, large] = settings.sizes;
    let mut guards = Figure::new(format!("{about}, {}: what keeps lambda positive", main.name));
    guards.columns = Some(2);
    for score in ["local", "completion", "mass"] {
        for m in [first, second] {
            let mut methods = vec![Method::Svi(large)];
            methods.extend(Noise::ALL.map(|noise| Method::Plus(m, noise)));
            let title = format!("{score}, M = {m}");
            guards.panels.push(drawing.panel(&title, main, &methods, score, X::Steps, false));
        }
    }

    for figure in [&mut scores, &mut documents, &mut schedules] {
        one_legend(&mut figure.panels, 3);
    }
    // The two columns have methods of their own.
    guards.panels.iter_mut().skip(2).for_each(|panel| panel.legend = Legend::Hidden);
    let picture = |suffix: &str, caption: &str, figure| Picture {
        suffix: suffix.into(),
        caption: caption.into(),
        figure,
    };
    vec![
        picture(
            "",
            "The paper's figure 2: its own score of held-out documents against steps, every run (thin) and the \
             mean (thick). Steps of different |S| see different numbers of documents. Scores of the first steps \
             lie below what is drawn.",
            own,
        ),
        picture(
            "scores",
            "The same runs judged by three numbers (means): the documents' part of the bound, the bound with \
             what the topics cost, and the prediction of words that were not looked at.",
            scores,
        ),
        picture(
            "documents",
            "The same against the number of documents seen: small batches stop early because their steps are \
             small.",
            documents,
        ),
        picture("schedules", "Means under three step sizes, by two of the scores.", schedules),
        picture(
            "guards",
            "SVI+ with three ways to keep lambda positive, and SVI with the same |S| (means). Mass is the sum \
             of lambda over what it would be without noise.",
            guards,
        ),
    ]
}

/// The three scores of held-out documents.
const SCORES: [&str; 3] = ["local", "full", "completion"];

/// Points of every run.
type Curves = Vec<Vec<(f64, f64)>>;

/// Panels with the same methods need one legend, at the end of a row.
fn one_legend(panels: &mut [Panel], columns: usize) {
    for (index, panel) in panels.iter_mut().enumerate() {
        panel.legend = if index + 1 == columns { Legend::Outside } else { Legend::Hidden };
    }
}

struct Drawing<'a> {
    settings: &'a Settings,
    records: &'a Records,
}

impl Drawing<'_> {
    /// Some methods under one step size; means, with the runs behind them if `runs`.
    fn panel(
        &self,
        title: &str,
        schedule: &Schedule,
        methods: &[Method],
        score: &str,
        x: X,
        runs: bool,
    ) -> Panel {
        let curves = |method: Method| {
            let mut curves = self.records.curves(&schedule.name, &method.name(), x, score);
            // The start is the same for all, and far below.
            curves.iter_mut().for_each(|run| run.retain(|point| point.0 > 0.0));
            curves
        };
        let all: Vec<(Method, Curves)> =
            methods.iter().map(|&method| (method, curves(method))).collect();
        let mut panel = Panel::new(title)
            .x_label(match x {
                X::Steps => "steps",
                X::Items => "documents",
            })
            .y_label(match score {
                "mass" => "mass".to_string(),
                _ => format!("{score} (nats per word)"),
            });
        if score != "mass"
            && let Some((low, high)) = self.range(&all, runs)
        {
            panel = panel.y_range(low, high);
        }
        for (method, curves) in all {
            let series = match runs {
                true => Series::fan(curves).opacity(0.2),
                false => Series::line(mean_line(&curves)).width(2.2),
            };
            panel = panel.with(self.looks(method, series).label(method.name()));
        }
        panel
    }

    /// All means but their first tenth, and all runs above them if they are drawn.
    fn range(&self, all: &[(Method, Curves)], runs: bool) -> Option<(f64, f64)> {
        let early = (self.settings.steps / self.settings.eval_every / 10) as usize;
        let means = all.iter().map(|(_, curves)| mean_line(curves));
        let late: Vec<f64> =
            means.flat_map(|mean| mean.into_iter().skip(early)).map(|p| p.1).collect();
        let low = late.iter().copied().reduce(f64::min)?;
        let drawn = all.iter().flat_map(|(_, curves)| curves).flatten().map(|point| point.1);
        let high = late.iter().copied().chain(drawn.filter(|_| runs)).reduce(f64::max)?;
        let margin = 0.05 * (high - low).abs().max(0.01);
        Some((low - margin, high + margin))
    }

    /// Colours and dashes: SVI by |S|, SVI+ by M and noise.
    fn looks(&self, method: Method, series: Series) -> Series {
        let [small, ..] = self.settings.sizes;
        match method {
            Method::Svi(size) if size == small => series.colour(Colour::SKY),
            Method::Svi(size) if size == self.settings.sizes[1] => series.colour(Colour::BLUE),
            Method::Svi(_) => series.colour(Colour::BLACK),
            Method::Plus(m, Noise::Clamp) if m == small => series.colour(Colour::ORANGE),
            Method::Plus(_, Noise::Clamp) => series.colour(Colour::VERMILION),
            Method::Plus(_, Noise::Shrink) => series.colour(Colour::GREEN).dash([6.0, 4.0]),
            Method::Plus(_, Noise::Gamma) => series.colour(Colour::PURPLE).dash([2.0, 3.0]),
        }
    }
}
