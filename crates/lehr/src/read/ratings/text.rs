//! Reads ratings from text, block by block on all threads; from the first quote on, record by record.

use std::path::Path;

use super::super::records::{Records, Separator, blank_split};
use super::super::source::{Source, empty};
use super::batch::{Batch, Fault};
use super::blocks::Blocks;
use super::builder::Builder;
use super::layout::Layout;
use super::lines::{self, Cut, Parsed, is_blank};
use super::{NEEDED, RatingsOptions};
use crate::{Error, Result};

/// How many records are collected before their ids are numbered.
const RECORDS: usize = 1 << 14;
/// More blocks at a time than this only take memory.
const MOST_BLOCKS: usize = 16;

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
        if !blocks.read(&mut block)? {
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
    let layout = Layout::of_text(path, options, &cut.cells(&first), line, cut.name())?;
    let mut skip = from;
    if layout.has_names() {
        skip = (from + first.len() + 1).min(block.len());
        line += 1;
    }
    block.drain(..skip);
    let fast = Fast { path, layout, cut, builder };
    match fast.read(blocks, block, line)? {
        None => Ok(()),
        Some((records, layout)) => read_records(path, records, Some(layout), options, builder),
    }
}

fn has_quotes(cut: Cut, block: &[u8]) -> bool {
    cut != Cut::Colons && block.contains(&b'"')
}

struct Fast<'a, 'b> {
    path: &'a Path,
    layout: Layout,
    cut: Cut,
    builder: &'b mut Builder,
}

impl<'a> Fast<'a, '_> {
    /// Reads to the end, or to the first block with quotes, from which on records have to be read.
    fn read(
        self,
        mut blocks: Blocks<'a>,
        first: Vec<u8>,
        mut line: u64,
    ) -> Result<Option<(Records<'a>, Layout)>> {
        let (layout, cut) = (&self.layout, self.cut);
        let n_blocks = rayon::current_num_threads().clamp(1, MOST_BLOCKS);
        let mut current = vec![first];
        let mut spare = Vec::new();
        let mut quoted = None;
        while !current.is_empty() {
            let mut parsed: Vec<Option<Parsed>> = current.iter().map(|_| None).collect();
            // While these blocks are parsed, the next ones are read and perhaps unpacked.
            let next = rayon::in_place_scope(|scope| {
                for (block, place) in current.iter().zip(&mut parsed) {
                    scope.spawn(move |_| *place = Some(lines::parse(block, layout, cut)));
                }
                let mut next = Vec::with_capacity(n_blocks);
                while quoted.is_none() && next.len() < n_blocks {
                    let mut block = spare.pop().unwrap_or_default();
                    match blocks.read(&mut block) {
                        Ok(true) if has_quotes(cut, &block) => quoted = Some(block),
                        Ok(true) => next.push(block),
                        Ok(false) => break,
                        Err(error) => return Err(error),
                    }
                }
                Ok(next)
            });
            let mut batches = Vec::with_capacity(parsed.len());
            for part in parsed.into_iter().flatten() {
                if let Some(fault) = part.fault {
                    return Err(located(self.path, layout, line, fault));
                }
                batches.push((part.batch, line));
                line += part.n_lines;
            }
            self.builder.add(self.path, &batches)?;
            spare.append(&mut current);
            current = next?;
        }
        let Some(block) = quoted else { return Ok(None) };
        let separator = match cut {
            Cut::Byte(byte) => Separator::Byte(byte),
            Cut::Colons => Separator::Blanks,
        };
        let records = Records::resumed(blocks.into_source(block), separator, line);
        Ok(Some((records, self.layout)))
    }
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
    let (mut kept, mut n_cells): ([&[u8]; 3], _) = ([b""; 3], 0);
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
