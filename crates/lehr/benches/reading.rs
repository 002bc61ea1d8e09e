//! Reads one file as a fit does and prints one JSON line: seconds of reading alone, items, and what identifies them.
//! `cargo bench -p lehr --bench reading -- points|docs|ratings FILE`; `benchsuite/reading.py` runs it.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use lehr::data::{Docs, FromFile, Points, Ratings};

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds its own argument.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match &arguments[..] {
        [kind, file] if kind == "points" => read::<Points>(Path::new(file)),
        [kind, file] if kind == "docs" => read::<Docs>(Path::new(file)),
        [kind, file] if kind == "ratings" => read::<Ratings>(Path::new(file)),
        _ => Err("give points, docs or ratings, and a file".into()),
    }
}

fn read<D: FromFile>(path: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let data = D::read(path, &D::Options::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let (items, print) = (data.n_items(), data.fingerprint());
    println!(r#"{{"seconds":{seconds:.6},"items":{items},"fingerprint":"{print}"}}"#);
    Ok(())
}
