//! Flags made of the library's tables of settings, and what was given by them.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::{Table, Value};

use lehr::settings::{Flag, Kind, Setting};

use crate::text::{parse_number, parse_seconds, parse_seed, parse_whole};

/// The command with a flag for every setting that has one and that it does not have already.
pub fn with_flags(command: Command, settings: &[Setting]) -> Command {
    settings.iter().filter_map(flag).fold(command, |command, flag| {
        let known = command.get_arguments().any(|known| known.get_id() == flag.get_id());
        if known { command } else { command.arg(flag) }
    })
}

/// The values that were given, by the names that a configuration file has for them.
pub fn given(matches: &ArgMatches, settings: &[Setting]) -> Table {
    let named = |setting: &Setting| Some((setting.name.to_string(), value(matches, setting)?));
    settings.iter().filter_map(named).collect()
}

fn flag(setting: &Setting) -> Option<Arg> {
    // clap wants names that live as long as the program, and so do these: they are made once.
    let long: &'static str = setting.long()?.into_owned().leak();
    let arg = Arg::new(setting.name).long(long).help(setting.description());
    let arg = arg.help_heading(setting.group).hide(setting.hidden);
    let arg = match setting.flag {
        Flag::Short(letter) => arg.short(letter),
        _ => arg,
    };
    let arg = match (setting.value_name, setting.kind) {
        ("", Kind::Toggle(_)) => arg,
        ("", _) => arg.value_name(&*setting.name.to_uppercase().leak()),
        (name, _) => arg.value_name(name),
    };
    let arg = match setting.alone {
        Some(meaning) => arg.num_args(0..=1).default_missing_value(meaning),
        None => arg,
    };
    Some(match setting.kind {
        Kind::Whole => number(arg).value_parser(parse_whole::<u64>),
        Kind::Seed => number(arg).value_parser(parse_seed),
        Kind::Number => number(arg).value_parser(parse_number),
        Kind::Seconds => number(arg).value_parser(parse_seconds),
        Kind::Schedule(check) => {
            number(arg).value_parser(move |text: &str| check(text).map(|()| text.to_string()))
        }
        // One that a model's other settings switch has to go both ways.
        Kind::Toggle(_) if setting.alone.is_some() => {
            arg.value_parser(PossibleValuesParser::new(["yes", "no"]))
        }
        Kind::Toggle(_) => arg.action(ArgAction::SetTrue),
        Kind::Choice(names) => arg.value_parser(PossibleValuesParser::new(names)),
        // A path has to be a text that a configuration file could hold.
        Kind::Text | Kind::Path => arg,
        Kind::Texts => number(arg).value_delimiter(',').action(ArgAction::Append),
        Kind::Numbers => return None,
    })
}

/// The parser reports what is wrong with `-5`, which would else be taken for a flag.
fn number(arg: Arg) -> Arg {
    arg.allow_negative_numbers(true)
}

fn value(matches: &ArgMatches, setting: &Setting) -> Option<Value> {
    let name = setting.name;
    if !matches.try_contains_id(name).is_ok_and(|given| given) {
        return None;
    }
    match setting.kind {
        // What a file cannot hold is more than there is of anything.
        Kind::Whole | Kind::Seed => {
            let n = *matches.get_one::<u64>(name)?;
            Some(Value::Integer(i64::try_from(n).unwrap_or(i64::MAX)))
        }
        Kind::Number | Kind::Seconds => matches.get_one(name).copied().map(Value::Float),
        Kind::Toggle(_) if setting.alone.is_some() => {
            matches.get_one::<String>(name).map(|text| Value::Boolean(text == "yes"))
        }
        Kind::Toggle(usual) => matches.get_flag(name).then_some(Value::Boolean(!usual)),
        Kind::Schedule(_) => {
            let text = matches.get_one::<String>(name)?;
            Some(text.parse().map_or_else(|_| Value::String(text.clone()), Value::Float))
        }
        Kind::Choice(_) | Kind::Text | Kind::Path => {
            matches.get_one::<String>(name).cloned().map(Value::String)
        }
        Kind::Texts => {
            let texts = matches.get_many::<String>(name)?;
            Some(Value::Array(texts.cloned().map(Value::String).collect()))
        }
        Kind::Numbers => None,
    }
}
