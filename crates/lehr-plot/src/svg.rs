//! Writes a scene as an SVG document.

use std::fmt::Write as _;

use crate::scene::{Anchor, Fill, Group, Item, Look, Scene, Stroke, Text};
use crate::series::Point;
use crate::text::{FONT_STACK, escape};

/// A coordinate with at most two decimals, which is finer than the eye at twice the scale.
fn number(v: f64) -> String {
    let text = format!("{v:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The document: a white page with everything in the scene.
pub fn document(scene: &Scene) -> String {
    let [w, h] = [scene.size.0, scene.size.1].map(number);
    let mut out = format!(
        concat!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" "#,
            r#"viewBox="0 0 {w} {h}" font-family="{font}" fill="none">"#,
            "\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
        ),
        w = w,
        h = h,
        font = FONT_STACK,
    );
    for item in &scene.items {
        out.push_str(&element(item));
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

/// The markup of an item.
fn element(item: &Item) -> String {
    match item {
        Item::Open(group) => open(group),
        Item::Close => "</g>".to_owned(),
        Item::Rect(r, corner, look) => {
            let [x, y, w, h] = [r.x, r.y, r.w, r.h].map(number);
            let rx = match *corner {
                corner if corner > 0.0 => format!(r#" rx="{}""#, number(corner)),
                _ => String::new(),
            };
            format!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}"{rx}{}/>"#, looks(look))
        }
        Item::Ellipse(centre, radii, look) => {
            let [cx, cy, rx, ry] = [centre.0, centre.1, radii.0, radii.1].map(number);
            format!(r#"<ellipse cx="{cx}" cy="{cy}" rx="{rx}" ry="{ry}"{}/>"#, looks(look))
        }
        Item::Dots(centres, radius, fill) => {
            let mut out = format!("<g{}>", filled(*fill));
            for p in centres {
                let [x, y, r] = [p.0, p.1, *radius].map(number);
                let _ = write!(out, "\n<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>");
            }
            out + "\n</g>"
        }
        Item::Line(from, to, stroke) => {
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
            format!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{}/>"#, stroked(stroke))
        }
        Item::Path(points, closed, look) => {
            format!(r#"<path d="{}"{}/>"#, path(points, *closed), looks(look))
        }
        Item::Text(words) => text(words),
    }
}

/// The start of a group.
fn open(group: &Group) -> String {
    match group {
        Group::Named(class) => format!(r#"<g class="{class}">"#),
        Group::At(class, (x, y)) => {
            let [x, y] = [*x, *y].map(number);
            format!(r#"<g class="{class}" transform="translate({x} {y})">"#)
        }
        Group::Clipped(index, r) => {
            let [x, y, w, h] = [r.x, r.y, r.w, r.h].map(number);
            let area = format!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}"/>"#);
            let clip = format!(r#"<clipPath id="plot{index}">{area}</clipPath>"#);
            format!("{clip}\n<g clip-path=\"url(#plot{index})\">")
        }
    }
}

/// Text stays text: it can be searched and copied, and takes the viewer's fonts.
fn text(text: &Text) -> String {
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let [x, y, size] = [text.at.0, text.at.1, text.size].map(number);
    let turn = match text.turn {
        0.0 => String::new(),
        turn => format!(r#" transform="rotate({} {x} {y})""#, number(-turn)),
    };
    format!(
        r#"<text x="{x}" y="{y}" dy="0.35em" font-size="{size}" text-anchor="{anchor}"{}{turn}>{}</text>"#,
        looks(&text.look),
        escape(&text.words)
    )
}

/// Path data through `points`.
fn path(points: &[Point], closed: bool) -> String {
    let mut out = String::new();
    for (i, p) in points.iter().enumerate() {
        let verb = if i > 0 { 'L' } else { 'M' };
        let _ = write!(out, "{verb}{} {}", number(p.0), number(p.1));
    }
    if closed {
        out.push('Z');
    }
    out
}

/// Attributes of inside and outline.
fn looks(look: &Look) -> String {
    look.fill.map(filled).unwrap_or_default()
        + &look.stroke.as_ref().map(stroked).unwrap_or_default()
}

/// Attributes of the inside.
fn filled(Fill(colour, opacity): Fill) -> String {
    let mut out = format!(r#" fill="{colour}""#);
    if opacity < 1.0 {
        let _ = write!(out, r#" fill-opacity="{}""#, number(opacity));
    }
    out
}

/// Attributes of a line.
fn stroked(stroke: &Stroke) -> String {
    let mut out = format!(r#" stroke="{}" stroke-width="{}""#, stroke.colour, number(stroke.width));
    if stroke.round {
        // Round ends would close the gaps.
        let ends = if stroke.dash.is_empty() { "round" } else { "butt" };
        let _ = write!(out, r#" stroke-linejoin="round" stroke-linecap="{ends}""#);
    }
    if stroke.opacity < 1.0 {
        let _ = write!(out, r#" stroke-opacity="{}""#, number(stroke.opacity));
    }
    if !stroke.dash.is_empty() {
        let lengths: Vec<String> = stroke.dash.iter().map(|d| number(*d)).collect();
        let _ = write!(out, r#" stroke-dasharray="{}""#, lengths.join(" "));
    }
    out
}
