//! Describes figures (panels, axes, series) and writes them as SVG and PNG files.
//!
//! ```ignore
//! let curve = Series::fan(runs).label("annealed");
//! let panel = Panel::new("Bound").x_label("sweeps").y_label("nats").with(curve);
//! let [png, svg] = Figure::new("Ten runs").with(panel).write(Path::new("out/bound"))?;
//! ```

mod axes;
mod colour;
mod decimal;
mod layout;
mod legend;
mod marks;
mod raster;
mod series;
mod svg;
pub mod terminal;
mod text;
mod ticks;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

pub use colour::Colour;
pub use series::{Series, mean_line};

/// Pixels of the PNG per unit of the SVG.
const PNG_SCALE: f32 = 2.0;

/// One picture: up to a handful of panels under a common title.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    /// The headline; empty for none.
    pub title: String,
    /// Panels in reading order.
    pub panels: Vec<Panel>,
    /// Panels per row; by default up to three stand in one row, and four make a square.
    pub columns: Option<usize>,
    /// Width and height of every plotting area; by default chosen by the number of columns.
    pub plot_size: Option<(f64, f64)>,
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds a panel.
    pub fn with(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// The figure as a self-contained SVG document.
    pub fn to_svg(&self) -> String {
        layout::figure(self)
    }

    /// The figure as PNG bytes, at twice the resolution of the SVG.
    pub fn to_png(&self) -> anyhow::Result<Vec<u8>> {
        raster::png(&self.to_svg(), PNG_SCALE)
    }

    /// Writes `stem.png` and `stem.svg`, making parent folders, and returns both paths.
    pub fn write(&self, stem: &Path) -> anyhow::Result<[PathBuf; 2]> {
        if let Some(folder) = stem.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        }
        // `with_extension` would eat the end of a stem such as `run-0.5`.
        let named = |extension: &str| {
            let mut path = stem.as_os_str().to_owned();
            path.push(extension);
            PathBuf::from(path)
        };
        let paths = [named(".png"), named(".svg")];
        let svg = self.to_svg();
        let png = raster::png(&svg, PNG_SCALE)?;
        for (path, bytes) in paths.iter().zip([png.as_slice(), svg.as_bytes()]) {
            lehr::write::whole(path, bytes)?;
        }
        Ok(paths)
    }
}

/// Where a panel's legend goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    /// In a corner that no data touch, else to the right of the plot.
    #[default]
    Auto,
    /// To the right of the plot.
    Outside,
    /// Nowhere.
    Hidden,
}

/// One pair of axes and what is drawn in it.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    /// Heading above the plot; empty for none.
    pub title: String,
    /// Name of the horizontal axis.
    pub x_label: String,
    /// Name of the vertical axis.
    pub y_label: String,
    /// What is drawn, the first at the bottom.
    pub series: Vec<Series>,
    /// Whether the horizontal axis is logarithmic.
    pub x_log: bool,
    /// Whether the vertical axis is logarithmic.
    pub y_log: bool,
    /// Fixed ends of the horizontal axis; by default the data with a margin.
    pub x_range: Option<(f64, f64)>,
    /// Fixed ends of the vertical axis; by default the data with a margin.
    pub y_range: Option<(f64, f64)>,
    /// Named positions instead of numbers on the horizontal axis, as under bars and boxes.
    pub x_names: Vec<(f64, String)>,
    /// Whether one unit is as long on both axes, as in a map of 2-D data.
    pub equal_units: bool,
    /// Where the legend goes.
    pub legend: Legend,
}

impl Panel {
    /// An empty panel.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Names the horizontal axis.
    pub fn x_label(mut self, label: impl Into<String>) -> Self {
        self.x_label = label.into();
        self
    }

    /// Names the vertical axis.
    pub fn y_label(mut self, label: impl Into<String>) -> Self {
        self.y_label = label.into();
        self
    }

    /// Makes the horizontal axis logarithmic; values that are not positive are left out.
    pub fn x_log(mut self) -> Self {
        self.x_log = true;
        self
    }

    /// Makes the vertical axis logarithmic; values that are not positive are left out.
    pub fn y_log(mut self) -> Self {
        self.y_log = true;
        self
    }

    /// Fixes the ends of the horizontal axis; what lies beyond is cut off.
    pub fn x_range(mut self, lo: f64, hi: f64) -> Self {
        self.x_range = Some((lo, hi));
        self
    }

    /// Fixes the ends of the vertical axis; what lies beyond is cut off.
    pub fn y_range(mut self, lo: f64, hi: f64) -> Self {
        self.y_range = Some((lo, hi));
        self
    }

    /// Names positions `0, 1, 2, …` of the horizontal axis.
    pub fn x_names<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.x_names = names.into_iter().enumerate().map(|(i, n)| (i as f64, n.into())).collect();
        self
    }

    /// Makes one unit as long on both axes.
    pub fn equal_units(mut self) -> Self {
        self.equal_units = true;
        self
    }

    /// Says where the legend goes.
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legend = legend;
        self
    }

    /// Adds a series on top of those before it.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}
