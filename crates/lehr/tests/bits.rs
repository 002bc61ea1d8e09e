//! Checksums of short fits of every model, noise law, guard and sampling, recorded once: on any number of
//! threads, in memory and in a directory, with every instruction set, a change of the code must not change them.
//!
//! `fixtures/bits/cases.tsv` has a line per fit: name, model, settings of the model and of the fit (TOML, inline),
//! and for each instruction set a hash of lambda and of the trace without seconds. `LEHR_BITS=record` writes the
//! hashes that it finds instead of comparing them; `LEHR_BITS=sets` leaves out threads and sinks, for emulators.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use common::bits_of::{Sink, fit};
use lehr_kernels::Isa;

/// The hashes belong to one implementation of the elementary functions, which come from the system.
fn elementary_functions() -> String {
    let numbers = (1..200).map(|n| f64::from(n) * 0.137);
    let values: Vec<f64> = numbers
        .flat_map(|x| [x.exp(), x.ln(), x.sqrt(), x.powf(0.7), x.sin(), (-x).ln_1p().abs()])
        .collect();
    common::bits_of::hash(&values, &[])
}

struct Case {
    name: String,
    model: String,
    params: String,
    config: String,
    expected: BTreeMap<String, String>,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bits/cases.tsv")
}

/// The hash of the elementary functions, and the cases.
fn cases() -> (String, Vec<Case>) {
    let text = fs::read_to_string(path()).unwrap();
    let mut lines = text.lines();
    let functions = lines.next().unwrap().split('\t').nth(1).unwrap_or("").to_string();
    let case = |line: &str| {
        let mut cells = line.split('\t').map(str::to_string);
        let mut cell = || cells.next().unwrap_or_default();
        let (name, model, params, config) = (cell(), cell(), cell(), cell());
        let expected =
            cells.filter_map(|cell| cell.split_once('=').map(|(a, b)| (a.into(), b.into())));
        Case { name, model, params, config, expected: expected.collect() }
    };
    (functions, lines.filter(|line| !line.is_empty()).map(case).collect())
}

/// The name under which the bits of a set are recorded. Those of NEON are AVX2's. Portable kernels that fuse have other
/// bits than x86-64's: the tests of kernels compare them with NEON's.
fn name(isa: Isa) -> Option<String> {
    match isa {
        Isa::Neon => Some(Isa::Avx2.to_string()),
        Isa::Portable if isa.fuses() => None,
        _ => Some(isa.to_string()),
    }
}

#[test]
fn the_bits_of_short_fits_are_those_that_were_recorded() {
    let (functions, mut cases) = cases();
    assert!(cases.len() >= 40);
    let asked = std::env::var("LEHR_BITS").unwrap_or_default();
    let (records, sets_alone) = (asked == "record", asked == "sets");
    let same_functions = functions == elementary_functions();
    if !same_functions && !records {
        eprintln!(
            "NOT CHECKED: recorded bits; exp, ln and their kind are others here, so threads and sinks alone are compared"
        );
    }
    let mut wrong = Vec::new();
    for case in &mut cases {
        let Case { name: case_name, model, params, config, expected } = case;
        for isa in Isa::available() {
            let Some(name) = name(isa) else { continue };
            let found = fit(model, params, config, Sink::None, isa, 1);
            if records {
                expected.insert(name, found.clone());
            } else if same_functions && expected.get(&name) != Some(&found) {
                wrong.push(format!("{case_name}, {isa}"));
            }
            if isa == Isa::detect() && !sets_alone {
                for (sink, threads) in [(Sink::None, 3), (Sink::Memory, 2), (Sink::Directory, 2)] {
                    if fit(model, params, config, sink, isa, threads) != found {
                        wrong.push(format!("{case_name}: {sink:?}, {threads} threads"));
                    }
                }
            }
        }
    }
    if records {
        let mut text = format!("elementary functions\t{}\n", elementary_functions());
        for Case { name, model, params, config, expected } in &cases {
            let hashes: Vec<String> =
                expected.iter().map(|(isa, hash)| format!("{isa}={hash}")).collect();
            text += &format!("{name}\t{model}\t{params}\t{config}\t{}\n", hashes.join("\t"));
        }
        fs::write(path(), text).unwrap();
    }
    assert!(wrong.is_empty(), "other bits than recorded:\n{}", wrong.join("\n"));
}
