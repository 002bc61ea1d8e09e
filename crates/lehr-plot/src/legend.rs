//! Places a panel's legend where it covers no data, and draws it.

use crate::axes::Rect;
use crate::colour::Colour;
use crate::marks::Shape;
use crate::scene::{Anchor, Fill, Group, Item, Look, Scene, Stroke};
use crate::series::{Mark, Series};
use crate::{Legend, Panel, text};

/// Font size of the entries.
const SIZE: f64 = 11.5;
/// Height of an entry.
const LINE: f64 = 17.0;
/// Room for the sample of a series.
const SWATCH: f64 = 22.0;
/// Distance from a sample to its name.
const GAP: f64 = 7.0;
/// Distance between the entries and the legend's edge.
const PAD: f64 = 6.0;
/// Distance from the legend's edge to the plot's.
const INSET: f64 = 6.0;

/// What is behind the entries.
const BACK: Fill = Fill(Colour(0xff, 0xff, 0xff), 0.9);
/// The line around them.
const EDGE: Stroke = Stroke::plain(Colour(0xdd, 0xdd, 0xdd), 0.8);
/// Looks of the names.
const TEXT: Look = Look::filled(Colour(0x22, 0x22, 0x22));

/// The legend's rectangle relative to the plot's corner, if there is anything to list.
pub fn place(panel: &Panel, shapes: &[(Shape, Colour)], plot: (f64, f64)) -> Option<Rect> {
    let names: Vec<&String> = panel.series.iter().filter_map(|s| s.label.as_ref()).collect();
    if names.is_empty() || panel.legend == Legend::Hidden {
        return None;
    }
    let widest = names.iter().map(|n| text::width(n, SIZE)).fold(0.0, f64::max);
    let (w, h) = (widest + SWATCH + GAP + 2.0 * PAD, names.len() as f64 * LINE + 2.0 * PAD - 3.0);
    let outside = Rect { x: plot.0 + 8.0, y: 0.0, w, h };
    // A legend that takes up much of the plot is in the way even where no data are.
    if panel.legend == Legend::Outside || w > 0.6 * plot.0 || h > 0.6 * plot.1 {
        return Some(outside);
    }
    let (left, right) = (INSET, plot.0 - w - INSET);
    let (top, bottom) = (INSET, plot.1 - h - INSET);
    [(right, top), (right, bottom), (left, top), (left, bottom)]
        .map(|(x, y)| Rect { x, y, w, h })
        .into_iter()
        .find(|area| !shapes.iter().any(|(shape, _)| shape.touches(*area)))
        .or(Some(outside))
}

/// Draws the entries into `area`.
pub fn draw(scene: &mut Scene, panel: &Panel, shapes: &[(Shape, Colour)], area: Rect) {
    scene.open(Group::Named("legend"));
    scene.add(Item::Rect(area, 3.0, Look::both(BACK, EDGE)));
    let entries = panel.series.iter().zip(shapes).filter_map(|(s, shape)| {
        let label = s.label.as_deref()?;
        Some((label, s, shape.1))
    });
    for (i, (label, series, colour)) in entries.enumerate() {
        let left = area.x + PAD;
        let middle = area.y + PAD + LINE * (i as f64 + 0.5) - 1.5;
        swatch(scene, series, colour, left, middle);
        let at = (left + SWATCH + GAP, middle);
        scene.text(at, SIZE, Anchor::Start, TEXT, label);
    }
    scene.close();
}

/// Draws a small sample of the series to the right of `x`, centred on `y`.
fn swatch(scene: &mut Scene, series: &Series, colour: Colour, x: f64, y: f64) {
    let middle = (x + SWATCH / 2.0, y);
    let (from, to) = ((x, y), (x + SWATCH, y));
    let solid = Stroke::round(colour, series.size, 1.0, &[]);
    let fill = Fill(colour, series.opacity);
    match &series.mark {
        Mark::Line(_) => {
            let line = Stroke::round(colour, series.size, series.opacity, &series.dash);
            scene.line(from, to, &line);
        }
        Mark::Fan { .. } => {
            for dy in [-3.6, 3.6] {
                let thin = Stroke::round(colour, 0.8, 2.0 * series.opacity, &[]);
                scene.line((from.0, y + dy), (to.0, y + dy), &thin);
            }
            scene.line(from, to, &solid);
        }
        Mark::Scatter(_) => {
            scene.add(Item::Dots(vec![middle], series.size.clamp(2.5, 5.0), fill));
        }
        Mark::Ellipse { .. } => {
            scene.add(Item::Ellipse(middle, (9.0, 5.0), Look::both(fill, solid)));
        }
        Mark::Bars(_) | Mark::Boxes(_) | Mark::Rows(_) => {
            let edge = Stroke::round(colour, series.size.min(1.3), 1.0, &[]);
            let area = Rect { x, y: y - 5.0, w: SWATCH, h: 10.0 };
            scene.add(Item::Rect(area, 0.0, Look::both(fill, edge)));
        }
        Mark::Words(_) => scene.text(middle, SIZE, Anchor::Middle, TEXT, "a"),
    }
}
