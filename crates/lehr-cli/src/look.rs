//! How output looks: with colours or without, in Unicode or in ASCII, and how wide it may be.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU8, Ordering};

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    // No doc comments here: help would become its own page.
    Auto,
    Always,
    Never,
}

/// What was asked for, as a number: everything that is printed depends on it.
static ASKED: AtomicU8 = AtomicU8::new(0);
const ALL: [Colour; 3] = [Colour::Auto, Colour::Always, Colour::Never];

impl Colour {
    /// What the arguments ask for. It is looked for before they are parsed, since help and what is wrong with them have
    /// colours, too.
    pub fn asked(args: &[OsString]) -> Self {
        let mut words = args.iter().map(|word| word.to_string_lossy());
        let mut asked = Colour::Auto;
        while let Some(word) = words.next().filter(|word| word != "--") {
            let rest = word.strip_prefix("--color").or_else(|| word.strip_prefix("--colour"));
            let value = match rest {
                Some("") => words.next().map(|value| value.into_owned()),
                Some(rest) => rest.strip_prefix('=').map(str::to_string),
                None => None,
            };
            match value.as_deref() {
                Some("always") => asked = Colour::Always,
                Some("never") => asked = Colour::Never,
                Some("auto") => asked = Colour::Auto,
                _ => {}
            }
        }
        asked
    }

    /// From now on it holds for all that is printed.
    pub fn choose(self) {
        let at = ALL.iter().position(|&colour| colour == self).unwrap_or(0);
        ASKED.store(at as u8, Ordering::Relaxed);
    }

    /// The same for help.
    pub fn of_help(self) -> clap::ColorChoice {
        match self {
            Colour::Auto => clap::ColorChoice::Auto,
            Colour::Always => clap::ColorChoice::Always,
            Colour::Never => clap::ColorChoice::Never,
        }
    }
}

/// Whether what goes to stdout has colours.
pub fn colours_on_stdout() -> bool {
    has_colours(std::io::stdout().is_terminal())
}

/// Whether what goes to stderr has colours.
pub fn colours_on_stderr() -> bool {
    has_colours(std::io::stderr().is_terminal())
}

fn has_colours(is_terminal: bool) -> bool {
    match ALL[usize::from(ASKED.load(Ordering::Relaxed)) % ALL.len()] {
        Colour::Always => true,
        Colour::Never => false,
        // https://no-color.org
        Colour::Auto => {
            is_terminal && set("NO_COLOR").is_none() && set("TERM").as_deref() != Some("dumb")
        }
    }
}

/// A variable of the environment that is there and not empty.
fn set(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

/// Whether the locale has nothing but ASCII. Where none is set, terminals are taken to know Unicode.
pub fn is_ascii() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).is_some_and(|name| is_of_ascii(&name))
}

fn is_of_ascii(locale: &str) -> bool {
    match locale.split_once('.') {
        None => matches!(locale, "C" | "POSIX"),
        Some((_, letters)) => !letters.to_lowercase().replace('-', "").starts_with("utf8"),
    }
}

/// How many columns a table or chart may have: the terminal's, or 100 where there is none.
pub fn width() -> usize {
    asked_width().or_else(terminal_width).unwrap_or(100).clamp(40, 140)
}

/// How many columns a line of stdout may have, if that is a terminal or the user says so; what goes to a file or a
/// program is not broken.
pub fn width_of_stdout() -> Option<usize> {
    let width = asked_width().or_else(|| std::io::stdout().is_terminal().then(terminal_width)?);
    width.map(|width| width.max(40))
}

/// The same of stderr.
pub fn width_of_stderr() -> Option<usize> {
    std::io::stderr().is_terminal().then(width)
}

fn asked_width() -> Option<usize> {
    set("COLUMNS")?.parse().ok()
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| width.0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_found_among_arguments() {
        let asked = |line: &str| {
            Colour::asked(&line.split(' ').map(OsString::from).collect::<Vec<OsString>>())
        };
        assert_eq!(asked("lehr show a"), Colour::Auto);
        assert_eq!(asked("lehr --color always show a"), Colour::Always);
        assert_eq!(asked("lehr show a --colour=never"), Colour::Never);
        assert_eq!(asked("lehr show a --color never --color auto"), Colour::Auto);
        assert_eq!(asked("lehr show -- --color always"), Colour::Auto);
        assert_eq!(asked("lehr show --color"), Colour::Auto);
    }

    #[test]
    fn locales_are_told_apart() {
        for name in ["C", "POSIX", "de_DE.ISO-8859-1", "C.ANSI_X3.4-1968"] {
            assert!(is_of_ascii(name), "{name}");
        }
        for name in ["C.UTF-8", "en_US.utf8", "de_DE.UTF-8@euro", "en_US"] {
            assert!(!is_of_ascii(name), "{name}");
        }
    }
}
