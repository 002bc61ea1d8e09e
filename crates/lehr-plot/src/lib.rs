//! Small statistical figures as SVG and PNG files, and charts for the terminal.
//!
//! A [`Figure`] has panels, a [`Panel`] has axes and series, a [`Series`] is a line, a fan of runs with their
//! mean, dots, a Gaussian's ellipse, bars or boxes. Ticks, labels and legends find their own places. Text in a
//! PNG is drawn with an embedded font, so the same figure is the same picture on every machine.
//!
//! ```
//! use lehr_plot::{Figure, Panel, Series};
//!
//! let run = |rate: f64| (0..50).map(|t| (f64::from(t), -(-rate * f64::from(t)).exp())).collect();
//! let runs = vec![run(0.1), run(0.2), run(0.3)];
//! let panel = Panel::new("Bound").x_label("sweeps").y_label("nats").with(Series::fan(runs).label("SVI+"));
//! let figure = Figure::new("Three runs").with(panel);
//! assert!(figure.to_svg().starts_with("<svg"));
//! assert!(figure.to_png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), lehr_plot::Error>(())
//! ```
//!
//! What is not finite is left out, and a figure without data says so: no data make drawing fail.

mod figure;
mod panel;
mod series;
mod colour;
mod layout;
mod legend;
mod axes;
mod ticks;
mod decimal;
mod marks;
mod text;
mod scene;
mod svg;
mod font;
mod raster;
mod error;
pub mod terminal;
pub mod caption;

#[cfg(test)]
mod tests;

pub use colour::Colour;
pub use error::Error;
pub use figure::Figure;
pub use panel::{Legend, Panel};
pub use series::{Mark, Point, Series, first_drawn, mean_line};
