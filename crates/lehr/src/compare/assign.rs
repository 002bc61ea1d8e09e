//! The assignment with the largest sum: the Hungarian method, in time cubic in the number of rows.

/// For each row the column that it is given, so that the sum of `value(row, column)` is largest; no column twice. Where
/// there are more rows than columns, rows with `None` are left over. Values are finite.
///
/// ```
/// let values = [[3.0, 2.0], [2.5, 0.0], [1.0, 1.0]];
/// let found = lehr::compare::assign(3, 2, |row, column| values[row][column]);
/// assert_eq!(found, [Some(1), Some(0), None]);
/// ```
pub fn assign(
    n_rows: usize,
    n_columns: usize,
    value: impl Fn(usize, usize) -> f64,
) -> Vec<Option<usize>> {
    if n_rows <= n_columns {
        return shortest_paths(n_rows, n_columns, value).into_iter().map(Some).collect();
    }
    let mut found = vec![None; n_rows];
    let rows = shortest_paths(n_columns, n_rows, |column, row| value(row, column));
    rows.into_iter().enumerate().for_each(|(column, row)| found[row] = Some(column));
    found
}

/// The same where every row gets a column.
fn shortest_paths(
    n_rows: usize,
    n_columns: usize,
    value: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    // Shortest augmenting paths with potentials: rows and columns count from 1, column 0 is where a path starts.
    let mut of_rows = vec![0.0; n_rows + 1];
    let mut of_columns = vec![0.0; n_columns + 1];
    let mut row_of = vec![0; n_columns + 1];
    let mut before = vec![0; n_columns + 1];
    for row in 1..=n_rows {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; n_columns + 1];
        let mut used = vec![false; n_columns + 1];
        while row_of[column] != 0 {
            used[column] = true;
            let from = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for j in (1..=n_columns).filter(|&j| !used[j]) {
                let cost = -value(from - 1, j - 1) - of_rows[from] - of_columns[j];
                if cost < least[j] {
                    (least[j], before[j]) = (cost, column);
                }
                if least[j] < step {
                    (step, next) = (least[j], j);
                }
            }
            for j in 0..=n_columns {
                if used[j] {
                    of_rows[row_of[j]] += step;
                    of_columns[j] -= step;
                } else {
                    least[j] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            let last = before[column];
            row_of[column] = row_of[last];
            column = last;
        }
    }
    let mut found = vec![0; n_rows];
    for (column, &row) in row_of.iter().enumerate().skip(1).filter(|(_, row)| **row > 0) {
        found[row - 1] = column - 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Address, Purpose};

    fn best_of_all(n_rows: usize, n_columns: usize, value: &dyn Fn(usize, usize) -> f64) -> f64 {
        fn go(
            row: usize,
            n_rows: usize,
            free: &mut Vec<bool>,
            value: &dyn Fn(usize, usize) -> f64,
        ) -> f64 {
            if row == n_rows {
                return 0.0;
            }
            let mut best = f64::NEG_INFINITY;
            for j in 0..free.len() {
                if std::mem::take(&mut free[j]) {
                    best = best.max(value(row, j) + go(row + 1, n_rows, free, value));
                    free[j] = true;
                }
            }
            best
        }
        go(0, n_rows, &mut vec![true; n_columns], value)
    }

    #[test]
    fn no_other_assignment_is_better() {
        let mut rng = Address::new(1, Purpose::Data, 0, 0).rng(0);
        for (n_rows, n_columns) in [(1, 1), (3, 3), (4, 6), (6, 6), (5, 2), (0, 3), (3, 0)] {
            for round in 0..20 {
                // Whole numbers too, of which many are equal.
                let values: Vec<f64> = (0..n_rows * n_columns)
                    .map(|_| if round % 2 == 0 { rng.normal() } else { rng.below(4) as f64 })
                    .collect();
                let value = |i: usize, j: usize| values[i * n_columns + j];
                let found = assign(n_rows, n_columns, value);
                let mut taken: Vec<usize> = found.iter().flatten().copied().collect();
                taken.sort_unstable();
                taken.dedup();
                assert_eq!((found.len(), taken.len()), (n_rows, n_rows.min(n_columns)));
                let sum: f64 =
                    found.iter().enumerate().filter_map(|(i, j)| Some(value(i, (*j)?))).sum();
                let expected = match n_rows <= n_columns {
                    true => best_of_all(n_rows, n_columns, &value),
                    false => best_of_all(n_columns, n_rows, &|i, j| value(j, i)),
                };
                assert!((sum - expected).abs() < 1e-9, "{sum} and {expected}");
            }
        }
    }
}
