//! What a search for better optima may try, and how much of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{choices, either};

choices! {
    /// A way to leave an optimum.
    pub enum Kick {
        /// A random component moves to a random item.
        Swap = "swap",
        /// Two components that are better off as one become one.
        Merge = "merge",
        /// The same, and the component that is left over moves to a random item.
        MergeBirth = "merge-birth",
        /// A few steps with annealing noise: SVI+.
        Noise = "noise",
        /// A fresh start, tempered.
        Restart = "restart",
    }
}

/// Which kicks a search may make.
///
/// As text: names with commas between them.
///
/// ```
/// use lehr::settings::{Kick, Kicks};
/// let kicks: Kicks = "noise, merge".parse().unwrap();
/// assert_eq!(kicks.to_string(), "merge,noise");
/// assert!(kicks.contains(Kick::Noise) && !kicks.contains(Kick::Swap));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Kicks([bool; Kick::ALL.len()]);

impl Kicks {
    /// All of them.
    pub const ALL: Kicks = Kicks([true; Kick::ALL.len()]);

    /// Whether this is one of them.
    pub fn contains(&self, kick: Kick) -> bool {
        self.0[kick as usize]
    }
}

impl Default for Kicks {
    fn default() -> Self {
        Kicks::ALL
    }
}

impl fmt::Display for Kicks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            Kick::ALL.iter().filter(|kick| self.contains(**kick)).map(|kick| kick.name()).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Kicks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut kicks = Kicks([false; Kick::ALL.len()]);
        for name in text.split(',').map(str::trim) {
            let Some(at) = Kick::ALL.iter().position(|kick| kick.name() == name) else {
                return Err(format!("'{name}' is no kick: use {}", either(Kick::NAMES)));
            };
            kicks.0[at] = true;
        }
        Ok(kicks)
    }
}

impl TryFrom<String> for Kicks {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Kicks> for String {
    fn from(kicks: Kicks) -> String {
        kicks.to_string()
    }
}

choices! {
    /// What the fits of a search are chosen by.
    #[derive(Default)]
    pub enum SearchBy {
        /// The bound.
        #[default]
        Bound = "bound",
        /// The score of the items that are held out.
        Heldout = "heldout",
    }
}

/// A search that a plan asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// How many times the passes of the plain fit it may make, that one included.
    pub times: f64,
    /// What it may try.
    pub kicks: Kicks,
    /// What it chooses by.
    pub by: SearchBy,
}

impl Search {
    /// The budget of a search of which only that it is to be made is known.
    pub const USUAL: f64 = 4.0;

    /// Upper bound that catches typos.
    pub(super) const MOST: f64 = 10_000.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kicks_survive_text_and_nonsense_is_named() {
        assert_eq!(Kicks::ALL.to_string().parse(), Ok(Kicks::ALL));
        let error = "merge,jump".parse::<Kicks>().unwrap_err();
        assert!(error.starts_with("'jump' is no kick: use swap, merge"), "{error}");
        assert!("".parse::<Kicks>().is_err());
    }
}
