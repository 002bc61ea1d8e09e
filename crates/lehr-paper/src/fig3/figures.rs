//! The figures of the mixtures: bound against passes, final bounds as boxes, and a map of the best fit.

use lehr_plot::{Colour, Figure, Panel, Series};

use super::{CONTROL, Fig3, Method, Set};
use crate::{Picture, Record, Records, X};

/// The first passes are not drawn: what comes later would be a flat line next to them.
const DRAWN_FROM: f64 = 3.0;

/// All figures.
pub fn all(fig: &Fig3, records: &Records) -> Vec<Picture> {
    let mut curves = Figure::new("Bound against passes: the mean of all starts");
    curves.columns = Some(2);
    let mut boxes = Figure::new("Bounds of all starts, before and after the noiseless end");
    for set in &fig.sets {
        for larger in [false, true] {
            curves = curves.with(curve_panel(fig, records, set, larger));
        }
        boxes = boxes.with(box_panel(fig, records, set));
    }
    boxes.columns = Some(1);
    boxes.plot_size = Some((960.0, 250.0));
    let passes = fig.passes;
    let mut pictures = vec![
        Picture {
            suffix: String::new(),
            caption: format!(
                "The paper's Figure 3 as the mean of all starts, left with the usual steps, right with the larger ones; \
                 the boxes below show how far starts differ. Up to pass {passes} SVI and SVI+ are \
                 noisy; then batch VI finishes them, beyond the right edge for some. A run that has ended \
                 keeps its value in the mean."
            ),
            figure: curves,
        },
        Picture {
            suffix: "boxes".into(),
            caption: format!(
                "Before: at pass {passes}, or when M has reached N; after: when batch VI has finished. M=: \
                 SVI+; with a star: the same with the guard `{CONTROL}`; †: with larger steps; °: noise with the exact \
                 covariance; ann.: the annealed full batch by \
                 its first M. What lies far below is cut off."
            ),
            figure: boxes,
        },
    ];
    pictures.extend(map(fig, records));
    pictures
}

/// A value below which a share of the sample lies.
fn quantile(mut sample: Vec<f64>, share: f64) -> Option<f64> {
    sample.sort_by(f64::total_cmp);
    let last = sample.len().checked_sub(1)?;
    Some(sample[(share * last as f64).round() as usize])
}

/// The part of the axis where runs end up; noise can reach far below.
fn range(records: &Records, set: &Set, methods: &[Method], share: f64) -> Option<(f64, f64)> {
    let ends = |name: &'static str| {
        methods.iter().map(move |method| records.ends(set.name, &method.name(), name))
    };
    let low = ends("after")
        .filter_map(|sample| quantile(sample, 0.02))
        .chain(ends("before").filter_map(|sample| quantile(sample, share)))
        .reduce(f64::min)?;
    let high = ends("after").flatten().chain(ends("before").flatten()).reduce(f64::max)?;
    let margin = 0.06 * (high - low).max(1.0);
    Some((low - margin, high + margin))
}

/// A method, its colour and its dashes, which let a curve be seen through another.
type Drawn = (Method, Colour, &'static [f64]);

/// Every method of the paper, with the usual or with larger steps.
fn compared(set: &Set, larger: bool) -> Vec<Drawn> {
    let styles: [(Colour, &[f64]); 3] =
        [(Colour::VERMILION, &[]), (Colour::GREEN, &[8.0, 3.0]), (Colour::PURPLE, &[3.0, 3.0])];
    let plus = set.effective.iter().zip(styles).map(|(&effective, (colour, dash))| {
        let method = match larger {
            true => Method::Larger { effective: Some(effective) },
            false => Method::SviPlus { effective, guard: None },
        };
        (method, colour, dash)
    });
    let svi = if larger { Method::Larger { effective: None } } else { Method::Svi };
    let others: [Drawn; 2] =
        [(Method::Batch, Colour::BLUE, &[]), (svi, Colour::BLACK, &[12.0, 4.0, 2.0, 4.0])];
    others.into_iter().chain(plus).collect()
}

fn curve_panel(fig: &Fig3, records: &Records, set: &Set, larger: bool) -> Panel {
    let n_items = set.points.n_items() as f64;
    let end = 1.75 * fig.passes as f64;
    let steps = if larger { "larger steps" } else { "usual steps" };
    let title = format!("{}, |S| = {}, {steps}", set.name, set.batch);
    let mut panel =
        Panel::new(title).x_label("passes over the data").y_label("bound (nats)").x_range(0.0, end);
    let methods: Vec<Method> = compared(set, larger).into_iter().map(|m| m.0).collect();
    if let Some((low, high)) = range(records, set, &methods, 0.5) {
        panel = panel.y_range(low, high);
    }
    for (method, colour, dash) in compared(set, larger) {
        let runs: Vec<Vec<(f64, f64)>> = records
            .curves(set.name, &method.name(), X::Items, "bound")
            .into_iter()
            .map(|run| {
                let mut run: Vec<(f64, f64)> =
                    run.into_iter().map(|(items, bound)| (items / n_items, bound)).collect();
                // A run that has ended stays where it is.
                run.extend(run.last().filter(|last| last.0 < end).map(|last| (end, last.1)));
                run.retain(|p| p.0 >= DRAWN_FROM);
                run
            })
            .collect();
        let mean = lehr_plot::mean_line(&runs);
        panel = panel.with(Series::line(mean).colour(colour).dash(dash).label(method.name()));
    }
    panel
}

fn box_panel(fig: &Fig3, records: &Records, set: &Set) -> Panel {
    let methods: Vec<Method> =
        fig.methods(set).into_iter().filter(|&m| m != Method::MoreBatch).collect();
    let names = methods.iter().map(|&method| short(method));
    let samples = |name: &str| {
        let at = methods.iter().enumerate();
        at.map(|(i, method)| (i as f64, records.ends(set.name, &method.name(), name)))
            .collect::<Vec<_>>()
    };
    let mut panel = Panel::new(set.name).y_label("bound (nats)").x_names(names);
    if let Some((low, high)) = range(records, set, &methods, 0.25) {
        panel = panel.y_range(low, high);
    }
    panel
        .with(Series::boxes(samples("before")).colour(Colour::ORANGE).label("before the quench"))
        .with(Series::boxes(samples("after")).colour(Colour::BLUE).label("after it"))
}

/// A name that fits under a box.
fn short(method: Method) -> String {
    match method {
        Method::SviPlus { effective, guard: Some(_) } => format!("M={effective}*"),
        Method::SviPlus { effective, guard: None } => format!("M={effective}"),
        Method::Larger { effective: Some(effective) } => format!("M={effective}†"),
        Method::Larger { effective: None } => "SVI†".into(),
        Method::Exact { effective } => format!("M={effective}°"),
        Method::Annealed { from } => format!("ann. {from}"),
        Method::Batch | Method::MoreBatch | Method::Svi => method.name(),
    }
}

/// The 2-D points with the best fit of all, and with that of the median start of batch VI.
fn map(fig: &Fig3, records: &Records) -> Option<Picture> {
    let set = fig.sets.iter().find(|set| set.points.n_dims() == 2)?;
    let after = |r: &Record| r.end.get("after").copied().unwrap_or(f64::NEG_INFINITY);
    let best = records
        .iter()
        .filter(|r| r.setting == set.name)
        .max_by(|a, b| after(a).total_cmp(&after(b)))?;
    let mut batch = records.of(set.name, &Method::Batch.name());
    batch.sort_by(|a, b| after(a).total_cmp(&after(b)));
    let median = *batch.get(batch.len() / 2)?;
    let panel = |what: &str, record: &Record| {
        let mut row = [0.0; 2];
        let dots: Vec<(f64, f64)> = (0..set.points.n_items())
            .map(|n| {
                set.points.copy_row(n, &mut row);
                (row[0], row[1])
            })
            .collect();
        let mut panel = Panel::new(format!("{what}: {:.1} nats", after(record)))
            .x_label("x1")
            .y_label("x2")
            .equal_units()
            .with(Series::scatter(dots).colour(Colour::GREY));
        for e in record.lists.get("ellipses").into_iter().flat_map(|list| list.chunks_exact(6)) {
            let ellipse = Series::ellipse([e[0], e[1]], [[e[2], e[3]], [e[4], e[5]]], 2.0);
            panel = panel.with(ellipse.colour(Colour::BLUE));
        }
        panel
    };
    Some(Picture {
        suffix: "map".into(),
        caption:
            "The synthetic 2-D points, and the components that hold an item or more as 2-sigma ellipses."
                .into(),
        figure: Figure::new("Two local optima")
            .with(panel(&format!("the best of all runs ({})", best.method), best))
            .with(panel("the median start of batch VI", median)),
    })
}
