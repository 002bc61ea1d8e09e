//! An error as the person at the command line reads it: one line, in the spelling of the flags.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;

use lehr::ErrorKind;
use lehr::error::{Advice, Part, Verb};
use lehr::models::TABLES;
use lehr::settings::{Flag, Kind, Tables};

use crate::text::quoted;

/// The error in one line.
pub fn in_one_line(error: &anyhow::Error) -> String {
    let text = error.downcast_ref::<lehr::Error>().map_or_else(|| error.to_string(), in_words);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// What the error says, in the words of the command line.
pub fn in_words(error: &lehr::Error) -> String {
    match error.kind() {
        ErrorKind::NoRun { path, .. } if lehr::sweep::is_sweep(path) => format!(
            "{}: is a sweep; give one of its runs, such as the one that 'lehr show {}' recommends",
            path.display(),
            quoted(path)
        ),
        ErrorKind::NoRun { .. } => format!("{error}; 'lehr fit ... -o DIR' makes one"),
        ErrorKind::Occupied { path, is_run: true } => format!(
            "{}: already holds a run, which is left as it is; choose another directory with -o, \
             continue it with 'lehr resume {}', or delete it first",
            path.display(),
            quoted(path)
        ),
        ErrorKind::Occupied { .. } | ErrorKind::NotEmpty { .. } => format!("{error} with -o"),
        _ => error.render(words),
    }
}

/// What an advice says, in the same words.
pub fn render(advice: &Advice) -> String {
    advice.render(words)
}

/// A setting as a flag, if it has one, and something to do as a command.
pub fn words(part: &Part) -> Option<String> {
    match part {
        Part::Text(_) | Part::Index(_) => None,
        Part::Setting { name, value } => flag(name, value.as_deref()),
        Part::Action { verb, run } => {
            let run = run.as_ref().map_or(String::new(), |run| format!(" {}", quoted(run)));
            let more = if *verb == Verb::MoreSteps { " --steps 500" } else { "" };
            Some(format!("'lehr {}{run}{more}'", verb.name()))
        }
    }
}

/// The flag of a setting, if it has one, with its value: `n_init` is `--n-init`.
fn flag(name: &str, value: Option<&str>) -> Option<String> {
    if let ("keep" | "data", None) = (name, value) {
        return Some(format!("--{name}")); // flags of 'lehr transform' and 'lehr resume', and no settings
    }
    let setting = TABLES.iter().flat_map(Tables::all).find(|setting| setting.name == name)?;
    let flag = match setting.flag {
        Flag::Short(letter) => format!("-{letter}"),
        _ => format!("--{}", setting.long()?),
    };
    match (value, setting.kind) {
        (None, _) => Some(flag),
        (Some(value), Kind::Toggle(_)) if setting.alone.is_some() => {
            Some(format!("{flag} {}", if value == "true" { "yes" } else { "no" }))
        }
        // There is no flag to turn it back.
        (Some(value), Kind::Toggle(usual)) => (value == (!usual).to_string()).then_some(flag),
        (Some(value), _) => Some(format!("{flag} {}", quoted(value.as_ref()))),
    }
}

/// Runs `work`; a panic becomes an error like any other. One that the library catches itself, as it
/// does around damaged Parquet files, leaves no text behind. RUST_BACKTRACE shows everything.
pub fn catch_panics<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    static LAST: Mutex<String> = Mutex::new(String::new());
    if std::env::var_os("RUST_BACKTRACE").is_none_or(|value| value == "0") {
        std::panic::set_hook(Box::new(|panic| {
            *LAST.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
        }));
    }
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let what = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Err(anyhow!("lehr itself failed, which is a bug; please report it with this line: {what}"))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lehr::error::{action, advice, setting};

    use super::*;

    fn line(error: lehr::Error) -> String {
        in_one_line(&error.into())
    }

    #[test]
    fn settings_are_called_by_their_flags() {
        assert_eq!(line(lehr::Error::config("n_init", 0, "no")), "--n-init 0: no");
        assert_eq!(line(lehr::Error::config("components", 0, "no")), "-k 0: no");
        assert_eq!(line(lehr::Error::config("topics", 0, "no")), "-k 0: no");
        assert_eq!(line(lehr::Error::config("dims", 0, "no")), "-d 0: no");
        assert_eq!(line(lehr::Error::config("frozen", "x", "no")), "frozen = x: no");
        assert_eq!(line(lehr::Error::config("transpose", true, "no")), "--transpose: no");
        let ard = |value| line(lehr::Error::config("ard", value, "no"));
        assert_eq!((ard(false), ard(true)), ("--no-ard: no".into(), "ard = true: no".into()));
        let either = advice!["or ", setting("n_init")];
        assert_eq!(line(lehr::Error::config("tol", 1, either)), "--tol 1: or --n-init");
        for (part, told) in [
            (setting("weight_column"), "--weight-column"),
            (setting("covariance").to("diagonal"), "--covariance diagonal"),
            (setting("drop").to("it's"), "--drop 'it'\\''s'"),
            (setting("drop").to(""), "--drop ''"),
            (setting("exact").to(true), "--exact"),
            (setting("exact").to(false), "`exact = false`"),
            (setting("scatter"), "`scatter`"),
            (action(Verb::Partial), "'lehr partial'"),
            (action(Verb::MoreSteps).with(Path::new("a b")), "'lehr resume 'a b' --steps 500'"),
        ] {
            assert_eq!(line(lehr::Error::data(part.clone())), told);
            let path = Path::new("a.csv");
            assert_eq!(line(lehr::Error::parse(path, part)), format!("a.csv: {told}"));
        }
        assert_eq!(in_one_line(&anyhow!("a\n  |\n\nb")), "a | b");
    }

    #[test]
    fn what_to_do_about_a_run_is_told_in_commands() {
        let occupied = |is_run| line(ErrorKind::Occupied { path: "a b".into(), is_run }.into());
        assert_eq!(
            occupied(true),
            "a b: already holds a run, which is left as it is; choose another directory with -o, \
             continue it with 'lehr resume 'a b'', or delete it first"
        );
        assert_eq!(occupied(false), "a b: is a file; choose another directory with -o");
        let none = |exists| line(ErrorKind::NoRun { path: "r".into(), exists }.into());
        let makes = "'lehr fit ... -o DIR' makes one";
        assert_eq!(none(false), format!("r: there is no such directory; {makes}"));
        assert_eq!(none(true), format!("r: holds no run (there is no config.json in it); {makes}"));
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = catch_panics::<()>(|| panic!("oh")).unwrap_err();
        assert!(error.to_string().contains("is a bug"));
    }
}
