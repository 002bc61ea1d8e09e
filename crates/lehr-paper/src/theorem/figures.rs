//! The figures: distance, skewness and kurtosis against tau, distance against |S|, each with its prediction.

use lehr_plot::{Colour, Figure, Legend, Panel, Series};

use super::claims::predicted;
use super::data::Population;
use super::gradient::Method;
use super::measures::{Measure, Spot, along_size, along_tau, floor};
use super::settings::{BY_SIZE, BY_TAU, EFFECTIVE, NOISY_SIZES, PLAIN_SIZES, SIZES, TAU};
use crate::{Picture, Records};

/// All figures.
pub fn all(populations: &[Population], records: &Records) -> Vec<Picture> {
    let dots = "Dots are measured, lines predicted from the exact cumulants of each method";
    let tau = figure(
        populations,
        format!("Distance from the Gaussian of the theorem (M = {EFFECTIVE})"),
        |population| distance_panel(population, records).x_label("tau = |S| / M"),
    );
    let moment = |title: &str, y: &str, measure: Measure| {
        figure(populations, format!("{title} (M = {EFFECTIVE})"), |population| {
            let panel = panel(population, y).x_label("tau = |S| / M");
            BY_TAU.into_iter().fold(panel, |panel, method| {
                let spots = along_tau(population, method, &SIZES);
                with_spots(panel, measure, population, records, &spots, method.name())
            })
        })
    };
    let skewness = moment(
        "Skewness of the gradient, per skewness of the items",
        "skewness",
        Measure::Skewness,
    );
    let kurtosis = moment("Excess kurtosis of the gradient", "excess kurtosis", Measure::Kurtosis);
    let size =
        figure(populations, format!("Distance against |S| (tau = 1 and tau = {TAU})"), |p| {
            size_panel(p, records).x_label("|S|")
        });
    vec![
        Picture {
            suffix: "tau".into(),
            caption: format!(
                "{dots}, to the second order of Edgeworth's series (too few terms for the Dirichlet \
                 weights of `gamma`, far from a Gaussian). The dashed line is what Gaussian \
                 numbers measure: nothing can be seen below it. The theorem's 1/tau^2 is the line of the \
                 exact covariance; Algorithm 1, what is run in practice, falls more slowly."
            ),
            figure: tau,
        },
        Picture {
            suffix: "skewness".into(),
            caption: format!(
                "{dots}. Algorithm 1 has (3 tau - 2) times the skewness of the exact covariance: more than \
                 SVI with a batch of M (tau = 1) until tau = 2. Noise on another batch's items has the \
                 theorem's; Dirichlet weights are never less skewed than SVI."
            ),
            figure: skewness,
        },
        Picture {
            suffix: "kurtosis".into(),
            caption: format!(
                "{dots}. Dots that chance puts below 0 are missing. Algorithm 1 and `lagged` take the \
                 covariance from a batch, and that it varies makes tails, which the theorem's noise lacks; \
                 Dirichlet weights make more of them than SVI has (tau = 1)."
            ),
            figure: kurtosis,
        },
        Picture {
            suffix: "size".into(),
            caption: format!(
                "{dots}. The dashed line is the floor. Distances fall as 1/sqrt|S| where skewness makes \
                 them and faster where kurtosis does."
            ),
            figure: size,
        },
    ]
}

fn figure(
    populations: &[Population],
    title: String,
    panel: impl Fn(&Population) -> Panel,
) -> Figure {
    let last = populations.len() - 1;
    populations.iter().enumerate().fold(Figure::new(title), |figure, (i, population)| {
        // One legend for all panels.
        let legend = if i == last { Legend::Outside } else { Legend::Hidden };
        figure.with(panel(population).legend(legend))
    })
}

fn panel(population: &Population, y: &str) -> Panel {
    Panel::new(format!("{} (d = {})", population.name, population.n_dims))
        .y_label(y)
        .x_log()
        .y_log()
}

fn distance_panel(population: &Population, records: &Records) -> Panel {
    let panel = panel(population, "Kolmogorov distance");
    let panel = BY_TAU.into_iter().fold(panel, |panel, method| {
        let spots = along_tau(population, method, &SIZES);
        with_spots(panel, Measure::Distance, population, records, &spots, method.name())
    });
    let last = SIZES[SIZES.len() - 1] / EFFECTIVE;
    with_floor(panel, population, records, (1.0, last as f64))
}

fn size_panel(population: &Population, records: &Records) -> Panel {
    let panel = panel(population, "Kolmogorov distance");
    let spots = along_size(population, Method::Svi, &PLAIN_SIZES, 1);
    let panel = with_spots(panel, Measure::Distance, population, records, &spots, "SVI (tau = 1)");
    let panel = BY_SIZE.into_iter().fold(panel, |panel, method| {
        let spots = along_size(population, method, &NOISY_SIZES, TAU);
        let label = format!("{}, tau = {TAU}", method.name());
        with_spots(panel, Measure::Distance, population, records, &spots, &label)
    });
    let (first, last) = (PLAIN_SIZES[0] as f64, PLAIN_SIZES[PLAIN_SIZES.len() - 1] as f64);
    with_floor(panel, population, records, (first, last))
}

/// A method keeps its colour in all figures.
fn colour(method: Method) -> Colour {
    match method {
        Method::Exact => Colour::BLUE,
        Method::Algorithm1 | Method::Printed => Colour::VERMILION,
        Method::Lagged => Colour::GREEN,
        Method::Gamma => Colour::PURPLE,
        Method::Subsample => Colour::ORANGE,
        Method::Svi => Colour::BLACK,
        Method::Gaussian => Colour::GREY,
    }
}

/// Adds a line of predictions under the dots of what was measured.
fn with_spots(
    panel: Panel,
    measure: Measure,
    population: &Population,
    records: &Records,
    spots: &[Spot],
    label: &str,
) -> Panel {
    // The first spot of a line in tau is SVI's, whose colour it does not take.
    let Some(last) = spots.last() else { return panel };
    let colour = colour(last.method);
    let line = spots.iter().map(|spot| (spot.x, predicted(measure, population, spot)));
    let dots = spots.iter().filter_map(|s| Some((s.x, measure.of(records, s, None)?)));
    panel
        .with(Series::line(line).colour(colour).width(1.3))
        .with(Series::scatter(dots).colour(colour).radius(3.4).opacity(0.9).label(label))
}

fn with_floor(panel: Panel, population: &Population, records: &Records, ends: (f64, f64)) -> Panel {
    let Some(floor) = floor(population, records) else { return panel };
    let line = Series::line([(ends.0, floor), (ends.1, floor)]);
    panel.with(line.colour(Colour::GREY).dash([5.0, 4.0]).width(1.2).label("floor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theorem::tests::{made_up, quick};

    #[test]
    fn four_figures_with_a_panel_for_each_population() {
        let theorem = quick(2);
        let records = made_up(&theorem, &|_, s, _| 1.0 / s as f64);
        let pictures = all(&theorem.populations, &records);
        let series: Vec<usize> =
            pictures.iter().map(|picture| picture.figure.panels[1].series.len()).collect();
        // A line and dots for every method, and the floor.
        assert_eq!(series, [2 * 5 + 1, 2 * 5, 2 * 5, 2 * 4 + 1]);
        for picture in pictures {
            assert_eq!(picture.figure.panels.len(), 2);
            assert!(!picture.suffix.is_empty() && !picture.caption.is_empty());
            assert!(picture.figure.to_svg().contains("Algorithm 1"));
        }
    }
}
