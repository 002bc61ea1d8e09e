//! Collects SVG elements into a document.

use std::fmt::Write as _;

use crate::series::Point;
use crate::text::{FONT_STACK, escape};

/// Where a text's position lies within it.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    /// At its start.
    Start,
    /// At its middle.
    Middle,
    /// At its end.
    End,
}

/// A growing SVG document; coordinates are relative to the innermost open group.
#[derive(Debug, Default)]
pub struct Svg {
    /// Elements so far.
    body: String,
}

/// A coordinate with at most two decimals, which is finer than the eye at twice the scale.
pub fn number(v: f64) -> String {
    let text = format!("{v:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Path data through `points`, skipping those that would not move the pen visibly.
pub fn path(points: &[Point], closed: bool) -> String {
    let mut out = String::new();
    let mut pen: Option<Point> = None;
    for (i, p) in points.iter().enumerate() {
        if let Some(pen) = pen
            && i + 1 < points.len()
            && (p.0 - pen.0).abs() < 0.25
            && (p.1 - pen.1).abs() < 0.25
        {
            continue;
        }
        let verb = if pen.is_some() { 'L' } else { 'M' };
        let _ = write!(out, "{verb}{} {}", number(p.0), number(p.1));
        pen = Some(*p);
    }
    if closed {
        out.push('Z');
    }
    out
}

impl Svg {
    /// Adds an element without content; `attributes` is trusted markup.
    pub fn element(&mut self, name: &str, attributes: &str) {
        let _ = writeln!(self.body, "<{name} {attributes}/>");
    }

    /// Opens a group; `attributes` is trusted markup.
    pub fn open(&mut self, attributes: &str) {
        let _ = writeln!(self.body, "<g {attributes}>");
    }

    /// Closes the innermost group.
    pub fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// Defines a rectangle that groups can be clipped to; `attributes` is trusted markup.
    pub fn clip(&mut self, id: &str, attributes: &str) {
        let _ = writeln!(self.body, r#"<clipPath id="{id}"><rect {attributes}/></clipPath>"#);
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: Point, to: Point, attributes: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.element("line", &format!(r#"x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {attributes}"#));
    }

    /// Adds text whose height is centred on `at`; `attributes` is trusted markup.
    pub fn text(&mut self, at: Point, size: f64, anchor: Anchor, attributes: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let [x, y, size] = [at.0, at.1, size].map(number);
        let _ = writeln!(
            self.body,
            r#"<text x="{x}" y="{y}" dy="0.35em" font-size="{size}" text-anchor="{anchor}" {attributes}>{}</text>"#,
            escape(text)
        );
    }

    /// The document: a white page of the given size with everything added so far.
    pub fn finish(self, width: f64, height: f64) -> String {
        let [w, h] = [width, height].map(|v| number(v.ceil()));
        format!(
            concat!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" "#,
                r#"viewBox="0 0 {w} {h}" font-family="{font}" fill="none">"#,
                "\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
            ),
            w = w,
            h = h,
            font = FONT_STACK,
            body = self.body
        )
    }
}
