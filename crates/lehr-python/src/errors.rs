//! The library's errors, and panics, as exceptions of `lehr.errors`.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr::ErrorKind;
use pyo3::prelude::*;

/// Makes exceptions of a result's error.
pub fn raised<T>(result: lehr::Result<T>) -> PyResult<T> {
    result.map_err(|error| Python::attach(|py| exception(py, error)))
}

/// The library calls settings by their names in a configuration file; what they are called here.
fn in_python(message: String) -> String {
    // A column is left out of an array by whoever has made it.
    if let Some((head, column)) = message.split_once("leave it out with drop = ") {
        return format!("{head}leave it out (of a file: data_options={{'drop': ['{column}']}})");
    }
    let mut message = message;
    for (theirs, ours) in [
        ("with columns or drop", "with columns or drop in data_options"),
        ("with columns = ", "with data_options, columns = "),
        (
            "with drop, or choose others with columns",
            "with drop in data_options, or choose others with columns",
        ),
        ("with user, item and rating", "with user, item and rating in data_options"),
        ("the users with user", "the users with user in data_options"),
        ("the items with item", "the items with item in data_options"),
        ("the ratings with rating", "the ratings with rating in data_options"),
        ("covariance = diagonal", "covariance_type='diag'"),
        ("duplicates = mean", "duplicates='mean' (of a file: in data_options)"),
        ("exact = true", "exact=True"),
    ] {
        message = message.replace(theirs, ours);
    }
    message
}

/// The exception that says what this error says.
fn exception(py: Python<'_>, error: lehr::Error) -> PyErr {
    let message = in_python(error.to_string());
    match error.into_kind() {
        // Its parts, so that a setting can be called by the name that it has in Python.
        ErrorKind::Config { field, value, allowed } => {
            made(py, "SettingError", (field, value, allowed))
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
        ErrorKind::Run { path, .. } if !path.exists() => made(py, "MissingRunError", (message,)),
        ErrorKind::Run { .. } | ErrorKind::Damaged { .. } => made(py, "RunError", (message,)),
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
