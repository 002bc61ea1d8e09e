//! Large tables are read in blocks on all threads: the same numbers and the same words as record by record.

use super::*;

/// Enough for several blocks.
const ROWS: usize = 60_000;

/// What a file is read as: its numbers, or what is wrong with it.
fn outcome(bytes: &[u8], options: &PointsOptions) -> Result<(Vec<f64>, Option<Vec<f64>>), String> {
    let folder = Folder::new();
    let path = folder.file("a.csv", bytes);
    let read = read::points(&path, options);
    match read {
        // Bits, since a gap is not equal to itself.
        Ok(points) => Ok((numbers(&points), points.weights().map(<[f64]>::to_vec))),
        Err(_) => Err(folder.fault(read)),
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn lines(separator: &str) -> Vec<String> {
    let row = |i: usize| {
        [format!("{i}"), format!("{:.4}", i as f64 / 7.0 - 99.0), format!("{:e}", i as f64 / 3.0)]
    };
    (0..ROWS).map(|i| row(i).join(separator)).collect()
}

/// Reads a text, and the same with quotes in its second line, from which on records are read one by one.
fn check(mut lines: Vec<String>, end: &str, options: &PointsOptions) -> Result<usize, String> {
    let fast = outcome(lines.join(end).as_bytes(), options);
    let second = lines[1].split_at(1);
    lines[1] = format!("\"{}\"{}", second.0, second.1);
    let slow = outcome(lines.join(end).as_bytes(), options);
    match (fast, slow) {
        (Ok((fast, a)), Ok((slow, b))) => {
            assert!(bits(&fast) == bits(&slow) && a == b);
            Ok(fast.len())
        }
        (Err(fast), Err(slow)) => {
            assert_eq!(fast, slow);
            Err(fast)
        }
        (fast, slow) => panic!("{:?} and {:?}", fast.err(), slow.err()),
    }
}

#[test]
fn blocks_and_records_give_the_same_numbers_and_the_same_words() {
    let gaps = PointsOptions { missing: Missing::Model, ..Default::default() };
    let weights = PointsOptions {
        weight_column: Some("1".into()),
        drop: vec!["3".into()],
        ..Default::default()
    };
    let odd = [
        "",
        "  ",
        "# 1,2,3",
        " 1 , 2 ,3 ",
        "1,2,3\r",
        "+1,.5,1.",
        "1,2",
        "1,2,3,4",
        "1,,2",
        "1,NA,2",
        "1,nan,2",
        "x,2,y",
        "1,2,x",
        "1e400,1,1",
        "-1,1,1",
        "1,2,",
        ",",
        "1,\u{e9},2",
        "1;2;3",
        "1 2 3",
    ];
    let (mut good, mut bad) = (0, 0);
    for odd in odd {
        for at in [2, ROWS / 2, ROWS - 1] {
            for options in [&PointsOptions::default(), &gaps, &weights] {
                let mut lines = lines(",");
                lines[at] = odd.to_string();
                match check(lines, "\n", options) {
                    Ok(_) => good += 1,
                    Err(text) => {
                        bad += 1;
                        let place = format!("a.csv:{}", at + 1);
                        assert!(
                            text.starts_with(&place) || text.contains(&format!("line {}", at + 1)),
                            "{text}"
                        );
                    }
                }
            }
        }
    }
    assert!(good > 50 && bad > 90, "{good} {bad}");
}

#[test]
fn blocks_know_every_separator_and_line_end() {
    let options = PointsOptions::default();
    for (separator, end) in
        [(",", "\r\n"), ("\t", "\n"), (";", "\n"), ("|", "\n\n"), ("  ", "\r\n"), (" ", "\n# x\n")]
    {
        assert_eq!(check(lines(separator), end, &options), Ok(3 * ROWS), "{separator:?} {end:?}");
    }
}

#[test]
fn what_comes_first_in_a_file_is_told_first() {
    let mut lines = lines(",");
    lines[ROWS - 5] = "late".into();
    lines[ROWS / 2] = "1,2".into();
    lines[ROWS / 2 + 1] = "1,2,3,4".into();
    let found = fault("a.csv", lines.join("\n"));
    assert!(found.contains("found 2 fields"), "{found}");
    assert!(found.contains(&format!("{}", ROWS / 2 + 1)), "{found}");

    // A gzipped file that is cut off in the block of the line that is wrong, and before it.
    let packed = gzip(lines.join("\n").as_bytes());
    let whole = fault("a.csv.gz", &packed);
    assert_eq!(whole, found.replace("a.csv", "a.csv.gz"));
    assert_eq!(fault("a.csv.gz", &packed[..packed.len() * 53 / 100]), whole);
    let early = fault("a.csv.gz", &packed[..packed.len() * 40 / 100]);
    assert!(early.contains("the gzipped data end too early"), "{early}");
}
