//! The models that ship with lehr, and what a model adds to be saved, loaded and used by name.

pub mod lda;
pub mod mixture;
pub mod pmf;

pub use lda::{Lda, LdaParams};
pub use mixture::{Mixture, MixtureParams};
pub use pmf::{Pmf, PmfParams};

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::data::FromFile;
use crate::lambda::Lambda;
use crate::model::Model;
use crate::read::{DOCS, POINTS, RATINGS, Unknown};
use crate::settings::Tables;
use crate::step::anneal::Law;
use crate::step::update::Guard;
use crate::store::{Files, Keep};

/// The settings of every model that ships with lehr, by the names that runs call them.
pub const TABLES: &[Tables] = &[
    Tables { model: "gmm", ..MIXTURE },
    Tables { model: "dpgmm", ..MIXTURE },
    Tables {
        model: "lda",
        own: lda::SETTINGS,
        fit: lda::FIT,
        data: DOCS,
        items: "documents",
        guards: Guard::OF_ENTRIES,
        laws: |_| true,
    },
    Tables {
        model: "pmf",
        own: pmf::SETTINGS,
        fit: pmf::FIT,
        data: RATINGS,
        items: "ratings",
        guards: Guard::OF_ROWS_WITH_PRIORS,
        laws: Law::works_in_blocks,
    },
];

const MIXTURE: Tables = Tables {
    model: "",
    own: mixture::SETTINGS,
    fit: mixture::FIT,
    data: POINTS,
    items: "points",
    guards: Guard::OF_ROWS,
    laws: |_| true,
};

/// How the data of a model are read.
pub type ReadOptions<M> = <<M as Model>::Data as FromFile>::Options;

/// A model whose runs can be stored.
pub trait Stored: Model<Data: FromFile> + Clone + Send {
    /// What the user chose.
    type Params: Serialize + DeserializeOwned + Clone + Send + Sync;
    /// What was taken from the data at the start and must not change afterwards (units, priors).
    type Frozen: Serialize + DeserializeOwned + Clone + Send + Sync;

    /// Reads items that the model was not fitted to, and says what of them it does not know.
    fn read_new(&self, path: &Path, options: &ReadOptions<Self>) -> Result<(Self::Data, Unknown)> {
        Ok((Self::Data::read(path, options)?, Unknown::default()))
    }

    /// Whether these data can be scored by this model; says why not.
    fn check_fits(&self, data: &Self::Data, names: &[String]) -> Result<()>;

    /// A model for this data.
    fn build(params: Self::Params, data: &Self::Data) -> Result<Self>;

    /// The settings.
    fn params(&self) -> &Self::Params;

    /// What [`Stored::restore`] needs beside the settings.
    fn frozen(&self) -> Self::Frozen;

    /// The names of the files that [`Stored::sidecars`] makes.
    const SIDECARS: &'static [&'static str] = &[];

    /// What is too much for [`Stored::Frozen`], as files of its own: hands each to `keep`, one after the
    /// other.
    fn sidecars(&self, _keep: Keep<'_>) -> Result<()> {
        Ok(())
    }

    /// The model of an earlier run, without its data; `files` has its sidecars. Refuses what does not fit
    /// together.
    fn restore(params: Self::Params, frozen: Self::Frozen, files: &dyn Files) -> Result<Self>;

    /// More items, to which the model is about to be fitted as well; says why not, if they cannot
    /// teach it anything.
    fn extend(&mut self, _data: &Self::Data) -> Result<()> {
        Ok(())
    }

    /// Whether the start is not random but given, by files that may be gone later.
    fn is_given_its_start(&self) -> bool {
        false
    }

    /// Makes relative paths in the settings absolute: a run may be resumed from another folder.
    fn anchor(_params: &mut Self::Params) {}

    /// The fitted model as named arrays in the user's units, saved beside lambda.
    fn readable(&self, lambda: &Lambda) -> Vec<NamedArray>;
}

/// An array with a name and a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedArray {
    /// The name.
    pub name: &'static str,
    /// The shape, slowest dimension first.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Vec<f64>,
}
