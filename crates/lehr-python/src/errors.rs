//! The library's errors, and panics, as exceptions of `lehr.errors`.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr::ErrorKind;
use pyo3::prelude::*;

use crate::setting::{OPTIONS, one_option};

/// Makes exceptions of a result's error.
pub fn raised<T>(result: lehr::Result<T>) -> PyResult<T> {
    result.map_err(|error| Python::attach(|py| exception(py, error)))
}

/// What a setting is called in Python if it says how to read a file; estimators have names for the others.
fn option(py: Python<'_>, name: &str, value: Option<&str>, of_file: bool) -> Option<String> {
    let module = py.import("lehr.errors").ok()?;
    module.call_method1("_option", (name, value, of_file)).ok()?.extract().ok()?
}

/// A message in which settings have the names that `name` gives them, or keep theirs where it gives None.
#[pyfunction]
pub fn rename_settings(text: &str, name: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut failed = None;
    let renamed = lehr::error::rename_settings(text, |setting, value| {
        let new = name.call1((setting, value)).and_then(|new| new.extract());
        new.unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    });
    failed.map_or(Ok(renamed), Err)
}

/// The exception that says what this error says.
fn exception(py: Python<'_>, error: lehr::Error) -> PyErr {
    let of_file = matches!(error.kind(), ErrorKind::Parse { .. });
    let message = error.naming(|name, value| option(py, name, value, of_file));
    match error.into_kind() {
        // Its parts, so that a setting can be called by the name that it has in Python.
        ErrorKind::Config { field, value, allowed } => {
            let of_file = option(py, &field, None, true).is_some();
            let allowed = lehr::error::rename_settings(&allowed, |name, value| {
                option(py, name, value, of_file)
            });
            match of_file {
                true => made(py, "SettingError", (OPTIONS, one_option(&field, &value), allowed)),
                false => made(py, "SettingError", (field, value, allowed)),
            }
        }
        ErrorKind::Data(_) => made(py, "DataError", (message,)),
        ErrorKind::Io { path, source, .. } => {
            let name = match source.kind() {
                io::ErrorKind::NotFound => "MissingFileError",
                io::ErrorKind::PermissionDenied => "ForbiddenFileError",
                _ => "FileError",
            };
            made(py, name, (message, path))
        }
        ErrorKind::Parse { .. } => made(py, "FormatError", (message,)),
        ErrorKind::NoRun { .. } => made(py, "MissingRunError", (message,)),
        ErrorKind::Occupied { .. } | ErrorKind::Run { .. } | ErrorKind::Damaged { .. } => {
            made(py, "RunError", (message,))
        }
        ErrorKind::Diverged { .. } | ErrorKind::Domain { .. } => {
            made(py, "DivergedError", (message,))
        }
        _ => made(py, "LehrError", (message,)),
    }
}

fn made<'py, A: pyo3::call::PyCallArgs<'py>>(py: Python<'py>, class: &str, args: A) -> PyErr {
    let class = py.import("lehr.errors").and_then(|module| module.getattr(class));
    match class.and_then(|class| class.call1(args)) {
        Ok(instance) => PyErr::from_value(instance),
        Err(error) => error,
    }
}

/// An error about data, in words.
pub fn data_error(message: impl Into<String>) -> PyErr {
    Python::attach(|py| exception(py, lehr::Error::data(message)))
}

/// A broken invariant of ours, as an exception that a program can catch.
pub fn broken(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given");
    let message = format!("a mistake in lehr, which is worth a report: {text}");
    Python::attach(|py| made(py, "BrokenError", (message,)))
}

/// Runs `work`, making exceptions of errors and panics.
pub fn guarded<T>(work: impl FnOnce() -> lehr::Result<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => raised(result),
        Err(panic) => Err(broken(panic)),
    }
}
