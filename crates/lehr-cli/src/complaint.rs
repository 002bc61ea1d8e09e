//! An error as the person at the command line reads it: one line, in the spelling of the flags.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;
use clap::CommandFactory;

use lehr::ErrorKind;

use crate::args::Cli;

/// The error in one line.
pub fn in_one_line(error: &anyhow::Error) -> String {
    let text = match error.downcast_ref::<lehr::Error>().map(lehr::Error::kind) {
        Some(ErrorKind::Config { field, value, allowed }) => {
            let allowed = with_flags(allowed.clone());
            match flag(field) {
                Some((flag, true)) => format!("{flag} {value}: {allowed}"),
                Some((flag, false)) => format!("{flag}: {allowed}"),
                None => format!("{field} = {value}: {allowed}"),
            }
        }
        Some(ErrorKind::Run { path, .. }) => {
            let resume = format!("with -o, continue it with 'lehr resume {}', or", path.display());
            with_flags(error.to_string())
                .replace("directory, or", &format!("directory {resume}"))
                .replace("is a file; choose another directory", "is a file; choose another with -o")
                .replace(
                    "(there is no config.json in it)",
                    "(no config.json); 'lehr fit ... -o DIR' makes one",
                )
                .replace(
                    "there is no such directory",
                    "there is no such directory; 'lehr fit ... -o DIR' makes one",
                )
        }
        Some(_) => with_flags(error.to_string()),
        None => error.to_string(),
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// The flag of a setting, if it has one, and whether a value follows: `n_init` is `--n-init`.
fn flag(field: &str) -> Option<(String, bool)> {
    if matches!(field, "components" | "topics") {
        return Some(("-k".into(), true));
    }
    if field == "dims" {
        return Some(("-d".into(), true));
    }
    let long = field.replace('_', "-");
    let cli = Cli::command();
    let models = cli.find_subcommand("fit")?.get_subcommands();
    let arg =
        models.flat_map(|model| model.get_arguments()).find(|a| a.get_long() == Some(&long))?;
    Some((format!("--{long}"), arg.get_action().takes_values()))
}

/// The library calls the settings that choose columns by their names in a configuration file.
pub fn with_flags(mut text: String) -> String {
    for (name, flag) in
        [("drop", "--drop"), ("columns", "--columns"), ("weight_column", "--weight-column")]
    {
        text = text
            .replace(&format!(" with {name}"), &format!(" with {flag}"))
            .replace(&format!(": {name} asks for "), &format!(": {flag} asks for "))
            .replace(&format!(": {name} names "), &format!(": {flag} names "));
    }
    for (name, flag) in [("user", "--user"), ("item", "--item"), ("rating", "--rating")] {
        text = text.replace(&format!(": {name} asks for "), &format!(": {flag} asks for "));
    }
    for (words, flags) in [
        ("with --drop = ", "with --drop "),
        ("with --columns = ", "with --columns "),
        ("with --columns or drop", "with --columns or --drop"),
        ("covariance = diagonal", "--covariance diagonal"),
        ("with batches use", "with --batch use"),
        ("duplicates = mean", "--duplicates mean"),
        ("try exact = true where the model has that", "try --exact where there is such a flag"),
        ("with user, item and rating", "with --user, --item and --rating"),
        ("the users with user", "the users with --user"),
        ("the items with item", "the items with --item"),
        ("the ratings with rating", "the ratings with --rating"),
        ("set format = svmlight", "give --format svmlight"),
        ("set format", "give --format"),
        ("leave format out", "leave --format out"),
        ("and format asks for", "and --format asks for"),
        ("although format says so", "although --format says so"),
        ("with vocab", "with --vocab"),
        ("but vocab = ", "but --vocab "),
        (
            "although one_based is set; leave one_based out",
            "although --one-based is set; leave it out",
        ),
        ("with min_docs = ", "with --min-docs "),
        ("and max_docs = ", "and --max-docs "),
        ("after stop_words and min_length", "after --stop-words and --min-length"),
        ("lower min_docs or raise max_docs", "lower --min-docs or raise --max-docs"),
    ] {
        text = text.replace(words, flags);
    }
    text
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
    use super::*;

    #[test]
    fn settings_are_called_by_their_flags() {
        let line = |error: lehr::Error| in_one_line(&error.into());
        assert_eq!(line(lehr::Error::config("n_init", 0, "no")), "--n-init 0: no");
        assert_eq!(line(lehr::Error::config("components", 0, "no")), "-k 0: no");
        assert_eq!(line(lehr::Error::config("frozen", "x", "no")), "frozen = x: no");
        let path = std::path::Path::new("a.csv");
        assert_eq!(
            line(lehr::Error::parse(path, "leave it out with drop, or choose others with columns")),
            "a.csv: leave it out with --drop, or choose others with --columns"
        );
        assert_eq!(
            line(lehr::Error::parse(path, "weight_column asks for column 9")),
            "a.csv: --weight-column asks for column 9"
        );
        assert_eq!(line(lehr::Error::config("transpose", true, "no")), "--transpose: no");
        assert_eq!(line(lehr::Error::config("topics", 0, "no")), "-k 0: no");
        assert_eq!(line(lehr::Error::config("dims", 0, "no")), "-d 0: no");
        assert_eq!(
            line(lehr::Error::parse(path, "item asks for column \"x\"")),
            "a.csv: --item asks for column \"x\""
        );
        assert_eq!(
            line(lehr::Error::parse(path, "leave format out, or name another with vocab")),
            "a.csv: leave --format out, or name another with --vocab"
        );
        assert_eq!(in_one_line(&anyhow!("a\n  |\n\nb")), "a | b");
        assert_eq!(
            line(lehr::Error::data("leave it out with drop = a, or use covariance = diagonal")),
            "leave it out with --drop a, or use --covariance diagonal"
        );
        assert_eq!(
            line(lehr::Error::data(
                "in that order with columns = a,b; average with duplicates = mean"
            )),
            "in that order with --columns a,b; average with --duplicates mean"
        );
        assert_eq!(
            line(lehr::Error::parse(path, "say which is what with user, item and rating")),
            "a.csv: say which is what with --user, --item and --rating"
        );
        assert_eq!(
            line(lehr::Error::run("r", "choose another directory, or delete it first")),
            "r: choose another directory with -o, continue it with 'lehr resume r', or delete it first"
        );
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = catch_panics::<()>(|| panic!("oh")).unwrap_err();
        assert!(error.to_string().contains("is a bug"));
    }
}
