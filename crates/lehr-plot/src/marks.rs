//! Turns the series of a panel into pixel geometry and draws it.

use std::f64::consts::TAU;

use crate::Panel;
use crate::axes::{Axes, Rect, spacing};
use crate::colour::Colour;
use crate::scene::{Anchor, Fill, Group, Item, Look, Scene, Stroke};
use crate::series::{BoxStats, Mark, Point, Series};

/// Share of the distance between positions that a group of bars or boxes fills.
const GROUP: f64 = 0.8;
/// Corners of the polygon that stands for an ellipse.
const CORNERS: usize = 96;
/// Distance in pixels between samples of a stroke when looking for free room.
const SAMPLE: f64 = 3.0;

/// A series in pixels.
#[derive(Debug, Default)]
pub struct Shape {
    /// Polylines; the mean of a fan is the last.
    strokes: Vec<Vec<Point>>,
    /// Centres of dots.
    dots: Vec<Point>,
    /// Bars, or the frames of boxes.
    rects: Vec<Rect>,
    /// Words and their middles.
    words: Vec<(Point, String)>,
}

/// Every series of a panel in pixels, with its colour.
pub fn shapes(panel: &Panel, axes: &Axes) -> Vec<(Shape, Colour)> {
    let groups = panel.series.iter().filter(|s| s.is_grouped() || s.is_stacked()).count();
    let slot = GROUP * spacing(panel) / groups.max(1) as f64;
    let (mut group, mut automatic) = (0, 0);
    let mut out = Vec::with_capacity(panel.series.len());
    for series in &panel.series {
        let middle = (group as f64 - (groups.max(1) - 1) as f64 / 2.0) * slot;
        let shape = shape(series, axes, (middle - slot / 2.0, middle + slot / 2.0));
        group += usize::from(series.is_grouped() || series.is_stacked());
        let colour = series.colour.unwrap_or_else(|| {
            automatic += 1;
            Colour::nth(automatic - 1)
        });
        out.push((shape, colour));
    }
    out
}

/// One series in pixels; `slot` is where its bars or boxes lie relative to their position or, if they lie, how far below.
fn shape(series: &Series, axes: &Axes, slot: (f64, f64)) -> Shape {
    let mut shape = Shape::default();
    match &series.mark {
        Mark::Line(points) => shape.strokes = strokes(points, axes),
        Mark::Fan { runs, mean } => {
            shape.strokes = runs.iter().flat_map(|run| strokes(run, axes)).collect();
            // The mean goes last, and as one stroke, for `draw` to tell it apart.
            shape.strokes.push(strokes(mean, axes).concat());
        }
        Mark::Scatter(points) => {
            let pixels = points.iter().map(|p| axes.pixel(*p));
            shape.dots = pixels.filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
        }
        Mark::Ellipse { centre, covariance, sigmas } => {
            shape.strokes = strokes(&contour(*centre, *covariance, *sigmas), axes);
        }
        Mark::Bars(heights) => {
            for (x, height) in heights {
                let corners = ((x + slot.0, 0.0), (x + slot.1, *height));
                shape.rects.extend(rect(axes, corners, 0.06));
            }
        }
        Mark::Rows(lengths) => {
            for (length, y) in lengths {
                let corners = [(0.0, y - slot.0), (*length, y - slot.1)].map(|p| axes.pixel(p));
                shape.rects.extend(lying(corners, 0.06));
            }
        }
        Mark::Words(words) => {
            let pixels = words.iter().map(|(at, text)| (axes.pixel(*at), text.clone()));
            shape.words = pixels.filter(|(p, _)| p.0.is_finite() && p.1.is_finite()).collect();
        }
        Mark::Boxes(samples) => {
            for (x, sample) in samples {
                if let Some(stats) = BoxStats::of(sample) {
                    boxes(&mut shape, axes, (x + slot.0, x + slot.1), &stats);
                }
            }
        }
    }
    if matches!(series.mark, Mark::Line(_) | Mark::Fan { .. }) {
        // A piece of a single point has no length to stroke: show it as a dot.
        let lone = shape.strokes.iter().filter(|s| s.len() == 1);
        shape.dots = lone.map(|s| s[0]).collect();
    }
    shape
}

/// The pieces of a line between points that have no pixel.
fn strokes(points: &[Point], axes: &Axes) -> Vec<Vec<Point>> {
    let pixels: Vec<Point> = points.iter().map(|p| axes.pixel(*p)).collect();
    pixels
        .split(|p| !(p.0.is_finite() && p.1.is_finite()))
        .filter(|piece| !piece.is_empty())
        .map(<[Point]>::to_vec)
        .collect()
}

/// Points of a Gaussian's contour: the unit circle through the Cholesky factor.
fn contour(centre: [f64; 2], c: [[f64; 2]; 2], sigmas: f64) -> Vec<Point> {
    let a = c[0][0].max(0.0).sqrt();
    let b = if a > 0.0 { c[0][1] / a } else { 0.0 };
    // A degenerate matrix gives a line, not an error.
    let d = (c[1][1] - b * b).max(0.0).sqrt();
    (0..=CORNERS)
        .map(|i| {
            let (sin, cos) = (TAU * i as f64 / CORNERS as f64).sin_cos();
            (centre[0] + sigmas * a * cos, centre[1] + sigmas * (b * cos + d * sin))
        })
        .collect()
}

/// The rectangle between two corners in data units, `inset` by a share of its width.
fn rect(axes: &Axes, corners: (Point, Point), inset: f64) -> Option<Rect> {
    let (p, mut q) = (axes.pixel(corners.0), axes.pixel(corners.1));
    let mut p = p;
    // On a logarithmic axis zero is infinitely far down: start below the plot.
    if p.1.is_nan() && corners.0.1 == 0.0 {
        p.1 = 1e5;
    }
    if p.0 > q.0 {
        (p.0, q.0) = (q.0, p.0);
    }
    let w = q.0 - p.0;
    let rect = Rect {
        x: p.0 + w * inset,
        y: p.1.min(q.1),
        w: w * (1.0 - 2.0 * inset),
        h: (p.1 - q.1).abs(),
    };
    let drawable = [p.0, p.1, q.0, q.1].iter().all(|v| v.is_finite());
    drawable.then_some(rect)
}

/// The rectangle between two corners in pixels, `inset` by a share of its height.
fn lying([p, q]: [Point; 2], inset: f64) -> Option<Rect> {
    let h = (p.1 - q.1).abs();
    let rect = Rect {
        x: p.0.min(q.0),
        y: p.1.min(q.1) + h * inset,
        w: (p.0 - q.0).abs(),
        h: h * (1.0 - 2.0 * inset),
    };
    [p.0, p.1, q.0, q.1].iter().all(|v| v.is_finite()).then_some(rect)
}

/// A box with its median, whiskers and outliers between two horizontal positions.
fn boxes(shape: &mut Shape, axes: &Axes, slot: (f64, f64), stats: &BoxStats) {
    let [low, median, high] = stats.quartiles;
    let Some(frame) = rect(axes, ((slot.0, low), (slot.1, high)), 0.12) else { return };
    let y = |v: f64| axes.pixel((slot.0, v)).1;
    let (left, middle, right) = (frame.x, frame.x + frame.w / 2.0, frame.x + frame.w);
    let cap = frame.w * 0.22;
    shape.rects.push(frame);
    for (from, to) in [(low, stats.whiskers[0]), (high, stats.whiskers[1])] {
        let (from, to) = (y(from), y(to));
        if from.is_finite() && to.is_finite() {
            shape.strokes.push(vec![(middle, from), (middle, to)]);
            shape.strokes.push(vec![(middle - cap, to), (middle + cap, to)]);
        }
    }
    shape.strokes.push(vec![(left, y(median)), (right, y(median))]);
    let outliers = stats.outliers.iter().map(|v| (middle, y(*v)));
    shape.dots.extend(outliers.filter(|p| p.1.is_finite()));
}

impl Shape {
    /// Whether nothing of the series can be drawn.
    pub fn is_empty(&self) -> bool {
        self.strokes.iter().all(Vec::is_empty)
            && self.dots.is_empty()
            && self.rects.is_empty()
            && self.words.is_empty()
    }

    /// Whether any ink of the shape falls inside `area`.
    pub fn touches(&self, area: Rect) -> bool {
        let inside = |x: f64, y: f64| {
            (area.x..=area.x + area.w).contains(&x) && (area.y..=area.y + area.h).contains(&y)
        };
        let dots = self.dots.iter().any(|p| inside(p.0, p.1));
        let rects = self.rects.iter().any(|r| {
            r.x < area.x + area.w
                && area.x < r.x + r.w
                && r.y < area.y + area.h
                && area.y < r.y + r.h
        });
        dots || rects
            || self.strokes.iter().any(|stroke| {
                stroke.iter().any(|p| inside(p.0, p.1))
                    || stroke.windows(2).any(|w| {
                        let ((x0, y0), (x1, y1)) = (w[0], w[1]);
                        let length = (x1 - x0).hypot(y1 - y0);
                        let steps = (length / SAMPLE).ceil().min(4096.0);
                        (1..steps as usize).any(|i| {
                            let t = i as f64 / steps;
                            inside(x0 + t * (x1 - x0), y0 + t * (y1 - y0))
                        })
                    })
            })
    }
}

/// Draws one series as its own group, but for the mean of a fan.
pub fn draw(scene: &mut Scene, series: &Series, shape: &Shape, colour: Colour) {
    let kind = match &series.mark {
        Mark::Line(_) => "line",
        Mark::Fan { .. } => "fan",
        Mark::Scatter(_) => "scatter",
        Mark::Ellipse { .. } => "ellipse",
        Mark::Bars(_) => "bars",
        Mark::Boxes(_) => "boxes",
        Mark::Rows(_) => "rows",
        Mark::Words(_) => "words",
    };
    scene.open(Group::Named(kind));
    let fill = Fill(colour, series.opacity);
    let outline = match &series.mark {
        Mark::Bars(_) | Mark::Rows(_) => Stroke::plain(colour, 0.5),
        _ => Stroke::round(colour, series.size, 1.0, &series.dash),
    };
    for r in &shape.rects {
        scene.add(Item::Rect(*r, 0.0, Look::both(fill, outline.clone())));
    }
    let strokes = match &series.mark {
        Mark::Fan { .. } => &shape.strokes[..shape.strokes.len().saturating_sub(1)],
        _ => &shape.strokes[..],
    };
    let look = match &series.mark {
        Mark::Line(_) => {
            Look::outlined(Stroke::round(colour, series.size, series.opacity, &series.dash))
        }
        Mark::Fan { .. } => Look::outlined(Stroke::round(colour, 0.8, series.opacity, &[])),
        Mark::Ellipse { .. } => Look::both(fill, outline),
        _ => Look::outlined(outline),
    };
    let closed = matches!(series.mark, Mark::Ellipse { .. });
    for points in strokes.iter().filter(|s| s.len() > 1) {
        scene.path(points, closed, look.clone());
    }
    for (at, words) in &shape.words {
        let look = Look::both(fill, Stroke::plain(colour, 0.2));
        scene.text(*at, series.size, Anchor::Middle, look, words);
    }
    if !shape.dots.is_empty() {
        let (radius, opacity) = match &series.mark {
            Mark::Scatter(_) => (series.size, series.opacity),
            Mark::Line(_) | Mark::Fan { .. } => (series.size + 0.6, 1.0),
            _ => (1.8, 0.8),
        };
        scene.add(Item::Dots(shape.dots.clone(), radius, Fill(colour, opacity)));
    }
    scene.close();
}

/// Draws the mean of a fan, which belongs above the runs of all fans.
pub fn draw_mean(scene: &mut Scene, series: &Series, shape: &Shape, colour: Colour) {
    let (Mark::Fan { .. }, Some(points)) = (&series.mark, shape.strokes.last()) else { return };
    if points.len() < 2 {
        return;
    }
    scene.open(Group::Named("mean"));
    // A pale rim keeps the mean apart from the runs around it.
    let rim = Stroke::round(Colour(255, 255, 255), series.size + 1.8, 0.75, &[]);
    let line = Stroke::round(colour, series.size, 1.0, &series.dash);
    scene.path(points, false, Look::outlined(rim));
    scene.path(points, false, Look::outlined(line));
    scene.close();
}
