//! What there is to know about a setting, from which flags, files, Python's parameters and lists are made.

use std::borrow::Cow;

use crate::step::anneal::Law;
use crate::step::guard::Guard;

/// One setting: its name, its kind, what it does.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The name in a configuration file, in `config.json` and in error messages.
    pub name: &'static str,
    /// What values it has.
    pub kind: Kind,
    /// How the command line asks for it.
    pub flag: Flag,
    /// What stands for its value in help, e.g. `N`.
    pub value_name: &'static str,
    /// What it does, in a line or three.
    pub help: &'static str,
    /// What holds if it is left out, in words; empty if that is plain from `help`.
    pub default: &'static str,
    /// What help puts it under.
    pub group: &'static str,
    /// What estimators in Python call it, if they have it.
    pub python: Option<&'static str>,
    /// The names that it once had.
    pub old: &'static [&'static str],
    /// What the flag means if no value follows it.
    pub alone: Option<&'static str>,
    /// Only for a first fit, not for new data of a model that is there.
    pub fit_only: bool,
    /// Left out of help: a model cannot do anything with it, and says so.
    pub hidden: bool,
}

/// The values of a setting.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A whole number, 0 or more.
    Whole,
    /// A whole number below 2^63, all of whose bits count.
    Seed,
    /// A number.
    Number,
    /// Several numbers.
    Numbers,
    /// Seconds; the command line knows minutes and hours as well.
    Seconds,
    /// Yes or no, and which of them is the default.
    Toggle(bool),
    /// One of some names.
    Choice(&'static [&'static str]),
    /// A number or a text with a grammar, which the function checks.
    Schedule(fn(&str) -> Result<(), String>),
    /// Any text.
    Text,
    /// Several strings.
    Texts,
    /// A file or directory.
    Path,
}

/// How the command line asks for a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// By its name: `--noise-end`; `--no-ard` for a toggle that is on.
    Usual,
    /// By its name or this letter, which messages prefer.
    Short(char),
    /// By another name.
    Named(&'static str),
    /// Not at all; only files and programs can set it.
    None,
}

impl Setting {
    /// A setting to fill in: `Setting { name: "seed", ..Setting::BLANK }`.
    pub const BLANK: Setting = Setting {
        name: "",
        kind: Kind::Text,
        flag: Flag::Usual,
        value_name: "",
        help: "",
        default: "",
        group: "",
        python: None,
        old: &[],
        alone: None,
        fit_only: false,
        hidden: false,
    };

    /// The long flag without its hyphens, if there is one.
    pub fn long(&self) -> Option<Cow<'static, str>> {
        match (self.flag, self.kind) {
            (Flag::None, _) => None,
            (Flag::Named(name), _) => Some(name.into()),
            (_, Kind::Toggle(true)) => Some(format!("no-{}", self.name.replace('_', "-")).into()),
            _ => Some(self.name.replace('_', "-").into()),
        }
    }

    /// What it does, and what holds if it is left out.
    pub fn description(&self) -> String {
        match self.default {
            "" => self.help.to_string(),
            default => format!("{} [default: {default}]", self.help),
        }
    }
}

/// What is different about a setting of the fit in one model, or in one command.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    name: &'static str,
    help: Option<&'static str>,
    default: Option<&'static str>,
    /// Some(None): it has no name there.
    python: Option<Option<&'static str>>,
    hidden: bool,
}

impl Variant {
    /// Of the setting with this name.
    pub const fn of(name: &'static str) -> Self {
        Variant { name, help: None, default: None, python: None, hidden: false }
    }

    /// It does something else.
    pub const fn help(self, help: &'static str) -> Self {
        Variant { help: Some(help), ..self }
    }

    /// Something else holds if it is left out.
    pub const fn default(self, default: &'static str) -> Self {
        Variant { default: Some(default), ..self }
    }

    /// Python calls it something else.
    pub const fn python(self, name: &'static str) -> Self {
        Variant { python: Some(Some(name)), ..self }
    }

    /// Python does not have it.
    pub const fn not_in_python(self) -> Self {
        Variant { python: Some(None), ..self }
    }

    /// It is of no use.
    pub const fn hidden(self) -> Self {
        Variant { hidden: true, ..self }
    }

    fn apply(&self, setting: &Setting) -> Setting {
        Setting {
            help: self.help.unwrap_or(setting.help),
            default: self.default.unwrap_or(setting.default),
            python: self.python.unwrap_or(setting.python),
            hidden: self.hidden || setting.hidden,
            ..*setting
        }
    }
}

/// `settings` as the `variants` have them.
pub fn varied(settings: &[Setting], variants: &[Variant]) -> Vec<Setting> {
    let of = |setting: &Setting| variants.iter().find(|variant| variant.name == setting.name);
    settings.iter().map(|setting| of(setting).map_or(*setting, |v| v.apply(setting))).collect()
}

/// The settings of one model: its own, those of its fits, and how its data are read.
#[derive(Debug, Clone, Copy)]
pub struct Tables {
    /// The model's name, as on the command line.
    pub model: &'static str,
    /// `[model]` of a configuration file.
    pub own: &'static [Setting],
    /// What is different about [`FIT`](super::FIT), `[fit]` of a configuration file.
    pub fit: &'static [Variant],
    /// `[data]` of a configuration file.
    pub data: &'static [Setting],
    /// What the items of these data are called.
    pub items: &'static str,
    /// The guards that it knows.
    pub guards: &'static [Guard],
    /// The laws of noise that it knows.
    pub laws: fn(Law) -> bool,
}

impl Tables {
    /// The settings of a fit, as this model has them.
    pub fn of_fit(&self) -> Vec<Setting> {
        varied(super::FIT, self.fit)
    }

    /// The names that a setting can have here; none if it is not one of some names.
    pub fn choices(&self, setting: &Setting) -> Vec<&'static str> {
        match (setting.name, setting.kind) {
            ("guard", _) => self.guards.iter().map(|guard| guard.name()).collect(),
            ("law", _) => {
                Law::ALL.iter().filter(|&&law| (self.laws)(law)).map(|law| law.name()).collect()
            }
            (_, Kind::Choice(names)) => names.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Every setting.
    pub fn all(&self) -> impl Iterator<Item = Setting> {
        self.own.iter().copied().chain(self.of_fit()).chain(self.data.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::models::TABLES;

    #[test]
    fn flags_and_names_are_unique_within_a_model() {
        for tables in TABLES {
            let mut flags: Vec<_> = tables.all().filter_map(|setting| setting.long()).collect();
            let mut names: Vec<_> = tables.all().map(|setting| setting.name).collect();
            let (n_flags, n_names) = (flags.len(), names.len());
            flags.sort();
            flags.dedup();
            names.sort();
            names.dedup();
            assert_eq!((flags.len(), names.len()), (n_flags, n_names), "{}", tables.model);
        }
    }

    #[test]
    fn variants_are_of_settings_that_exist() {
        for tables in TABLES {
            for variant in tables.fit {
                let known = super::super::FIT.iter().any(|setting| setting.name == variant.name);
                assert!(known, "{}: {}", tables.model, variant.name);
            }
        }
    }
}
