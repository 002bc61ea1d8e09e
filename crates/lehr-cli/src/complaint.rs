//! An error as the person at the command line reads it: one line, in the spelling of the flags.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;
use clap::CommandFactory;

use lehr::ErrorKind;

use crate::args::Cli;
use crate::text::quoted;

/// The error in one line.
pub fn in_one_line(error: &anyhow::Error) -> String {
    let text = error.downcast_ref::<lehr::Error>().map_or_else(|| error.to_string(), with_flags);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// What the error says, in the words of the command line.
pub fn with_flags(error: &lehr::Error) -> String {
    match error.kind() {
        ErrorKind::NoRun { .. } => format!("{error}; 'lehr fit ... -o DIR' makes one"),
        ErrorKind::Occupied { path, is_run: true } => format!(
            "{}: already holds a run, which is left as it is; choose another directory with -o, \
             continue it with 'lehr resume {}', or delete it first",
            path.display(),
            quoted(path)
        ),
        ErrorKind::Occupied { .. } => format!("{error} with -o"),
        _ => error.naming(flag),
    }
}

/// The flag of a setting, if it has one, with its value: `n_init` is `--n-init`.
fn flag(setting: &str, value: Option<&str>) -> Option<String> {
    let long = setting.replace('_', "-");
    let cli = Cli::command();
    let mut models = cli.find_subcommand("fit")?.get_subcommands();
    let arg =
        models.find_map(|model| model.get_arguments().find(|a| a.get_long() == Some(&long)))?;
    // Those that every fit has to be given are known by their short names.
    let flag = match setting {
        "components" | "topics" | "dims" => format!("-{}", arg.get_short()?),
        _ => format!("--{long}"),
    };
    match (value, arg.get_action().takes_values()) {
        (None, _) | (Some("true"), false) => Some(flag),
        (Some(value), true) => Some(format!("{flag} {}", quoted(value.as_ref()))),
        (Some(_), false) => None, // there is no flag to turn it off
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
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

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
        assert_eq!(line(lehr::Error::config("tol", 1, "or `n_init`")), "--tol 1: or --n-init");
        for (said, told) in [
            ("`drop`, or `weight_column`", "--drop, or --weight-column"),
            ("(`drop = a`), or `covariance = diagonal`", "(--drop a), or --covariance diagonal"),
            ("`drop = it's`, `drop = `", "--drop 'it'\\''s', --drop ''"),
            ("`exact = true`, `exact = false`", "--exact, `exact = false`"),
            ("`scatter` is in no flag", "`scatter` is in no flag"),
        ] {
            assert_eq!(line(lehr::Error::data(said)), told);
            let path = Path::new("a.csv");
            assert_eq!(line(lehr::Error::parse(path, said)), format!("a.csv: {told}"));
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

    /// Whoever writes or renames a setting in a message of the library hears of it here.
    #[test]
    fn every_setting_in_a_message_of_the_library_has_a_flag() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../lehr/src")];
        let mut found = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("\nmod tests {").next().unwrap();
                // Backticks are in messages and comments only, and values are put into them by a function.
                let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
                let code = lines.collect::<Vec<_>>().join("\n").replace("setting(\"", "`");
                let ends = |c: char| !c.is_ascii_lowercase() && c != '_';
                let names = code.split('`').map(|text| text.split(ends).next().unwrap());
                found.extend(names.filter(|name| !name.is_empty()).map(str::to_string));
            }
        }
        let unknown: Vec<_> = found.iter().filter(|name| flag(name, None).is_none()).collect();
        assert_eq!(unknown, [] as [&String; 0]);
        assert!(found.len() > 20 && found.contains("vocab"), "{found:?}");
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = catch_panics::<()>(|| panic!("oh")).unwrap_err();
        assert!(error.to_string().contains("is a bug"));
    }
}
