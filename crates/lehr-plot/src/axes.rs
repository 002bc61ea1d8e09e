//! Finds the range of a panel's data and maps it to the pixels of the plot.

use crate::series::{Mark, Point, Series};
use crate::ticks::{self, Ticks};
use crate::{Panel, text};

/// Font size of tick labels.
pub const TICK_SIZE: f64 = 11.0;

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// One axis: a range of values laid over a length of pixels.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// Value at the start.
    lo: f64,
    /// Value at the end.
    hi: f64,
    /// Whether equal distances are equal ratios.
    log: bool,
    /// Length in pixels.
    length: f64,
}

impl Axis {
    /// Distance in pixels from the axis' start; NaN for what a log axis cannot show.
    pub fn place(&self, v: f64) -> f64 {
        let along = if self.log {
            (v.ln() - self.lo.ln()) / (self.hi.ln() - self.lo.ln())
        } else {
            // Halving first keeps the widest ranges from overflowing.
            (v / 2.0 - self.lo / 2.0) / (self.hi / 2.0 - self.lo / 2.0)
        };
        // A far-off point must still give a number that a renderer can hold.
        let place = along * self.length;
        if place.is_finite() { place.clamp(-1e5, 1e5) } else { f64::NAN }
    }

    /// Ticks whose labels take `extent` pixels of the axis and stay `gap` apart.
    fn ticks(&self, spacing: f64, gap: f64, extent: impl Fn(&str) -> f64) -> Ticks {
        let most = (self.length / spacing).round() as usize;
        let make = |n| match self.log {
            true => ticks::logarithmic(self.lo, self.hi, n),
            false => ticks::linear(self.lo, self.hi, n),
        };
        ticks::fitting(most, gap, make, |v| self.place(v), extent)
    }
}

/// Both axes of a panel over the pixels of its plot, whose corner is at `(0, 0)`.
#[derive(Debug, Clone, Copy)]
pub struct Axes {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis, growing upwards.
    pub y: Axis,
}

impl Axes {
    /// Axes that hold all of the panel's data in a plot of the given size.
    pub fn of(panel: &Panel, (w, h): (f64, f64)) -> Self {
        let (mut xs, mut ys) = (Extent::new(panel.x_log), Extent::new(panel.y_log));
        for series in &panel.series {
            corners(series, |p| {
                xs.include(p.0);
                ys.include(p.1);
            });
        }
        let any = |is: fn(&Series) -> bool| panel.series.iter().any(is);
        let (grouped, stacked) = (any(Series::is_grouped), any(Series::is_stacked));
        // Room for half a group on either side.
        if grouped {
            let half = spacing(panel) / 2.0;
            (xs.lo, xs.hi) = (xs.lo - half, xs.hi + half);
        }
        if stacked {
            let half = spacing(panel) / 2.0;
            (ys.lo, ys.hi) = (ys.lo - half, ys.hi + half);
        }
        let (mut x_lo, x_hi) = xs.range(panel.x_range, if grouped { 0.0 } else { 0.03 });
        let (mut y_lo, y_hi) = ys.range(panel.y_range, if stacked { 0.0 } else { 0.05 });
        if stacked && xs.lo >= 0.0 && panel.x_range.is_none() && !panel.x_log {
            x_lo = 0.0;
        }
        let bars = panel.series.iter().any(|s| matches!(s.mark, Mark::Bars(_)));
        if bars && ys.lo >= 0.0 && panel.y_range.is_none() && !panel.y_log {
            y_lo = 0.0;
        }
        let mut x = Axis { lo: x_lo, hi: x_hi, log: panel.x_log, length: w };
        let mut y = Axis { lo: y_lo, hi: y_hi, log: panel.y_log, length: h };
        if panel.equal_units && !panel.x_log && !panel.y_log {
            let unit = ((x.hi - x.lo) / w).max((y.hi - y.lo) / h);
            for axis in [&mut x, &mut y] {
                let grow = (unit * axis.length - (axis.hi - axis.lo)) / 2.0;
                axis.lo -= grow;
                axis.hi += grow;
            }
        }
        Self { x, y }
    }

    /// The pixel of a point in data units.
    pub fn pixel(&self, p: Point) -> Point {
        (self.x.place(p.0), self.y.length - self.y.place(p.1))
    }

    /// Ticks of the horizontal axis, or the panel's names where it has them.
    pub fn x_ticks(&self, panel: &Panel) -> Ticks {
        if !panel.x_names.is_empty() {
            let (at, labels) = panel.x_names.iter().cloned().unzip();
            return Ticks { at, labels, ..Ticks::default() };
        }
        let ticks = self.x.ticks(52.0, 10.0, |label| text::width(label, TICK_SIZE));
        if panel.x_whole { ticks.whole() } else { ticks }
    }

    /// Ticks of the vertical axis, or the panel's names where it has them.
    pub fn y_ticks(&self, panel: &Panel) -> Ticks {
        if !panel.y_names.is_empty() {
            let (at, labels) = panel.y_names.iter().cloned().unzip();
            return Ticks { at, labels, ..Ticks::default() };
        }
        self.y.ticks(38.0, 6.0, |_| TICK_SIZE)
    }
}

/// The smallest and largest value seen.
struct Extent {
    /// The smallest value.
    lo: f64,
    /// The largest value.
    hi: f64,
    /// Whether only positive values count.
    log: bool,
}

impl Extent {
    /// Nothing seen yet.
    fn new(log: bool) -> Self {
        Self { lo: f64::INFINITY, hi: f64::NEG_INFINITY, log }
    }

    /// Takes a value in, unless the axis cannot show it.
    fn include(&mut self, v: f64) {
        if v.is_finite() && !(self.log && v <= 0.0) {
            self.lo = self.lo.min(v);
            self.hi = self.hi.max(v);
        }
    }

    /// The axis' ends: those asked for, else the data with a margin.
    fn range(&self, fixed: Option<(f64, f64)>, margin: f64) -> (f64, f64) {
        let (lo, hi) = fixed.unwrap_or((self.lo, self.hi));
        let margin = if fixed.is_some() { 0.0 } else { margin };
        if self.log {
            let (lo, hi) = ticks::sane_log_range(lo, hi);
            let pad = (hi / lo).powf(margin);
            return (lo / pad, hi * pad);
        }
        let (lo, hi) = ticks::sane_range(lo, hi);
        let pad = (hi - lo) * margin;
        (lo - pad, hi + pad)
    }
}

/// Calls `see` with points that together span the series.
fn corners(series: &Series, mut see: impl FnMut(Point)) {
    match &series.mark {
        Mark::Line(points) | Mark::Scatter(points) => points
            .iter()
            // A point drawn nowhere must not stretch the axis either.
            .filter(|p| p.0.is_finite() && p.1.is_finite())
            .for_each(|p| see(*p)),
        Mark::Fan { runs, mean } => runs
            .iter()
            .chain([mean])
            .flatten()
            .filter(|p| p.0.is_finite() && p.1.is_finite())
            .for_each(|p| see(*p)),
        Mark::Ellipse { centre: [x, y], covariance: c, sigmas } => {
            let (dx, dy) = (sigmas * c[0][0].max(0.0).sqrt(), sigmas * c[1][1].max(0.0).sqrt());
            see((x - dx, y - dy));
            see((x + dx, y + dy));
        }
        Mark::Bars(heights) => {
            for p in heights {
                see(*p);
                see((p.0, 0.0));
            }
        }
        Mark::Boxes(samples) => {
            samples.iter().for_each(|(x, sample)| sample.iter().for_each(|v| see((*x, *v))));
        }
        Mark::Rows(lengths) => {
            for p in lengths {
                see(*p);
                see((0.0, p.1));
            }
        }
        Mark::Words(words) => words.iter().for_each(|(at, _)| see(*at)),
    }
}

/// The smallest distance between neighbouring positions of bars and boxes in the panel, or heights of bars that lie.
pub fn spacing(panel: &Panel) -> f64 {
    let mut at: Vec<f64> = Vec::new();
    for series in &panel.series {
        match &series.mark {
            Mark::Bars(heights) => at.extend(heights.iter().map(|p| p.0)),
            Mark::Boxes(samples) => at.extend(samples.iter().map(|s| s.0)),
            Mark::Rows(lengths) => at.extend(lengths.iter().map(|p| p.1)),
            _ => {}
        }
    }
    at.retain(|x| x.is_finite());
    at.sort_by(f64::total_cmp);
    at.dedup();
    let least = at.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
}
