//! `unsafe` stays where it is: in the kernels and in the few files that talk to memory of others.

use std::fs;
use std::path::{Path, PathBuf};

/// The files that may allow it, each for the modules below it too, from the root of the repository.
const ALLOWED: [&str; 7] = [
    "crates/lehr-kernels/benches/peak.rs",
    "crates/lehr-kernels/src/lib.rs",
    "crates/lehr-python/src/arrays.rs",
    "crates/lehr-python/src/arrow.rs",
    "crates/lehr/src/data/mapped.rs",
    "crates/lehr/tests/allocations.rs",
    "fuzz/targets/meter.rs",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_is_allowed_in_few_files_and_each_says_why() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // What is not allowed in a file is an error of the compiler.
    let lints = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(lints.contains("unsafe_code = \"deny\""));
    for member in fs::read_dir(root.join("crates")).unwrap() {
        let manifest = member.unwrap().path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{}", manifest.display());
    }
    let mut all = Vec::new();
    sources(&root.join("crates"), &mut all);
    sources(&root.join("fuzz"), &mut all);
    let mut allowing = Vec::new();
    for path in &all {
        let text: String = fs::read_to_string(path).unwrap().split_whitespace().collect();
        let own = path.ends_with("tests/unsafe_code.rs");
        let allows = ["allow", "warn", "expect"].map(|level| format!("{level}(unsafe_code"));
        if !own && allows.iter().any(|allow| text.contains(allow)) {
            assert!(text.contains("#![allow(unsafe_code,reason=\""), "{}", path.display());
            allowing.push(path.strip_prefix(&root).unwrap().to_string_lossy().into_owned());
        }
    }
    allowing.sort();
    assert_eq!(allowing, ALLOWED);
}
