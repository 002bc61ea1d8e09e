//! Settings that are one of a few words: the words stand with the variants, and nowhere else.

/// An enumeration whose variants have names, for command lines, files and Python alike.
///
/// It gets `ALL`, `NAMES`, `name`, `Display`, `FromStr` and serde's traits, all by the names written here.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $($(#[$attribute:meta])* $Variant:ident = $text:tt),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $Name {
            $($(#[$attribute])* #[serde(rename = $text)] $Variant),+
        }

        impl $Name {
            /// Every one, in the order in which lists show them.
            pub const ALL: &'static [$Name] = &[$($Name::$Variant),+];
            /// Their names.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The name, as in a configuration file.
            pub fn name(self) -> &'static str {
                match self { $($Name::$Variant => $text),+ }
            }
        }

        impl ::std::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for $Name {
            type Err = String;

            fn from_str(text: &str) -> ::std::result::Result<Self, String> {
                let found = $Name::ALL.iter().copied().find(|choice| choice.name() == text);
                found.ok_or_else(|| format!("must be {}", $crate::settings::either($Name::NAMES)))
            }
        }
    };
}
pub(crate) use choices;

/// Names as a choice: `a, b or c`.
pub fn either<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, [])) => last.to_string(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::anneal::Law;

    #[test]
    fn names_are_the_same_everywhere() {
        for (&law, &name) in Law::ALL.iter().zip(Law::NAMES) {
            assert_eq!((law.name(), law.to_string().as_str()), (name, name));
            assert_eq!(name.parse(), Ok(law));
            assert_eq!(serde_json::to_value(law).unwrap(), name);
        }
        let error = "normal".parse::<Law>().unwrap_err();
        assert_eq!(error, "must be gaussian, gamma, subsample, lagged or exact");
        assert_eq!((either(&["a"]), either(&["a", "b"])), ("a".into(), "a or b".into()));
    }
}
