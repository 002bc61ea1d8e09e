//! The compiled part of the Python package `lehr`: data in, fits, numbers out. No algorithm lives here.
//!
//! Settings come as JSON, which becomes the same types that the command line fills in; data are shared with
//! numpy where their layout allows; every computation runs in its own thread pool while the interpreter
//! is free. `python/lehr` makes scikit-learn's estimators of it.

mod anneal;
mod arrays;
mod arrow;
mod command_line;
mod data;
mod distributed;
mod errors;
mod fitted;
mod run;
mod setting;

macro_rules! modules {
    ($($module:ident $Model:ident),*) => { $(mod $module;)* };
}
lehr::for_each_model!(modules);

use lehr::math::kernels::Isa;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// The compiled part of lehr.
#[pymodule]
fn _lehr(module: &Bound<'_, PyModule>) -> PyResult<()> {
    Isa::check_environment().map_err(PyImportError::new_err)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("LAWS", anneal::laws())?;
    module.add_class::<data::Points>()?;
    module.add_class::<data::Docs>()?;
    module.add_class::<data::Ratings>()?;
    module.add_class::<distributed::Worker>()?;
    macro_rules! add_classes {
        ($($model:ident $Class:ident),*) => { $(module.add_class::<$model::$Class>()?;)* };
    }
    lehr::for_each_model!(add_classes);
    module.add_function(wrap_pyfunction!(anneal::weights, module)?)?;
    module.add_function(wrap_pyfunction!(command_line::run_command_line, module)?)?;
    module.add_function(wrap_pyfunction!(setting::tables, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::make_shards, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::shard_manifest, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::check_shard, module)?)?;
    module.add_function(wrap_pyfunction!(data::usual_columns, module)?)?;
    module.add_function(wrap_pyfunction!(fitted::write_whole, module)?)?;
    module.add_function(wrap_pyfunction!(fitted::model_name, module)?)
}
