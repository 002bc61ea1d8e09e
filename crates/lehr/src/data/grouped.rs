//! A sparse matrix row by row, and the counting sorts that make it.

use rayon::prelude::*;

/// Ratings grouped by one of their sides, the row: sorted by row, then by the other side.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    starts: Vec<usize>,
    others: Vec<u32>,
    values: Vec<f32>,
    /// How much each counts; empty if each counts once.
    weights: Vec<f32>,
}

/// More parts than this would read the input more often than is worth it.
const MOST_PARTS: usize = 8;
/// Less is not worth another thread.
const SMALLEST_PART: usize = 1 << 16;

impl Grouped {
    /// Ratings as [`Grouped::starts`], [`Grouped::others`] and [`Grouped::values`] gave them; `None` if
    /// they do not fit together. `n_others` is how many there are of the other side.
    pub fn new(
        starts: Vec<usize>,
        others: Vec<u32>,
        values: Vec<f32>,
        n_others: usize,
    ) -> Option<Self> {
        let fits = starts.first() == Some(&0)
            && starts.last() == Some(&others.len())
            && starts.is_sorted()
            && values.len() == others.len()
            && others.iter().all(|&other| (other as usize) < n_others);
        let sorted = || {
            let rows = starts.windows(2).map(|pair| &others[pair[0]..pair[1]]);
            rows.into_iter().all(|row| row.windows(2).all(|pair| pair[0] < pair[1]))
        };
        (fits && sorted()).then_some(Grouped { starts, others, values, weights: Vec::new() })
    }

    /// How many rows, those without ratings too.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where each row starts in the other two arrays, and where the last one ends.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The other side of every rating.
    pub fn others(&self) -> &[u32] {
        &self.others
    }

    /// The value of every rating.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// How much every rating counts; empty if each counts once.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// How much the ratings of a row count; empty if each counts once.
    pub fn weights_of(&self, row: usize) -> &[f32] {
        match self.weights.is_empty() {
            true => &[],
            false => &self.weights[self.starts[row]..self.starts[row + 1]],
        }
    }

    /// The same ratings with these weights, in their order; `None` if they are not as many, or one is not positive and
    /// finite. None at all are no weights.
    pub(crate) fn with_weights(self, weights: Vec<f32>) -> Option<Self> {
        let fits = weights.is_empty() || weights.len() == self.values.len();
        let valid = weights.iter().all(|&weight| weight > 0.0 && weight.is_finite());
        (fits && valid).then_some(Grouped { weights, ..self })
    }

    /// The weights in the place of the ratings.
    fn of_weights(&self) -> Self {
        Grouped { values: self.weights.clone(), weights: Vec::new(), ..self.clone() }
    }

    /// One row: the other sides, rising, and the values.
    ///
    /// # Panics
    ///
    /// If `row` is not below [`n_rows`](Grouped::n_rows).
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.others[range.clone()], &self.values[range])
    }

    /// Sorts by row only; within a row, the order is that of the input.
    pub(super) fn sort(n_rows: usize, row: &[u32], other: &[u32], value: &[f32]) -> Self {
        let mut sorted = Grouped {
            starts: starts(n_rows, row),
            others: vec![0; row.len()],
            values: vec![0.0; row.len()],
            weights: Vec::new(),
        };
        sorted.scatter(|from, to, part| {
            for (i, &row) in row.iter().enumerate() {
                if (from..to).contains(&(row as usize)) {
                    part.place(row as usize - from, other[i], value[i]);
                }
            }
        });
        sorted
    }

    /// The same ratings by the other side, of which there are `n_others`.
    pub(super) fn transpose(&self, n_others: usize) -> Self {
        let mut turned = Grouped {
            starts: starts(n_others, &self.others),
            others: vec![0; self.others.len()],
            values: vec![0.0; self.others.len()],
            weights: Vec::new(),
        };
        turned.fill_from(self);
        if !self.weights.is_empty() {
            turned.weights = self.of_weights().transpose(n_others).values;
        }
        turned
    }

    /// The same in the memory of `old`, which already has the right rows unless ratings were
    /// `merged` since.
    pub(super) fn transpose_into(&self, mut old: Grouped, merged: bool) -> Self {
        if merged {
            old.starts = starts(old.n_rows(), &self.others);
            old.others.truncate(self.others.len());
            old.values.truncate(self.others.len());
        }
        old.fill_from(self);
        old
    }

    fn fill_from(&mut self, other: &Grouped) {
        self.scatter(|from, to, part| {
            for row in 0..other.n_rows() {
                let (others, values) = other.row(row);
                for (&at, &value) in others.iter().zip(values) {
                    if (from..to).contains(&(at as usize)) {
                        part.place(at as usize - from, row as u32, value);
                    }
                }
            }
        });
    }

    /// Ratings whose rows rise already, in the memory that they come in; within a row, the order is that of the input.
    pub(super) fn in_place(
        n_rows: usize,
        row: Vec<u32>,
        mut other: Vec<u32>,
        mut value: Vec<f32>,
    ) -> Self {
        let starts = starts(n_rows, &row);
        drop(row);
        other.shrink_to_fit();
        value.shrink_to_fit();
        Grouped { starts, others: other, values: value, weights: Vec::new() }
    }

    /// Sorts every row by its other sides, equal ones in the order of the input; the first of these, if there are any.
    pub(super) fn sort_rows(&mut self) -> Option<Repeated> {
        let Grouped { starts, others, values, .. } = self;
        let mut spans = spans(starts, others, values);
        let found: Vec<Option<Repeated>> = spans.par_iter_mut().map(Span::sort_rows).collect();
        found.into_iter().flatten().next()
    }

    /// Fills the rows from the left. Every thread goes over the whole input and takes the rows of
    /// its own part, so the result does not depend on their number.
    fn scatter(&mut self, fill: impl Fn(usize, usize, &mut Part<'_>) + Sync) {
        let Grouped { starts, others, values, .. } = self;
        spans(starts, others, values).into_par_iter().for_each(|span| {
            let Span { from, starts, others, values } = span;
            let next = starts[..starts.len() - 1].iter().map(|start| start - starts[0]).collect();
            let to = from + starts.len() - 1;
            fill(from, to, &mut Part { next, others, values });
        });
    }

    /// The first row and other side of which there is more than one rating.
    pub(super) fn first_repeated(&self) -> Option<(u32, u32)> {
        (0..self.n_rows()).into_par_iter().find_map_first(|row| {
            let (others, _) = self.row(row);
            let pair = others.windows(2).find(|pair| pair[0] == pair[1])?;
            Some((row as u32, pair[0]))
        })
    }

    /// Puts one rating, the mean, for all ratings of one pair; how many pairs had several.
    pub(super) fn average_repeated(&mut self) -> usize {
        let (mut kept, mut n_averaged) = (0, 0);
        for row in 0..self.n_rows() {
            // The row before has been moved, but this one's start has not.
            let (mut i, end) = (self.starts[row], self.starts[row + 1]);
            self.starts[row] = kept;
            while i < end {
                let other = self.others[i];
                let same = self.others[i..end].iter().take_while(|&&next| next == other).count();
                if same > 1 {
                    let values = &self.values[i..i + same];
                    let sum: f64 = values.iter().map(|&value| f64::from(value)).sum();
                    self.values[kept] = (sum / same as f64) as f32;
                    n_averaged += 1;
                } else {
                    self.values[kept] = self.values[i];
                }
                self.others[kept] = other;
                kept += 1;
                i += same;
            }
        }
        if let Some(end) = self.starts.last_mut() {
            *end = kept;
        }
        self.others.truncate(kept);
        self.values.truncate(kept);
        n_averaged
    }

    /// The ratings at these rising places; all rows stay.
    pub(super) fn subset(&self, places: &[u32]) -> Self {
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "places must rise");
        let starts = self.starts.iter();
        Grouped {
            starts: starts
                .map(|&start| places.partition_point(|&place| (place as usize) < start))
                .collect(),
            others: places.iter().map(|&place| self.others[place as usize]).collect(),
            values: places.iter().map(|&place| self.values[place as usize]).collect(),
            weights: match self.weights.is_empty() {
                true => Vec::new(),
                false => places.iter().map(|&place| self.weights[place as usize]).collect(),
            },
        }
    }
}

/// Two ratings of one pair: where they stood in the input, and what they are.
#[derive(Debug)]
pub(super) struct Repeated {
    pub row: u32,
    pub other: u32,
    pub places: [usize; 2],
    pub values: [f32; 2],
}

/// Rows that one thread works on.
struct Span<'a> {
    /// The first of them.
    from: usize,
    /// Where each of them starts among all ratings, and where the last one ends.
    starts: &'a [usize],
    others: &'a mut [u32],
    values: &'a mut [f32],
}

/// All rows in a few spans with about as many ratings each.
fn spans<'a>(
    starts: &'a [usize],
    mut others: &'a mut [u32],
    mut values: &'a mut [f32],
) -> Vec<Span<'a>> {
    let (n, n_rows) = (others.len(), starts.len() - 1);
    let n_parts = rayon::current_num_threads().min(MOST_PARTS).min(n / SMALLEST_PART).max(1);
    let mut spans = Vec::with_capacity(n_parts);
    let mut from = 0;
    for p in 1..=n_parts {
        let to = match p {
            _ if p == n_parts => n_rows,
            _ => starts.partition_point(|&start| start < n * p / n_parts).max(from),
        };
        let to = to.min(n_rows);
        let length = starts[to] - starts[from];
        let (own_others, own_values);
        (own_others, others) = others.split_at_mut(length);
        (own_values, values) = values.split_at_mut(length);
        spans.push(Span {
            from,
            starts: &starts[from..=to],
            others: own_others,
            values: own_values,
        });
        from = to;
    }
    spans
}

impl Span<'_> {
    fn sort_rows(&mut self) -> Option<Repeated> {
        let (mut keys, mut before, mut repeated) = (Vec::<u64>::new(), Vec::new(), None);
        for (ends, row) in self.starts.windows(2).zip(self.from..) {
            let own = ends[0] - self.starts[0]..ends[1] - self.starts[0];
            let (others, values) = (&mut self.others[own.clone()], &mut self.values[own]);
            // A key is the other side and then the place, so that equal ones stay in order.
            keys.clear();
            keys.extend(others.iter().zip(0..).map(|(&other, at)| u64::from(other) << 32 | at));
            keys.sort_unstable();
            before.clear();
            before.extend_from_slice(values);
            let place = |key: u64| key as u32 as usize;
            for ((other, value), &key) in others.iter_mut().zip(&mut *values).zip(&keys) {
                (*other, *value) = ((key >> 32) as u32, before[place(key)]);
            }
            if repeated.is_none() {
                let pair = keys.windows(2).find(|pair| pair[0] >> 32 == pair[1] >> 32);
                repeated = pair.map(|pair| Repeated {
                    row: row as u32,
                    other: (pair[0] >> 32) as u32,
                    places: [ends[0] + place(pair[0]), ends[0] + place(pair[1])],
                    values: [before[place(pair[0])], before[place(pair[1])]],
                });
            }
        }
        repeated
    }
}

/// Some rows that are being filled.
struct Part<'a> {
    /// Where the next rating of each row goes.
    next: Vec<usize>,
    others: &'a mut [u32],
    values: &'a mut [f32],
}

impl Part<'_> {
    fn place(&mut self, row: usize, other: u32, value: f32) {
        let at = self.next[row];
        self.next[row] += 1;
        self.others[at] = other;
        self.values[at] = value;
    }
}

/// Where each of `n_rows` rows starts if these are the rows of all ratings.
fn starts(n_rows: usize, rows: &[u32]) -> Vec<usize> {
    let mut starts = vec![0; n_rows + 1];
    rows.iter().for_each(|&row| starts[row as usize + 1] += 1);
    let mut sum = 0;
    starts.iter_mut().for_each(|start| {
        sum += *start;
        *start = sum;
    });
    starts
}
