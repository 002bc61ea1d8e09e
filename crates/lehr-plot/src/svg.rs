//! Writes a scene as an SVG document.

use std::fmt::Write as _;

use crate::colour::Colour;
use crate::scene::{Anchor, Fill, Group, Item, Look, Scene, Stroke, Text};
use crate::series::Point;
use crate::text::{FONT_STACK, escape};

/// A coordinate with at most two decimals, which is finer than the eye at twice the scale.
fn number(v: f64) -> String {
    let text = format!("{v:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Where the markup stands.
#[derive(Debug, Clone, Copy)]
enum Home<'a> {
    /// In its own file, on white.
    File,
    /// In a page that has other figures, told apart by this name, and colours of its own: ink is the page's
    /// `currentColor`, and what is white is of the class `paper`.
    Page(&'a str),
}

impl Home<'_> {
    /// The colour and the opacity of what is drawn.
    fn paint(self, colour: Colour, opacity: f64) -> (String, f64) {
        let Colour(red, green, blue) = colour;
        match self {
            // A grey is one share of ink on white, and the same share of other ink on another ground.
            Home::Page(_) if red == green && green == blue => {
                ("currentColor".to_owned(), opacity * (1.0 - f64::from(red) / 255.0))
            }
            _ => (colour.to_string(), opacity),
        }
    }

    /// The id of the area that a panel's marks are cut to.
    fn clip(self, index: usize) -> String {
        match self {
            Home::File => format!("plot{index}"),
            Home::Page(name) => format!("{name}-plot{index}"),
        }
    }
}

/// An element for a page of HTML that has other figures too, told apart by `name`; `label` is what a screen
/// reader says of it.
pub fn element_of_page(scene: &Scene, name: &str, label: &str) -> String {
    let [w, h] = [scene.size.0, scene.size.1].map(number);
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{}" font-family="{FONT_STACK}" fill="none">"#,
        escape(label),
    );
    for item in &scene.items {
        out.push_str(&element(item, Home::Page(name)));
    }
    out + "</svg>"
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
        out.push_str(&element(item, Home::File));
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

/// The markup of an item.
fn element(item: &Item, home: Home<'_>) -> String {
    match item {
        Item::Open(group) => open(group, home),
        Item::Close => "</g>".to_owned(),
        Item::Rect(r, corner, look) => {
            let [x, y, w, h] = [r.x, r.y, r.w, r.h].map(number);
            let rx = match *corner {
                corner if corner > 0.0 => format!(r#" rx="{}""#, number(corner)),
                _ => String::new(),
            };
            format!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}"{rx}{}/>"#, looks(look, home))
        }
        Item::Ellipse(centre, radii, look) => {
            let [cx, cy, rx, ry] = [centre.0, centre.1, radii.0, radii.1].map(number);
            format!(r#"<ellipse cx="{cx}" cy="{cy}" rx="{rx}" ry="{ry}"{}/>"#, looks(look, home))
        }
        Item::Dots(centres, radius, fill) => {
            let mut out = format!("<g{}>", filled(*fill, home));
            for p in centres {
                let [x, y, r] = [p.0, p.1, *radius].map(number);
                let _ = write!(out, "\n<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>");
            }
            out + "\n</g>"
        }
        Item::Line(from, to, stroke) => {
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
            format!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{}/>"#, stroked(stroke, home))
        }
        Item::Path(points, closed, look) => {
            format!(r#"<path d="{}"{}/>"#, path(points, *closed), looks(look, home))
        }
        Item::Text(words) => text(words, home),
    }
}

/// The start of a group.
fn open(group: &Group, home: Home<'_>) -> String {
    match group {
        Group::Named(class) => format!(r#"<g class="{class}">"#),
        Group::At(class, (x, y)) => {
            let [x, y] = [*x, *y].map(number);
            format!(r#"<g class="{class}" transform="translate({x} {y})">"#)
        }
        Group::Clipped(index, r) => {
            let [x, y, w, h] = [r.x, r.y, r.w, r.h].map(number);
            let area = format!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}"/>"#);
            let id = home.clip(*index);
            let clip = format!(r#"<clipPath id="{id}">{area}</clipPath>"#);
            format!("{clip}\n<g clip-path=\"url(#{id})\">")
        }
    }
}

/// Text stays text: it can be searched and copied, and takes the viewer's fonts.
fn text(text: &Text, home: Home<'_>) -> String {
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
        looks(&text.look, home),
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
fn looks(look: &Look, home: Home<'_>) -> String {
    look.fill.map(|fill| filled(fill, home)).unwrap_or_default()
        + &look.stroke.as_ref().map(|stroke| stroked(stroke, home)).unwrap_or_default()
}

/// Attributes of the inside.
fn filled(Fill(colour, opacity): Fill, home: Home<'_>) -> String {
    if let (Home::Page(_), Colour(0xff, 0xff, 0xff)) = (home, colour) {
        return format!(r#" class="paper" fill-opacity="{}""#, number(opacity));
    }
    let (paint, opacity) = home.paint(colour, opacity);
    let mut out = format!(r#" fill="{paint}""#);
    if opacity < 1.0 {
        let _ = write!(out, r#" fill-opacity="{}""#, number(opacity));
    }
    out
}

/// Attributes of a line.
fn stroked(stroke: &Stroke, home: Home<'_>) -> String {
    let (paint, opacity) = home.paint(stroke.colour, stroke.opacity);
    let mut out = format!(r#" stroke="{paint}" stroke-width="{}""#, number(stroke.width));
    if stroke.round {
        // Round ends would close the gaps.
        let ends = if stroke.dash.is_empty() { "round" } else { "butt" };
        let _ = write!(out, r#" stroke-linejoin="round" stroke-linecap="{ends}""#);
    }
    if opacity < 1.0 {
        let _ = write!(out, r#" stroke-opacity="{}""#, number(opacity));
    }
    if !stroke.dash.is_empty() {
        let lengths: Vec<String> = stroke.dash.iter().map(|d| number(*d)).collect();
        let _ = write!(out, r#" stroke-dasharray="{}""#, lengths.join(" "));
    }
    out
}
