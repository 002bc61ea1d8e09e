//! `-h` of a command with many options: those that people use, on one screen. `--help` has all of them.

use std::ffi::OsString;

use clap::{Arg, Command};

use super::fit::models;

/// The options of every fit that people use.
const USUAL: [&str; 9] =
    ["batch", "n_init", "search", "holdout", "time", "output", "json", "dry_run", "help"];

/// Those of a sweep.
const OF_SWEEP: [&str; 3] = ["sizes", "shapes", "folds"];

/// The columns of a narrow terminal.
const COLUMNS: usize = 80;

/// Whether the arguments ask for help on one screen.
pub fn is_asked(args: &[OsString]) -> bool {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    has("-h") && !has("--help")
}

/// The command with the usual options alone in its help.
pub fn of_usual(command: Command) -> Command {
    let of_model = |command: Command| {
        let name = command.get_name().to_string();
        let own = models().find(|about| about.model == name).map_or(&[][..], |about| about.usual);
        let is_usual = |arg: &Arg| {
            let id = arg.get_id().as_str();
            arg.is_positional() || [own, &USUAL, &OF_SWEEP].concat().contains(&id)
        };
        let of_data = |arg: &Arg| own.contains(&arg.get_id().as_str()) || arg.get_id() == "sizes";
        // What is left next to the widest option of a group: two blanks before it and two behind it.
        let room = |of_own: bool| {
            let group = command.get_arguments().filter(|arg| is_usual(arg) && !arg.is_positional());
            let widths = group.filter(|arg| of_data(arg) == of_own).map(|arg| width(arg) + 4);
            COLUMNS.saturating_sub(widths.max().unwrap_or(0))
        };
        let rooms = [room(false), room(true)];
        let command = command.after_help("");
        command.mut_args(|arg| match (is_usual(&arg), arg.is_positional()) {
            (false, _) => arg.hide(true),
            (true, true) => arg,
            (true, false) => {
                let of_data = of_data(&arg);
                let help = arg
                    .get_help()
                    .map(|help| short(&help.to_string(), rooms[usize::from(of_data)]));
                let heading = if of_data { "Model and data" } else { "Fit" };
                let arg = arg.help(help.unwrap_or_default()).help_heading(heading);
                let has_values = arg.get_action().takes_values();
                if has_values { arg.hide_possible_values(true) } else { arg }
            }
        })
    };
    let of_models = |command: Command| command.mut_subcommands(of_model);
    command.mut_subcommand("fit", of_models).mut_subcommand("sweep", of_models)
}

/// The columns of `-k, --components <K>`; all options leave room for a letter.
fn width(arg: &Arg) -> usize {
    let long = arg.get_long().map_or(0, |long| long.len() + 2);
    let value =
        arg.get_value_names().and_then(|names| names.first()).map_or(0, |name| name.len() + 3);
    let value = if arg.get_action().takes_values() { value } else { 0 };
    4 + long + value
}

/// As much of a text as fits, whole sentences if possible; what is in brackets at its end only if all fits.
fn short(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_string();
    }
    let (said, default) =
        text.split_once(" [").map_or((text, None), |(said, rest)| (said, Some(rest)));
    let default = default.map_or(String::new(), |default| format!(" [{default}"));
    let ends = |gaps: &[&str]| {
        let at = gaps.iter().flat_map(|gap| said.match_indices(gap).map(|(at, _)| at));
        at.chain([said.len()]).filter(|&at| said[..at].chars().count() <= room).max()
    };
    let end = ends(&[". ", "; ", ": "]).or_else(|| ends(&[", "])).or_else(|| ends(&[" "]));
    let said = &said[..end.unwrap_or(said.len())];
    let whole = format!("{said}{default}");
    if whole.chars().count() <= room { whole } else { said.to_string() }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn texts_are_cut_where_a_thought_ends() {
        assert_eq!(short("All of it [default: 1]", 30), "All of it [default: 1]");
        assert_eq!(short("K, the number; for dpgmm, the most", 20), "K, the number");
        assert_eq!(
            short("Starts to try; the best is kept [default: 1]", 30),
            "Starts to try [default: 1]"
        );
        assert_eq!(
            short("Names: line i names word i. Beside it", 30),
            "Names: line i names word i"
        );
        assert_eq!(
            short("Search from where it ends, with this many", 30),
            "Search from where it ends"
        );
    }
}
