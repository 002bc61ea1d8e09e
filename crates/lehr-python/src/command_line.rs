//! The command line, which `python -m lehr` and the program that pip installs are.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, whose first word is the name of the program, and gives its exit code.
#[pyfunction]
pub fn run_command_line(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| lehr_cli::run(args))
}
