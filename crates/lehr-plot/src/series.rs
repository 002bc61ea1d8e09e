//! What can be drawn in a panel: lines, fans, points, ellipses, bars that stand or lie, boxes and words.

use crate::colour::Colour;

/// A position in data units.
pub type Point = (f64, f64);

/// The shape of a series and its data.
#[derive(Debug, Clone)]
pub enum Mark {
    /// A polyline, broken wherever a coordinate is not finite.
    Line(Vec<Point>),
    /// Many thin lines and their mean as a thick one.
    Fan {
        /// One line per run.
        runs: Vec<Vec<Point>>,
        /// The thick line.
        mean: Vec<Point>,
    },
    /// Dots.
    Scatter(Vec<Point>),
    /// The contour at a number of standard deviations of a Gaussian.
    Ellipse {
        /// The mean.
        centre: [f64; 2],
        /// The covariance matrix.
        covariance: [[f64; 2]; 2],
        /// How many standard deviations away the contour lies.
        sigmas: f64,
    },
    /// Bars from zero to a height at given positions.
    Bars(Vec<Point>),
    /// A box plot of a sample at each position.
    Boxes(Vec<(f64, Vec<f64>)>),
    /// Bars from zero to a length at given heights.
    Rows(Vec<Point>),
    /// Words in the middle of their places.
    Words(Vec<(Point, String)>),
}

/// Something drawn in a panel, with its looks.
#[derive(Debug, Clone)]
pub struct Series {
    /// Shape and data.
    pub mark: Mark,
    /// Text of the legend entry; none without.
    pub label: Option<String>,
    /// Colour; by default the next of the palette.
    pub colour: Option<Colour>,
    /// Opacity between 0 and 1; of the thin lines in a fan, of the interior in an ellipse.
    pub opacity: f64,
    /// Width of lines and outlines (the mean of a fan), radius of dots or height of words, in pixels.
    pub size: f64,
    /// Lengths of dashes and gaps in pixels; empty for a solid line.
    pub dash: Vec<f64>,
}

impl Series {
    /// A series of the given shape with its usual looks.
    fn of(mark: Mark, size: f64, opacity: f64) -> Self {
        Self { mark, label: None, colour: None, opacity, size, dash: Vec::new() }
    }

    /// A line through `points`.
    pub fn line(points: impl IntoIterator<Item = Point>) -> Self {
        Self::of(Mark::Line(points.into_iter().collect()), 1.8, 1.0)
    }

    /// Thin lines, one per run, under their mean; see [`mean_line`] for runs that differ in length.
    pub fn fan(runs: Vec<Vec<Point>>) -> Self {
        let mean = mean_line(&runs);
        Self::of(Mark::Fan { runs, mean }, 2.4, 0.28)
    }

    /// A dot at each of `points`.
    pub fn scatter(points: impl IntoIterator<Item = Point>) -> Self {
        Self::of(Mark::Scatter(points.into_iter().collect()), 2.2, 0.6)
    }

    /// The contour of a Gaussian `sigmas` standard deviations away from its mean.
    pub fn ellipse(centre: [f64; 2], covariance: [[f64; 2]; 2], sigmas: f64) -> Self {
        Self::of(Mark::Ellipse { centre, covariance, sigmas }, 1.6, 0.12)
    }

    /// Bars from zero to the height at each position; several such series stand side by side.
    pub fn bars(heights: impl IntoIterator<Item = Point>) -> Self {
        Self::of(Mark::Bars(heights.into_iter().collect()), 1.0, 0.85)
    }

    /// Bars that lie: from zero to the length at each height, given as `(length, height)`; several such series lie one
    /// below the other.
    pub fn rows(lengths: impl IntoIterator<Item = Point>) -> Self {
        Self::of(Mark::Rows(lengths.into_iter().collect()), 1.0, 0.85)
    }

    /// Words, each in the middle of its place.
    pub fn words<T: Into<String>>(words: impl IntoIterator<Item = (Point, T)>) -> Self {
        let words = words.into_iter().map(|(at, text)| (at, text.into()));
        Self::of(Mark::Words(words.collect()), 11.0, 1.0)
    }

    /// A box plot at each position; several such series stand side by side.
    pub fn boxes(samples: impl IntoIterator<Item = (f64, Vec<f64>)>) -> Self {
        Self::of(Mark::Boxes(samples.into_iter().collect()), 1.3, 0.25)
    }

    /// Names the series in the legend.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the colour.
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = Some(colour);
        self
    }

    /// Sets the [opacity](Self::opacity).
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }

    /// Sets the width of the line or outline.
    pub fn width(mut self, pixels: f64) -> Self {
        self.size = pixels;
        self
    }

    /// Sets the radius of the dots.
    pub fn radius(mut self, pixels: f64) -> Self {
        self.size = pixels;
        self
    }

    /// Draws the line with dashes and gaps of these lengths.
    pub fn dash(mut self, pixels: impl Into<Vec<f64>>) -> Self {
        self.dash = pixels.into();
        self
    }

    /// Whether the series stands next to its like at common positions.
    pub(crate) fn is_grouped(&self) -> bool {
        matches!(self.mark, Mark::Bars(_) | Mark::Boxes(_))
    }

    /// Whether the series stands above or below its like at common heights.
    pub(crate) fn is_stacked(&self) -> bool {
        matches!(self.mark, Mark::Rows(_))
    }
}

/// Mean over runs at every horizontal position that any of them has.
///
/// Between its points a run is interpolated. After its last point it keeps its last value,
/// because a run ends when it has converged; leaving it out would make the mean jump.
pub fn mean_line(runs: &[Vec<Point>]) -> Vec<Point> {
    let clean: Vec<Vec<Point>> = runs
        .iter()
        .map(|run| {
            let finite = run.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite());
            let mut run: Vec<Point> = finite.collect();
            run.sort_by(|a, b| a.0.total_cmp(&b.0));
            run
        })
        .filter(|run| !run.is_empty())
        .collect();
    let mut at: Vec<f64> = clean.iter().flatten().map(|p| p.0).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    let mut next = vec![0_usize; clean.len()];
    let mut mean = Vec::with_capacity(at.len());
    for x in at {
        let (mut sum, mut count) = (0.0, 0_usize);
        for (run, next) in clean.iter().zip(&mut next) {
            while *next < run.len() && run[*next].0 <= x {
                *next += 1;
            }
            let Some(before) = next.checked_sub(1).map(|i| run[i]) else { continue };
            sum += match run.get(*next) {
                Some(after) => {
                    let t = (x - before.0) / (after.0 - before.0);
                    before.1 + t * (after.1 - before.1)
                }
                None => before.1,
            };
            count += 1;
        }
        mean.push((x, sum / count as f64));
    }
    mean
}

/// The first point of a run's bound that is drawn: the first steps reach so far below that what comes later would be a flat
/// line next to them.
pub fn first_drawn(points: &[Point]) -> usize {
    /// How many times as high as its second half a chart may be.
    const HEIGHT: f64 = 10.0;
    let Some(last) = points.last() else { return 0 };
    let (most, late) = (points.len() / 3, points[points.len() / 2..].iter());
    let late = late.map(|point| (last.1 - point.1).abs()).fold(0.0, f64::max);
    let is_far = |point: &Point| (last.1 - point.1).abs() > HEIGHT * late;
    points[..most].iter().take_while(|point| is_far(point)).count()
}

/// The numbers that a box plot shows.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxStats {
    /// First quartile, median and third quartile.
    pub quartiles: [f64; 3],
    /// The outermost values within 1.5 box heights of the box.
    pub whiskers: [f64; 2],
    /// Values beyond the whiskers.
    pub outliers: Vec<f64>,
}

impl BoxStats {
    /// Summarises the finite values of a sample; none if there are none.
    pub fn of(sample: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = sample.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let quantile = |q: f64| {
            let at = q * last as f64;
            let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
            below + (above - below) * at.fract()
        };
        let quartiles = [quantile(0.25), quantile(0.5), quantile(0.75)];
        let reach = 1.5 * (quartiles[2] - quartiles[0]);
        let fences = quartiles[0] - reach..=quartiles[2] + reach;
        let inside = || sorted.iter().copied().filter(|v| fences.contains(v));
        // Quartiles are interpolated: in a small sample no value need lie between box and fence.
        let whiskers = [
            inside().next().map_or(quartiles[0], |v| v.min(quartiles[0])),
            inside().next_back().map_or(quartiles[2], |v| v.max(quartiles[2])),
        ];
        let outliers = sorted.iter().copied().filter(|v| !fences.contains(v)).collect();
        Some(Self { quartiles, whiskers, outliers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_interpolates_and_holds_the_last_value() {
        let runs = vec![vec![(0.0, 0.0), (2.0, 4.0)], vec![(0.0, 2.0), (1.0, 6.0)], vec![]];
        assert_eq!(mean_line(&runs), [(0.0, 1.0), (1.0, 4.0), (2.0, 5.0)]);
        assert!(mean_line(&[vec![(f64::NAN, 1.0)]]).is_empty());
    }

    #[test]
    fn box_stats_of_a_known_sample() {
        let stats = BoxStats::of(&[1.0, 2.0, 3.0, 4.0, f64::NAN, 100.0]).unwrap();
        assert_eq!(stats.quartiles, [2.0, 3.0, 4.0]);
        assert_eq!(stats.whiskers, [1.0, 4.0]);
        assert_eq!(stats.outliers, [100.0]);
        assert_eq!(BoxStats::of(&[]), None);
        let stats = BoxStats::of(&[0.0, 0.0, 0.0, 100.0]).unwrap();
        assert_eq!((stats.quartiles[2], stats.whiskers[1]), (25.0, 25.0));
    }

    #[test]
    fn first_steps_that_would_fill_the_axis_are_left_out() {
        let curve = |bounds: &[f64]| -> Vec<Point> {
            bounds.iter().enumerate().map(|(step, &bound)| (step as f64, bound)).collect()
        };
        let steep = [-1e6, -5e4, -110.0, -104.0, -103.0, -102.0, -101.5, -101.0, -100.5];
        assert_eq!(first_drawn(&curve(&steep)), 2);
        let even: Vec<f64> = (0..30).map(|step| f64::from(step) - 100.0).collect();
        assert_eq!(first_drawn(&curve(&even)), 0);
        // Never more than a third, however flat the rest is.
        assert_eq!(first_drawn(&curve(&[-9.0, -8.0, -7.0, -1.0, -1.0, -1.0])), 2);
        assert_eq!((first_drawn(&[]), first_drawn(&curve(&[-1.0, -1.0]))), (0, 0));
    }
}
