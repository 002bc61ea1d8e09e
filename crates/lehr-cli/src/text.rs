//! Small pieces of text: numbers as a person reads them, durations, tables.

/// Parses seconds: `90`, `90s`, `5m`, `2h`.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x * unit),
        _ => Err(format!("'{text}' is not a time: use seconds (90), 90s, 5m or 2h")),
    }
}

/// Seconds in the unit a person would choose.
pub fn seconds(x: f64) -> String {
    match x {
        x if x < 1.0 => format!("{:.0} ms", x * 1e3),
        x if x < 100.0 => format!("{x:.1} s"),
        x if x < 7200.0 => format!("{:.0} min {:02.0} s", (x / 60.0).floor(), x % 60.0),
        x => format!("{:.0} h {:02.0} min", (x / 3600.0).floor(), (x % 3600.0) / 60.0),
    }
}

/// A number with six significant digits, in plain notation where that is short.
pub fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let digits = x.abs().log10().floor() as i32;
    if !(-4..9).contains(&digits) {
        return format!("{x:.4e}");
    }
    let decimals = (5 - digits).clamp(0, 6) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// Columns of text, the first aligned left and the others right, two blanks apart.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([header[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            if column == 0 {
                line.push_str(&format!("{cell:<width$}"));
            } else {
                line.push_str(&format!("  {cell:>width$}"));
            }
        }
        line.trim_end().to_string() + "\n"
    };
    let mut text = line(header.to_vec());
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_and_refused() {
        assert_eq!(parse_seconds("90"), Ok(90.0));
        assert_eq!(parse_seconds("1.5m"), Ok(90.0));
        assert_eq!(parse_seconds("2h"), Ok(7200.0));
        for text in ["", "x", "-3", "0", "5d", "m"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_read_well() {
        for (x, text) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (-1221700.25, "-1221700"),
            (0.000123456, "0.000123"),
            (1e-9, "1.0000e-9"),
            (3.0, "3"),
            (1e12, "1.0000e12"),
        ] {
            assert_eq!(number(x), text);
        }
        assert_eq!(seconds(0.0123), "12 ms");
        assert_eq!(seconds(125.0), "2 min 05 s");
    }
}
