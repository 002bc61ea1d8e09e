//! The `lehr` command line.

#[allow(dead_code, unused_imports, reason = "no command draws yet")]
mod picture;

fn main() {}
