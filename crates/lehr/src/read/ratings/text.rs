//! Reads ratings from text, block by block on all threads; from the first quote on, record by record.

use std::path::Path;

use memchr::memchr;

use super::super::blocks::Blocks;
use super::super::records::{Records, Separator, blank_split, is_blank};
use super::super::source::{Source, empty};
use super::batch::{Batch, Fault};
use super::builder::Builder;
use super::layout::Layout;
use super::lines::{self, Cut, Parsed};
use super::{NEEDED, RatingsOptions};
use crate::{Error, Result};

/// How many records are collected before their ids are numbered.
const RECORDS: usize = 1 << 14;

pub(super) fn read(
    source: Source<'_>,
    options: &RatingsOptions,
    builder: &mut Builder,
) -> Result<()> {
    let path = source.path;
    let mut blocks = Blocks::new(source);
    let mut block = Vec::new();
    let mut line = 1;
    // The first line that says something.
    let (from, first) = loop {
        if !blocks.read(&mut block) {
            blocks.check_end("rating")?;
            return Err(empty(path, &NEEDED));
        }
        let mut start = 0;
        let found = block.split_inclusive(|&byte| byte == b'\n').find_map(|text| {
            let first = text.strip_suffix(b"\n").unwrap_or(text);
            let found = (!is_blank(first)).then(|| (start, first.to_vec()));
            line += u64::from(found.is_none());
            start += text.len();
            found
        });
        if let Some(found) = found {
            break found;
        }
    };
    let cut = Cut::of(&first);
    let Some(cut) = cut.filter(|&cut| !has_quotes(cut, &block)) else {
        block.drain(..from);
        let records = Records::starting(blocks.into_source(block), line);
        return read_records(path, records, None, options, builder);
    };
    let options = &builder.for_cells(options, &cut.cells(&first));
    let layout = Layout::of_text(path, options, &cut.cells(&first), line, cut.name())?;
    let mut skip = from;
    if layout.has_names() {
        skip = (from + first.len() + 1).min(block.len());
        line += 1;
    }
    block.drain(..skip);
    // Up to the first block with quotes, from which on records have to be read.
    let take = |parsed: Option<Parsed>| {
        let Some(Parsed { batch, n_lines, fault }) = parsed else { return Ok(false) };
        if let Some(fault) = fault {
            return Err(located(path, &layout, line, fault));
        }
        builder.add(path, &[(batch, line)])?;
        line += n_lines;
        Ok(true)
    };
    let parse = |block: &[u8]| (!has_quotes(cut, block)).then(|| lines::parse(block, &layout, cut));
    let left = blocks.parse(block, parse, take)?;
    let separator = match cut {
        _ if left.is_empty() => return blocks.check_end("rating"),
        Cut::Byte(byte) => Separator::Byte(byte),
        Cut::Colons => Separator::Blanks,
    };
    let records = Records::resumed(blocks.into_source(left), separator, line);
    read_records(path, records, Some(layout), options, builder)
}

fn has_quotes(cut: Cut, block: &[u8]) -> bool {
    cut != Cut::Colons && memchr(b'"', block).is_some()
}

/// Reads on record by record; without a layout, the first record decides on it.
fn read_records(
    path: &Path,
    mut records: Records<'_>,
    layout: Option<Layout>,
    options: &RatingsOptions,
    builder: &mut Builder,
) -> Result<()> {
    let mut at_record = records.read_record()?;
    let layout = match layout {
        Some(layout) => layout,
        None => {
            let cells = records.cells()?;
            let name = records.separator.name();
            let options = &builder.for_cells(options, &cells);
            let layout = Layout::of_text(path, options, &cells, records.line, name)?;
            if layout.has_names() {
                at_record = records.read_record()?;
            }
            layout
        }
    };
    let mut batch = Batch::default();
    while at_record {
        let pushed = if records.split_quoted()? {
            push(&mut batch, &layout, records.line, records.quoted.iter())
        } else {
            let (line, text) = (records.line, &records.text);
            match records.separator {
                Separator::Byte(byte) => {
                    push(&mut batch, &layout, line, text.split(|&b| b == byte))
                }
                Separator::Blanks => push(&mut batch, &layout, line, blank_split(text)),
            }
        };
        pushed.map_err(|fault| located(path, &layout, 0, fault))?;
        if batch.len() >= RECORDS {
            builder.add(path, &[(std::mem::take(&mut batch), 0)])?;
        }
        at_record = records.read_record()?;
    }
    builder.add(path, &[(batch, 0)])
}

fn push<'c>(
    batch: &mut Batch,
    layout: &Layout,
    line: u64,
    cells: impl Iterator<Item = &'c [u8]>,
) -> Result<(), Fault> {
    let (mut kept, mut n_cells): ([&[u8]; 4], _) = ([b""; 4], 0);
    for cell in cells {
        for (kept, &place) in kept.iter_mut().zip(&layout.places) {
            if n_cells == place {
                *kept = cell;
            }
        }
        n_cells += 1;
    }
    batch.push(layout, line, n_cells, kept)
}

fn located(path: &Path, layout: &Layout, first_line: u64, fault: Fault) -> Error {
    let column = fault.role.map(|role| layout.label(role));
    Error::parse_at(path, first_line + fault.line, column, fault.message)
}
