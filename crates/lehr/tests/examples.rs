//! The examples run to their end. They are modules here, so that no further program is built for it.

#[path = "../examples/clusters.rs"]
mod clusters;
#[path = "../examples/ratings.rs"]
mod ratings;
#[path = "../examples/topics.rs"]
mod topics;
#[path = "../examples/watch.rs"]
mod watch;

#[test]
fn clusters_are_found() {
    clusters::main().unwrap();
}

#[test]
fn ratings_are_predicted() {
    ratings::main().unwrap();
}

#[test]
fn topics_are_found() {
    topics::main().unwrap();
}

#[test]
fn a_fit_is_watched() {
    watch::main().unwrap();
}
