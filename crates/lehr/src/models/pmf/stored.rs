//! How a matrix factorisation is saved and loaded.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::columns::Columns;
use super::params::MOST_DIMS;
use super::{Pmf, PmfParams};
use crate::data::{Grouped, Ids, Ratings, Side};
use crate::error::{Advice, Verb, action, advice, setting};
use crate::lambda::Lambda;
use crate::memory::{self, lacking};
use crate::models::{NamedArray, Stored};
use crate::read::{self, RatingsOptions, Unknown};
use crate::settings::FitConfig;
use crate::store::tensors::{Array, Tensors, pack};
use crate::store::{Files, Keep};
use crate::sweep::HasSize;
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

/// The bytes that a fit has at once, the ratings not counted.
fn needed(params: &PmfParams, users: usize, items: usize) -> u64 {
    if params.dims > MOST_DIMS {
        return 0; // refused for that
    }
    let columns = Columns::new(params.dims, params.biases);
    let rows = (users + items) as u128;
    let [natural, raw] = [columns.width(), columns.raw_width()].map(|n| 8 * n as u128);
    let moments = columns.tail() as u128 * if params.exact { 8 } else { 4 };
    // Lambda, the moments of every row, and the statistics of a side. A copy of lambda is made where there is room.
    let bytes = rows * (natural + moments) + users.max(items) as u128 * raw;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl HasSize for Pmf {
    const SIZE: &'static str = "dims";

    fn with_size(params: &PmfParams, size: usize) -> PmfParams {
        PmfParams { dims: size, ..params.clone() }
    }

    fn with_shape(_params: &PmfParams, shape: &str) -> Result<PmfParams> {
        Err(Error::config("covariance", shape, "only mixtures have shapes; leave it out"))
    }

    fn check_size(params: &PmfParams, _data: &Ratings, _n_items: usize) -> Result<()> {
        params.check()
    }

    fn n_parameters(params: &PmfParams, data: &Ratings) -> f64 {
        let rows = [Side::User, Side::Item].map(|side| data.ids(side).len() as f64);
        (rows[0] + rows[1]) * params.dims as f64
    }

    fn in_use(&self, lambda: &Lambda) -> Option<usize> {
        self.params.ard.then(|| self.dims_in_use(lambda))
    }
}

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

    fn foresee(params: &PmfParams, data: &Ratings, _config: &FitConfig) -> Result<Option<Advice>> {
        params.check()?;
        let [users, items] = [Side::User, Side::Item].map(|side| data.ids(side).len());
        let (bytes, available) = (needed(params, users, items), memory::available());
        if bytes <= available {
            return Ok(None);
        }
        let d = params.dims;
        let what = format!("{d} latent dimensions of {users} users and {items} items");
        Err(Error::memory(advice![
            format!("{what}: a fit {}; try fewer ", lacking(bytes, available)),
            setting("dims"),
        ]))
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

/// What each user has rated: `starts` (i64), `items` (i32) and `ratings` (f32), user after user; `weights` (f32), if
/// ratings have some.
fn seen_to_bytes(seen: &Grouped) -> Result<Vec<u8>> {
    let starts: Vec<i64> = seen.starts().iter().map(|&start| start as i64).collect();
    let items: &[i32] = bytemuck::cast_slice(seen.others());
    let mut arrays = vec![
        ("starts", Array::list(&starts)),
        ("items", Array::list(items)),
        ("ratings", Array::list(seen.values())),
    ];
    if !seen.weights().is_empty() {
        arrays.push(("weights", Array::list(seen.weights())));
    }
    pack(&arrays, None)
}

fn seen_from_bytes(bytes: &[u8], path: &Path, frozen: &Frozen) -> Result<Grouped> {
    let tensors = Tensors::open(bytes, path)?;
    let starts = tensors.list::<i64>("starts")?;
    let starts = starts.into_iter().map(|start| usize::try_from(start).unwrap_or(usize::MAX));
    let items = tensors.list::<i32>("items")?.into_iter().map(i32::cast_unsigned);
    let ratings = tensors.list::<f32>("ratings")?;
    let weights = match tensors.has("weights") {
        true => tensors.list::<f32>("weights")?,
        false => Vec::new(),
    };
    Grouped::new(starts.collect(), items.collect(), ratings, frozen.items)
        .and_then(|seen| seen.with_weights(weights))
        .filter(|seen| seen.n_rows() == frozen.users && seen.others().len() == frozen.ratings)
        .ok_or_else(|| tensors.damaged("its numbers do not fit together"))
}
