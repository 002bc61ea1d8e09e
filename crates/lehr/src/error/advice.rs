//! What an error advises, in parts: plain text, settings, and things to do with a run. A front end can
//! call settings by the names that its reader knows.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is allowed and what to try.
///
/// [`Display`](fmt::Display) writes settings in backticks, as a configuration file calls them, and actions by
/// their names in this crate; [`Advice::render`] lets another front end choose its own words.
///
/// ```
/// use lehr::error::{Part, advice, setting};
/// let advice = advice!["leave it out (", setting("drop").to("site"), "), or set ", setting("format")];
/// assert_eq!(advice.to_string(), "leave it out (`drop = site`), or set `format`");
/// let flags = |part: &Part| match part {
///     Part::Setting { name, value } => Some(format!("--{name} {}", value.as_deref().unwrap_or("X"))),
///     _ => None,
/// };
/// assert_eq!(advice.render(flags), "leave it out (--drop site), or set --format X");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advice(Vec<Part>);

/// A part of an [`Advice`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// As it is.
    Text(String),
    /// A setting by its name in a configuration file, and the value that it has or should have.
    Setting {
        /// The name.
        name: String,
        /// The value.
        value: Option<String>,
    },
    /// Something to do with a run.
    Action {
        /// What.
        verb: Verb,
        /// With which run, if that is not plain from the rest.
        run: Option<PathBuf>,
    },
    /// The number of a row, column or document, counted from 0: people and files count from 1, programs from 0.
    Index(usize),
}

/// What can be done with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Let it come to its end.
    Resume,
    /// Give it more steps.
    MoreSteps,
    /// Go on with it on new data.
    Partial,
    /// Apply it to new data.
    Transform,
}

impl Verb {
    /// The name of the action in this crate.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Resume | Verb::MoreSteps => "resume",
            Verb::Partial => "partial",
            Verb::Transform => "transform",
        }
    }
}

/// A setting to mention.
pub fn setting(name: impl Into<String>) -> Part {
    Part::Setting { name: name.into(), value: None }
}

/// A row, column or document to mention, counted from 0; it is written as people count, from 1.
pub fn index(n: usize) -> Part {
    Part::Index(n)
}

/// Something to do with a run to mention.
pub fn action(verb: Verb) -> Part {
    Part::Action { verb, run: None }
}

impl Part {
    /// The same setting with a value.
    pub fn to(self, value: impl fmt::Display) -> Self {
        match self {
            Part::Setting { name, .. } => Part::Setting { name, value: Some(value.to_string()) },
            other => other,
        }
    }

    /// The same action with this run.
    pub fn with(self, run: &Path) -> Self {
        match self {
            Part::Action { verb, .. } => Part::Action { verb, run: Some(run.into()) },
            other => other,
        }
    }
}

impl Advice {
    /// Its parts in order.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The same behind a text that says where.
    pub fn behind(&self, place: String) -> Self {
        [Part::Text(place)].into_iter().chain(self.0.iter().cloned()).collect()
    }

    /// The advice with the words that `words` has for some of its parts, and the usual ones for others.
    pub fn render(&self, mut words: impl FnMut(&Part) -> Option<String>) -> String {
        self.0.iter().map(|part| words(part).unwrap_or_else(|| part.to_string())).collect()
    }
}

impl FromIterator<Part> for Advice {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        Advice(parts.into_iter().collect())
    }
}

impl<P: Into<Part>> From<P> for Advice {
    fn from(part: P) -> Self {
        Advice(vec![part.into()])
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Part::Text(text.into())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Part::Text(text)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Text(text) => f.write_str(text),
            Part::Setting { name, value: None } => write!(f, "`{name}`"),
            Part::Setting { name, value: Some(value) } => write!(f, "`{name} = {value}`"),
            Part::Action { verb, .. } => f.write_str(verb.name()),
            Part::Index(n) => write!(f, "{}", n + 1),
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| part.fmt(f))
    }
}

/// An [`Advice`] of texts, settings and actions: `advice!["leave it out with ", setting("drop")]`.
#[macro_export]
#[doc(hidden)]
macro_rules! __advice {
    ($($part:expr),+ $(,)?) => {
        <$crate::error::Advice as ::std::iter::FromIterator<_>>::from_iter([
            $($crate::error::Part::from($part)),+
        ])
    };
}
#[doc(inline)]
pub use crate::__advice as advice;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_and_renamed_one_by_one() {
        let resume = action(Verb::Resume).with(Path::new("runs/a"));
        let advice = advice!["found \"`drop`\"; ", setting("drop").to("a`b"), " or ", resume];
        assert_eq!(advice.to_string(), "found \"`drop`\"; `drop = a`b` or resume");
        let told = advice.render(|part| match part {
            Part::Setting { name, value } => Some(format!("<{name}:{}>", value.as_deref()?)),
            Part::Action { verb, run } => Some(format!("{verb:?} {}", run.as_ref()?.display())),
            Part::Text(_) | Part::Index(_) => None,
        });
        assert_eq!(told, "found \"`drop`\"; <drop:a`b> or Resume runs/a");
        assert_eq!(Advice::from("x").render(|_| None), "x");
        assert_eq!(advice!["row ", index(0)].to_string(), "row 1");
    }
}
