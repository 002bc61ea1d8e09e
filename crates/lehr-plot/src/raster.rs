//! Draws a scene into pixels and packs them as PNG, with the embedded font: the same picture comes out on every
//! machine.

use std::rc::Rc;

use tiny_skia::{
    FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};

use crate::Error;
use crate::axes::Rect;
use crate::colour::Colour;
use crate::font;
use crate::scene::{Anchor, Fill, Group, Item, Look, Scene, Stroke, Text};
use crate::series::Point;

/// How far below the middle of a line of text its baseline is, in font sizes.
const BASELINE: f64 = 0.35;
/// Where the handles of a cubic curve are that stands for a quarter of a circle.
const QUARTER: f32 = 0.552_284_8;

/// Pixels with what is open: groups move what is in them, or cut it off.
struct Canvas {
    /// The picture.
    pixels: Pixmap,
    /// Of each open group: from its coordinates to pixels, and what of the picture it may touch.
    open: Vec<(Transform, Option<Rc<Mask>>)>,
}

/// The picture at `scale` pixels per unit, on white.
pub fn pixels(scene: &Scene, scale: f32) -> Result<Pixmap, Error> {
    let [width, height] = [scene.size.0, scene.size.1].map(|x| (x as f32 * scale).round() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or(Error::TooLarge { width, height })?;
    pixels.fill(tiny_skia::Color::WHITE);
    let mut canvas = Canvas { pixels, open: vec![(Transform::from_scale(scale, scale), None)] };
    for item in &scene.items {
        canvas.draw(item);
    }
    Ok(canvas.pixels)
}

/// PNG bytes of a scene at `scale` pixels per unit.
pub fn png(scene: &Scene, scale: f32) -> Result<Vec<u8>, Error> {
    pixels(scene, scale)?.encode_png().map_err(|error| Error::Png(error.into()))
}

impl Canvas {
    /// Draws an item. What has no extent draws nothing, as in SVG.
    fn draw(&mut self, item: &Item) {
        match item {
            Item::Open(group) => self.enter(group),
            Item::Close => {
                self.open.pop();
            }
            Item::Rect(area, corner, look) => {
                let path = if *corner > 0.0 { rounded(*area, *corner) } else { rectangle(*area) };
                self.shape(path.as_ref(), look);
            }
            Item::Ellipse(centre, radii, look) => self.shape(oval(*centre, *radii).as_ref(), look),
            Item::Dots(centres, radius, fill) => {
                for centre in centres {
                    let dot = oval(*centre, (*radius, *radius));
                    dot.iter().for_each(|path| self.fill(path, *fill, Transform::identity()));
                }
            }
            Item::Line(from, to, stroke) => {
                let path = polyline(&[*from, *to], false);
                path.iter().for_each(|path| self.stroke(path, stroke, Transform::identity()));
            }
            Item::Path(points, closed, look) => {
                self.shape(polyline(points, *closed).as_ref(), look);
            }
            Item::Text(text) => self.text(text),
        }
    }

    /// What holds in the innermost group.
    fn top(&self) -> (Transform, Option<Rc<Mask>>) {
        self.open.last().cloned().expect("the page is never closed")
    }

    /// Opens a group.
    fn enter(&mut self, group: &Group) {
        let (transform, mask) = self.top();
        let inner = match group {
            Group::Named(_) => (transform, mask),
            Group::At(_, (x, y)) => (transform.pre_translate(*x as f32, *y as f32), mask),
            Group::Clipped(_, area) => {
                let mask = Mask::new(self.pixels.width(), self.pixels.height());
                let mask = mask.zip(rectangle(*area)).map(|(mut mask, path)| {
                    mask.fill_path(&path, FillRule::Winding, true, transform);
                    Rc::new(mask)
                });
                (transform, mask)
            }
        };
        self.open.push(inner);
    }

    /// Draws inside and outline.
    fn shape(&mut self, path: Option<&Path>, look: &Look) {
        path.iter().for_each(|path| self.look(path, look, Transform::identity()));
    }

    /// The same of a path that is moved first.
    fn look(&mut self, path: &Path, look: &Look, first: Transform) {
        if let Some(fill) = look.fill {
            self.fill(path, fill, first);
        }
        if let Some(stroke) = &look.stroke {
            self.stroke(path, stroke, first);
        }
    }

    /// Fills a path.
    fn fill(&mut self, path: &Path, Fill(colour, opacity): Fill, first: Transform) {
        let (transform, mask) = self.top();
        let transform = transform.pre_concat(first);
        let paint = paint(colour, opacity);
        self.pixels.fill_path(path, &paint, FillRule::Winding, transform, mask.as_deref());
    }

    /// Draws along a path.
    fn stroke(&mut self, path: &Path, stroke: &Stroke, first: Transform) {
        // The thinnest line of the renderer would not be invisible.
        if stroke.width.is_nan() || stroke.width <= 0.0 {
            return;
        }
        let (transform, mask) = self.top();
        let transform = transform.pre_concat(first);
        let paint = paint(stroke.colour, stroke.opacity);
        self.pixels.stroke_path(path, &paint, &pen(stroke), transform, mask.as_deref());
    }

    /// Draws the outlines of letters.
    fn text(&mut self, text: &Text) {
        let mut out = PathBuilder::new();
        let width = font::outline(&text.words, text.size, &mut out);
        let Some(path) = out.finish() else { return };
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let place = Transform::from_translate(text.at.0 as f32, text.at.1 as f32)
            .pre_concat(Transform::from_rotate(-text.turn as f32))
            .pre_translate(-back, (BASELINE * text.size) as f32);
        self.look(&path, &text.look, place);
    }
}

/// A colour that lets some of what is below show.
fn paint(Colour(r, g, b): Colour, opacity: f64) -> Paint<'static> {
    let alpha = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, alpha);
    paint
}

/// How a line is drawn.
fn pen(stroke: &Stroke) -> tiny_skia::Stroke {
    let mut lengths: Vec<f32> = stroke.dash.iter().map(|d| *d as f32).collect();
    // An odd number of lengths goes on with the roles of dash and gap swapped, as in SVG.
    if lengths.len() % 2 == 1 {
        lengths.extend_from_within(..);
    }
    let round = stroke.round && stroke.dash.is_empty();
    tiny_skia::Stroke {
        width: stroke.width as f32,
        line_cap: if round { LineCap::Round } else { LineCap::Butt },
        line_join: if stroke.round { LineJoin::Round } else { LineJoin::Miter },
        dash: StrokeDash::new(lengths, 0.0),
        ..tiny_skia::Stroke::default()
    }
}

/// The path of a rectangle.
fn rectangle(r: Rect) -> Option<Path> {
    let [x, y, w, h] = [r.x, r.y, r.w, r.h].map(|v| v as f32);
    tiny_skia::Rect::from_xywh(x, y, w, h).map(PathBuilder::from_rect)
}

/// The path of a rectangle with round corners.
fn rounded(r: Rect, corner: f64) -> Option<Path> {
    let [x, y, w, h, c] =
        [r.x, r.y, r.w, r.h, corner.min(r.w / 2.0).min(r.h / 2.0)].map(|v| v as f32);
    let (right, bottom, k) = (x + w, y + h, c * (1.0 - QUARTER));
    let mut out = PathBuilder::new();
    out.move_to(x + c, y);
    out.line_to(right - c, y);
    out.cubic_to(right - k, y, right, y + k, right, y + c);
    out.line_to(right, bottom - c);
    out.cubic_to(right, bottom - k, right - k, bottom, right - c, bottom);
    out.line_to(x + c, bottom);
    out.cubic_to(x + k, bottom, x, bottom - k, x, bottom - c);
    out.line_to(x, y + c);
    out.cubic_to(x, y + k, x + k, y, x + c, y);
    out.close();
    out.finish()
}

/// The path of an ellipse.
fn oval(centre: Point, radii: (f64, f64)) -> Option<Path> {
    let [x, y, a, b] = [centre.0, centre.1, radii.0, radii.1].map(|v| v as f32);
    tiny_skia::Rect::from_xywh(x - a, y - b, 2.0 * a, 2.0 * b).and_then(PathBuilder::from_oval)
}

/// The path through some points.
fn polyline(points: &[Point], closed: bool) -> Option<Path> {
    let mut out = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if i == 0 { out.move_to(x, y) } else { out.line_to(x, y) }
    }
    if closed {
        out.close();
    }
    out.finish()
}
