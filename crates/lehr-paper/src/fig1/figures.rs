//! The figures of figure 1: each data set in the paper's form, then what the controls show.

use lehr_plot::{Colour, Figure, Legend, Panel, Series, mean_line};

use super::data::Set;
use super::settings::{Method, SCALES, Setting};
use crate::{Picture, Records, X};

/// All figures.
pub fn all(sets: &[Set], settings: &[Setting], records: &Records) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let of_set = settings.iter().filter(|s| s.set == index && is_main(s));
        let methods = [Method::Batch, Method::SviPlus];
        let mut figure = Figure::new(format!("PMF on {}: the bound against sweeps", set.name));
        figure.panels = of_set.map(|s| panel(s, &rank(s), records, &methods, fan)).collect();
        pictures.push(Picture {
            suffix: set.suffix.into(),
            caption: format!(
                "The paper's figure 1 on {}: every start (thin) and the mean (thick). The first sweeps lie \
                 below what is drawn.",
                set.name
            ),
            figure,
        });
    }

    let mut controls = Figure::new("PMF: what else explains the gain");
    controls.columns = Some(2);
    let main = settings.iter().filter(|s| is_main(s));
    controls.panels = main
        .map(|s| {
            panel(s, &format!("{}, {}", sets[s.set].name, rank(s)), records, &Method::ALL, line)
        })
        .collect();
    pictures.push(Picture {
        suffix: "controls".into(),
        caption: "Means over the starts of all methods: SVI+, the same step size without noise, the same noise \
                  in another shape, and a step in closed form that needs no noise."
            .into(),
        figure: controls,
    });

    let small = |s: &&Setting| sets[s.set].small && !s.long;
    let small_sets: Vec<&str> = sets.iter().filter(|set| set.small).map(|set| &*set.name).collect();
    let small_sets = small_sets.join(", ");
    let mut starts = Figure::new("PMF: starts of several scales");
    starts.columns = Some(SCALES.len());
    starts.panels = settings
        .iter()
        .filter(small)
        .map(|s| panel(s, &format!("{}, {}", rank(s), scale(s)), records, &Method::MAIN, fan))
        .collect();
    starts.panels.iter_mut().skip(1).for_each(|panel| panel.legend = Legend::Hidden);
    pictures.push(Picture {
        suffix: "starts".into(),
        caption: format!(
            "{small_sets}: the same methods from starts with smaller means and variances. Axes differ between \
             panels."
        ),
        figure: starts,
    });

    let mut long = Figure::new("PMF: where the runs end");
    long.panels = settings
        .iter()
        .filter(|s| s.long)
        .map(|s| {
            let methods: Vec<Method> = s.methods.iter().map(|&(method, _)| method).collect();
            panel(s, &format!("{}, {}", rank(s), scale(s)), records, &methods, fan).x_log()
        })
        .collect();
    long.columns = Some(2);
    pictures.push(Picture {
        suffix: "long".into(),
        caption: format!(
            "{small_sets}: ten times as many sweeps, on a logarithmic axis: how much of the difference is a \
             better optimum, and how much is only an earlier arrival."
        ),
        figure: long,
    });
    pictures
}

/// Whether it is the paper's own setting.
pub fn is_main(setting: &Setting) -> bool {
    setting.scale == 1.0 && !setting.long
}

fn rank(setting: &Setting) -> String {
    format!("d = {}", setting.dims)
}

fn scale(setting: &Setting) -> String {
    match setting.scale {
        1.0 => "starts from the prior".into(),
        scale => format!("starts of scale {scale}"),
    }
}

type Curves = Vec<Vec<(f64, f64)>>;

fn fan(curves: Curves) -> Series {
    Series::fan(curves)
}

fn line(curves: Curves) -> Series {
    Series::line(mean_line(&curves)).width(2.2)
}

/// One setting's methods against sweeps. What lies far below the end is cut off: next to it the differences
/// between the methods could not be seen.
fn panel(
    setting: &Setting,
    title: &str,
    records: &Records,
    methods: &[Method],
    draw: fn(Curves) -> Series,
) -> Panel {
    let curves = |method: Method| -> Curves {
        let mut runs = records.curves(&setting.name, method.name(), X::Steps, "bound");
        // Against the number of sweeps the start has no place on a logarithmic axis.
        runs.iter_mut().for_each(|run| run.retain(|point| point.0 > 0.0));
        runs
    };
    let all: Vec<(Method, Curves)> = methods.iter().map(|&m| (m, curves(m))).collect();
    let mut panel = Panel::new(title).x_label("sweeps").y_label("bound (nats)");
    if let Some((low, high)) = range(setting, &all) {
        panel = panel.y_range(low, high);
    }
    for (method, curves) in all {
        let series = draw(curves).colour(colour(method)).label(method.name());
        panel = panel.with(match method {
            Method::Batch | Method::SviPlus => series,
            // It often lies upon batch, which should be seen below it.
            Method::Gauge => series.dash([9.0, 5.0]),
            _ => series.dash([4.0, 3.0]),
        });
    }
    panel
}

/// From where the means without noise are after an eighth of the sweeps to the best end: early noise can
/// reach so far below that nothing else would be seen.
fn range(setting: &Setting, all: &[(Method, Curves)]) -> Option<(f64, f64)> {
    let early = setting.sweeps as f64 / 8.0;
    let quiet = all.iter().filter(|(method, _)| !method.is_noisy());
    let means = quiet.map(|(_, curves)| mean_line(curves));
    let at_early = |mean: Vec<(f64, f64)>| mean.into_iter().find(|p| p.0 >= early).map(|p| p.1);
    let low = means.filter_map(at_early).reduce(f64::min)?;
    let ends = all.iter().flat_map(|(_, curves)| curves).filter_map(|run| Some(run.last()?.1));
    let high = ends.reduce(f64::max)?;
    let margin = 0.06 * (high - low).abs().max(1.0);
    Some((low - margin, high + margin))
}

fn colour(method: Method) -> Colour {
    match method {
        Method::Batch => Colour::BLUE,
        Method::SviPlus => Colour::VERMILION,
        Method::Damped => Colour::SKY,
        Method::Subsample => Colour::PURPLE,
        Method::QuietOne => Colour::ORANGE,
        Method::Gauge => Colour::GREEN,
    }
}
