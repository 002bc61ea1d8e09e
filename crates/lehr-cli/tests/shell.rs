//! What is expected of every command line: its name, short and long help, completion, manual pages.

mod common;

use std::process::Command;

use common::Place;

/// A command's help, with COLUMNS=80.
fn help(place: &Place, line: &str) -> String {
    let output = place.command(line).env("COLUMNS", "80").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "lehr {line}");
    String::from_utf8(output.stdout).unwrap()
}

const COMMANDS: &str = "fit sweep resume partial eval transform show report topics recommend similar convert demo \
                        reproduce completions man";

#[test]
fn it_is_called_lehr() {
    let place = Place::new();
    let version = format!("lehr {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.ok("--version"), version);
    assert!(place.ok("--help").contains("Usage: lehr "));
}

#[test]
fn no_help_is_wider_than_a_terminal() {
    let place = Place::new();
    let mut lines: Vec<String> = COMMANDS.split_whitespace().map(str::to_string).collect();
    for model in ["gmm", "dpgmm", "lda", "pmf"] {
        lines.extend([format!("fit {model}"), format!("sweep {model}")]);
    }
    lines.push(String::new());
    for line in lines {
        for flag in ["-h", "--help"] {
            let help = help(&place, &format!("{line} {flag}"));
            for text in help.lines() {
                assert!(text.chars().count() <= 80, "lehr {line} {flag}: {text}");
            }
            // An example that is too long would be broken, and go on without 'lehr' in front.
            let examples = help.split_once("Examples:\n").map_or("", |(_, examples)| examples);
            for text in examples.lines().take_while(|text| !text.is_empty()) {
                let begins = text.starts_with("  lehr ") || text.starts_with("      ");
                assert!(begins, "lehr {line} {flag}: {text:?} in\n{examples}");
            }
        }
    }
}

#[test]
fn short_help_is_one_screen_and_long_help_is_all() {
    let place = Place::new();
    for (model, size) in
        [("gmm", "-k <K>"), ("dpgmm", "-k <K>"), ("lda", "-k <K>"), ("pmf", "-d <D>")]
    {
        let (short, long) = (
            help(&place, &format!("fit {model} -h")),
            help(&place, &format!("fit {model} --help")),
        );
        assert!(short.lines().count() <= 25, "{} lines\n{short}", short.lines().count());
        assert!(long.lines().count() > 80, "{long}");
        for help in [&short, &long] {
            assert!(
                help.contains(&format!("Usage: lehr fit {model} {size} [OPTIONS] <DATA>")),
                "{help}"
            );
            assert!(help.contains("[required]"), "{help}");
            for part in ["--output", "--dry-run", "--holdout", "see more with --help"] {
                assert!(help.contains(part), "{part}: {help}");
            }
        }
        assert!(!short.contains("--effective") && long.contains("--effective"), "{short}");
        assert!(!short.contains("--checkpoint-every") && long.contains("--checkpoint-every"));
        // What is not shown is there all the same.
        place.fails(
            &format!(
                "fit {model} none.csv {} --checkpoint-every 5",
                &size.replace("<K>", "2").replace("<D>", "2")
            ),
            &["none.csv"],
        );
    }
    let all = help(&place, "--help");
    for job in [
        "lehr fit lda",
        "lehr fit gmm",
        "lehr fit pmf",
        "lehr topics",
        "lehr recommend",
        "NO_COLOR",
    ] {
        assert!(all.contains(job), "{job}: {all}");
    }
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let place = Place::new();
    place.write("lehr.bash", place.ok("completions bash"));
    // What is typed, the word under the cursor last.
    let complete = |typed: &str| -> Vec<String> {
        let words: Vec<&str> = typed.split(' ').collect();
        let (now, before) = (words[words.len() - 1], words[words.len() - 2]);
        let script = format!(
            "source lehr.bash; COMP_WORDS=({typed}); [ -n '{now}' ] || COMP_WORDS+=(''); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _lehr lehr '{now}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        let bash = bash.args(["--norc", "-c", &script]).current_dir(place.path(""));
        let output = bash.output().expect("bash is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_string).collect()
    };
    assert_eq!(complete("lehr tra"), ["transform"]);
    assert_eq!(complete("lehr fit gm"), ["gmm"]);
    assert_eq!(complete("lehr fit gmm --cov"), ["--covariance"]);
    assert_eq!(complete("lehr fit gmm --covariance sph"), ["spherical"]);
    assert!(complete("lehr recommend --b").contains(&"--by".to_string()));
    for (shell, part) in [
        ("zsh", "#compdef lehr"),
        ("fish", "complete -c lehr"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        assert!(place.ok(&format!("completions {shell}")).contains(part), "{shell}");
    }
    place.misused("completions tcsh", &["tcsh", "bash"]);
}

#[test]
fn manual_pages_have_what_help_has() {
    let place = Place::new();
    let page = place.ok("man");
    for part in [".TH lehr 1", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", "lehr\\-transform(1)"]
    {
        assert!(page.contains(part), "no {part} in\n{page}");
    }
    let said = place.ok("man share/man1");
    let names: Vec<String> = place
        .snapshot("share/man1")
        .keys()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_string())
        .collect();
    assert_eq!(said, format!("share/man1: {} pages\n", names.len()));
    assert_eq!(String::from_utf8(place.read("share/man1/lehr.1")).unwrap(), page);
    for command in COMMANDS.split_whitespace() {
        assert!(names.contains(&format!("lehr-{command}.1")), "{command}: {names:?}");
    }
    let page = String::from_utf8(place.read("share/man1/lehr-fit-gmm.1")).unwrap();
    for part in [
        ".SH NAME",
        "lehr\\-fit\\-gmm",
        ".SH SYNOPSIS",
        "\\-\\-covariance",
        "\\-\\-checkpoint\\-every",
        "Examples:",
    ] {
        assert!(page.contains(part), "no {part} in\n{page}");
    }
    // Again, as after an update.
    assert_eq!(place.ok("man share/man1"), said);
}
