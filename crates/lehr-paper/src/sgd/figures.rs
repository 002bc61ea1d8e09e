//! The figures: losses and accuracy against steps and against examples, and the final accuracies.

use lehr_plot::{Colour, Figure, Legend, Panel, Series};

use super::claims::{Budget, chosen};
use super::settings::{BATCH, Method, setting};
use crate::{Picture, Records, X};

/// The first steps are not drawn: accuracies of random networks would hide all that comes later.
const DRAWN_FROM: f64 = 10.0;

/// All figures.
pub fn all(steps: u64, records: &Records) -> Vec<Picture> {
    let fans = "Every start (thin) and the mean, each method at the learning rate that its validation loss \
                has chosen for this budget";
    vec![
        Picture {
            suffix: "steps".into(),
            caption: format!("{fans}: equal steps."),
            figure: curves(records, Budget::Steps, steps as f64),
        },
        Picture {
            suffix: "examples".into(),
            caption: format!(
                "{fans}: equal examples. SGD with batches of 10 makes ten times as many steps."
            ),
            figure: curves(records, Budget::Examples, (steps * BATCH as u64) as f64),
        },
        Picture {
            suffix: "accuracy".into(),
            caption: "Test accuracy at the end, over the starts: quartiles, and what lies within 1.5 boxes."
                .into(),
            figure: boxes(records),
        },
    ]
}

fn colour(method: Method) -> Colour {
    match method {
        Method::Small => Colour::ORANGE,
        Method::Large => Colour::BLUE,
        Method::Plus => Colour::GREEN,
        Method::Gamma => Colour::PURPLE,
        Method::Cooled => Colour::VERMILION,
    }
}

fn curves(records: &Records, budget: Budget, end: f64) -> Figure {
    let (axis, x, title, begin) = match budget {
        Budget::Steps => (X::Steps, "steps", "equal steps", DRAWN_FROM),
        Budget::Examples => (X::Items, "examples", "equal examples", DRAWN_FROM * BATCH as f64),
    };
    let panel = |title: &str, y: &str, name: &str, factor: f64| {
        let mut panel = Panel::new(title).x_label(x).y_label(y).x_log().x_range(begin, end);
        panel = panel.legend(Legend::Hidden);
        for method in Method::ALL {
            let Some(rate) = chosen(records, method, budget) else { continue };
            let within = |run: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
                let drawn = run.into_iter().filter(|p| (begin..=end).contains(&p.0));
                drawn.map(|(x, y)| (x, factor * y)).collect()
            };
            let runs = records.curves(&setting(rate), method.name(), axis, name);
            let fan = Series::fan(runs.into_iter().map(within).collect());
            let label = format!("{} (rate {rate})", method.name());
            let fan = fan.colour(colour(method)).opacity(0.18).label(label);
            // These lie on SGD with a batch of M, which must be seen through them.
            panel = panel.with(match method {
                Method::Plus => fan.dash([8.0, 6.0]),
                Method::Gamma => fan.dash([2.0, 5.0]),
                _ => fan,
            });
        }
        panel
    };
    Figure::new(format!("A 64-32-10 network on handwritten digits, {title}"))
        .with(panel("Training loss", "cross-entropy (nats)", "train_loss", 1.0).y_log())
        .with(panel("Test loss", "cross-entropy (nats)", "test_loss", 1.0).y_log())
        .with(
            // One legend for all three.
            panel("Test accuracy", "right (%)", "test_accuracy", 100.0)
                .y_range(80.0, 100.0)
                .legend(Legend::Outside),
        )
}

fn boxes(records: &Records) -> Figure {
    let samples = |budget: Budget| -> Vec<(f64, Vec<f64>)> {
        let of = |(i, method): (usize, Method)| {
            let rate = chosen(records, method, budget)?;
            let ends = records.ends(&setting(rate), method.name(), &budget.of("test_accuracy"));
            Some((i as f64, ends.iter().map(|x| 100.0 * x).collect()))
        };
        Method::ALL.into_iter().enumerate().filter_map(of).collect()
    };
    let panels =
        [("Equal steps", samples(Budget::Steps)), ("Equal examples", samples(Budget::Examples))];
    let all = || panels.iter().flat_map(|(_, samples)| samples).flat_map(|(_, ends)| ends).copied();
    let (low, high) = (all().fold(100.0, f64::min), all().fold(0.0, f64::max));
    let margin = 0.05 * (high - low).max(1.0);
    let mut figure = Figure::new("Test accuracy at the end");
    for (title, samples) in panels {
        let names = Method::ALL.map(|method| method.name().replace("SGD, batch", "batch"));
        let boxes = Series::boxes(samples).colour(Colour::BLUE);
        let panel = Panel::new(title).y_label("right (%)").x_names(names).with(boxes);
        // The same scale, to be compared.
        figure.panels.push(panel.y_range(low - margin, high + margin));
    }
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sgd::tests::{made_up, quick};

    #[test]
    fn three_figures_show_every_method() {
        let sgd = quick(3);
        let records = made_up(&sgd, &|_, rate, _| 0.1 * rate);
        let pictures = all(sgd.steps, &records);
        let panels: Vec<usize> = pictures.iter().map(|p| p.figure.panels.len()).collect();
        assert_eq!(panels, [3, 3, 2]);
        for picture in &pictures[..2] {
            assert!(picture.figure.panels.iter().all(|p| p.series.len() == Method::ALL.len()));
            assert!(picture.figure.to_svg().contains("SGD+ cooled (rate 0.05)"));
        }
        assert!(pictures[2].figure.to_svg().contains("batch 10"));
    }
}
