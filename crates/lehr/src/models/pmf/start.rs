//! Random starts: means drawn around 0, and the covariance that goes with them.

use rayon::prelude::*;

use super::Pmf;
use crate::math::packed::Symmetric;
use crate::math::rng::Address;
use crate::math::stop;
use crate::math::table::Table;
use crate::model::{Model, hyper_of};

/// Fills lambda. Biases, and rows that have no ratings, start at their prior.
pub(super) fn fill(pmf: &Pmf, address: Address, lambda: &mut Table) {
    let (hyper, columns) = (hyper_of(pmf), pmf.columns);
    let c = pmf.prior_variance;
    let deviation = pmf.params.init_sd.unwrap_or(c.sqrt());
    let variance = pmf.params.init_var.unwrap_or(c);
    let shape = Symmetric::full(columns.free());
    let width = lambda.width();
    lambda.values_mut().par_chunks_mut(width).enumerate().for_each(|(row, out)| {
        stop::check();
        pmf.prior(&hyper, row, out);
        if pmf.unrated.binary_search(&(row as u32)).is_ok() {
            return;
        }
        let mut rng = address.rng(row as u64);
        for k in 0..columns.d {
            out[shape.diagonal_index(k)] = 1.0 / variance;
            out[columns.linear() + k] = deviation * rng.normal() / variance;
        }
    });
}
