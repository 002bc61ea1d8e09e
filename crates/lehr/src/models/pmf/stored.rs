//! How a matrix factorisation is saved and loaded.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};

use super::{Pmf, PmfParams};
use crate::data::{Grouped, Ids, Ratings, Side};
use crate::error::{Verb, action, advice};
use crate::lambda::Lambda;
use crate::models::{NamedArray, Stored};
use crate::read::{self, RatingsOptions, Unknown};
use crate::{Error, Result, write};

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
    type ReadOptions = RatingsOptions;

    fn read(path: &Path, options: &RatingsOptions) -> Result<Ratings> {
        read::ratings(path, options)
    }

    fn read_new(&self, path: &Path, options: &RatingsOptions) -> Result<(Ratings, Unknown)> {
        let ratings = read::ratings_for(path, options, &self.users, &self.items)?;
        Ok((ratings, Unknown::default()))
    }

    fn subset(data: &Ratings, items: &[u32]) -> Ratings {
        data.subset(items)
    }

    fn fingerprint(data: &Ratings) -> String {
        data.fingerprint()
    }

    fn column_names(_data: &Ratings) -> Vec<String> {
        Vec::new()
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

    const BESIDE: &'static [&'static str] = &[USERS, ITEMS, SEEN];

    fn save_beside(&self, folder: &Path) -> Result<()> {
        self.users.save(&folder.join(USERS))?;
        self.items.save(&folder.join(ITEMS))?;
        save_seen(&folder.join(SEEN), &self.seen)
    }

    fn restore(params: PmfParams, frozen: Frozen, folder: &Path) -> Result<Self> {
        params.check()?;
        let ids = |file: &str, n: usize| -> Result<Arc<Ids>> {
            let path = folder.join(file);
            let ids = Ids::load(&path)?;
            if ids.len() == n && n > 0 {
                return Ok(Arc::new(ids));
            }
            Err(Error::parse(&path, format!("has {} ids, and the run has {n}", ids.len())))
        };
        let (users, items) = (ids(USERS, frozen.users)?, ids(ITEMS, frozen.items)?);
        let seen = load_seen(&folder.join(SEEN), &frozen)?;
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

/// Writes what each user has rated: `starts` (i64), `items` (i32) and `ratings` (f32), user after user.
fn save_seen(path: &Path, seen: &Grouped) -> Result<()> {
    let arrays = [
        (
            "starts",
            Dtype::I64,
            seen.starts().iter().flat_map(|&x| (x as i64).to_le_bytes()).collect(),
        ),
        ("items", Dtype::I32, seen.others().iter().flat_map(|&x| x.to_le_bytes()).collect()),
        ("ratings", Dtype::F32, seen.values().iter().flat_map(|&x| x.to_le_bytes()).collect()),
    ]
    .map(|(name, dtype, bytes): (&str, Dtype, Vec<u8>)| {
        let size = if dtype == Dtype::I64 { 8 } else { 4 };
        (name, Bytes { dtype, shape: [bytes.len() / size], bytes })
    });
    let views = arrays.iter().map(|(name, array)| (*name, array));
    let bytes = safetensors::serialize(views, None)
        .map_err(|error| Error::run(path, format!("cannot be written: {error}")))?;
    drop(arrays);
    write::whole(path, &bytes)
}

struct Bytes {
    dtype: Dtype,
    shape: [usize; 1],
    bytes: Vec<u8>,
}

impl View for &Bytes {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

fn load_seen(path: &Path, frozen: &Frozen) -> Result<Grouped> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, "cannot read", error))?;
    let damaged = |what: &str| Error::damaged(path, what);
    let tensors = SafeTensors::deserialize(&bytes).map_err(|e| damaged(&e.to_string()))?;
    let read = |name: &str, dtype: Dtype| -> Result<Vec<u8>> {
        let view =
            tensors.tensor(name).map_err(|_| damaged(&format!("there is no {name} in it")))?;
        match view.dtype() == dtype {
            true => Ok(view.data().to_vec()),
            false => Err(damaged(&format!("{name} is of another type"))),
        }
    };
    let starts = read("starts", Dtype::I64)?
        .chunks_exact(8)
        .map(|b| i64::from_le_bytes(b.try_into().expect("eight bytes")))
        .map(|start| usize::try_from(start).unwrap_or(usize::MAX))
        .collect();
    let items = read("items", Dtype::I32)?
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
        .collect();
    let ratings = read("ratings", Dtype::F32)?
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")))
        .collect();
    Grouped::new(starts, items, ratings, frozen.items)
        .filter(|seen| seen.n_rows() == frozen.users && seen.others().len() == frozen.ratings)
        .ok_or_else(|| damaged("its numbers do not fit together"))
}
