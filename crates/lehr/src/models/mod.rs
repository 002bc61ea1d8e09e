//! The models that ship with lehr, and what a model adds to be saved, loaded and used by name.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::data::FromFile;
use crate::error::Advice;
use crate::fit::Watcher;
use crate::lambda::Lambda;
use crate::model::Model;
use crate::read::Unknown;
use crate::settings::{FitConfig, Tables};
use crate::store::{self, Extension, Files, Keep, Run, RunDirectory, RunResult, Sink};
use crate::sweep::{self, Grid, HasSize, Onlooker, Swept};

/// Makes of one list of models: their modules, [`TABLES`], [`Shipped`], and the macros with which programs
/// choose among them.
macro_rules! shipped {
    ($d:tt $($module:ident: $Model:ident, $Params:ident = $($name:literal),+;)*) => {
        $(
            pub mod $module;
            pub use $module::{$Model, $Params};

            impl Shipped for $Model {
                const NAMES: &'static [&'static str] = &[$($name),+];

                fn fit_file(
                    directory: &Path,
                    data: &Path,
                    options: &ReadOptions<Self>,
                    params: Self::Params,
                    config: &FitConfig,
                    watcher: &mut dyn Watcher,
                ) -> Result<RunResult> {
                    store::fit_file::<Self>(directory, data, options, params, config, watcher)
                }

                fn fit_file_into(
                    data: &Path,
                    options: &ReadOptions<Self>,
                    params: Self::Params,
                    config: &FitConfig,
                    sink: &mut dyn Sink<Self>,
                    watcher: &mut dyn Watcher,
                ) -> Result<Run<Self>> {
                    store::fit_file_into::<Self>(data, options, params, config, sink, watcher)
                }

                fn update_file(
                    parent: &RunDirectory,
                    directory: &Path,
                    data: &Path,
                    options: &ReadOptions<Self>,
                    config: &FitConfig,
                    watcher: &mut dyn Watcher,
                ) -> Result<(RunResult, Unknown)> {
                    store::update_file::<Self>(parent, directory, data, options, config, watcher)
                }

                fn resume(
                    directory: &RunDirectory,
                    more: Extension,
                    threads: Option<usize>,
                    watcher: &mut dyn Watcher,
                ) -> Result<RunResult> {
                    store::resume::<Self>(directory, more, threads, watcher)
                }

                fn sweep_file(
                    directory: &Path,
                    data: &Path,
                    options: &ReadOptions<Self>,
                    params: Self::Params,
                    config: &FitConfig,
                    grid: &Grid,
                    onlooker: &dyn Onlooker,
                ) -> Result<Swept> {
                    sweep::fit_file::<Self>(directory, data, options, params, config, grid, onlooker)
                }

                fn resume_sweep(
                    directory: &Path,
                    data: Option<&Path>,
                    threads: Option<usize>,
                    onlooker: &dyn Onlooker,
                ) -> Result<Swept> {
                    sweep::resume::<Self>(directory, data, threads, onlooker)
                }
            }
        )*

        /// The models and their settings, for the root of the crate.
        pub(crate) mod root {
            $(pub use super::$module::{$Model, $Params};)*
        }

        /// The settings of every model that ships with lehr, by the names that runs call them.
        pub const TABLES: &[Tables] = &[$($(Tables { model: $name, ..$module::TABLES }),+),*];

        /// The sidecars of every model that ships with lehr.
        pub(crate) const SIDECARS: &[&[&str]] = &[$(<$Model as Stored>::SIDECARS),*];

        /// Does work with a type of model that is known by a name: `with_model!(name, M => work::<M>(), else
        /// panic!())`.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! with_model {
            ($d name:expr, $d M:ident => $d work:expr, else $d unknown:expr) => {
                match $d name {
                    $($($name)|+ => {
                        type $d M = $d crate::models::$Model;
                        $d work
                    })*
                    _ => $d unknown,
                }
            };
        }

        /// Hands the list of models to another macro: module and type of each.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! for_each_model {
            ($d each:ident) => { $d each! { $($module $Model),* } };
        }
    };
}

// The list of models. A line has the module, the model, its settings, and the names of its runs.
shipped! { $
    mixture: Mixture, MixtureParams = "gmm", "dpgmm";
    lda: Lda, LdaParams = "lda";
    pmf: Pmf, PmfParams = "pmf";
}

/// A model that ships with lehr. Its loops are compiled here once, not again in every program that calls them.
pub trait Shipped: HasSize {
    /// The names that runs call it by.
    const NAMES: &'static [&'static str];

    /// [`store::fit_file`] of this model.
    fn fit_file(
        directory: &Path,
        data: &Path,
        options: &ReadOptions<Self>,
        params: Self::Params,
        config: &FitConfig,
        watcher: &mut dyn Watcher,
    ) -> Result<RunResult>;

    /// [`store::fit_file_into`] of this model.
    fn fit_file_into(
        data: &Path,
        options: &ReadOptions<Self>,
        params: Self::Params,
        config: &FitConfig,
        sink: &mut dyn Sink<Self>,
        watcher: &mut dyn Watcher,
    ) -> Result<Run<Self>>;

    /// [`store::update_file`] of this model.
    fn update_file(
        parent: &RunDirectory,
        directory: &Path,
        data: &Path,
        options: &ReadOptions<Self>,
        config: &FitConfig,
        watcher: &mut dyn Watcher,
    ) -> Result<(RunResult, Unknown)>;

    /// [`store::resume`] of this model.
    fn resume(
        directory: &RunDirectory,
        more: Extension,
        threads: Option<usize>,
        watcher: &mut dyn Watcher,
    ) -> Result<RunResult>;

    /// [`sweep::fit_file`] of this model.
    fn sweep_file(
        directory: &Path,
        data: &Path,
        options: &ReadOptions<Self>,
        params: Self::Params,
        config: &FitConfig,
        grid: &Grid,
        onlooker: &dyn Onlooker,
    ) -> Result<Swept>;

    /// [`sweep::resume`] of this model.
    fn resume_sweep(
        directory: &Path,
        data: Option<&Path>,
        threads: Option<usize>,
        onlooker: &dyn Onlooker,
    ) -> Result<Swept>;
}

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

    /// What a fit to these data will need, before anything is done: an error if it cannot work, and what is worth
    /// knowing if it will take its time.
    fn foresee(
        _params: &Self::Params,
        _data: &Self::Data,
        _config: &FitConfig,
    ) -> Result<Option<Advice>> {
        Ok(None)
    }

    /// A model for this data.
    fn build(params: Self::Params, data: &Self::Data) -> Result<Self>;

    /// What someone who fits this model should know of it; the data's columns have these names, if any.
    fn notes(&self, _names: &[String]) -> Vec<Advice> {
        Vec::new()
    }

    /// The settings.
    fn params(&self) -> &Self::Params;

    /// What [`Stored::restore`] needs besides the settings.
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

    /// The fitted model as named arrays in the user's units, saved with lambda.
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
