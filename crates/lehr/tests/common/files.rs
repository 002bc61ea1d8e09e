//! What the tests of readers share: files made on the spot, and errors without the folder's name.

#![allow(dead_code)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// A folder that goes away with its files.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The error's text without this folder's name.
    pub fn fault<T>(&self, result: lehr::Result<T>) -> String {
        let Err(error) = result else { panic!("nothing was refused") };
        error.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }
}

pub fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes.as_ref()).unwrap();
    packed.finish().unwrap()
}
