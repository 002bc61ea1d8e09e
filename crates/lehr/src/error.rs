//! What can go wrong, told to the person who can mend it: where, what was found, what is allowed, what to try.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate: one pointer wide, its cause in [`Error::kind`].
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The causes of an [`Error`]. More may be added, so a `match` needs a wildcard arm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to read or write a file.
    #[error("{}: {}{source}", path.display(), doing(action))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done to it, e.g. "cannot write"; may be empty.
        action: String,
        /// The system's own words.
        source: io::Error,
    },
    /// A file does not hold what its format promises.
    #[error("{position}: {message}")]
    Parse {
        /// File, line and column, as far as they are known.
        position: Position,
        /// What was found, what is allowed and what to try.
        message: String,
    },
    /// A setting has a value that cannot work.
    #[error("{field} = {value}: {allowed}")]
    Config {
        /// The setting, by the name it has in the configuration file.
        field: String,
        /// The value found.
        value: String,
        /// What is allowed and what to try.
        allowed: String,
    },
    /// The data do not fit the model (too few rows, a wrong width, a constant column).
    #[error("{0}")]
    Data(String),
    /// A parameter left its domain and could not be brought back.
    #[error("step {step}: row {row} of {model} left its domain: {message}")]
    Domain {
        /// The model's name.
        model: String,
        /// The row of lambda.
        row: usize,
        /// The step in which it happened.
        step: u64,
        /// What to try.
        message: String,
    },
    /// The bound is no number any more.
    #[error(
        "the bound became {bound} at step {step}; the data are too extreme for this model and these \
         settings: look for outliers, rescale the columns, or try exact = true where the model has that"
    )]
    Diverged {
        /// What it became.
        bound: f64,
        /// The step after which it was found.
        step: u64,
    },
    /// A file of a run directory is not what was written to it.
    #[error(
        "{}: is damaged ({what}); restore it from a backup, or fit again into another directory",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How it was noticed.
        what: String,
    },
    /// A run directory or its checkpoint cannot be used.
    #[error("{}: {message}", path.display())]
    Run {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong with it and what to try.
        message: String,
    },
}

fn doing(action: &str) -> String {
    if action.is_empty() { String::new() } else { format!("{action}: ") }
}

/// A place in a file. Lines count from 1, as an editor shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column: its name where there is a header, else its number from 1.
    pub column: Option<String>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        Ok(())
    }
}

impl Error {
    /// The cause.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The cause, taken out.
    pub fn into_kind(self) -> ErrorKind {
        *self.0
    }

    /// A failing system call on `path`, with what was being done in words ("cannot write").
    pub fn io(path: impl Into<PathBuf>, action: &str, source: io::Error) -> Self {
        ErrorKind::Io { path: path.into(), action: action.into(), source }.into()
    }

    /// A setting that cannot work.
    pub fn config(field: &str, value: impl fmt::Display, allowed: impl Into<String>) -> Self {
        ErrorKind::Config { field: field.into(), value: value.to_string(), allowed: allowed.into() }
            .into()
    }

    /// Data that do not fit.
    pub fn data(message: impl Into<String>) -> Self {
        ErrorKind::Data(message.into()).into()
    }

    /// A run directory or checkpoint that cannot be used.
    pub fn run(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        ErrorKind::Run { path: path.into(), message: message.into() }.into()
    }

    /// A file of a run directory that is not what was written to it.
    pub fn damaged(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        ErrorKind::Damaged { path: path.into(), what: what.into() }.into()
    }

    /// A file whose content is wrong at a place that has no line (a binary format).
    pub fn parse(path: &Path, message: impl Into<String>) -> Self {
        let position = Position { path: path.into(), ..Position::default() };
        ErrorKind::Parse { position, message: message.into() }.into()
    }

    /// A file whose content is wrong at `line` and, if given, `column`.
    pub fn parse_at(
        path: &Path,
        line: u64,
        column: Option<String>,
        message: impl Into<String>,
    ) -> Self {
        let position = Position { path: path.into(), line: Some(line), column };
        ErrorKind::Parse { position, message: message.into() }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error(Box::new(kind))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_reads_like_an_editor() {
        let error = Error::parse_at(Path::new("a.csv"), 3, Some("age".into()), "empty cell");
        assert_eq!(error.to_string(), "a.csv, line 3, column age: empty cell");
        assert_eq!(Error::parse(Path::new("a.npy"), "cut").to_string(), "a.npy: cut");
    }

    #[test]
    fn an_error_is_one_word_wide_and_crosses_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<Error>();
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
