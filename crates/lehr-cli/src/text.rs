//! Small pieces of text: numbers as a person reads them, durations, tables, and the way to stdout.

use std::io::{ErrorKind, Write};
use std::ops::Range;

use anyhow::Context;
use lehr::fit::{Searched, Tally};

use crate::look;

pub use lehr_plot::caption::{counted, rounded};
pub use lehr_report::quoted;

/// Writes what a person reads to stdout: lines as wide as the terminal, in letters that it has.
pub fn print(text: &str) -> anyhow::Result<()> {
    let text = look::width_of_stdout().map_or_else(|| text.into(), |width| folded(text, width));
    print_as_it_is(&if look::is_ascii() { lehr_plot::terminal::in_ascii(&text) } else { text })
}

/// Writes to stdout. A reader that has gone away, as `head` does, has seen enough: no error.
pub fn print_as_it_is(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| anyhow::anyhow!("stdout: cannot write: {e}")),
    }
}

/// What a person reads on stderr, in lines as wide as the terminal.
pub fn for_stderr(text: &str) -> String {
    look::width_of_stderr().map_or_else(|| text.into(), |width| folded(text, width))
}

/// Writes one JSON line to stdout.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_as_it_is(&(serde_json::to_string(value).context("cannot become JSON")? + "\n"))
}

/// A count with a noun whose plural is another word.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// An enumeration's name as the command line spells it.
pub fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|v| v.as_str().map(str::to_string))
        .unwrap_or_default()
}

/// A size in the unit a person would choose.
pub fn bytes(n: u64) -> String {
    let n = n as f64;
    match n {
        n if n < 1e3 => format!("{n} bytes"),
        n if n < 1e6 => format!("{} kB", rounded(n / 1e3, 3)),
        n if n < 1e9 => format!("{} MB", rounded(n / 1e6, 3)),
        _ => format!("{} GB", rounded(n / 1e9, 3)),
    }
}

/// Lines of at most `width` columns: longer ones are broken between words, and go on below what they say of their
/// name, as in `data      points.csv (300 items,`. Words that are longer stay whole.
pub fn folded(text: &str, width: usize) -> String {
    let fold = |line: &str| {
        if line.chars().count() <= width {
            return format!("{line}\n");
        }
        let indent = hanging(line).min(width / 2);
        // The blanks inside what stays on the first line are part of its layout.
        let at = line.char_indices().nth(indent).map_or(line.len(), |(at, _)| at);
        let (begin, rest) = line.split_at(at);
        wrapped(begin, rest.split_whitespace(), width)
    };
    let whole: String = text.lines().map(fold).collect();
    if text.ends_with('\n') { whole } else { whole.trim_end_matches('\n').to_string() }
}

/// Where the second line of a broken one starts: below what follows a name.
fn hanging(line: &str) -> usize {
    const LONGEST_NAME: usize = 24;
    let lead = line.chars().take_while(|c| *c == ' ').count();
    let after = |gap: &str| {
        let at = line.trim_start().find(gap)?;
        let behind = &line.trim_start()[at..];
        let blanks = behind.chars().skip(gap.trim_end().len()).take_while(|c| *c == ' ').count();
        let end = lead + line.trim_start()[..at].chars().count() + gap.trim_end().len() + blanks;
        (end <= LONGEST_NAME + 2).then_some(end)
    };
    after("  ").or_else(|| after(": ")).unwrap_or(lead)
}

/// Words that follow `begin`, broken into lines of at most `width` columns; further lines are as far
/// in as the first word.
pub fn wrapped<'a>(begin: &str, words: impl IntoIterator<Item = &'a str>, width: usize) -> String {
    let indent = begin.chars().count();
    let (mut text, mut used, mut first) = (begin.to_string(), indent, true);
    for word in words {
        let length = word.chars().count();
        if !first && used + 1 + length > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            (used, first) = (indent, true);
        }
        if !first {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        (used, first) = (used + length, false);
    }
    text.push('\n');
    text
}

/// A text of the user's as part of a line: what would break the line is spelled out.
pub fn in_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// The start of a text that is too long, with a sign that it is.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Parses a count.
pub fn parse_whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|x: &f64| *x >= 0.0 && x.fract() == 0.0);
        match number {
            Some(number) if is_whole || number >= 1e18 => {
                "the number is too large here".to_string()
            }
            Some(number) => format!("write it as a whole number: {number}"),
            None => "use a whole number, such as 10".to_string(),
        }
    })
}

/// Parses a seed, all of whose bits count.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    parse_whole(text).and_then(|seed: u128| match i64::try_from(seed) {
        Ok(_) => Ok(seed as u64),
        Err(_) => Err(format!("use a whole number up to {}, such as 10", i64::MAX)),
    })
}

/// Parses a number; what is allowed depends on the setting and is checked later.
pub fn parse_number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "use a number, such as 0.5 or 1e-6".to_string())
}

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
    let (whole, minutes) = (x.round() as u64, (x / 60.0).round() as u64);
    match x {
        x if x < 0.00095 => format!("{} ms", rounded(x * 1e3, 1)),
        x if x < 0.9995 => format!("{:.0} ms", x * 1e3),
        x if x < 99.95 => format!("{x:.1} s"),
        x if x < 7199.5 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

/// A number with six significant digits, in plain notation where that is short.
pub fn number(x: f64) -> String {
    rounded(x, 6)
}

/// How long the lines of a table are.
pub fn table_width(header: &[String], rows: &[Vec<String>]) -> usize {
    let widths = header.iter().enumerate().map(|(column, name)| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([name.chars().count()]).max().unwrap_or(0)
    });
    widths.map(|width| width + 2).sum::<usize>().saturating_sub(2)
}

/// Columns of text, the first aligned left and the others right, two blanks apart.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    aligned(header, rows, 0..1)
}

/// The same in at most `width` columns of the terminal: `spare` are the table's columns to leave out, one after the other,
/// until it fits.
pub fn narrowed(header: &[&str], rows: &[Vec<String>], spare: &[usize], width: usize) -> String {
    let without = |left_out: &[usize]| {
        let columns: Vec<usize> = (0..header.len()).filter(|c| !left_out.contains(c)).collect();
        let header: Vec<&str> = columns.iter().map(|&column| header[column]).collect();
        let row = |row: &Vec<String>| columns.iter().map(|&column| row[column].clone()).collect();
        table(&header, &rows.iter().map(row).collect::<Vec<Vec<String>>>())
    };
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= width);
    let tables = (0..spare.len()).map(|n| without(&spare[..n]));
    tables.into_iter().find(fits).unwrap_or_else(|| without(spare))
}

/// The same with some other columns aligned left.
pub fn aligned(header: &[&str], rows: &[Vec<String>], left: Range<usize>) -> String {
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
            line.push_str(if column == 0 { "" } else { "  " });
            if left.contains(&column) {
                line.push_str(&format!("{cell:<width$}"));
            } else {
                line.push_str(&format!("{cell:>width$}"));
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

/// What a search has done: a sentence, and a line for each kick.
pub fn search_lines(search: &Searched, bound: f64) -> Vec<String> {
    let tried =
        |tries: u32| if tries == 1 { "1 try".to_string() } else { format!("{tries} tries") };
    let (tries, wins) = search.tries();
    let passes = |passes: f64| number(passes.round());
    let spent = format!(
        "{} passes, {} of them the plain fit's",
        passes(search.passes),
        passes(search.passes_plain)
    );
    let found = match wins {
        0 => format!("nothing found in {}; {spent}", tried(tries)),
        _ => format!(
            "{} nats above the plain fit; {wins} of {} won; {spent}",
            number(bound - search.plain_bound),
            tried(tries)
        ),
    };
    let of_kick = |(kick, tally): (&String, &Tally)| {
        let Tally { tries, wins, passes: of } = tally;
        format!("          {kick:<12} {wins} of {} won, {} passes", tried(*tries), passes(*of))
    };
    let first = format!("search    {found}");
    std::iter::once(first).chain(search.kicks.iter().map(of_kick)).collect()
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
    fn whole_numbers_that_are_none_are_told_apart() {
        let said = |text: &str| parse_whole::<u64>(text).unwrap_err();
        assert_eq!(parse_whole::<u64>("12"), Ok(12));
        for text in ["18446744073709551616", "1e20", "1e300"] {
            assert_eq!(said(text), "the number is too large here", "{text}");
        }
        assert_eq!(said("1e3"), "write it as a whole number: 1000");
        for text in ["", "x", "1.5", "-3", "nan", "inf", "+"] {
            assert_eq!(said(text), "use a whole number, such as 10", "{text}");
        }
        let most = format!("use a whole number up to {}, such as 10", i64::MAX);
        for text in ["18446744073709551616", "9223372036854775808"] {
            assert_eq!(parse_seed(text), Err(most.clone()), "{text}");
        }
        assert_eq!(parse_seed("9223372036854775807"), Ok(i64::MAX as u64));
    }

    #[cfg(unix)]
    #[test]
    fn any_path_can_be_pasted_into_a_shell() {
        use std::os::unix::ffi::OsStrExt;
        let path = |bytes| std::path::Path::new(std::ffi::OsStr::from_bytes(bytes));
        assert_eq!(quoted(path(b"a b")), "'a b'");
        assert_eq!(quoted(path(b"lat\xe4 'x'")), "$'lat\\xe4 \\'x\\''");
    }

    #[test]
    fn texts_of_users_stay_on_their_line() {
        assert_eq!(in_line("a\tb\u{1b}[1mé"), "a\\tb\\u{1b}[1mé");
        assert_eq!((cut("Zürich", 6), cut("Zürichs", 6)), ("Zürich".into(), "Züric…".into()));
        let rows = [vec!["1".to_string(), "x".to_string()]];
        assert_eq!(aligned(&["rank", "item"], &rows, 1..2), "rank  item\n   1  x\n");
    }

    #[test]
    fn long_lines_are_broken_between_words_below_what_they_say() {
        let text = "data      /tmp/points.csv (300 items, 3 columns)\nshort\n";
        assert_eq!(
            folded(text, 40),
            "data      /tmp/points.csv (300 items, 3\n          columns)\nshort\n"
        );
        assert_eq!(folded(text, 80), text);
        assert_eq!(
            folded("held out: one two three", 16),
            "held out: one\n        two\n        three"
        );
        assert_eq!(
            folded("          as before and on", 22),
            "          as before\n          and on"
        );
        assert_eq!(folded("no name at all is here", 12), "no name at\nall is here");
        // A word is never broken.
        assert_eq!(folded("see /a/very/long/path", 8), "see\n/a/very/long/path");
    }

    #[test]
    fn times_read_well() {
        assert_eq!(seconds(0.0123), "12 ms");
        assert_eq!((seconds(0.00013), seconds(0.0)), ("0.1 ms".into(), "0 ms".into()));
        assert_eq!(seconds(125.0), "2 min 05 s");
        assert_eq!(seconds(179.7), "3 min 00 s");
        assert_eq!(seconds(7199.9), "2 h 00 min");
    }
}
