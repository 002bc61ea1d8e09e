//! What is done for every component: on all threads where it is long, handed on in the components' order.

use rayon::prelude::*;

use super::Mixture;
use crate::math::table::Table;

/// Multiplications below which other threads are not worth waking.
const WORTHWHILE: usize = 1 << 21;

/// Does `of` for every row of lambda and hands what it makes to `each`, row after row. Sums that `each` makes have
/// the same bits on any number of threads.
pub(super) fn in_order<T: Send>(
    mixture: &Mixture,
    lambda: &Table,
    of: impl Fn(usize, &[f64]) -> T + Sync,
    mut each: impl FnMut(usize, T),
) {
    let d = mixture.n_dims();
    let work = lambda.n_rows().saturating_mul(mixture.shape.scatter().len()).saturating_mul(d);
    if work < WORTHWHILE {
        lambda.rows().enumerate().for_each(|(k, row)| each(k, of(k, row)));
        return;
    }
    // A matrix for each thread, not one for each component.
    let group = rayon::current_num_threads();
    for first in (0..lambda.n_rows()).step_by(group) {
        let last = (first + group).min(lambda.n_rows());
        let made: Vec<T> =
            (first..last).into_par_iter().with_max_len(1).map(|k| of(k, lambda.row(k))).collect();
        made.into_iter().zip(first..).for_each(|(made, k)| each(k, made));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::math::rng::{Address, Purpose};
    use crate::models::MixtureParams;

    #[test]
    fn components_come_in_order_each_once_whether_on_one_thread_or_many() {
        let mut rng = Address::new(5, Purpose::Data, 0, 0).rng(0);
        let points = Points::new((0..150 * 100).map(|_| rng.normal()).collect(), 100).unwrap();
        for components in [1, 7] {
            let mixture = Mixture::new(MixtureParams::gmm(components), &points).unwrap();
            let lambda = Table::new(components, 3);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let mut found = Vec::new();
            pool.install(|| {
                in_order(
                    &mixture,
                    &lambda,
                    |k, row| k + row.len(),
                    |k, made| found.push((k, made)),
                );
            });
            let expected: Vec<_> = (0..components).map(|k| (k, k + 3)).collect();
            assert_eq!(found, expected);
        }
    }
}
