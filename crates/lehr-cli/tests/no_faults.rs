//! What is handed out does not fail on demand: `cargo test --release -p lehr-cli --test no_faults`.

#![cfg(not(any(debug_assertions, feature = "faults")))]

mod common;

use common::Place;

#[test]
fn a_release_build_ignores_faults() {
    let place = Place::new();
    place.points("points.csv", 60);
    for (n, fault) in ["kill:begun:1", "full:begun:1", "no such fault"].into_iter().enumerate() {
        let mut command = place.command(&format!("fit gmm points.csv -k 2 --steps 3 -o run{n}"));
        let status = command.env("LEHR_FAULT", fault).output().unwrap().status;
        assert_eq!(status.code(), Some(0), "{fault}");
        place.ok(&format!("show run{n}"));
    }
}
