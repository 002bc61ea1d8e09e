//! Annealing weights for others' gradients.

use lehr::math::rng::{Address, Purpose};
use lehr::settings::either;
use lehr::step::anneal::Law;
use pyo3::prelude::*;

use crate::arrays::vector;
use crate::errors::raised;
use crate::run::computed;

/// The laws whose weights need nothing but the batch itself.
pub fn laws() -> Vec<&'static str> {
    Law::ALL.iter().filter(|law| law.works_in_blocks()).map(|law| law.name()).collect()
}

/// `n` weights with mean 1 whose noise is that of `effective` examples: step `step` of seed `seed`.
#[pyfunction]
pub fn weights<'py>(
    py: Python<'py>,
    n: usize,
    effective: f64,
    law: &str,
    corrected: bool,
    seed: u64,
    step: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(law) = law.parse::<Law>().ok().filter(|law| law.works_in_blocks()) else {
        let allowed = format!("must be {}", either(&laws()));
        return raised(Err(lehr::Error::config("law", law, allowed)));
    };
    if effective.is_nan() || effective < 1e-3 {
        let allowed = "the effective batch size must be at least 0.001";
        raised(Err(lehr::Error::config("effective", effective, allowed)))?;
    }
    let weights = computed(py, 1, || {
        lehr::memory::room_for(&format!("{n} weights"), n)?;
        let mut weights = vec![0.0; n];
        let address = Address::new(seed, Purpose::Noise, 0, step);
        lehr::step::anneal::weights(law, effective, corrected, address, &mut weights);
        Ok(weights)
    })?;
    Ok(vector(py, weights))
}
