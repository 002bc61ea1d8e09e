//! Places a panel's legend where it covers no data, and draws it.

use crate::axes::Rect;
use crate::colour::Colour;
use crate::marks::{Shape, stroke};
use crate::series::{Mark, Series};
use crate::svg::{Anchor, Svg, number};
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
pub fn draw(svg: &mut Svg, panel: &Panel, shapes: &[(Shape, Colour)], area: Rect) {
    svg.open(r#"class="legend""#);
    let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(number);
    svg.element(
        "rect",
        &format!(
            r##"x="{x}" y="{y}" width="{w}" height="{h}" rx="3" fill="#ffffff" fill-opacity="0.9" stroke="#dddddd" stroke-width="0.8""##
        ),
    );
    let entries = panel.series.iter().zip(shapes).filter_map(|(s, shape)| {
        let label = s.label.as_deref()?;
        Some((label, s, shape.1))
    });
    for (i, (label, series, colour)) in entries.enumerate() {
        let left = area.x + PAD;
        let middle = area.y + PAD + LINE * (i as f64 + 0.5) - 1.5;
        swatch(svg, series, colour, left, middle);
        let at = (left + SWATCH + GAP, middle);
        svg.text(at, SIZE, Anchor::Start, r##"fill="#222222""##, label);
    }
    svg.close();
}

/// Draws a small sample of the series to the right of `x`, centred on `y`.
fn swatch(svg: &mut Svg, series: &Series, colour: Colour, x: f64, y: f64) {
    let middle = x + SWATCH / 2.0;
    let solid = stroke(colour, series.size, 1.0, &[]);
    let fill = format!(r#"fill="{colour}" fill-opacity="{}""#, number(series.opacity));
    let [left, cx, cy] = [x, middle, y].map(number);
    match &series.mark {
        Mark::Line(_) => {
            let looks = stroke(colour, series.size, series.opacity, &series.dash);
            svg.line((x, y), (x + SWATCH, y), &looks);
        }
        Mark::Fan { .. } => {
            for dy in [-3.6, 3.6] {
                let thin = stroke(colour, 0.8, 2.0 * series.opacity, &[]);
                svg.line((x, y + dy), (x + SWATCH, y + dy), &thin);
            }
            svg.line((x, y), (x + SWATCH, y), &solid);
        }
        Mark::Scatter(_) => {
            let r = number(series.size.clamp(2.5, 5.0));
            svg.element("circle", &format!(r#"cx="{cx}" cy="{cy}" r="{r}" {fill}"#));
        }
        Mark::Ellipse { .. } => {
            svg.element("ellipse", &format!(r#"cx="{cx}" cy="{cy}" rx="9" ry="5" {fill} {solid}"#));
        }
        Mark::Bars(_) | Mark::Boxes(_) => {
            let top = number(y - 5.0);
            let solid = stroke(colour, series.size.min(1.3), 1.0, &[]);
            svg.element(
                "rect",
                &format!(
                    r#"x="{left}" y="{top}" width="{}" height="10" {fill} {solid}"#,
                    number(SWATCH)
                ),
            );
        }
    }
}
