//! What fits a terminal of 80 columns, colours, and terminals without Unicode.

mod common;

use common::Place;

/// Runs of all models, with everything that makes lines long.
fn place() -> Place {
    let place = Place::new();
    place.points("points.csv", 300);
    place.docs("a", 60);
    place.ratings("ratings.dat", 30);
    let titles: String = (0..common::ITEMS)
        .map(|item| {
            format!(
                "{item}::A film with quite a long title, as many films have, number {item}::Drama\n"
            )
        })
        .collect();
    place.write("movies.dat", titles);
    let wide: String = common::mixture(60)
        .iter()
        .map(|row| {
            let cells: Vec<String> =
                (0..12).map(|j| format!("{}", row[j % 3] * (j + 1) as f64)).collect();
            cells.join(",") + "\n"
        })
        .collect();
    let names: Vec<String> = (0..12).map(|j| format!("measurement_{j}")).collect();
    place.write("wide.csv", names.join(",") + "\n" + &wide);
    place
}

const FITS: [&str; 5] = [
    "fit gmm points.csv -k 3 --batch 50 --effective 10 --steps 60 --n-init 2 --holdout 30 -o g",
    "fit gmm points.csv -k 3 --factorisation independent --search 2 -o i",
    "fit gmm wide.csv -k 2 --covariance diagonal -o w",
    "fit lda docword.a.txt -k 12 --batch 20 --effective 10 --steps 30 --holdout 10 -o l",
    "fit pmf ratings.dat -d 4 --holdout 0.1 -o p",
];

const LOOKS: [&str; 20] = [
    "show g",
    "show i",
    "show w",
    "show l",
    "show p",
    "topics l",
    "eval g points.csv",
    "eval i points.csv",
    "eval l docword.a.txt",
    "eval p ratings.dat",
    "recommend p --user 1 --titles movies.dat --by ucb",
    "recommend p --user 1 --user nobody",
    "transform g points.csv -o labels.csv",
    "transform l docword.a.txt -o theta.csv",
    "convert docword.a.txt --vocab vocab.a.txt -o a.lehr",
    "fit gmm points.csv -k 3 --dry-run",
    "sweep gmm points.csv -k 2,3 --covariance full,diagonal --folds 2 --n-init 2 -o s",
    "show s",
    "demo --starts 1 -o demo",
    "man pages",
];

#[test]
fn nothing_is_wider_than_the_terminal() {
    let place = place();
    for line in FITS.iter().chain(&LOOKS) {
        let output = place.command(line).env("COLUMNS", "80").output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "lehr {line}: {err}");
        assert!(!out.is_empty(), "lehr {line}");
        for text in out.lines() {
            assert!(
                text.chars().count() <= 80,
                "lehr {line}:\n{out}\n{}: {text}",
                text.chars().count()
            );
        }
    }
}

#[test]
fn colours_are_as_asked() {
    let place = place();
    place.ok(FITS[0]);
    let run = |line: &str, no_color: &str| {
        let output = place.command(line).env("NO_COLOR", no_color).output().unwrap();
        assert!(output.status.success(), "lehr {line}");
        String::from_utf8(output.stdout).unwrap().contains('\x1b')
    };
    // Not a terminal: colours only if they are asked for, and then whatever NO_COLOR says.
    for line in ["show g", "--help", "fit gmm --help"] {
        assert!(!run(line, "") && !run(line, "1"), "{line}");
        for flag in ["--color never", "--color auto", "--colour=never"] {
            assert!(!run(&format!("{line} {flag}"), ""), "{line} {flag}");
        }
        assert!(run(&format!("{line} --color always"), ""), "{line}");
        assert!(run(&format!("--color=always {line}"), "1"), "{line}");
    }
    place.misused("show g --color sometimes", &["sometimes", "auto, always, never"]);
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let place = place();
    FITS.iter().for_each(|line| drop(place.ok(line)));
    for line in
        ["show g", "show l", "show p", "topics l", "recommend p --user 1 --titles movies.dat"]
    {
        let run = |name: &str, locale: &str| {
            let output = place.command(line).env(name, locale).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        for (name, locale) in [("LANG", "C"), ("LC_ALL", "POSIX"), ("LC_CTYPE", "de_DE.ISO-8859-1")]
        {
            let text = run(name, locale);
            assert!(text.is_ascii(), "{name}={locale} lehr {line}:\n{text}");
        }
        assert!(
            !run("LC_ALL", "C.UTF-8").is_ascii() || line.starts_with("recommend"),
            "lehr {line}"
        );
    }
    // Numbers for programs have no look.
    let json = |locale: &str| {
        String::from_utf8(
            place.command("show g --json").env("LANG", locale).output().unwrap().stdout,
        )
        .unwrap()
    };
    assert_eq!(json("C"), json("C.UTF-8"));
}

#[test]
fn the_first_steps_do_not_fill_the_chart() {
    let place = place();
    place.ok(FITS[4]);
    let shown = place.ok("show p");
    assert!(shown.contains("bound against steps (from step "), "{shown}");
}

#[test]
fn the_guard_is_spoken_of_only_if_it_acted() {
    let place = place();
    place.ok("fit gmm points.csv -k 3 -o quiet");
    place
        .ok("fit gmm points.csv -k 8 --batch 10 --effective 1 --step-size 0.5 --steps 50 -o noisy");
    for (run, acted) in [("quiet", false), ("noisy", true)] {
        let hits = place.json(&format!("show {run} --json"))["guard_hits"].as_u64().unwrap();
        assert_eq!((hits > 0, place.ok(&format!("show {run}")).contains("guard")), (acted, acted));
    }
}
