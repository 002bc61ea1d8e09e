//! The library's errors, and panics, as exceptions of `lehr.errors`.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr::ErrorKind;
use lehr::error::{Advice, Part, Verb};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::setting::{OPTIONS, is_option, one_option};

/// Makes exceptions of a result's error.
pub fn raised<T>(result: lehr::Result<T>) -> PyResult<T> {
    result.map_err(|error| Python::attach(|py| exception(py, error)))
}

/// The parts of a message: texts, ("setting", name, value), ("option", name, value) for settings that say how to
/// read a file, ("index", n) for a row or column counted from 0, and (action, run).
pub fn parts<'py>(py: Python<'py>, message: &Advice) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for part in message.parts() {
        match part {
            Part::Text(text) => list.append(text)?,
            Part::Index(n) => list.append(("index", n))?,
            Part::Setting { name, value } => {
                let kind = if is_option(name) { "option" } else { "setting" };
                list.append((kind, name, value))?;
            }
            Part::Action { verb, run } => {
                let name = if *verb == Verb::MoreSteps { "more steps" } else { verb.name() };
                list.append((name, run.as_ref().map(|run| run.display().to_string())))?;
            }
        }
    }
    Ok(list)
}

/// Messages in parts, as [`parts`] makes them.
pub type Notes = Vec<Py<PyList>>;

/// Notes of a fit in parts.
pub fn listed(py: Python<'_>, notes: &[Advice]) -> PyResult<Notes> {
    notes.iter().map(|note| parts(py, note).map(Bound::unbind)).collect()
}

/// The exception that says what this error says, in parts that an estimator can name in its own way.
fn exception(py: Python<'_>, error: lehr::Error) -> PyErr {
    let message = error.message();
    let of_file = matches!(error.kind(), ErrorKind::Parse { .. });
    let found = match error.into_kind() {
        ErrorKind::Config { field, value, .. } if is_option(&field) => {
            told(py, "SettingError", &message, true, (OPTIONS, one_option(&field, &value)))
        }
        ErrorKind::Config { field, value, .. } => {
            told(py, "SettingError", &message, false, (field, value))
        }
        ErrorKind::Io { path, source, .. } => {
            let name = match source.kind() {
                io::ErrorKind::NotFound => "MissingFileError",
                io::ErrorKind::PermissionDenied => "ForbiddenFileError",
                _ => "FileError",
            };
            told(py, name, &message, of_file, (path,))
        }
        kind => told(py, class(&kind), &message, of_file, ()),
    };
    found.map_or_else(|error| error, PyErr::from_value)
}

/// An exception of this class, with what else it is made of.
fn told<'py>(
    py: Python<'py>,
    class: &str,
    message: &Advice,
    of_file: bool,
    rest: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import("lehr.errors")?;
    module.call_method1("_made", (class, parts(py, message)?, of_file, rest))
}

fn class(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Data(_) => "DataError",
        ErrorKind::Memory(_) => "OutOfMemoryError",
        ErrorKind::Parse { .. } => "FormatError",
        ErrorKind::NoRun { .. } => "MissingRunError",
        ErrorKind::Occupied { .. }
        | ErrorKind::NotEmpty { .. }
        | ErrorKind::Complete { .. }
        | ErrorKind::Run { .. }
        | ErrorKind::Damaged { .. } => "RunError",
        ErrorKind::Diverged { .. } | ErrorKind::Domain { .. } => "DivergedError",
        _ => "LehrError",
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
pub fn data_error(message: impl Into<Advice>) -> PyErr {
    Python::attach(|py| exception(py, lehr::Error::data(message)))
}

/// A broken invariant of ours, as an exception that a program can catch.
pub fn broken(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given");
    let message = format!("internal error in lehr, please report it: {text}");
    Python::attach(|py| made(py, "BrokenError", (message,)))
}

/// Runs `work`, making exceptions of errors and panics.
pub fn guarded<T>(work: impl FnOnce() -> lehr::Result<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => raised(result),
        Err(panic) => Err(broken(panic)),
    }
}
