//! Splits lines without quotes: the way of nearly all ratings, so it is the fast one.

use memchr::memchr2;

use super::super::digits::{Last, decimal, leading};
use super::super::records::{Separator, has_colons, is_blank};
use super::batch::{Batch, Fault};
use super::layout::{Layout, NONE};

/// What stands between two cells of a line without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Two colons, as MovieLens writes them.
    Colons,
    Byte(u8),
}

impl Cut {
    /// What separates a file with this first line; `None` if blanks do.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        if has_colons(line) {
            return Some(Cut::Colons);
        }
        match Separator::of(line) {
            Separator::Byte(byte) => Some(Cut::Byte(byte)),
            Separator::Blanks => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Cut::Colons => "::",
            Cut::Byte(byte) => Separator::Byte(byte).name(),
        }
    }

    /// The cells of a line.
    pub(super) fn cells(self, line: &[u8]) -> Vec<Vec<u8>> {
        let mut cells = Vec::new();
        let mut keep = |_, cell: &[u8]| cells.push(cell.to_vec());
        match self {
            Cut::Colons => split_line::<true>(line, 0, b':', &mut keep),
            Cut::Byte(byte) => split_line::<false>(line, 0, byte, &mut keep),
        };
        cells
    }
}

/// The ratings of a block of lines, how many lines it has, and the first fault, if there is any.
pub(super) struct Parsed {
    pub batch: Batch,
    pub n_lines: u64,
    pub fault: Option<Fault>,
}

pub(super) fn parse(block: &[u8], layout: &Layout, cut: Cut) -> Parsed {
    match cut {
        Cut::Colons => parse_lines::<true>(block, layout, b':'),
        Cut::Byte(byte) => parse_lines::<false>(block, layout, byte),
    }
}

fn parse_lines<const TWICE: bool>(block: &[u8], layout: &Layout, separator: u8) -> Parsed {
    // A rating takes some 20 bytes; a guess too low only costs time.
    let batch = Batch::with_capacity(block.len() / 20 + 1);
    let mut parsed = Parsed { batch, n_lines: 0, fault: None };
    let (mut start, mut last) = (0, Last::none());
    while start < block.len() {
        let line = parsed.n_lines;
        parsed.n_lines += 1;
        if let Some((ids, value, end)) =
            plain_line::<TWICE>(block, start, separator, layout, &mut last)
            && parsed.batch.push_plain(line, ids, value)
        {
            start = end + 1;
            continue;
        }
        let mut cells: [&[u8]; 4] = [b""; 4];
        let (n_cells, end) = split_line::<TWICE>(block, start, separator, &mut |column, cell| {
            for (kept, &place) in cells.iter_mut().zip(&layout.places) {
                if column == place {
                    *kept = cell;
                }
            }
        });
        let blank = n_cells == 1 && is_blank(&block[start..end]);
        start = end + 1;
        if blank {
            continue;
        }
        if let Err(fault) = parsed.batch.push(layout, line, n_cells, cells) {
            parsed.fault = Some(fault);
            break;
        }
    }
    parsed
}

/// User, item and rating of the line that starts at `at`, and where it ends, if it is as nearly every line is: both ids
/// whole numbers that print as they are written, no blanks around anything, and what else there is behind them.
#[inline(always)]
fn plain_line<const TWICE: bool>(
    text: &[u8],
    mut at: usize,
    separator: u8,
    layout: &Layout,
    last: &mut Last,
) -> Option<([i64; 2], f32, usize)> {
    if layout.places != [0, 1, 2, NONE] {
        return None;
    }
    let cut = |at: usize| {
        let is_cut =
            text.get(at) == Some(&separator) && (!TWICE || text.get(at + 1) == Some(&separator));
        is_cut.then_some(at + 1 + usize::from(TWICE))
    };
    let mut ids = [0; 2];
    for (side, id) in ids.iter_mut().enumerate() {
        // Files are often sorted by the first of the sides.
        let rest = &text[at..];
        let (number, length) = if side == 0 { last.leading(rest) } else { leading(rest) };
        // Not every number of 19 digits is an `i64`, and a zero before other digits is part of a name.
        if length == 0 || length > 18 || text[at] == b'0' && length > 1 {
            return None;
        }
        *id = number as i64;
        at = cut(at + length)?;
    }
    let (value, length) = decimal(text.get(at..)?)?;
    at += length;
    for _ in 3..layout.n_columns {
        at = cut(at)?;
        at += memchr2(separator, b'\n', &text[at..]).unwrap_or(text.len() - at);
    }
    at += usize::from(text[at..].starts_with(b"\r\n"));
    let value = value as f32;
    (value.is_finite() && text.get(at).is_none_or(|&end| end == b'\n')).then_some((ids, value, at))
}

/// Hands out the cells of the line that starts at `start`; how many, and where the line ends.
#[inline(always)]
fn split_line<'t, const TWICE: bool>(
    text: &'t [u8],
    start: usize,
    separator: u8,
    see: &mut impl FnMut(usize, &'t [u8]),
) -> (usize, usize) {
    let (mut column, mut begin, mut at) = (0, start, start);
    loop {
        match text.get(at) {
            None | Some(b'\n') => {
                let cell = &text[begin..at];
                see(column, cell.strip_suffix(b"\r").unwrap_or(cell));
                return (column + 1, at);
            }
            Some(&byte)
                if byte == separator && (!TWICE || text.get(at + 1) == Some(&separator)) =>
            {
                see(column, &text[begin..at]);
                column += 1;
                at += usize::from(TWICE);
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_are_told_from_separators_in_texts() {
        assert_eq!(Cut::of(b"1::2::3::4"), Some(Cut::Colons));
        assert_eq!(Cut::of(b"1::a, b::3"), Some(Cut::Colons));
        assert_eq!(Cut::of(b"a::b\t2::c\t3"), Some(Cut::Byte(b'\t')));
        assert_eq!(Cut::of(b"\"a::b::c\",2,3"), Some(Cut::Byte(b',')));
        assert_eq!(Cut::of(b"1,\"a::b::c\",3"), Some(Cut::Byte(b',')));
        assert_eq!(Cut::of(b"a::b,2,3"), Some(Cut::Byte(b',')));
        assert_eq!(Cut::of(b"1 2 3"), None);
    }

    #[test]
    fn cells_end_at_separators_only() {
        assert_eq!(Cut::Colons.cells(b"a:b::c::\r"), [&b"a:b"[..], b"c", b""]);
        assert_eq!(Cut::Byte(b',').cells(b",a b,"), [&b""[..], b"a b", b""]);
    }
}
