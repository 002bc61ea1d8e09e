//! Estimates how wide text will be, wraps it, cleans it, and escapes it for XML.

/// Families that a viewer of the SVG tries in turn; the PNG has the embedded font.
pub const FONT_STACK: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// Width in pixels that `text` takes at a font size of `size` pixels.
///
/// The viewer of an SVG may not have the font that we would measure, so this is a
/// class-wise estimate on the wide side of the usual sans-serif faces.
pub fn width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '\'' | '|' => 0.25,
            'f' | 't' | 'r' | 'I' | ' ' | '.' | ',' | ':' | ';' | '(' | ')' | '-' | '/' => 0.33,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.87,
            '0'..='9' | 'a'..='z' => 0.56,
            '+' | '−' | '×' | '=' | '<' | '>' => 0.59,
            // Ideographs and other wide scripts fill a square.
            c if c as u32 >= 0x1100 => 1.0,
            _ => 0.68,
        })
        .sum();
    em * size
}

/// Breaks `text` at spaces into lines no wider than `room` pixels, as far as words allow.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + 0.33 * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Drops what has no glyph: the control characters that XML 1.0 forbids, and breaks within a line.
pub fn clean(text: &str) -> String {
    let space = |c| if matches!(c, '\n' | '\t' | '\r') { ' ' } else { c };
    let drawn = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(space).filter(drawn).collect()
}

/// Escapes markup.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_word_within_the_room() {
        let text = "one two three four five six seven eight nine ten";
        let lines = wrap(text, 10.0, 80.0);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|l| width(l, 10.0) <= 80.0));
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrap("unbreakable", 10.0, 1.0), ["unbreakable"]);
        assert!(wrap("", 10.0, 80.0).is_empty());
    }

    #[test]
    fn markup_and_control_characters_are_made_harmless() {
        let clean = clean("a<b & \"c\"\u{0}\u{1b}\n");
        assert_eq!(escape(&clean), "a&lt;b &amp; &quot;c&quot; ");
    }
}
