//! Draws line charts and bars with Unicode characters for the terminal.

use crate::ticks::{self, Ticks};

/// One line of a chart.
#[derive(Debug, Clone, Default)]
pub struct TermSeries {
    /// Name in the legend; empty for none.
    pub label: String,
    /// Points in drawing order; those that are not finite break the line.
    pub points: Vec<(f64, f64)>,
}

impl TermSeries {
    /// A line through `points`.
    pub fn new(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { label: label.into(), points: points.into_iter().collect() }
    }
}

/// The palette in the 256 colours that nearly every terminal has, bright enough for dark ones.
const COLOURS: [u8; 8] = [33, 202, 36, 175, 214, 117, 250, 227];
/// What tells lines apart without colour; ASCII, as every font draws it one cell wide.
const MARKERS: [char; 8] = ['o', 'x', '+', '*', '#', '@', '%', '&'];
/// Columns between markers on one line.
const MARKER_EVERY: usize = 12;
/// The dots of a braille cell by column and row, as bits above U+2800.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// One character of the plotting area.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Braille dots that are set.
    dots: u8,
    /// The series that set a dot last.
    owner: Option<usize>,
    /// Character shown instead of the dots.
    marker: Option<char>,
}

/// The plotting area: `columns × rows` characters of 2 × 4 dots.
struct Canvas {
    /// Characters across.
    columns: usize,
    /// Characters down.
    rows: usize,
    /// Row by row from the top left.
    cells: Vec<Cell>,
}

impl Canvas {
    /// An empty area.
    fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    /// Sets the dot at a position counted from the top left.
    fn dot(&mut self, x: i64, y: i64, owner: usize) {
        let inside = x >= 0 && y >= 0 && x < 2 * self.columns as i64 && y < 4 * self.rows as i64;
        if inside {
            let (x, y) = (x as usize, y as usize);
            let cell = &mut self.cells[y / 4 * self.columns + x / 2];
            cell.dots |= DOTS[x % 2][y % 4];
            cell.owner = Some(owner);
        }
    }

    /// Sets the dots on the way from one position to another.
    fn line(&mut self, from: (i64, i64), to: (i64, i64), owner: usize) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        for i in 0..=steps {
            let along =
                |a: i64, b: i64| a + ((b - a) as f64 * i as f64 / steps as f64).round() as i64;
            self.dot(along(from.0, to.0), along(from.1, to.1), owner);
        }
    }

    /// Puts a marker on every N columns of one line, out of step with the others'.
    fn mark(&mut self, owner: usize, of: usize) {
        let start = (2 * owner + 1) * MARKER_EVERY / (2 * of);
        let marker = Some(MARKERS[owner % MARKERS.len()]);
        for column in (start..self.columns).step_by(MARKER_EVERY) {
            let on = (0..self.rows).map(|r| r * self.columns + column);
            if let Some(i) = on.into_iter().find(|i| self.cells[*i].owner == Some(owner)) {
                self.cells[i].marker = marker;
            }
        }
        // A line too short to meet one of those columns is marked where it is.
        let marked = self.cells.iter().any(|c| c.owner == Some(owner) && c.marker.is_some());
        if let (false, Some(c)) = (marked, self.cells.iter_mut().find(|c| c.owner == Some(owner))) {
            c.marker = marker;
        }
    }

    /// The characters of one row.
    fn row(&self, row: usize, colour: bool) -> String {
        let mut out = String::new();
        let mut current = None;
        for cell in &self.cells[row * self.columns..(row + 1) * self.columns] {
            let owner = if colour { cell.owner } else { None };
            if owner != current {
                out.push_str(&match owner {
                    Some(o) => format!("\x1b[38;5;{}m", COLOURS[o % COLOURS.len()]),
                    None => "\x1b[0m".to_owned(),
                });
                current = owner;
            }
            out.push(match (cell.marker, cell.dots) {
                (Some(marker), _) => marker,
                (None, 0) => ' ',
                (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
            });
        }
        if current.is_some() {
            out.push_str("\x1b[0m");
        }
        out.trim_end().to_owned()
    }
}

/// The range of the finite values of all series, and whether there are any.
fn range(series: &[TermSeries], pick: fn(&(f64, f64)) -> f64) -> ((f64, f64), bool) {
    let drawn = series.iter().flat_map(|s| &s.points).filter(|p| finite(p));
    let (lo, hi) = drawn
        .map(pick)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
    (ticks::sane_range(lo, hi), lo <= hi)
}

/// Whether a point can be drawn.
fn finite(p: &(f64, f64)) -> bool {
    p.0.is_finite() && p.1.is_finite()
}

/// Where `v` lies in a range of `places` equal places; halves keep wide ranges from overflowing.
fn place(v: f64, (lo, hi): (f64, f64), places: usize) -> i64 {
    let last = places.saturating_sub(1) as f64;
    (((v / 2.0 - lo / 2.0) / (hi / 2.0 - lo / 2.0)).clamp(0.0, 1.0) * last).round() as i64
}

/// A line chart of at most `width` columns and `height` rows, axes and legend included.
///
/// Lines differ in colour, or without `colour` by a letter-like marker upon them.
/// The text ends with a line break.
pub fn chart(series: &[TermSeries], width: usize, height: usize, colour: bool) -> String {
    let (x_range, any) = range(series, |p| p.0);
    let (y_range, _) = range(series, |p| p.1);
    if !any {
        return "(no data)\n".to_owned();
    }
    let width = width.max(24);
    let legend = legend(series, width, colour);
    let noted =
        [x_range, y_range].into_iter().filter(|r| ticks::linear(r.0, r.1, 5).note.is_some());
    // Two rows for the horizontal axis; the plot never gets lower than four.
    let rows = height.saturating_sub(legend.len() + noted.count() + 2).max(4);

    let row_of = |v: f64| rows as i64 - 1 - place(v, y_range, 4 * rows) / 4;
    let y_ticks = ticks::fitting(
        rows.div_ceil(2).min(7),
        1.0,
        |n| ticks::linear(y_range.0, y_range.1, n),
        |v| row_of(v) as f64,
        |_| 1.0,
    );
    let gutter = y_ticks.labels.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let columns = width.saturating_sub(gutter + 2).max(8);
    let column_of = |v: f64| place(v, x_range, 2 * columns) / 2;
    let x_ticks = ticks::fitting(
        (columns / 9).min(8),
        2.0,
        |n| ticks::linear(x_range.0, x_range.1, n),
        |v| column_of(v) as f64,
        |l| l.chars().count() as f64,
    );

    let mut canvas = Canvas::new(columns, rows);
    for (owner, s) in series.iter().enumerate() {
        let spot = |p: &(f64, f64)| {
            let y = 4 * rows as i64 - 1 - place(p.1, y_range, 4 * rows);
            (place(p.0, x_range, 2 * columns), y)
        };
        for piece in s.points.split(|p| !finite(p)) {
            for (i, p) in piece.iter().enumerate() {
                canvas.line(spot(&piece[i.saturating_sub(1)]), spot(p), owner);
            }
        }
    }
    if !colour && series.len() > 1 {
        (0..series.len()).for_each(|owner| canvas.mark(owner, series.len()));
    }

    let mut out = String::new();
    let mut push = |line: &str| {
        out.push_str(line.trim_end());
        out.push('\n');
    };
    legend.iter().for_each(|line| push(line));
    if let Some(note) = &y_ticks.note {
        push(&format!("{:gutter$} {note}", ""));
    }
    for row in 0..rows {
        let tick = y_ticks.at.iter().position(|v| row_of(*v) == row as i64);
        let label = tick.map_or("", |i| &y_ticks.labels[i]);
        let edge = if tick.is_some() { '┤' } else { '│' };
        push(&format!("{label:>gutter$} {edge}{}", canvas.row(row, colour)));
    }
    let (rule, labels) = x_axis(&x_ticks, columns, gutter, column_of);
    push(&rule);
    push(&labels);
    out
}

/// The line under the plot and the labels under that.
fn x_axis(
    ticks: &Ticks,
    columns: usize,
    gutter: usize,
    column_of: impl Fn(f64) -> i64,
) -> (String, String) {
    let mut rule = vec!['─'; columns];
    let mut labels: Vec<char> = vec![' '; gutter + 2 + columns];
    let mut free = 0;
    for (v, label) in ticks.at.iter().zip(&ticks.labels) {
        let column = column_of(*v) as usize;
        rule[column] = '┴';
        let length = label.chars().count();
        let start = (gutter + 2 + column).saturating_sub(length / 2);
        let start = start.min(labels.len().saturating_sub(length)).max(free);
        if start + length <= labels.len() {
            labels[start..start + length].iter_mut().zip(label.chars()).for_each(|(a, b)| *a = b);
            free = start + length + 1;
        }
    }
    let mut labels: String = labels.into_iter().collect();
    if let Some(note) = &ticks.note {
        labels = format!("{}\n{:>w$}", labels.trim_end(), note, w = gutter + 2 + columns);
    }
    (format!("{:gutter$} └{}", "", rule.iter().collect::<String>()), labels)
}

/// The names of the series, as many to a line as fit.
fn legend(series: &[TermSeries], width: usize, colour: bool) -> Vec<String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (i, s) in series.iter().enumerate().filter(|(_, s)| !s.label.is_empty()) {
        let sample = match (colour, series.len()) {
            (true, _) => format!("\x1b[38;5;{}m──\x1b[0m", COLOURS[i % COLOURS.len()]),
            (false, 1) => "──".to_owned(),
            (false, _) => format!("─{}─", MARKERS[i % MARKERS.len()]),
        };
        let mut label = s.label.clone();
        if label.chars().count() + 6 > width {
            label = label.chars().take(width - 7).chain(['…']).collect();
        }
        let length = label.chars().count() + 4;
        match lines.last_mut() {
            Some((used, line)) if *used + length + 4 <= width => {
                *used += length + 3;
                line.push_str(&format!("   {sample} {label}"));
            }
            _ => lines.push((length + 2, format!("  {sample} {label}"))),
        }
    }
    lines.into_iter().map(|l| l.1).collect()
}

/// A horizontal bar for a row of a table: `value` of `max` on `width` columns, in eighths.
///
/// Anything above zero shows, however small; what is not a number gives an empty bar.
pub fn histogram_bar(value: f64, max: f64, width: usize) -> String {
    let share = value / max;
    if share.is_nan() || value <= 0.0 || max <= 0.0 {
        return String::new();
    }
    let eighths = (share.clamp(0.0, 1.0) * 8.0 * width as f64).round().max(1.0) as usize;
    let eighths = eighths.min(8 * width);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(['▏', '▎', '▍', '▌', '▋', '▊', '▉'].get((eighths % 8).wrapping_sub(1)));
    bar
}

/// The same text without the characters of charts and bars that ASCII lacks: others of the same width take their
/// places. Letters stay as they are.
pub fn in_ascii(text: &str) -> String {
    text.chars().map(ascii_of).collect()
}

fn ascii_of(c: char) -> char {
    match c {
        '─' | '−' => '-',
        '×' => 'x',
        '│' => '|',
        '┤' | '┴' | '└' => '+',
        '…' => '~',
        '█' | '▉' | '▊' | '▋' | '▌' => '#',
        '▍' | '▎' | '▏' => ':',
        '\u{2801}'..='\u{28ff}' => {
            // Whether each of the four rows has a dot.
            let dots = (c as u32 - 0x2800) as u8;
            match [0, 1, 2, 3].map(|row| dots & (DOTS[0][row] | DOTS[1][row]) != 0) {
                [true, false, false, false] => '\'',
                [_, _, false, false] | [false, _, _, false] => '-',
                [false, false, false, true] => '_',
                [false, false, _, _] => '.',
                _ => ':',
            }
        }
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths of all lines without escape sequences.
    fn widths(chart: &str) -> Vec<usize> {
        let visible = |line: &str| {
            let mut escaped = false;
            line.chars()
                .filter(|c| {
                    let skip = escaped || *c == '\x1b';
                    escaped = skip && *c != 'm';
                    !skip
                })
                .count()
        };
        chart.lines().map(visible).collect()
    }

    #[test]
    fn a_known_line_looks_as_it_should() {
        let line = TermSeries::new("square", (0..=10).map(|i| (f64::from(i), f64::from(i * i))));
        let expected = [
            "  ── square",
            "100 ┤                                ⢀⡠⠊",
            "    │                              ⣀⠔⠁",
            "    │                           ⢀⠤⠊",
            " 50 ┤                        ⢀⡠⠊⠁",
            "    │                     ⣀⠤⠒⠁",
            "    │                 ⣀⠤⠒⠉",
            "    │           ⢀⣀⡠⠤⠒⠉",
            "  0 ┤⣀⣀⣀⣀⣀⡠⠤⠤⠒⠒⠉⠁",
            "    └┴────────────────┴────────────────┴",
            "     0                5               10",
        ];
        assert_eq!(chart(&[line], 40, 11, false).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_are_told_apart_by_colour_or_by_marker() {
        let lines: Vec<TermSeries> = (0..3)
            .map(|k| {
                TermSeries::new(format!("s{k}"), (0..50).map(|i| (f64::from(i), f64::from(k))))
            })
            .collect();
        let (plain, coloured) = (chart(&lines, 80, 16, false), chart(&lines, 80, 16, true));
        assert!(!plain.contains('\x1b'));
        for k in 0..3 {
            // Once in the legend and again on the line.
            assert!(plain.matches(MARKERS[k]).count() > 2, "{plain}");
            assert!(coloured.matches(&format!("\x1b[38;5;{}m", COLOURS[k])).count() >= 2);
        }
        for chart in [plain, coloured] {
            assert!(widths(&chart).iter().all(|w| *w <= 80), "{chart}");
            assert_eq!(chart.lines().count(), 16);
        }
    }

    #[test]
    fn a_lone_point_among_lines_is_marked() {
        let line = TermSeries::new("", (0..50).map(|i| (f64::from(i), f64::from(i))));
        let point = TermSeries::new("", [(3.0, 40.0)]);
        assert_eq!(chart(&[line, point], 80, 16, false).matches('x').count(), 1);
    }

    #[test]
    fn degenerate_input_gives_something_sensible() {
        let nan = f64::NAN;
        assert_eq!(chart(&[], 80, 20, true), "(no data)\n");
        assert_eq!(chart(&[TermSeries::default()], 80, 20, true), "(no data)\n");
        let lost = TermSeries::new("", [(nan, 1.0), (0.0, f64::INFINITY)]);
        assert_eq!(chart(&[lost], 80, 20, true), "(no data)\n");
        for points in [
            vec![(1.0, 2.0)],
            vec![(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)],
            vec![(0.0, 1.0), (1.0, nan), (2.0, f64::NEG_INFINITY), (3.0, 2.0)],
            vec![(-1e308, -1e308), (1e308, 1e308)],
            vec![(0.0, 0.0), (1e-320, 1e-320)],
            vec![(1e9, 1e9), (1e9 + 0.01, 1e9 + 0.01)],
        ] {
            for (width, height) in [(80, 20), (24, 6), (0, 0)] {
                let name = "a name too long for one line ".repeat(4);
                let text = chart(&[TermSeries::new(name, points.clone())], width, height, false);
                assert!(text.lines().count() <= height.max(9), "{text}");
                assert!(text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{text}");
                assert!(widths(&text).iter().all(|w| *w <= width.max(24)), "{text}");
            }
        }
    }

    #[test]
    fn charts_and_bars_have_a_form_in_ascii() {
        let line = TermSeries::new("square", (0..=10).map(|i| (f64::from(i), f64::from(i * i))));
        let text = chart(&[line], 40, 11, false);
        let ascii = in_ascii(&text);
        assert!(ascii.is_ascii(), "{ascii}");
        assert_eq!(widths(&ascii), widths(&text));
        assert_eq!(ascii.lines().nth(8).unwrap(), "  0 +_____.----''");
        assert_eq!(in_ascii(&histogram_bar(0.5, 1.0, 3)), "##");
        assert_eq!(in_ascii("Zürich"), "Zürich");
    }

    #[test]
    fn bars_are_measured_in_eighths() {
        assert_eq!(histogram_bar(1.0, 1.0, 3), "███");
        assert_eq!(histogram_bar(0.5, 1.0, 3), "█▌");
        assert_eq!(histogram_bar(1e-9, 1.0, 3), "▏");
        assert_eq!(histogram_bar(7.0, 1.0, 3), "███");
        assert_eq!(histogram_bar(f64::INFINITY, 1.0, 3), "███");
        for (value, max) in [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN)]
        {
            assert_eq!(histogram_bar(value, max, 3), "");
        }
        assert_eq!(histogram_bar(1.0, 1.0, 0), "");
    }
}
