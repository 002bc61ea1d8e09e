//! Settings in messages: they stand in backticks, by their names in a configuration file, so that whoever
//! shows a message can call them by the names that its reader knows.

use std::fmt::Display;

/// A setting and the value that it has or should have, as messages write it. A value that would end the
/// backticks early is left out.
pub(crate) fn setting(name: &str, value: impl Display) -> String {
    let value = value.to_string();
    if value.contains('`') { format!("`{name}`") } else { format!("`{name} = {value}`") }
}

/// Another's words in a message of ours: what they put into backticks is no setting to be renamed.
pub fn foreign(text: impl Display) -> String {
    text.to_string().replace('`', "'")
}

/// A message in which settings have the names that `name` gives them.
///
/// Messages of this crate write a setting as `` `drop` ``, or with a value as `` `drop = site` ``. `name` is
/// asked for each with both parts; what it has no answer for stays as it is. What stands in double quotes is
/// somebody's data and stays, too.
///
/// ```
/// let shout = |name: &str, value: Option<&str>| {
///     (name == "drop").then(|| format!("{} {}", name.to_uppercase(), value.unwrap_or("?")))
/// };
/// let text = "found \"`drop`\"; leave it out (`drop = site`), or set `format`";
/// assert_eq!(
///     lehr::error::rename_settings(text, shout),
///     "found \"`drop`\"; leave it out (DROP site), or set `format`"
/// );
/// ```
pub fn rename_settings(
    text: &str,
    mut name: impl FnMut(&str, Option<&str>) -> Option<String>,
) -> String {
    let mut renamed = String::with_capacity(text.len());
    let mut done = 0;
    while let Some(found) = text[done..].find(['`', '"']) {
        let (before, from) = text.split_at(done + found);
        renamed.push_str(&before[done..]);
        let (length, new) = match mention(from) {
            Some((length, setting, value)) => (length, name(setting, value)),
            None if before.is_empty() || before.ends_with([' ', '(']) => (quoted(from), None),
            None => (1, None),
        };
        renamed.push_str(new.as_deref().unwrap_or(&from[..length]));
        done = before.len() + length;
    }
    renamed + &text[done..]
}

/// The setting that a text begins with: how long it is with its backticks, its name and its value.
fn mention(text: &str) -> Option<(usize, &str, Option<&str>)> {
    let (inside, _) = text.strip_prefix('`')?.split_once('`')?;
    let (name, value) = match inside.split_once(" = ") {
        Some((name, value)) => (name, Some(value)),
        None => (inside, None),
    };
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((inside.len() + 2, name, value))
}

/// How long the text in double quotes is that a text begins with, escapes being those of `{:?}`; 1 if there
/// is none.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.filter(|_| text.starts_with('"')).map_or(1, |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn loud(name: &str, value: Option<&str>) -> Option<String> {
        let known = ["drop", "weight_column"].contains(&name);
        known.then(|| format!("<{name}{}>", value.map_or(String::new(), |v| format!(":{v}"))))
    }

    #[test]
    fn settings_are_found_with_and_without_values() {
        for (text, expected) in [
            ("", ""),
            ("`drop`", "<drop>"),
            ("with `drop`, or `weight_column`.", "with <drop>, or <weight_column>."),
            ("(`drop = a, b = c`)", "(<drop:a, b = c>)"),
            ("`drop = `", "<drop:>"),
            ("`drop = größe \"x\"` ", "<drop:größe \"x\"> "),
            ("`drop``drop`", "<drop><drop>"),
        ] {
            assert_eq!(rename_settings(text, loud), expected);
        }
    }

    #[test]
    fn what_is_no_setting_stays() {
        for text in ["`two`", "`two = drop`", "`drop=`x`", "unknown field `bacth`"] {
            assert_eq!(rename_settings(text, loud), text);
        }
        for text in [
            "drop",
            "`drop",
            "drop`",
            "``",
            "`",
            "`Drop`",
            "`drop=x`",
            "` drop`",
            "`drop `",
            "` = x`",
            "\"",
            "`a row of numbers`",
            "`drop-it`",
        ] {
            assert_eq!(rename_settings(text, |_, _| Some("!".into())), text);
        }
    }

    #[test]
    fn data_neither_become_settings_nor_hide_them() {
        for (text, expected) in [
            // A column's name with a backtick, or half a setting.
            ("column a`b is bad; `drop`", "column a`b is bad; <drop>"),
            ("column ` is bad; `drop`", "column ` is bad; <drop>"),
            // Cells, as `{:?}` shows them.
            ("found \"`drop`\"; `drop`", "found \"`drop`\"; <drop>"),
            ("found \"`drop = \"; `drop`", "found \"`drop = \"; <drop>"),
            ("found \"\\\"`drop`\\\\\"; `drop`", "found \"\\\"`drop`\\\\\"; <drop>"),
            ("(\"`drop`\")", "(\"`drop`\")"),
            // Quotes that are nobody's: inches, and one that is never closed.
            ("column 5\" is bad; `drop`; 6\"", "column 5\" is bad; <drop>; 6\""),
            ("found \"x; `drop`", "found \"x; <drop>"),
        ] {
            assert_eq!(rename_settings(text, loud), expected, "{text}");
        }
    }

    #[test]
    fn a_value_with_a_backtick_is_not_written() {
        assert_eq!(setting("drop", "site"), "`drop = site`");
        assert_eq!(setting("drop", "a`b"), "`drop`");
        assert_eq!(foreign("unknown field `drop`"), "unknown field 'drop'");
    }

    proptest! {
        #[test]
        fn any_text_comes_through(text in "[`\"\\\\ a-cß=(]{0,40}") {
            prop_assert_eq!(rename_settings(&text, |_, _| None), text);
        }

        #[test]
        fn a_setting_behind_any_quoted_cell_is_found(cell in any::<String>(), column in "[^`]*") {
            let text = format!("found {cell:?}; leave it out ({})", setting("drop", &column));
            let expected = format!("found {cell:?}; leave it out (<drop:{column}>)");
            prop_assert_eq!(rename_settings(&text, loud), expected);
        }
    }
}
