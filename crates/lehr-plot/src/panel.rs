//! One pair of axes: what a panel of a figure has and how it is asked for.

use crate::series::Series;

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
    /// Whether only whole numbers make sense on the horizontal axis, as counts do.
    pub x_whole: bool,
    /// Named positions instead of numbers on the horizontal axis, as under bars and boxes.
    pub x_names: Vec<(f64, String)>,
    /// Named heights instead of numbers on the vertical axis, as next to horizontal bars.
    pub y_names: Vec<(f64, String)>,
    /// Whether there are no axes: places mean something, and their numbers nothing.
    pub bare: bool,
    /// Whether one unit is as long on both axes, as in a map of 2-D data.
    pub equal_units: bool,
    /// Ranges of x that are shaded, behind everything.
    pub shades: Vec<(f64, f64)>,
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

    /// Has ticks at whole numbers only on the horizontal axis.
    pub fn x_whole(mut self) -> Self {
        self.x_whole = true;
        self
    }

    /// Names positions `0, 1, 2, …` of the horizontal axis.
    pub fn x_names<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.x_names = names.into_iter().enumerate().map(|(i, n)| (i as f64, n.into())).collect();
        self
    }

    /// Names the heights `0, -1, -2, …` of the vertical axis, from the top down.
    pub fn y_names<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.y_names =
            names.into_iter().enumerate().map(|(i, n)| (-(i as f64), n.into())).collect();
        self
    }

    /// Leaves out the axes.
    pub fn bare(mut self) -> Self {
        self.bare = true;
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

    /// Shades a range of x, behind everything.
    pub fn shade(mut self, from: f64, to: f64) -> Self {
        self.shades.push((from, to));
        self
    }

    /// Adds a series on top of those before it.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}
