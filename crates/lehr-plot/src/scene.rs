//! What a figure is made of before it becomes SVG or pixels: few kinds of shapes, in groups.

use crate::axes::Rect;
use crate::colour::Colour;
use crate::series::Point;
use crate::text;

/// A page and what is drawn on it, in order; coordinates are relative to the innermost open group.
#[derive(Debug, Default)]
pub struct Scene {
    /// Width and height.
    pub size: (f64, f64),
    /// What is drawn.
    pub items: Vec<Item>,
}

/// Something drawn, or the start or end of a group.
#[derive(Debug)]
pub enum Item {
    /// Opens a group.
    Open(Group),
    /// Closes the innermost group.
    Close,
    /// A rectangle, its corners rounded with this radius.
    Rect(Rect, f64, Look),
    /// An ellipse: its centre and its radii.
    Ellipse(Point, (f64, f64), Look),
    /// Filled circles of one radius.
    Dots(Vec<Point>, f64, Fill),
    /// A straight line.
    Line(Point, Point, Stroke),
    /// A polyline or, if it is closed, a polygon.
    Path(Vec<Point>, bool, Look),
    /// A line of text.
    Text(Text),
}

/// What a group does to its content.
#[derive(Debug)]
pub enum Group {
    /// Nothing: it has a name for style sheets of the SVG.
    Named(&'static str),
    /// It moves it.
    At(&'static str, Point),
    /// It cuts it off outside of a rectangle; the number tells it from others of the page.
    Clipped(usize, Rect),
}

/// The inside of a shape: colour and opacity.
#[derive(Debug, Clone, Copy)]
pub struct Fill(pub Colour, pub f64);

/// A line or an outline.
#[derive(Debug, Clone)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pixels.
    pub width: f64,
    /// Its opacity.
    pub opacity: f64,
    /// Whether corners and ends are round.
    pub round: bool,
    /// Lengths of dashes and gaps in pixels; empty for a solid line.
    pub dash: Vec<f64>,
}

/// Inside and outline of a shape.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// The inside, if it is filled.
    pub fill: Option<Fill>,
    /// The outline, if it is drawn.
    pub stroke: Option<Stroke>,
}

/// A line of text whose height is centred on a point.
#[derive(Debug)]
pub struct Text {
    /// The point.
    pub at: Point,
    /// Font size in pixels.
    pub size: f64,
    /// Where the point lies within the text.
    pub anchor: Anchor,
    /// Degrees by which the text is turned about the point, against the clock.
    pub turn: f64,
    /// Inside and outline of the letters.
    pub look: Look,
    /// The words.
    pub words: String,
}

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

impl Scene {
    /// Adds an item.
    pub fn add(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Opens a group.
    pub fn open(&mut self, group: Group) {
        self.add(Item::Open(group));
    }

    /// Closes the innermost group.
    pub fn close(&mut self) {
        self.add(Item::Close);
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: Point, to: Point, stroke: &Stroke) {
        self.add(Item::Line(from, to, stroke.clone()));
    }

    /// Adds a path through `points`, but for those that would not move the pen visibly.
    pub fn path(&mut self, points: &[Point], closed: bool, look: Look) {
        let mut kept: Vec<Point> = Vec::new();
        for (i, p) in points.iter().enumerate() {
            let near = |pen: &Point| (p.0 - pen.0).abs() < 0.25 && (p.1 - pen.1).abs() < 0.25;
            if i + 1 < points.len() && kept.last().is_some_and(near) {
                continue;
            }
            kept.push(*p);
        }
        self.add(Item::Path(kept, closed, look));
    }

    /// Adds text, unless there are no words.
    pub fn text(&mut self, at: Point, size: f64, anchor: Anchor, look: Look, words: &str) {
        self.turned(0.0, at, size, anchor, look, words);
    }

    /// Adds text that is turned by some degrees against the clock.
    pub fn turned(
        &mut self,
        turn: f64,
        at: Point,
        size: f64,
        anchor: Anchor,
        look: Look,
        words: &str,
    ) {
        let words = text::clean(words);
        if !words.is_empty() {
            self.add(Item::Text(Text { at, size, anchor, turn, look, words }));
        }
    }
}

impl Stroke {
    /// A plain line with square ends.
    pub const fn plain(colour: Colour, width: f64) -> Self {
        Self { colour, width, opacity: 1.0, round: false, dash: Vec::new() }
    }

    /// A line with round corners, and round ends unless it has dashes.
    pub fn round(colour: Colour, width: f64, opacity: f64, dash: &[f64]) -> Self {
        Self { colour, width, opacity, round: true, dash: dash.to_vec() }
    }
}

impl Look {
    /// A shape without an outline.
    pub const fn filled(colour: Colour) -> Self {
        Self { fill: Some(Fill(colour, 1.0)), stroke: None }
    }

    /// An outline.
    pub const fn outlined(stroke: Stroke) -> Self {
        Self { fill: None, stroke: Some(stroke) }
    }

    /// Inside and outline.
    pub const fn both(fill: Fill, stroke: Stroke) -> Self {
        Self { fill: Some(fill), stroke: Some(stroke) }
    }
}
