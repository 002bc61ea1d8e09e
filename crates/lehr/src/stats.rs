//! The summed statistics of a batch, for the rows of lambda that the batch touches.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::math::table::Table;

/// Some rows of lambda, rising, and how many items of the batch touch each. A row's place among them
/// is its slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub struct RowSet {
    n_rows: usize,
    /// All rows; the lists below stay empty.
    all: bool,
    rows: Vec<u32>,
    /// How many items touch the row of each slot.
    counts: Vec<u32>,
    /// The slot of each row that is in `rows`; anything for the others. While rows are being
    /// inserted, their counts.
    slots: Vec<u32>,
    /// One bit per row, while rows are being inserted.
    marks: Vec<u64>,
}

/// A set as it is sent: nothing in it is as long as there are rows.
#[derive(Serialize, Deserialize)]
struct Listed {
    n_rows: usize,
    /// The rows, and how many items touch each; none if all are in the set.
    rows: Option<(Vec<u32>, Vec<u32>)>,
}

impl From<RowSet> for Listed {
    fn from(set: RowSet) -> Self {
        Listed { n_rows: set.n_rows, rows: (!set.all).then_some((set.rows, set.counts)) }
    }
}

impl From<Listed> for RowSet {
    fn from(listed: Listed) -> Self {
        let mut set = RowSet::all(listed.n_rows);
        if let Some((rows, counts)) = listed.rows {
            set.collect_counted(|touch| rows.iter().zip(&counts).for_each(|(&r, &n)| touch(r, n)));
        }
        set
    }
}

impl RowSet {
    /// All of `n_rows` rows.
    pub fn all(n_rows: usize) -> Self {
        RowSet {
            n_rows,
            all: true,
            rows: Vec::new(),
            counts: Vec::new(),
            slots: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Holds all rows from now on.
    pub fn insert_all(&mut self) {
        self.all = true;
    }

    /// Collects the rows that `touch` names, each as often as it is named. Memory is reused; the
    /// cost is that of the calls, plus a look at one bit per row there is.
    pub fn collect(&mut self, touch: impl FnOnce(&mut dyn FnMut(&[u32]))) {
        self.open();
        let (slots, marks) = (&mut self.slots, &mut self.marks);
        touch(&mut |rows| rows.iter().for_each(|&row| count(slots, marks, row, 1)));
        self.close();
    }

    /// The same, each row being named with how often items touch it.
    pub fn collect_counted(&mut self, touch: impl FnOnce(&mut dyn FnMut(u32, u32))) {
        self.open();
        let (slots, marks) = (&mut self.slots, &mut self.marks);
        touch(&mut |row, times| count(slots, marks, row, times));
        self.close();
    }

    fn open(&mut self) {
        self.all = false;
        self.slots.resize(self.n_rows, 0);
        self.marks.resize(self.n_rows.div_ceil(64), 0);
        self.rows.clear();
        self.counts.clear();
    }

    /// Puts the rows that were counted into their order.
    fn close(&mut self) {
        for (word, mark) in self.marks.iter_mut().enumerate() {
            let mut left = std::mem::take(mark);
            while left != 0 {
                let row = word as u32 * 64 + left.trailing_zeros();
                left &= left - 1;
                self.counts.push(self.slots[row as usize]);
                self.slots[row as usize] = self.rows.len() as u32;
                self.rows.push(row);
            }
        }
    }

    /// Whether it holds all rows there are, whatever the items.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        if self.all { self.n_rows } else { self.rows.len() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of a slot.
    #[inline]
    pub fn row(&self, slot: usize) -> usize {
        if self.all { slot } else { self.rows[slot] as usize }
    }

    /// How many slots have rows below this one.
    pub fn slots_below(&self, row: usize) -> usize {
        match self.all {
            true => row.min(self.n_rows),
            false => self.rows.partition_point(|&r| (r as usize) < row),
        }
    }

    /// The slot of a row that is in the set; meaningless for others.
    #[inline]
    pub fn slot(&self, row: usize) -> usize {
        if self.all { row } else { self.slots[row] as usize }
    }

    /// How many slots are gathered together, `width` being the numbers per row: enough parts to keep
    /// many threads busy, and none too small to be worth a thread's while. A power of 2.
    pub fn part(&self, width: usize) -> usize {
        const PARTS: usize = 64;
        self.len().div_ceil(PARTS).max(1024 / width.max(1)).next_power_of_two()
    }

    /// How many items touch the row of a slot; `None` if all rows are touched by all items.
    pub fn count(&self, slot: usize) -> Option<u32> {
        if self.all { None } else { Some(self.counts[slot]) }
    }
}

/// Counts a row that items touch.
#[inline]
fn count(slots: &mut [u32], marks: &mut [u64], row: u32, times: u32) {
    let (word, bit) = (row as usize / 64, 1u64 << (row % 64));
    let count = &mut slots[row as usize];
    if marks[word] & bit == 0 {
        marks[word] |= bit;
        *count = 0;
    }
    *count += times;
}

/// Summed statistics before they become natural parameters: row r feeds row r of lambda.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Which rows there are.
    pub rows: RowSet,
    pub(crate) table: Table,
}

impl Stats {
    /// Zeros for all of `n_rows` rows.
    pub fn new(n_rows: usize, raw_width: usize) -> Self {
        Stats { rows: RowSet::all(n_rows), table: Table::new(n_rows, raw_width) }
    }

    /// No rows yet, of `n_rows` that there could be.
    pub fn empty(n_rows: usize, raw_width: usize) -> Self {
        Stats { rows: RowSet::all(n_rows), table: Table::new(0, raw_width) }
    }

    /// Makes room for the rows of the set. What it held is lost, and not all of it is 0.
    pub fn fit_to_rows(&mut self) {
        self.table.set_rows(self.rows.len());
    }

    /// Numbers per row.
    pub fn width(&self) -> usize {
        self.table.width()
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.table.n_rows()
    }

    /// The statistics of a row that is in the set.
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        self.table.row(self.rows.slot(row))
    }

    /// The statistics of a row that is in the set, to write.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        let slot = self.rows.slot(row);
        self.table.row_mut(slot)
    }

    /// The statistics of a slot, to write.
    pub fn slot_mut(&mut self, slot: usize) -> &mut [f64] {
        self.table.row_mut(slot)
    }

    /// All numbers, slot after slot.
    pub fn values(&self) -> &[f64] {
        self.table.values()
    }

    /// All numbers, to write.
    pub fn values_mut(&mut self) -> &mut [f64] {
        self.table.values_mut()
    }

    /// The numbers of some slots.
    pub fn slots(&self, slots: Range<usize>) -> &[f64] {
        &self.table.values()[slots.start * self.width()..slots.end * self.width()]
    }

    /// Sets everything to 0.
    pub fn clear(&mut self) {
        self.table.clear();
    }
}
