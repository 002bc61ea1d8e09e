//! Reads the embedded font: the glyph of a character, its width, its outline, and the kerning of a pair.
//!
//! This is the part of TrueType that one font needs, which we know and which never changes: outlines of lines and
//! parabolas, compound glyphs that are moved but not scaled, pairs that are kerned by the first one's width. A whole
//! text engine (scripts from right to left, ligatures, hints) takes longer to build than all else in this crate.

use std::sync::LazyLock;

use tiny_skia::PathBuilder;

/// Ubuntu Light (Ubuntu Font Licence 1.0).
static FONT: LazyLock<Font> = LazyLock::new(|| Font::new(epaint_default_fonts::UBUNTU_LIGHT));

/// A glyph's number, and the kind of number that the tables of a font are made of.
type Id = u16;

/// A TrueType file and where its tables start. It is embedded and whole: to read beyond its end would be a bug.
struct Font {
    /// The file.
    bytes: &'static [u8],
    /// From characters to glyphs, a subtable of format 4.
    cmap: usize,
    /// Widths.
    hmtx: usize,
    /// Where outlines start.
    loca: usize,
    /// Outlines.
    glyf: usize,
    /// Subtables with the kerning of Latin letters, of which each may add something to a pair.
    kerning: Vec<usize>,
    /// Units of the font in one em.
    per_em: f32,
}

/// A point of an outline, and whether the outline goes through it or only bends towards it.
#[derive(Clone, Copy)]
struct Knot {
    x: f32,
    y: f32,
    on: bool,
}

/// Adds the outline of `text` to `out`, in pixels from its start on the baseline, and returns its width.
pub fn outline(text: &str, size: f64, out: &mut PathBuilder) -> f32 {
    let font = &*FONT;
    let scale = size as f32 / font.per_em;
    let mut x = 0;
    let mut before = None;
    for glyph in text.chars().map(|c| font.glyph(c)) {
        x += before.map_or(0, |before| font.kern(before, glyph));
        font.draw(glyph, (x, 0), scale, out);
        x += font.width(glyph);
        before = Some(glyph);
    }
    x as f32 * scale
}

impl Font {
    /// Finds the tables.
    fn new(bytes: &'static [u8]) -> Self {
        let mut font =
            Self { bytes, cmap: 0, hmtx: 0, loca: 0, glyf: 0, kerning: Vec::new(), per_em: 1.0 };
        let table = |tag: &[u8; 4]| {
            let records = (0..font.usize(4)).map(|i| 12 + 16 * i);
            let record = records.into_iter().find(|r| bytes[*r..].starts_with(tag));
            font.offset(record.expect("the font has this table") + 8)
        };
        let [cmap, hmtx, loca, glyf, head, gpos] =
            [b"cmap", b"hmtx", b"loca", b"glyf", b"head", b"GPOS"].map(table);
        let formats = (0..font.usize(cmap + 2)).map(|i| cmap + font.offset(cmap + 8 + 8 * i));
        let cmap = formats.into_iter().find(|at| font.u16(*at) == 4).expect("a table of format 4");
        assert_eq!(font.u16(head + 50), 1, "the places of outlines are numbers of four bytes");
        let kerning = font.kerning(gpos);
        let per_em = f32::from(font.u16(head + 18));
        (font.cmap, font.hmtx, font.loca, font.glyf) = (cmap, hmtx, loca, glyf);
        (font.kerning, font.per_em) = (kerning, per_em);
        font
    }

    /// The subtables of the lookups that the feature `kern` of the script `latn` has.
    fn kerning(&self, gpos: usize) -> Vec<usize> {
        let list = |at: usize| gpos + self.usize(gpos + at);
        let (scripts, features, lookups) = (list(4), list(6), list(8));
        let records = (0..self.usize(scripts)).map(|i| scripts + 2 + 6 * i);
        let latin = records.into_iter().find(|r| self.bytes[*r..].starts_with(b"latn"));
        let script = scripts + self.usize(latin.expect("kerning of Latin letters") + 4);
        let language = script + self.usize(script);
        let mut out = Vec::new();
        for i in 0..self.usize(language + 4) {
            let record = features + 2 + 6 * self.usize(language + 6 + 2 * i);
            if !self.bytes[record..].starts_with(b"kern") {
                continue;
            }
            let feature = features + self.usize(record + 4);
            for i in 0..self.usize(feature + 2) {
                let lookup =
                    lookups + self.usize(lookups + 2 + 2 * self.usize(feature + 4 + 2 * i));
                let subtables = 0..self.usize(lookup + 4);
                out.extend(subtables.map(|i| lookup + self.usize(lookup + 6 + 2 * i)));
            }
        }
        out
    }

    /// The glyph of a character; for one that the font does not have, number 0, a box.
    fn glyph(&self, c: char) -> Id {
        let Ok(code) = u16::try_from(u32::from(c)) else { return 0 };
        let twice = self.usize(self.cmap + 6);
        let (ends, starts) = (self.cmap + 14, self.cmap + 16 + twice);
        let Some(i) = (0..twice).step_by(2).find(|i| self.u16(ends + i) >= code) else { return 0 };
        let start = self.u16(starts + i);
        if code < start {
            return 0;
        }
        let delta = self.u16(starts + twice + i);
        let range = starts + 2 * twice + i;
        match self.usize(range) {
            0 => code.wrapping_add(delta),
            offset => match self.u16(range + offset + 2 * usize::from(code - start)) {
                0 => 0,
                glyph => glyph.wrapping_add(delta),
            },
        }
    }

    /// How far the next glyph is from this one. Every glyph has a record of four bytes.
    fn width(&self, glyph: Id) -> i32 {
        i32::from(self.u16(self.hmtx + 4 * usize::from(glyph)))
    }

    /// What is to be added to the distance of two glyphs.
    fn kern(&self, left: Id, right: Id) -> i32 {
        self.kerning.iter().map(|table| i32::from(self.pair(*table, left, right))).sum()
    }

    /// The same by one subtable. Its values are one number per pair: the change of the first glyph's width.
    fn pair(&self, table: usize, left: Id, right: Id) -> i16 {
        let Some(index) = self.covered(table + self.usize(table + 2), left) else { return 0 };
        if self.u16(table) == 1 {
            let pairs = table + self.usize(table + 10 + 2 * index);
            let mut records = (0..self.usize(pairs)).map(|i| pairs + 2 + 4 * i);
            return records.find(|r| self.u16(*r) == right).map_or(0, |r| self.i16(r + 2));
        }
        let classes = [(8, left), (10, right)]
            .map(|(at, glyph)| self.class(table + self.usize(table + at), glyph));
        let columns = self.usize(table + 14);
        self.i16(table + 16 + 2 * (classes[0] * columns + classes[1]))
    }

    /// Which of the glyphs that a subtable is about this is.
    fn covered(&self, table: usize, glyph: Id) -> Option<usize> {
        let count = self.usize(table + 2);
        if self.u16(table) == 1 {
            return (0..count).find(|i| self.u16(table + 4 + 2 * i) == glyph);
        }
        let mut ranges = (0..count).map(|i| table + 4 + 6 * i);
        let range = ranges.find(|r| (self.u16(*r)..=self.u16(r + 2)).contains(&glyph))?;
        Some(self.usize(range + 4) + usize::from(glyph - self.u16(range)))
    }

    /// The class of a glyph; 0 is that of all which are not listed.
    fn class(&self, table: usize, glyph: Id) -> usize {
        if self.u16(table) == 1 {
            let index = usize::from(glyph).checked_sub(self.usize(table + 2));
            let listed = index.filter(|i| *i < self.usize(table + 4));
            return listed.map_or(0, |i| self.usize(table + 6 + 2 * i));
        }
        let mut ranges = (0..self.usize(table + 2)).map(|i| table + 4 + 6 * i);
        let range = ranges.find(|r| (self.u16(*r)..=self.u16(r + 2)).contains(&glyph));
        range.map_or(0, |r| self.usize(r + 4))
    }

    /// Adds the outline of a glyph whose origin is at `from`, in units of the font.
    fn draw(&self, glyph: Id, from: (i32, i32), scale: f32, out: &mut PathBuilder) {
        let place = |i: usize| self.offset(self.loca + 4 * i);
        let (start, end) = (place(usize::from(glyph)), place(usize::from(glyph) + 1));
        if start == end {
            return;
        }
        let at = self.glyf + start;
        match self.i16(at) {
            contours @ 0.. => {
                self.simple(at + 10, contours.unsigned_abs().into(), from, scale, out)
            }
            _ => self.compound(at + 10, from, scale, out),
        }
    }

    /// Adds the parts of a compound glyph, each moved to its place.
    fn compound(&self, mut at: usize, from: (i32, i32), scale: f32, out: &mut PathBuilder) {
        const WORDS: u16 = 1;
        const MORE: u16 = 0x20;
        loop {
            let (flags, part) = (self.u16(at), self.u16(at + 2));
            let (x, y) = if flags & WORDS != 0 {
                (self.i16(at + 4).into(), self.i16(at + 6).into())
            } else {
                let byte = |at: usize| i32::from(self.bytes[at].cast_signed());
                (byte(at + 4), byte(at + 5))
            };
            self.draw(part, (from.0 + x, from.1 + y), scale, out);
            if flags & MORE == 0 {
                return;
            }
            at += if flags & WORDS != 0 { 8 } else { 6 };
        }
    }

    /// Adds the contours of a glyph that has outlines of its own.
    fn simple(
        &self,
        at: usize,
        contours: usize,
        from: (i32, i32),
        scale: f32,
        out: &mut PathBuilder,
    ) {
        const ON: u8 = 1;
        const REPEAT: u8 = 8;
        let ends: Vec<usize> = (0..contours).map(|i| self.usize(at + 2 * i)).collect();
        let count = ends.last().map_or(0, |last| last + 1);
        let mut at = at + 2 * contours;
        at += 2 + self.usize(at);
        let mut flags = Vec::with_capacity(count);
        while flags.len() < count {
            let flag = self.bytes[at];
            at += 1;
            let mut times = 1;
            if flag & REPEAT != 0 {
                times += usize::from(self.bytes[at]);
                at += 1;
            }
            flags.extend(std::iter::repeat_n(flag, times));
        }
        // A coordinate is a step from the one before: a byte with its sign in the flag, nothing, or a word.
        let mut along = |start: i32, byte: u8, same: u8| -> Vec<i32> {
            let mut v = start;
            let steps = flags[..count].iter().map(|flag| {
                v += match (flag & byte != 0, flag & same != 0) {
                    (true, plus) => {
                        at += 1;
                        let step = i32::from(self.bytes[at - 1]);
                        if plus { step } else { -step }
                    }
                    (false, true) => 0,
                    (false, false) => {
                        at += 2;
                        self.i16(at - 2).into()
                    }
                };
                v
            });
            steps.collect()
        };
        let xs = along(from.0, 2, 0x10);
        let ys = along(from.1, 4, 0x20);
        let knots: Vec<Knot> = (0..count)
            // Fonts count upwards, pictures downwards.
            .map(|i| Knot {
                x: xs[i] as f32 * scale,
                y: -ys[i] as f32 * scale,
                on: flags[i] & ON != 0,
            })
            .collect();
        let mut start = 0;
        for end in ends {
            contour(&knots[start..=end], out);
            start = end + 1;
        }
    }

    /// A number of two bytes.
    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    /// A number of two bytes with a sign.
    fn i16(&self, at: usize) -> i16 {
        self.u16(at).cast_signed()
    }

    /// A number of two bytes that counts or places something.
    fn usize(&self, at: usize) -> usize {
        self.u16(at).into()
    }

    /// A number of four bytes that places something.
    fn offset(&self, at: usize) -> usize {
        (self.usize(at) << 16) | self.usize(at + 2)
    }
}

/// Adds a closed contour. Between two knots that it only bends towards, it goes through their middle.
fn contour(knots: &[Knot], out: &mut PathBuilder) {
    let (Some(first), Some(last)) = (knots.first(), knots.last()) else { return };
    let middle = |a: &Knot, b: &Knot| Knot { x: (a.x + b.x) / 2.0, y: (a.y + b.y) / 2.0, on: true };
    let start = match (first.on, last.on) {
        (true, _) => *first,
        (false, true) => *last,
        (false, false) => middle(first, last),
    };
    out.move_to(start.x, start.y);
    let mut bend: Option<Knot> = None;
    for knot in knots.iter().skip(usize::from(first.on)).chain([&start]) {
        match (bend, knot.on) {
            (None, true) => out.line_to(knot.x, knot.y),
            (Some(b), true) => out.quad_to(b.x, b.y, knot.x, knot.y),
            (Some(b), false) => {
                let to = middle(&b, knot);
                out.quad_to(b.x, b.y, to.x, to.y);
            }
            (None, false) => {}
        }
        bend = (!knot.on).then_some(*knot);
    }
    out.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn width(text: &str) -> f32 {
        outline(text, 1000.0, &mut PathBuilder::new())
    }

    fn bounds(text: &str) -> [f32; 4] {
        let mut out = PathBuilder::new();
        outline(text, 1000.0, &mut out);
        let b = out.finish().unwrap().bounds();
        [b.left(), b.top(), b.right(), b.bottom()]
    }

    // What FontTools reads from the same file.
    #[test]
    fn glyphs_are_as_wide_as_the_font_says_and_pairs_are_kerned() {
        assert_eq!(["H", "x", "0", "−", "λ"].map(width), [692.0, 499.0, 564.0, 564.0, 492.0]);
        // Pairs, by a list of pairs and by classes.
        assert_eq!(width("AV"), 641.0 + 624.0 - 50.0);
        assert_eq!(width("To"), 548.0 + 582.0 - 44.0);
        assert_eq!(width("L'"), 502.0 + 240.0 - 113.0);
        assert_eq!(width("11"), 2.0 * 564.0);
        assert_eq!(width(""), 0.0);
    }

    #[test]
    fn outlines_have_the_extent_that_the_font_says() {
        assert_eq!(bounds("H"), [90.0, -693.0, 602.0, 0.0]);
        assert_eq!(bounds("j"), [-63.0, -723.0, 166.0, 187.0]);
        // A letter and two dots.
        assert_eq!(bounds("Ä"), [10.0, -877.0, 631.0, 0.0]);
        assert_eq!(bounds("HH"), [90.0, -693.0, 692.0 + 602.0, 0.0]);
    }

    #[test]
    fn every_character_can_be_drawn() {
        let all: String = ('\0'..='\u{10ffff}').filter(|c| FONT.glyph(*c) != 0).collect();
        assert_eq!(all.chars().count(), 1194);
        assert!(width(&all) > 1e5);
        // A box for what the font does not have.
        assert_eq!(bounds("\u{4e00}"), bounds("\u{1f600}"));
    }
}
