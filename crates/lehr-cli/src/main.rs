//! The `lehr` command line.

fn main() {}
