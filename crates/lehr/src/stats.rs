//! The summed statistics of a batch, for the rows of lambda that the batch touches.

use std::ops::Range;

use rayon::prelude::*;
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
    /// The slot of each row that is in `rows`; anything for the others.
    slots: Vec<u32>,
    counting: Counting,
}

/// Room for counting the rows of a set, one counter for each thread that counts; no part of what the set is.
#[derive(Debug, Default)]
struct Counting(Vec<Counter>);

impl Clone for Counting {
    fn clone(&self) -> Self {
        Counting::default()
    }
}

impl PartialEq for Counting {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// Counts how many items touch each row.
#[derive(Debug, Default)]
pub struct Counter {
    /// How many items touch each row; 0 for those that are not marked.
    counts: Vec<u32>,
    /// A bit per row: whether some item touches it.
    marks: Vec<u64>,
}

impl Counter {
    /// One more item touches this row.
    #[inline]
    pub fn add(&mut self, row: u32) {
        self.add_times(row, 1);
    }

    #[inline]
    fn add_times(&mut self, row: u32, times: u32) {
        let count = &mut self.counts[row as usize];
        if *count == 0 {
            self.marks[row as usize / 64] |= 1 << (row % 64);
        }
        *count += times;
    }
}

/// How many items each thread counts at least.
const COUNTED: usize = 64;

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
            counting: Counting::default(),
        }
    }

    /// Holds all rows from now on.
    pub fn insert_all(&mut self) {
        self.all = true;
    }

    /// Collects the rows that `touch` names, each as often as it is named. Memory is reused; the
    /// cost is that of the calls, plus a look at one bit per row there is.
    pub fn collect(&mut self, touch: impl FnOnce(&mut dyn FnMut(&[u32]))) {
        let counter = &mut self.open(1)[0];
        touch(&mut |rows| rows.iter().for_each(|&row| counter.add(row)));
        self.close();
    }

    /// The same, each row being named with how often items touch it.
    pub fn collect_counted(&mut self, touch: impl FnOnce(&mut dyn FnMut(u32, u32))) {
        let counter = &mut self.open(1)[0];
        touch(&mut |row, times| counter.add_times(row, times));
        self.close();
    }

    /// Collects the rows that `count` counts for these items, on all threads, each of which gets some neighbouring
    /// items. The set is the same for any number of threads.
    pub fn collect_from<T: Sync>(
        &mut self,
        items: &[T],
        count: impl Fn(&[T], &mut Counter) + Sync,
    ) {
        let most = items.len().div_ceil(COUNTED).max(1);
        let counters = self.open(rayon::current_num_threads().min(most));
        let share = items.len().div_ceil(counters.len()).max(1);
        match counters {
            [counter] => count(items, counter),
            _ => {
                let parts = counters.par_iter_mut().zip(items.par_chunks(share));
                parts.with_max_len(1).for_each(|(counter, items)| count(items, counter));
            }
        }
        self.close();
    }

    /// Empties the set and returns some counters.
    fn open(&mut self, n_counters: usize) -> &mut [Counter] {
        self.all = false;
        self.slots.resize(self.n_rows, 0);
        self.rows.clear();
        self.counts.clear();
        let Counting(counters) = &mut self.counting;
        counters.resize_with(n_counters.max(counters.len()), Counter::default);
        let counters = &mut counters[..n_counters];
        for counter in &mut *counters {
            counter.counts.resize(self.n_rows, 0);
            counter.marks.resize(self.n_rows.div_ceil(64), 0);
        }
        counters
    }

    /// Puts the rows that were counted into their order, and the counters back to 0.
    fn close(&mut self) {
        let RowSet { rows, counts, slots, counting: Counting(counters), .. } = self;
        for word in 0..self.n_rows.div_ceil(64) {
            let take = |marks, counter: &mut Counter| match counter.marks.get_mut(word) {
                Some(own) => marks | std::mem::take(own),
                None => marks,
            };
            let mut left = counters.iter_mut().fold(0, take);
            while left != 0 {
                let row = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let take = |counter: &mut Counter| counter.counts.get_mut(row).map(std::mem::take);
                counts.push(counters.iter_mut().filter_map(take).sum());
                slots[row] = rows.len() as u32;
                rows.push(row as u32);
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
