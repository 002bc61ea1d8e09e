//! Latent dimensions by the factors of the items that both models know.

use super::{Comparable, Comparison, Parts, matched};
use crate::data::Side;
use crate::models::{Pmf, Stored};
use crate::store::Run;
use crate::{Error, Result};

impl Comparable for Pmf {
    fn compare(first: &Run<Pmf>, second: &Run<Pmf>) -> Result<Comparison> {
        let ids = first.model.ids(Side::Item);
        let common: Vec<(usize, usize)> = (0..ids.len())
            .filter_map(|item| {
                let other = second.model.find_item(&ids.get(item).to_string())?;
                Some((item, other as usize))
            })
            .collect();
        if common.is_empty() {
            return Err(Error::data(
                "the two runs have no item in common; their dimensions cannot be compared",
            ));
        }
        let [a, b] = [first, second].map(|run| {
            let arrays = run.model.readable(run.lambda());
            let factors = arrays.into_iter().find(|array| array.name == "item_factors");
            factors.expect("a matrix factorisation has factors")
        });
        let numbers = [first, second].map(|run| run.model.used_dims(run.lambda()));
        let column =
            |(array, dim): (&crate::models::NamedArray, usize), second: bool| -> Vec<f64> {
                let d = array.shape[1];
                let item = |&(i, j): &(usize, usize)| if second { j } else { i };
                common.iter().map(|pair| array.values[item(pair) * d + dim]).collect()
            };
        let x: Vec<Vec<f64>> = numbers[0].iter().map(|&dim| column((&a, dim), false)).collect();
        let y: Vec<Vec<f64>> = numbers[1].iter().map(|&dim| column((&b, dim), true)).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let of = Parts {
            parts: "dimensions",
            by: "items",
            n_common: common.len(),
            numbers: [&numbers[0], &numbers[1]],
        };
        Ok(matched(&of, |i, j| {
            let length = (dot(&x[i], &x[i]) * dot(&y[j], &y[j])).sqrt();
            if length > 0.0 { dot(&x[i], &y[j]).abs() / length } else { 0.0 }
        }))
    }
}
