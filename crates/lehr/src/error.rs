//! What can go wrong, told to the person who can fix it: where, what was found, what is allowed, what to try.

mod advice;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::fit::stop::StopReason;
use crate::models::TABLES;

pub use advice::{Advice, Part, Verb, action, advice, index, setting};

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
        message: Advice,
    },
    /// A setting has a value that cannot work.
    #[error("{field} = {value}: {allowed}")]
    Config {
        /// The setting, by the name it has in the configuration file.
        field: String,
        /// The value found.
        value: String,
        /// What is allowed and what to try.
        allowed: Advice,
    },
    /// The data do not fit the model (too few rows, a wrong width, a constant column).
    #[error("{0}")]
    Data(Advice),
    /// It needs more memory than there is; nothing was started.
    #[error("{0}")]
    Memory(Advice),
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
        message: Advice,
    },
    /// The bound is no number any more.
    #[error("the bound became {bound} at step {step}; {}", too_extreme(model))]
    Diverged {
        /// The model's name.
        model: String,
        /// What it became.
        bound: f64,
        /// The step after which it was found.
        step: u64,
    },
    /// A stop was asked for, or the time was up, before there was a model: nothing is kept.
    #[error("{}", stopped(*.0))]
    Stopped(StopReason),
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
    /// There is no run to open.
    #[error(
        "{}: {}", path.display(),
        match exists {
            true => "holds no run (there is no config.json in it)",
            false => "there is no such directory",
        }
    )]
    NoRun {
        /// Where it was looked for.
        path: PathBuf,
        /// Whether there is something else in this place.
        exists: bool,
    },
    /// A new run cannot start where something is already.
    #[error(
        "{}: {}", path.display(),
        match is_run {
            true => "already holds a run, which is left as it is; choose another directory, or delete it first",
            false => "is a file; choose another directory",
        }
    )]
    Occupied {
        /// The place.
        path: PathBuf,
        /// Whether it is another run; else it is a file.
        is_run: bool,
    },
    /// A new run cannot start among files that are not of a run.
    #[error(
        "{}: is not empty ({} is in it); a run has its own directory, so choose another one",
        path.display(), file.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// A file in it.
        file: PathBuf,
    },
    /// There is nothing left to do in a run.
    #[error("{}: {}", path.display(), complete(path, *stop))]
    Complete {
        /// The directory.
        path: PathBuf,
        /// Why it ended.
        stop: StopReason,
    },
    /// A run directory or its checkpoint cannot be used for another reason.
    #[error("{}: {message}", path.display())]
    Run {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong with it and what to try.
        message: Advice,
    },
}

fn too_extreme(model: &str) -> Advice {
    let what = "the data or the settings are too extreme for this model: look for outliers, rescale the columns, bring \
                settings nearer to their defaults";
    let tables = TABLES.iter().find(|tables| tables.model == model);
    match tables.is_some_and(|tables| tables.own.iter().any(|own| own.name == "exact")) {
        true => advice![what, ", or try ", setting("exact").to(true)],
        false => what.into(),
    }
}

fn complete(path: &Path, stop: StopReason) -> Advice {
    let what = format!("this run is complete ({stop}); give it more steps with ");
    advice![what, action(Verb::MoreSteps).with(path)]
}

fn stopped(why: StopReason) -> Advice {
    match why {
        StopReason::Time => advice![
            "the time was up before the first step, so that there is no model; allow more with ",
            setting("time"),
        ],
        _ => format!("{why} before the first step, so that there is no model; start again").into(),
    }
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

    /// What [`Display`](fmt::Display) writes, but with the words that `words` has for settings and actions; see
    /// [`Advice::render`]. Names of files and columns stay as they are.
    pub fn render(&self, mut words: impl FnMut(&Part) -> Option<String>) -> String {
        let ErrorKind::Config { field, value, allowed } = self.kind() else {
            return self.message().render(words);
        };
        let place = words(&setting(field).to(value));
        let place = place.unwrap_or_else(|| format!("{field} = {value}"));
        format!("{place}: {}", allowed.render(words))
    }

    /// What it says, in parts; of a setting that cannot work only what is allowed.
    pub fn message(&self) -> Advice {
        match self.kind() {
            ErrorKind::Config { allowed, .. } => allowed.clone(),
            ErrorKind::Data(message) | ErrorKind::Memory(message) => message.clone(),
            ErrorKind::Parse { position, message } => message.behind(format!("{position}: ")),
            ErrorKind::Run { path, message } => message.behind(format!("{}: ", path.display())),
            ErrorKind::Domain { model, row, step, message } => {
                message.behind(format!("step {step}: row {row} of {model} left its domain: "))
            }
            ErrorKind::Diverged { model, bound, step } => {
                too_extreme(model).behind(format!("the bound became {bound} at step {step}; "))
            }
            ErrorKind::Stopped(why) => stopped(*why),
            ErrorKind::Complete { path, stop } => {
                complete(path, *stop).behind(format!("{}: ", path.display()))
            }
            _ => self.to_string().into(),
        }
    }

    /// A failing system call on `path`, with what was being done in words ("cannot write").
    pub fn io(path: impl Into<PathBuf>, action: &str, source: io::Error) -> Self {
        ErrorKind::Io { path: path.into(), action: action.into(), source }.into()
    }

    /// A setting that cannot work.
    pub fn config(field: &str, value: impl fmt::Display, allowed: impl Into<Advice>) -> Self {
        let value = in_short(value.to_string());
        ErrorKind::Config { field: field.into(), value, allowed: allowed.into() }.into()
    }

    /// More memory than there is.
    pub fn memory(message: impl Into<Advice>) -> Self {
        ErrorKind::Memory(message.into()).into()
    }

    /// Data that do not fit.
    pub fn data(message: impl Into<Advice>) -> Self {
        ErrorKind::Data(message.into()).into()
    }

    /// A run directory or checkpoint that cannot be used.
    pub fn run(path: impl Into<PathBuf>, message: impl Into<Advice>) -> Self {
        ErrorKind::Run { path: path.into(), message: message.into() }.into()
    }

    /// A file of a run directory that is not what was written to it.
    pub fn damaged(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        ErrorKind::Damaged { path: path.into(), what: what.into() }.into()
    }

    /// A file whose content is wrong at a place that has no line (a binary format).
    pub fn parse(path: &Path, message: impl Into<Advice>) -> Self {
        let position = Position { path: path.into(), ..Position::default() };
        ErrorKind::Parse { position, message: message.into() }.into()
    }

    /// A file whose content is wrong at `line` and, if given, `column`.
    pub fn parse_at(
        path: &Path,
        line: u64,
        column: Option<String>,
        message: impl Into<Advice>,
    ) -> Self {
        let position = Position { path: path.into(), line: Some(line), column };
        ErrorKind::Parse { position, message: message.into() }.into()
    }
}

/// A number of hundreds of digits as 1e300; other strings as they are.
fn in_short(value: String) -> String {
    const LONGEST: usize = 24;
    let is_number = |text: &&str| text.bytes().all(|b| b.is_ascii_digit() || b"+-.".contains(&b));
    let short = |part: &str| match Some(part).filter(|part| part.len() > LONGEST).filter(is_number)
    {
        Some(long) => long.parse::<f64>().map_or(long.to_string(), |x| format!("{x:e}")),
        None => part.to_string(),
    };
    // Schedules are numbers with signs between them.
    if value.len() <= LONGEST {
        return value;
    }
    let is_sign = |c: char| matches!(c, ':' | ',');
    value
        .split_inclusive(is_sign)
        .map(|part| match part.strip_suffix(is_sign) {
            Some(number) => short(number) + &part[number.len()..],
            None => short(part),
        })
        .collect()
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
    fn a_number_is_not_written_out_to_its_three_hundredth_digit() {
        for (value, written) in [
            ((-1e300).to_string(), "-1e300"),
            (1e-300.to_string(), "1e-300"),
            ("0.1234567890123456789".into(), "0.1234567890123456789"),
            ("a very long value that is no number".into(), "a very long value that is no number"),
        ] {
            assert_eq!(Error::config("tol", value, "x").to_string(), format!("tol = {written}: x"));
        }
    }

    #[test]
    fn settings_can_be_called_by_other_names() {
        let shout = |part: &Part| match part {
            Part::Setting { name, value } if name != "mean" => {
                Some(format!("{}{}", name.to_uppercase(), value.as_deref().unwrap_or("")))
            }
            _ => None,
        };
        let path = Path::new("`drop`.csv");
        let said = || advice!["leave it out with ", setting("drop")];
        let domain = ErrorKind::Domain { model: "gmm".into(), row: 1, step: 2, message: said() };
        for (error, expected) in [
            (
                Error::config("n_init", 2, advice![setting("tol"), " must be 0"]),
                "N_INIT2: TOL must be 0",
            ),
            (
                Error::config("mean", "x", advice![setting("mean"), " or ", setting("tol")]),
                "mean = x: `mean` or TOL",
            ),
            (Error::data(said()), "leave it out with DROP"),
            (Error::parse(path, said()), "`drop`.csv: leave it out with DROP"),
            (Error::run(path, said()), "`drop`.csv: leave it out with DROP"),
            (
                Error::parse_at(path, 3, Some("`drop`".into()), said()),
                "`drop`.csv, line 3, column `drop`: leave it out with DROP",
            ),
            (domain.into(), "step 2: row 1 of gmm left its domain: leave it out with DROP"),
            (
                Error::damaged(path, "x"),
                "`drop`.csv: is damaged (x); restore it from a backup, or fit again into another directory",
            ),
        ] {
            assert_eq!(error.render(shout), expected);
            assert_eq!(error.render(|_| None), error.to_string());
        }
        let of = |model: &str| {
            Error::from(ErrorKind::Diverged { model: model.into(), bound: f64::NAN, step: 3 })
        };
        let diverged = of("lda");
        assert!(diverged.render(shout).ends_with(", or try EXACTtrue"), "{diverged}");
        assert_eq!(diverged.render(|_| None), diverged.to_string());
        assert!(
            of("gmm").to_string().ends_with("nearer to their defaults"),
            "a mixture has no exact"
        );
    }

    #[test]
    fn large_numbers_are_short() {
        for (value, expected) in [
            (1e300.to_string(), "1e300"),
            ((-1.5e-300).to_string(), "-1.5e-300"),
            (format!("geometric:{}:150", 1e300), "geometric:1e300:150"),
            (u64::MAX.to_string(), "18446744073709551615"),
            ("a text of the user's that is long, and no number".into(), "a text of the user's"),
        ] {
            let text = Error::config("x", value, "no").to_string();
            assert!(text.starts_with(&format!("x = {expected}")), "{text}");
            assert!(text.len() < 70, "{text}");
        }
    }

    #[test]
    fn an_error_is_one_word_wide_and_crosses_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<Error>();
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
