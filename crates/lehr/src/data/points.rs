//! Dense rows of numbers: the items of a mixture.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::{Count, Dataset, FromFile, Gaps, Mapped, Parted};
use crate::error::{Advice, advice, index, setting};
use crate::read::{self, Chosen, PointsOptions};
use crate::{Error, Result};

/// `n_items` rows of `n_dims` numbers, optionally with a weight per row and names per column.
///
/// The numbers are finite; where [`with_missing`](Points::with_missing) or a reader allowed it, NaN stands for
/// a number that is missing.
#[derive(Debug)]
pub struct Points {
    values: Values,
    n_items: usize,
    n_dims: usize,
    weights: Option<Vec<f64>>,
    names: Vec<String>,
    n_missing: usize,
    left_out: Vec<usize>,
    chosen: Option<Chosen>,
    unheard: Vec<String>,
}

#[derive(Debug)]
enum Values {
    Owned(Vec<f64>),
    Mapped(Mapped),
    Shared(Arc<dyn Buffer>),
    Parts(Parted),
}

/// Numbers that belong to someone else, e.g. to an array of another language, and are read in place.
///
/// [`rows`](Buffer::rows) must always hand out the same numbers, row after row: they are checked once,
/// when [`Points::shared`] takes them.
pub trait Buffer: fmt::Debug + Send + Sync {
    /// The numbers.
    fn rows(&self) -> Rows<'_>;
}

/// The numbers of [`Points`], row after row, in the precision in which they are stored.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision, as a memory-mapped .npy file or someone else's array may hold.
    F32(&'a [f32]),
}

impl Rows<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Rows::F64(values) => values.len(),
            Rows::F32(values) => values.len(),
        }
    }

    /// How many of the numbers are NaN.
    pub(crate) fn n_missing(&self) -> usize {
        match self {
            Rows::F64(values) => values.iter().filter(|value| value.is_nan()).count(),
            Rows::F32(values) => values.iter().filter(|value| value.is_nan()).count(),
        }
    }
}

/// Whether a buffer is whole rows, and of finite numbers.
fn check(rows: Rows<'_>, n_dims: usize) -> Result<()> {
    check_shape(rows, n_dims)?;
    match first_not_finite(rows, n_dims) {
        Some((row, column, value)) => Err(Error::data(not_finite(row, column, value))),
        None => Ok(()),
    }
}

/// Whether a buffer is whole rows of numbers, NaN where one is missing; how many are.
fn check_with_missing(rows: Rows<'_>, n_dims: usize) -> Result<usize> {
    check_shape(rows, n_dims)?;
    match first_infinite(rows, n_dims) {
        Some((row, column, value)) => Err(Error::data(not_finite(row, column, value))),
        None => Ok(rows.n_missing()),
    }
}

fn check_shape(rows: Rows<'_>, n_dims: usize) -> Result<()> {
    if n_dims == 0 {
        return Err(Error::data("the rows have no columns; give at least one"));
    }
    if rows.len() == 0 {
        return Err(Error::data("there are no rows; give at least one"));
    }
    if !rows.len().is_multiple_of(n_dims) {
        return Err(Error::data(format!(
            "{} numbers are not a whole number of rows of {n_dims}; check the number of columns",
            rows.len()
        )));
    }
    Ok(())
}

impl Points {
    /// Rows from a row-major buffer. Refused: no rows, half a row, or a number that is not finite.
    ///
    /// ```
    /// let points = lehr::data::Points::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2)?;
    /// assert_eq!((points.n_items(), points.n_dims()), (3, 2));
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn new(values: Vec<f64>, n_dims: usize) -> Result<Self> {
        check(Rows::F64(&values), n_dims)?;
        Ok(Points::of(Values::Owned(values), n_dims, 0))
    }

    /// Rows that stay where they are, in memory that belongs to someone else. Refused: what
    /// [`new`](Points::new) refuses.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use lehr::data::{Buffer, Points, Rows};
    ///
    /// #[derive(Debug)]
    /// struct Theirs(Vec<f32>);
    ///
    /// impl Buffer for Theirs {
    ///     fn rows(&self) -> Rows<'_> {
    ///         Rows::F32(&self.0)
    ///     }
    /// }
    ///
    /// let points = Points::shared(Arc::new(Theirs(vec![1.0, 2.0, 3.0, 4.0])), 2)?;
    /// assert_eq!((points.n_items(), points.n_dims()), (2, 2));
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn shared(buffer: Arc<dyn Buffer>, n_dims: usize) -> Result<Self> {
        check(buffer.rows(), n_dims)?;
        Ok(Points::of(Values::Shared(buffer), n_dims, 0))
    }

    /// Rows in which NaN stands for a number that is missing; a row may miss all of them. Refused: no rows, half
    /// a row, or an infinite number.
    ///
    /// ```
    /// let points = lehr::data::Points::with_missing(vec![1.0, 2.0, 3.0, f64::NAN], 2)?;
    /// assert!(points.has_missing());
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn with_missing(values: Vec<f64>, n_dims: usize) -> Result<Self> {
        let n_missing = check_with_missing(Rows::F64(&values), n_dims)?;
        Ok(Points::of(Values::Owned(values), n_dims, n_missing))
    }

    /// [`shared`](Points::shared) rows in which NaN stands for a number that is missing.
    pub fn shared_with_missing(buffer: Arc<dyn Buffer>, n_dims: usize) -> Result<Self> {
        let n_missing = check_with_missing(buffer.rows(), n_dims)?;
        Ok(Points::of(Values::Shared(buffer), n_dims, n_missing))
    }

    /// Rows whose shape and numbers are already checked; NaN is missing.
    pub(crate) fn from_checked(values: Vec<f64>, n_dims: usize) -> Self {
        let n_missing = Rows::F64(&values).n_missing();
        Points::of(Values::Owned(values), n_dims, n_missing)
    }

    /// Rows left in the file they are mapped from, already checked; NaN is missing.
    pub(crate) fn from_mapped(mapped: Mapped, n_dims: usize) -> Self {
        let n_missing = mapped.rows().n_missing();
        Points::of(Values::Mapped(mapped), n_dims, n_missing)
    }

    /// Rows left in several files, as parts of one table.
    pub(crate) fn in_parts(parts: Vec<Points>, fingerprint: String) -> Option<Self> {
        let n_dims = parts.first()?.n_dims;
        let n_missing = parts.iter().map(|points| points.n_missing).sum();
        let mapped = parts.into_iter().map(|points| match points.values {
            Values::Mapped(mapped) if points.n_dims == n_dims => Some(mapped),
            _ => None,
        });
        let parted = Parted::new(mapped.collect::<Option<_>>()?, n_dims, fingerprint);
        Some(Points::of(Values::Parts(parted), n_dims, n_missing))
    }

    fn of(values: Values, n_dims: usize, n_missing: usize) -> Self {
        let n_items = match &values {
            Values::Owned(values) => values.len() / n_dims,
            Values::Mapped(mapped) => mapped.rows().len() / n_dims,
            Values::Shared(buffer) => buffer.rows().len() / n_dims,
            Values::Parts(parts) => parts.n_items(),
        };
        Points {
            values,
            n_items,
            n_dims,
            weights: None,
            names: Vec::new(),
            n_missing,
            left_out: Vec::new(),
            chosen: None,
            unheard: Vec::new(),
        }
    }

    /// The same rows, of a file whose rows with these numbers, counted from 0, were left out.
    pub(crate) fn without(self, left_out: Vec<usize>) -> Self {
        Points { left_out, ..self }
    }

    /// The same rows, of a table of which they are not all columns; `unheard` are those that the model they
    /// were read for does not know.
    pub(crate) fn of_table(self, chosen: Option<Chosen>, unheard: Vec<String>) -> Self {
        Points { chosen, unheard, ..self }
    }

    /// The same rows with a weight for each: how often the row counts. Refused: a wrong number of
    /// weights, a weight that is negative or not finite, and weights that are all 0.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        if weights.len() != self.n_items {
            return Err(Error::data(format!(
                "{} weights for {} rows; give one per row",
                weights.len(),
                self.n_items
            )));
        }
        for (n, &weight) in weights.iter().enumerate() {
            if let Some(fault) = weight_fault(weight) {
                return Err(Error::data(advice!["row ", index(n), format!(": {fault}")]));
            }
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(Error::data(ALL_ZERO));
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// The same rows with a name for each column.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.n_dims {
            return Err(Error::data(format!(
                "{} names for {} columns; give one per column",
                names.len(),
                self.n_dims
            )));
        }
        self.names = names;
        Ok(self)
    }

    /// How many rows.
    pub fn n_items(&self) -> usize {
        self.n_items
    }

    /// How many columns.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// Row `n`, counted from 0, with all rows that lie in the same place, one after the other, and the first of them.
    /// Rows are all in one place, unless they are the shards of a folder.
    pub fn block_of(&self, n: usize) -> (Rows<'_>, usize) {
        match &self.values {
            Values::Owned(values) => (Rows::F64(values), 0),
            Values::Mapped(mapped) => (mapped.rows(), 0),
            Values::Shared(buffer) => (buffer.rows(), 0),
            Values::Parts(parts) => parts.block_of(n),
        }
    }

    /// The weight of each row, if they were given; all 1 otherwise.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The columns' names, if the file had any; otherwise empty.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether any number is missing, that is, NaN.
    pub fn has_missing(&self) -> bool {
        self.n_missing > 0
    }

    /// How many numbers are missing.
    pub fn n_missing(&self) -> usize {
        self.n_missing
    }

    /// The rows of the file that were left out because a number is missing, counted from 0, in order.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Whether the numbers are read in place from a memory-mapped file instead of held in memory.
    pub fn is_mapped(&self) -> bool {
        matches!(self.values, Values::Mapped(_) | Values::Parts(_))
    }

    /// Copies row `n`, counted from 0, into `row`.
    ///
    /// # Panics
    ///
    /// If `n` is not below [`n_items`](Self::n_items) or `row` is not [`n_dims`](Self::n_dims) long.
    pub fn copy_row(&self, n: usize, row: &mut [f64]) {
        let (rows, first) = self.block_of(n);
        let range = (n - first) * self.n_dims..(n - first + 1) * self.n_dims;
        match rows {
            Rows::F64(values) => row.copy_from_slice(&values[range]),
            Rows::F32(values) => {
                assert_eq!(row.len(), self.n_dims, "a row has n_dims numbers");
                for (to, &from) in row.iter_mut().zip(&values[range]) {
                    *to = f64::from(from);
                }
            }
        }
    }

    /// The chosen rows, counted from 0, in the order given, copied into memory; for a hold-out split.
    ///
    /// # Panics
    ///
    /// If an index is not below [`n_items`](Self::n_items).
    pub fn subset(&self, items: &[u32]) -> Points {
        let mut values = vec![0.0; items.len() * self.n_dims];
        for (row, &n) in values.chunks_exact_mut(self.n_dims).zip(items) {
            self.copy_row(n as usize, row);
        }
        let weights =
            self.weights.as_ref().map(|all| items.iter().map(|&n| all[n as usize]).collect());
        Points { weights, names: self.names.clone(), ..Points::from_checked(values, self.n_dims) }
    }

    /// A short name for these numbers: 32 hexadecimal digits over the shape, the values and the
    /// weights. The same numbers give the same name whichever format they were read from; a missing one is the
    /// same whichever bits its NaN has.
    pub fn fingerprint(&self) -> String {
        if let Values::Parts(parts) = &self.values {
            return parts.fingerprint().to_string();
        }
        let mut hash = Xxh3::new();
        hash.update(b"points");
        hash.update(&(self.n_items as u64).to_le_bytes());
        hash.update(&(self.n_dims as u64).to_le_bytes());
        match self.block_of(0).0 {
            Rows::F64(values) => hash_values(&mut hash, values, |v| v),
            Rows::F32(values) => hash_values(&mut hash, values, f64::from),
        }
        if let Some(weights) = &self.weights {
            hash_values(&mut hash, weights, |v| v);
        }
        format!("{:032x}", hash.digest128())
    }
}

impl Dataset for Points {
    fn n_items(&self) -> usize {
        self.n_items()
    }

    fn item_weights(&self) -> Option<&[f64]> {
        self.weights()
    }

    fn parts(&self) -> &[usize] {
        match &self.values {
            Values::Parts(parts) => parts.starts(),
            _ => &[],
        }
    }
}

impl FromFile for Points {
    type Options = PointsOptions;

    fn read(path: &Path, options: &PointsOptions) -> Result<Self> {
        read::points(path, options)
    }

    fn record(&self, options: &mut PointsOptions) {
        if options.model.take().is_none() {
            return;
        }
        let chosen = self.chosen.as_ref();
        let called = |chosen: &Chosen| chosen.columns.iter().map(|&at| chosen.called(at)).collect();
        options.columns = chosen.map(called).unwrap_or_default();
        options.drop = Vec::new();
        options.weight_column = chosen.and_then(|chosen| Some(chosen.called(chosen.weight?)));
    }

    fn subset(&self, items: &[u32]) -> Self {
        self.subset(items)
    }

    fn fingerprint(&self) -> String {
        self.fingerprint()
    }

    fn column_names(&self) -> &[String] {
        self.names()
    }

    fn counts(&self) -> Vec<Count> {
        let mut counts = vec![
            Count::of(self.n_items, "row", "rows"),
            Count::of(self.n_dims, "column", "columns"),
        ];
        if !self.left_out.is_empty() {
            counts.push(Count::of(self.left_out.len(), "row left out", "rows left out"));
        }
        counts
    }

    fn gaps(&self) -> Gaps {
        Gaps { values: self.n_missing, rows_left_out: self.left_out.len() }
    }

    fn chosen(&self) -> Option<Chosen> {
        self.chosen.clone()
    }

    fn notes(&self) -> Vec<Advice> {
        let mut notes = Vec::new();
        if self.has_missing() {
            let (n, of) = (self.n_missing, self.n_items * self.n_dims);
            let are = if n == 1 { "is" } else { "are" };
            notes.push(format!("{n} of {of} values {are} missing").into());
        }
        if !self.left_out.is_empty() {
            let (n, of) = (self.left_out.len(), self.n_items + self.left_out.len());
            let (have, were) = if n == 1 { ("has", "was") } else { ("have", "were") };
            notes
                .push(format!("{n} of {of} rows {have} missing values and {were} left out").into());
        }
        if !self.unheard.is_empty() {
            let columns = if self.unheard.len() == 1 { "column" } else { "columns" };
            let unheard = self.unheard.join(", ");
            notes.push(
                format!("the model was not fitted to {columns} {unheard}; left aside").into(),
            );
        }
        notes
    }

    fn notes_of_fit(&self) -> Vec<Advice> {
        let ids = (0..self.n_dims).filter(|&d| self.looks_like_an_id(d));
        ids.map(|d| {
            let label = label(&self.names, d);
            advice![
                format!(
                    "column {label} looks like a row's number or id (whole numbers, no two alike) and counts \
                     as data; if it is one, leave it out (",
                ),
                setting("drop").to(&label),
                ")",
            ]
        })
        .collect()
    }
}

impl Points {
    /// Whether a column counts the rows from 0 or 1, or is called an id and has a whole number of its own for
    /// each row.
    fn looks_like_an_id(&self, d: usize) -> bool {
        /// Fewer rows than this may well count themselves by chance.
        const LEAST: usize = 8;
        let value = |n: usize| match self.block_of(n) {
            (Rows::F64(values), first) => values[(n - first) * self.n_dims + d],
            (Rows::F32(values), first) => f64::from(values[(n - first) * self.n_dims + d]),
        };
        if self.n_items < LEAST {
            return false;
        }
        let first = value(0);
        if (first == 0.0 || first == 1.0) && (0..self.n_items).all(|n| value(n) == first + n as f64)
        {
            return true;
        }
        let is_called_id = self.names.get(d).is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            const IDS: [&str; 9] =
                ["id", "index", "idx", "key", "row", "rownum", "row_number", "uid", "uuid"];
            IDS.contains(&name.as_str()) || name.ends_with("_id") || name.starts_with("unnamed")
        });
        if !is_called_id || (0..self.n_items).any(|n| value(n).fract() != 0.0) {
            return false;
        }
        let mut all: Vec<f64> = (0..self.n_items).map(value).collect();
        all.sort_by(f64::total_cmp);
        all.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// How messages call column `d`, counted from 0.
fn label(names: &[String], d: usize) -> String {
    names.get(d).cloned().unwrap_or_else(|| (d + 1).to_string())
}

/// What is wrong with a column of weights of which none counts.
const ALL_ZERO: &str = "all weights are 0; at least one row must count";

/// What is wrong with a weight, if anything.
pub(crate) fn weight_fault(weight: f64) -> Option<String> {
    (!weight.is_finite() || weight < 0.0)
        .then(|| format!("the weight is {weight}; a weight must be finite and not negative"))
}

/// Row and column, from 1, of the first number that is not finite, and the number.
pub(crate) fn first_not_finite(rows: Rows<'_>, n_dims: usize) -> Option<(usize, usize, f64)> {
    first(rows, n_dims, f64::is_finite)
}

/// Row and column, from 1, of the first number that is infinite, and the number.
pub(crate) fn first_infinite(rows: Rows<'_>, n_dims: usize) -> Option<(usize, usize, f64)> {
    first(rows, n_dims, |value| !value.is_infinite())
}

#[inline(always)]
fn first(rows: Rows<'_>, n_dims: usize, good: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
    let (index, value) = match rows {
        Rows::F64(values) => search(values, |v| v, good),
        Rows::F32(values) => search(values, f64::from, good),
    }?;
    Some((index / n_dims + 1, index % n_dims + 1, value))
}

#[inline(always)]
fn search<T: Copy>(
    values: &[T],
    wide: impl Fn(T) -> f64,
    good: impl Fn(f64) -> bool,
) -> Option<(usize, f64)> {
    // Whole blocks without an early exit: the compiler makes vector code of it, and the pass over
    // a mapped file then runs at the speed of the disk.
    const BLOCK: usize = 1024;
    for (b, block) in values.chunks(BLOCK).enumerate() {
        if !block.iter().fold(true, |all, &v| all & good(wide(v))) {
            let at = block.iter().position(|&v| !good(wide(v)))?;
            return Some((b * BLOCK + at, wide(block[at])));
        }
    }
    None
}

/// What to say of a number in this place, counted from 1.
fn not_finite(row: usize, column: usize, value: f64) -> Advice {
    advice![
        "row ",
        index(row - 1),
        ", column ",
        index(column - 1),
        format!(": found {value}; every number must be finite: fill it in or leave the row out"),
    ]
}

fn hash_values<T: Copy>(hash: &mut Xxh3, values: &[T], wide: impl Fn(T) -> f64) {
    let mut block = [0u8; 8 * 512];
    for chunk in values.chunks(512) {
        for (to, &value) in block.chunks_exact_mut(8).zip(chunk) {
            // Adding 0 makes -0 and 0, which are the same number, the same bits. NaN has many bits, and
            // means the same with all of them.
            let value = wide(value) + 0.0;
            let value = if value.is_nan() { f64::NAN } else { value };
            to.copy_from_slice(&value.to_bits().to_le_bytes());
        }
        hash.update(&block[..8 * chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Points {
        Points::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2).unwrap()
    }

    fn fault(values: Vec<f64>, n_dims: usize) -> String {
        Points::new(values, n_dims).unwrap_err().to_string()
    }

    #[test]
    fn a_buffer_that_is_not_rows_of_finite_numbers_is_refused() {
        assert_eq!(fault(vec![1.0], 0), "the rows have no columns; give at least one");
        assert_eq!(fault(vec![], 2), "there are no rows; give at least one");
        assert_eq!(
            fault(vec![1.0; 3], 2),
            "3 numbers are not a whole number of rows of 2; check the number of columns"
        );
        assert_eq!(
            fault(vec![1.0, 2.0, 3.0, f64::NAN], 2),
            "row 2, column 2: found NaN; every number must be finite: fill it in or leave the row out"
        );
        let mut long = vec![0.0; 9000];
        long[5000] = f64::NEG_INFINITY;
        assert!(fault(long, 3).starts_with("row 1667, column 3: found -inf;"));
    }

    #[derive(Debug)]
    struct Theirs(Vec<f32>);

    impl Buffer for Theirs {
        fn rows(&self) -> Rows<'_> {
            Rows::F32(&self.0)
        }
    }

    #[test]
    fn shared_rows_are_seen_in_place_and_checked_like_others() {
        let theirs = Arc::new(Theirs(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let shared = Points::shared(Arc::clone(&theirs) as Arc<dyn Buffer>, 2).unwrap();
        let (Rows::F32(rows), 0) = shared.block_of(0) else { panic!("single precision") };
        assert!(std::ptr::eq(rows, &*theirs.0));
        assert_eq!(shared.fingerprint(), points().fingerprint());
        assert!(!shared.is_mapped());
        let fault = |values: Vec<f32>, n_dims| {
            Points::shared(Arc::new(Theirs(values)), n_dims).unwrap_err().to_string()
        };
        assert_eq!(fault(vec![1.0], 0), "the rows have no columns; give at least one");
        assert_eq!(fault(vec![], 2), "there are no rows; give at least one");
        assert!(fault(vec![1.0; 3], 2).starts_with("3 numbers are not a whole number of rows"));
        assert!(fault(vec![1.0, f32::NAN], 2).starts_with("row 1, column 2: found NaN;"));
    }

    #[test]
    fn weights_that_cannot_count_rows_are_refused() {
        let fault =
            |weights: &[f64]| points().with_weights(weights.to_vec()).unwrap_err().to_string();
        assert_eq!(fault(&[1.0]), "1 weights for 3 rows; give one per row");
        for (bad, shown) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
            assert_eq!(
                fault(&[1.0, bad, 1.0]),
                format!("row 2: the weight is {shown}; a weight must be finite and not negative")
            );
        }
        assert_eq!(fault(&[0.0; 3]), ALL_ZERO);
        assert!(points().with_weights(vec![0.0, 1.0, 2.0]).is_ok());
    }

    #[test]
    fn names_are_one_per_column() {
        let wrong = points().with_names(vec!["a".into()]).unwrap_err();
        assert_eq!(wrong.to_string(), "1 names for 2 columns; give one per column");
        assert_eq!(points().with_names(vec!["a".into(), "b".into()]).unwrap().names(), ["a", "b"]);
    }

    #[test]
    fn a_subset_keeps_rows_weights_and_names_together() {
        let all = points().with_weights(vec![1.0, 2.0, 3.0]).unwrap();
        let all = all.with_names(vec!["a".into(), "b".into()]).unwrap();
        let some = all.subset(&[2, 0]);
        assert!(matches!(some.block_of(0).0, Rows::F64([5.0, 6.0, 1.0, 2.0])));
        assert_eq!(some.weights(), Some(&[3.0, 1.0][..]));
        assert_eq!(some.names(), ["a", "b"]);
        assert_eq!(all.subset(&[]).n_items(), 0);
    }

    #[test]
    fn missing_numbers_are_allowed_only_where_that_is_said() {
        let nan = f64::NAN;
        let gaps = Points::with_missing(vec![1.0, nan, 3.0, 4.0, nan, nan], 2).unwrap();
        assert!(gaps.has_missing());
        assert_eq!((gaps.n_items(), gaps.n_missing()), (3, 3));
        assert!(
            !points().has_missing() && !Points::with_missing(vec![1.0], 1).unwrap().has_missing()
        );
        assert!(!gaps.subset(&[1]).has_missing() && gaps.subset(&[1, 2]).n_missing() == 2);
        let shared = |values: Vec<f32>| Points::shared_with_missing(Arc::new(Theirs(values)), 2);
        assert_eq!(shared(vec![1.0, f32::NAN]).unwrap().n_missing(), 1);
        for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
            let fault = Points::with_missing(vec![1.0, nan, infinite, 1.0], 2).unwrap_err();
            assert!(fault.to_string().starts_with("row 2, column 1: found "), "{fault}");
        }
        assert!(shared(vec![f32::INFINITY, 1.0]).is_err() && shared(vec![]).is_err());
        assert!(Points::with_missing(vec![1.0; 3], 2).is_err());
    }

    #[test]
    fn a_missing_number_has_one_fingerprint_whichever_bits_it_has() {
        let print = |gap: f64| Points::with_missing(vec![1.0, gap], 2).unwrap().fingerprint();
        let one = print(f64::NAN);
        assert_eq!(one, print(-f64::NAN));
        assert_eq!(one, print(f64::from_bits(0x7ff8_0000_0000_1234)));
        let single = Theirs(vec![1.0, f32::from_bits(0xffc0_0001)]);
        let single = Points::shared_with_missing(Arc::new(single), 2).unwrap();
        assert_eq!(one, single.fingerprint());
        assert_ne!(one, print(0.0));
    }

    #[test]
    fn a_column_that_looks_like_an_id_is_noted_and_no_other() {
        let told = |name: &str, column: &[f64]| {
            let values = column.iter().flat_map(|&x| [x, (x * 7.3).sin()]).collect();
            let points = Points::new(values, 2).unwrap();
            let points = match name {
                "" => points,
                name => points.with_names(vec![name.into(), "x".into()]).unwrap(),
            };
            points.notes_of_fit().iter().map(|note| note.to_string()).collect::<Vec<_>>().join("; ")
        };
        let count = |first: i32, step: i32| -> Vec<f64> {
            (0..20).map(|n| f64::from(first + step * n)).collect()
        };
        for (name, column) in [("", count(0, 1)), ("", count(1, 1)), ("Id", count(907, -13))] {
            let told = told(name, &column);
            assert!(told.starts_with("column ") && told.contains("`drop = "), "{name}: {told}");
        }
        assert!(told("user_id", &count(5, 3)).contains("column user_id looks like"));
        let twice: Vec<f64> = (0..20).map(|n| f64::from(n / 2)).collect();
        for (name, column) in [
            ("", count(2, 1)),
            ("age", count(40, 3)),
            ("id", twice),
            ("id", count(0, 1).iter().map(|x| x + 0.5).collect()),
            ("", count(0, 1)[..5].to_vec()),
        ] {
            assert_eq!(told(name, &column), "", "{name} {column:?}");
        }
    }

    #[test]
    fn a_fingerprint_tells_numbers_shape_and_weights_apart() {
        let print =
            |values: &[f64], n_dims| Points::new(values.to_vec(), n_dims).unwrap().fingerprint();
        let one = print(&[1.0, 2.0, 3.0, 4.0], 2);
        assert_eq!(one.len(), 32);
        assert_eq!(one, print(&[1.0, 2.0, 3.0, 4.0], 2));
        assert_ne!(one, print(&[1.0, 2.0, 3.0, 4.0], 4));
        assert_ne!(one, print(&[1.0, 2.0, 4.0, 3.0], 2));
        assert_eq!(print(&[0.0], 1), print(&[-0.0], 1));
        let weighted = Points::new(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap();
        assert_ne!(one, weighted.with_weights(vec![1.0, 2.0]).unwrap().fingerprint());
    }
}
