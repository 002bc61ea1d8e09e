//! Arranges the panels of a figure on a page and draws their frames.

use crate::axes::{Axes, Rect, TICK_SIZE};
use crate::colour::Colour;
use crate::marks::{self, Shape};
use crate::scene::{Anchor, Fill, Group, Item, Look, Scene, Stroke};
use crate::ticks::Ticks;
use crate::{Figure, Panel, legend, text};

/// Font size of the headline.
const TITLE: f64 = 16.0;
/// Font size of panel headings.
const HEADING: f64 = 13.5;
/// Font size of the names of axes.
const NAME: f64 = 12.0;
/// The largest width and height of a plotting area.
const LARGEST: f64 = 10_000.0;
/// Room around everything.
const MARGIN: f64 = 16.0;
/// Room between panels.
const GUTTER: f64 = 26.0;
/// Length of a tick.
const TICK: f64 = 4.0;
/// Distance from a tick to its label.
const TICK_GAP: f64 = 4.0;
/// Slant of names that would run into each other, in degrees.
const SLANT: f64 = 35.0;

/// Looks of ordinary text.
const TEXT: Look = Look::filled(Colour(0x22, 0x22, 0x22));
/// Looks of tick labels.
const FAINT: Look = Look::filled(Colour(0x33, 0x33, 0x33));
/// Looks of what stands in place of data.
const PALE: Look = Look::filled(Colour(0x99, 0x99, 0x99));
/// Looks of grid lines.
const SHADE: Look = Look { fill: Some(Fill(Colour(0x00, 0x00, 0x00), 0.06)), stroke: None };
const GRID: Stroke = Stroke::plain(Colour(0xe7, 0xe7, 0xe7), 0.8);
/// Looks of spines and ticks.
const FRAME: Stroke = Stroke::plain(Colour(0x4d, 0x4d, 0x4d), 0.9);
/// The colour of headings.
const INK: Colour = Colour(0x11, 0x11, 0x11);
/// The embedded font has one weight: a thin outline makes headings stand out.
const STRONG: Look = Look::both(Fill(INK, 1.0), Stroke::plain(INK, 0.35));

/// A panel with everything measured: margins are what its plot needs on each side.
struct Sheet<'a> {
    /// What is measured.
    panel: &'a Panel,
    /// Width and height of the plotting area.
    plot: (f64, f64),
    /// From data to pixels.
    axes: Axes,
    /// Ticks of the horizontal axis.
    x_ticks: Ticks,
    /// Ticks of the vertical axis.
    y_ticks: Ticks,
    /// Whether names under the plot are slanted.
    slanted: bool,
    /// The series in pixels.
    shapes: Vec<(Shape, Colour)>,
    /// Lines of the heading.
    heading: Vec<String>,
    /// Where the legend goes, relative to the plot.
    legend: Option<Rect>,
    /// Horizontal middle of the vertical axis' name.
    name_at: f64,
    /// Room to the left of the plot.
    left: f64,
    /// Room to the right of the plot.
    right: f64,
    /// Room above the plot.
    top: f64,
    /// Room below the plot.
    bottom: f64,
}

impl<'a> Sheet<'a> {
    /// Measures a panel for a plotting area of the given size.
    fn new(panel: &'a Panel, plot: (f64, f64)) -> Self {
        let axes = Axes::of(panel, plot);
        let (x_ticks, y_ticks) = match panel.bare {
            true => Default::default(),
            false => (axes.x_ticks(panel), axes.y_ticks(panel)),
        };
        let shapes = marks::shapes(panel, &axes);
        let legend = legend::place(panel, &shapes, plot);
        let wide = |label: &String| text::width(label, TICK_SIZE);
        let widest = |t: &Ticks| t.labels.iter().map(wide).fold(0.0, f64::max);
        let slanted = x_ticks.at.windows(2).zip(x_ticks.labels.windows(2)).any(|(at, label)| {
            let apart = (axes.x.place(at[1]) - axes.x.place(at[0])).abs();
            apart < (wide(&label[0]) + wide(&label[1])) / 2.0 + 6.0
        });
        let slant = SLANT.to_radians();
        let names = if slanted { widest(&x_ticks) * slant.sin() + 4.0 } else { 0.0 };
        let heading = text::wrap(&panel.title, HEADING, plot.0);
        let below = !panel.x_label.is_empty() || x_ticks.note.is_some();
        let beside = legend.map_or(0.0, |l| (l.x + l.w - plot.0).max(0.0));
        // Half of the last tick's label may reach beyond the plot.
        let overhang = x_ticks.labels.last().map_or(0.0, wide) / 2.0;
        let overhang = if slanted { 0.0 } else { overhang };
        let y_name = if panel.y_label.is_empty() { 0.0 } else { NAME + 8.0 };
        let before = |(at, label): (&f64, &String)| wide(label) * slant.cos() - axes.x.place(*at);
        let reach = x_ticks.at.iter().zip(&x_ticks.labels).map(before).fold(0.0, f64::max);
        let y_names = TICK + TICK_GAP + widest(&y_ticks);
        Self {
            left: (y_names + y_name).max(if slanted { reach } else { 0.0 }),
            name_at: -y_names - y_name + NAME / 2.0,
            right: beside.max(overhang),
            top: heading.len() as f64 * (HEADING + 4.0)
                + if heading.is_empty() { 0.0 } else { 6.0 }
                + if y_ticks.note.is_some() { TICK_SIZE + 5.0 } else { 0.0 },
            bottom: TICK + TICK_GAP + TICK_SIZE + names + if below { NAME + 9.0 } else { 0.0 },
            panel,
            plot,
            axes,
            x_ticks,
            y_ticks,
            slanted,
            shapes,
            heading,
            legend,
        }
    }

    /// Draws the panel; the plot's corner is at the origin of the open group.
    fn draw(&self, scene: &mut Scene, index: usize) {
        let (w, h) = self.plot;
        for (i, line) in self.heading.iter().enumerate() {
            let y = -self.top + (i as f64 + 0.5) * (HEADING + 4.0);
            scene.text((w / 2.0, y), HEADING, Anchor::Middle, STRONG, line);
        }
        self.frame(scene);
        // The spines lie on the edge: let strokes that touch them keep their width.
        let area = Rect { x: -1.0, y: -1.0, w: w + 2.0, h: h + 2.0 };
        scene.open(Group::Clipped(index, area));
        for &(from, to) in &self.panel.shades {
            let [from, to] = [from, to].map(|x| self.axes.x.place(x).clamp(0.0, w));
            if to > from {
                let area = Rect { x: from, y: 0.0, w: to - from, h };
                scene.add(Item::Rect(area, 0.0, SHADE));
            }
        }
        for (series, (shape, colour)) in self.panel.series.iter().zip(&self.shapes) {
            marks::draw(scene, series, shape, *colour);
        }
        for (series, (shape, colour)) in self.panel.series.iter().zip(&self.shapes) {
            marks::draw_mean(scene, series, shape, *colour);
        }
        scene.close();
        if self.shapes.iter().all(|(shape, _)| shape.is_empty()) {
            scene.text((w / 2.0, h / 2.0), NAME, Anchor::Middle, PALE, "no data");
        }
        if let Some(area) = self.legend {
            legend::draw(scene, self.panel, &self.shapes, area);
        }
    }

    /// Draws grid, spines, ticks, their labels and the names of the axes.
    fn frame(&self, scene: &mut Scene) {
        let (w, h) = self.plot;
        if self.panel.bare {
            return;
        }
        scene.open(Group::Named("frame"));
        let xs: Vec<f64> = self.x_ticks.at.iter().map(|v| self.axes.x.place(*v)).collect();
        let ys: Vec<f64> = self.y_ticks.at.iter().map(|v| h - self.axes.y.place(*v)).collect();
        let named = !self.panel.x_names.is_empty();
        let rows_named = !self.panel.y_names.is_empty();
        for x in xs.iter().filter(|_| !named) {
            scene.line((*x, 0.0), (*x, h), &GRID);
        }
        for y in ys.iter().filter(|_| !rows_named) {
            scene.line((0.0, *y), (w, *y), &GRID);
        }
        scene.line((0.0, 0.0), (0.0, h), &FRAME);
        scene.line((0.0, h), (w, h), &FRAME);
        let y = h + TICK + TICK_GAP + TICK_SIZE / 2.0;
        for (x, label) in xs.iter().zip(&self.x_ticks.labels) {
            scene.line((*x, h), (*x, h + TICK), &FRAME);
            if self.slanted {
                scene.turned(SLANT, (*x, y), TICK_SIZE, Anchor::End, FAINT, label);
            } else {
                scene.text((*x, y), TICK_SIZE, Anchor::Middle, FAINT, label);
            }
        }
        for (y, label) in ys.iter().zip(&self.y_ticks.labels) {
            if !rows_named {
                scene.line((-TICK, *y), (0.0, *y), &FRAME);
            }
            scene.text((-TICK - TICK_GAP, *y), TICK_SIZE, Anchor::End, FAINT, label);
        }
        for x in self.x_ticks.minor.iter().map(|v| self.axes.x.place(*v)) {
            scene.line((x, h), (x, h + TICK / 2.0), &FRAME);
        }
        for y in self.y_ticks.minor.iter().map(|v| h - self.axes.y.place(*v)) {
            scene.line((-TICK / 2.0, y), (0.0, y), &FRAME);
        }
        if let Some(note) = &self.y_ticks.note {
            scene.text((0.0, -TICK_SIZE / 2.0 - 5.0), TICK_SIZE, Anchor::Start, FAINT, note);
        }
        let under = h + self.bottom - NAME / 2.0;
        if let Some(note) = &self.x_ticks.note {
            scene.text((w, under), TICK_SIZE, Anchor::End, FAINT, note);
        }
        let name = &self.panel.x_label;
        let note = self.x_ticks.note.as_ref().map_or(0.0, |n| text::width(n, TICK_SIZE) + 8.0);
        // A long name gives way to the note at the end of the same line.
        if note > 0.0 && text::width(name, NAME) / 2.0 + note > w / 2.0 {
            scene.text((0.0, under), NAME, Anchor::Start, TEXT, name);
        } else {
            scene.text((w / 2.0, under), NAME, Anchor::Middle, TEXT, name);
        }
        let at = (self.name_at, h / 2.0);
        scene.turned(90.0, at, NAME, Anchor::Middle, TEXT, &self.panel.y_label);
        scene.close();
    }
}

/// The size of a plotting area when this many stand side by side.
fn plot_size(columns: usize) -> (f64, f64) {
    match columns {
        0 | 1 => (540.0, 340.0),
        2 => (380.0, 290.0),
        _ => (310.0, 250.0),
    }
}

/// Draws a figure: panels in rows, their plots aligned in columns.
pub fn figure(figure: &Figure) -> Scene {
    let count = figure.panels.len();
    let usual = if count <= 3 { count } else { 2 };
    let columns = figure.columns.unwrap_or(usual).clamp(1, count.max(1));
    let (plot_w, plot_h) = figure.plot_size.unwrap_or_else(|| plot_size(columns));
    // Room for at least one label, and an end.
    let sane = |x: f64, least: f64| if x.is_nan() { least } else { x.clamp(least, LARGEST) };
    let plot = (sane(plot_w, 40.0), sane(plot_h, 30.0));
    let sheets: Vec<Sheet> = figure.panels.iter().map(|p| Sheet::new(p, plot)).collect();
    let widest = |column: usize, side: fn(&Sheet) -> f64| {
        sheets.iter().skip(column).step_by(columns).map(side).fold(0.0, f64::max)
    };
    let lefts: Vec<f64> = (0..columns).map(|c| widest(c, |s| s.left)).collect();
    let rights: Vec<f64> = (0..columns).map(|c| widest(c, |s| s.right)).collect();
    let width = lefts.iter().chain(&rights).sum::<f64>()
        + columns as f64 * plot.0
        + (columns - 1) as f64 * GUTTER
        + 2.0 * MARGIN;

    let mut scene = Scene::default();
    let mut y = MARGIN;
    for line in text::wrap(&figure.title, TITLE, width - 2.0 * MARGIN) {
        scene.text((width / 2.0, y + TITLE / 2.0), TITLE, Anchor::Middle, STRONG, &line);
        y += TITLE + 5.0;
    }
    if !figure.title.is_empty() {
        y += 9.0;
    }
    for (row, sheets) in sheets.chunks(columns).enumerate() {
        let top = sheets.iter().map(|s| s.top).fold(0.0, f64::max);
        let bottom = sheets.iter().map(|s| s.bottom).fold(0.0, f64::max);
        let tallest = sheets.iter().filter_map(|s| s.legend).map(|l| l.y + l.h);
        let mut x = MARGIN;
        for (column, sheet) in sheets.iter().enumerate() {
            x += lefts[column];
            scene.open(Group::At("panel", (x, y + top)));
            sheet.draw(&mut scene, row * columns + column);
            scene.close();
            x += plot.0 + rights[column] + GUTTER;
        }
        y += top + tallest.fold(plot.1 + bottom, f64::max) + GUTTER;
    }
    let height = if sheets.is_empty() { y + MARGIN } else { y - GUTTER + MARGIN };
    scene.size = (width.ceil(), height.ceil());
    scene
}
