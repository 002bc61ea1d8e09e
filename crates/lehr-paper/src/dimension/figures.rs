//! The figure of the dimension: distance against d, with lines of the slopes 1/4 and 1/2.

use lehr_plot::{Colour, Figure, Panel, Series};

use super::claims::mean;
use super::settings::{DIMS, TAUS};
use crate::{Picture, Records};

/// All figures.
pub fn all(records: &Records) -> Vec<Picture> {
    let mut panel = Panel::new("M = 16, noise with the exact covariance")
        .x_label("d")
        .y_label("total variation distance")
        .x_log()
        .y_log();
    let colours = [Colour::BLUE, Colour::VERMILION, Colour::GREEN];
    for (tau, colour) in TAUS.into_iter().zip(colours) {
        let points: Vec<(f64, f64)> = DIMS
            .into_iter()
            .filter_map(|d| Some((d as f64, mean(records, tau, d, "distance", None)?)))
            .filter(|point| point.1 > 0.0)
            .collect();
        let Some(&(_, first)) = points.first() else { continue };
        let power =
            |exponent: f64| DIMS.map(|d| (d as f64, first * (d as f64).powf(exponent))).to_vec();
        let quarter = Series::line(power(0.25)).colour(Colour::GREY).width(1.0).dash([2.0, 3.0]);
        let half = Series::line(power(0.5)).colour(Colour::GREY).width(1.0).dash([8.0, 4.0]);
        let label = |series: Series, text: &str| match tau {
            1 => series.label(text),
            _ => series,
        };
        panel = panel
            .with(label(quarter, "d^(1/4)"))
            .with(label(half, "d^(1/2)"))
            .with(Series::scatter(points.clone()).colour(colour).radius(4.0).opacity(1.0))
            .with(Series::line(points).colour(colour).label(format!("tau = {tau}")));
    }
    vec![Picture {
        suffix: String::new(),
        caption: "The total variation distance between a gradient and the theorem's Gaussian, all starts together.".into(),
        figure: Figure::new("What the dimension does").with(panel),
    }]
}
