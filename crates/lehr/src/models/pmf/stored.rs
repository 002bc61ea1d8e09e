//! How a matrix factorisation is saved and loaded.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Pmf, PmfParams};
use crate::data::{Grouped, Ids, Ratings, Side};
use crate::error::{Verb, action, advice};
use crate::lambda::Lambda;
use crate::models::{NamedArray, Stored};
use crate::read::{self, RatingsOptions, Unknown};
use crate::store::tensors::{Array, Tensors, pack};
use crate::store::{Files, Keep};
use crate::{Error, Result};

/// What was taken from the training ratings. The names of users and items are in `users.jsonl` and
/// `items.jsonl`, what each user has rated in `seen.safetensors`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// How many users.
    pub users: usize,
    /// How many items.
    pub items: usize,
    /// How many ratings the model is fitted to.
    pub ratings: usize,
    /// mu; 0 if ratings are not centred.
    pub mean: f64,
    /// The variance of the ratings.
    pub variance: f64,
}

const USERS: &str = "users.jsonl";
const ITEMS: &str = "items.jsonl";
const SEEN: &str = "seen.safetensors";

impl Stored for Pmf {
    type Params = PmfParams;
    type Frozen = Frozen;

    fn read_new(&self, path: &Path, options: &RatingsOptions) -> Result<(Ratings, Unknown)> {
        let ratings = read::ratings_for(path, options, &self.users, &self.items)?;
        Ok((ratings, Unknown::default()))
    }

    fn check_fits(&self, data: &Ratings, _names: &[String]) -> Result<()> {
        let fits = [Side::User, Side::Item]
            .iter()
            .all(|&side| data.ids(side).len() >= self.n_rows_of(side));
        if fits {
            return Ok(());
        }
        Err(Error::data("the ratings are not numbered as the model's users and items are"))
    }

    fn build(params: PmfParams, data: &Ratings) -> Result<Self> {
        Pmf::new(params, data)
    }

    fn params(&self) -> &PmfParams {
        &self.params
    }

    fn frozen(&self) -> Frozen {
        Frozen {
            users: self.users.len(),
            items: self.items.len(),
            ratings: self.seen.others().len(),
            mean: self.mean,
            variance: self.variance,
        }
    }

    const SIDECARS: &'static [&'static str] = &[USERS, ITEMS, SEEN];

    fn sidecars(&self, keep: Keep<'_>) -> Result<()> {
        keep(USERS, self.users.to_bytes())?;
        keep(ITEMS, self.items.to_bytes())?;
        keep(SEEN, seen_to_bytes(&self.seen)?)
    }

    fn restore(params: PmfParams, frozen: Frozen, files: &dyn Files) -> Result<Self> {
        params.check()?;
        let ids = |name: &str, n: usize| -> Result<Arc<Ids>> {
            let path = files.path(name);
            let ids = Ids::from_bytes(&files.read(name)?, &path)?;
            if ids.len() == n && n > 0 {
                return Ok(Arc::new(ids));
            }
            Err(Error::parse(&path, format!("has {} ids, and the run has {n}", ids.len())))
        };
        let (users, items) = (ids(USERS, frozen.users)?, ids(ITEMS, frozen.items)?);
        let seen = seen_from_bytes(&files.read(SEEN)?, &files.path(SEEN), &frozen)?;
        let valid =
            frozen.mean.is_finite() && frozen.variance.is_finite() && frozen.variance >= 0.0;
        if !valid {
            let allowed = "they are not numbers; the configuration was changed by hand";
            return Err(Error::config("frozen", "mean and variance of the ratings", allowed));
        }
        Ok(Pmf::assemble(params, frozen, users, items, Arc::new(seen)))
    }

    fn extend(&mut self, _data: &Ratings) -> Result<()> {
        Err(Error::data(advice![
            "a matrix factorisation is not continued on other ratings; fold new users and items in with ",
            action(Verb::Transform),
            ", or fit all ratings again",
        ]))
    }

    fn readable(&self, lambda: &Lambda) -> Vec<NamedArray> {
        let d = self.columns.d;
        let mut arrays = vec![
            NamedArray {
                name: "noise_variance",
                shape: vec![1],
                values: vec![self.noise_variance(lambda)],
            },
            NamedArray {
                name: "item_variances",
                shape: vec![d],
                values: self.item_variances(lambda).to_vec(),
            },
        ];
        let names = [
            (Side::User, "user_factors", "user_biases"),
            (Side::Item, "item_factors", "item_biases"),
        ];
        for (side, factors, biases) in names {
            let means = self.means(lambda, side);
            let rows = || means.chunks_exact(self.columns.free());
            let values = rows().flat_map(|row| row[..d].to_vec()).collect();
            let shape = vec![self.n_rows_of(side), d];
            arrays.push(NamedArray { name: factors, shape, values });
            if self.columns.biases {
                let values: Vec<f64> = rows().map(|row| row[d]).collect();
                arrays.push(NamedArray { name: biases, shape: vec![values.len()], values });
            }
        }
        arrays
    }
}

/// What each user has rated: `starts` (i64), `items` (i32) and `ratings` (f32), user after user.
fn seen_to_bytes(seen: &Grouped) -> Result<Vec<u8>> {
    let starts: Vec<i64> = seen.starts().iter().map(|&start| start as i64).collect();
    let items: &[i32] = bytemuck::cast_slice(seen.others());
    let arrays = [
        ("starts", Array::list(&starts)),
        ("items", Array::list(items)),
        ("ratings", Array::list(seen.values())),
    ];
    pack(&arrays, None)
}

fn seen_from_bytes(bytes: &[u8], path: &Path, frozen: &Frozen) -> Result<Grouped> {
    let tensors = Tensors::open(bytes, path)?;
    let starts = tensors.list::<i64>("starts")?;
    let starts = starts.into_iter().map(|start| usize::try_from(start).unwrap_or(usize::MAX));
    let items = tensors.list::<i32>("items")?.into_iter().map(i32::cast_unsigned);
    let ratings = tensors.list::<f32>("ratings")?;
    Grouped::new(starts.collect(), items.collect(), ratings, frozen.items)
        .filter(|seen| seen.n_rows() == frozen.users && seen.others().len() == frozen.ratings)
        .ok_or_else(|| tensors.damaged("its numbers do not fit together"))
}
