//! The directory that a command makes: as asked, or the next free number, which no other process gets.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;

use crate::args::FitFlags;

/// The folders that were made to have a number, the outermost first.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A directory for a new run. One that has a number is there from now on, and gone with this value if nothing came of
/// it.
pub struct Claimed {
    /// Where it is.
    pub path: PathBuf,
}

impl Claimed {
    /// The directory that was asked for, or the first of `FOLDER/NAME-1`, `FOLDER/NAME-2`, ... that is free.
    pub fn new(flags: &FitFlags, folder: &str, name: &str) -> anyhow::Result<Self> {
        if let Some(path) = &flags.output {
            return Ok(Claimed { path: path.clone() });
        }
        let folder = Path::new(folder);
        let cannot = |path: &Path| format!("cannot create the folder {}", path.display());
        let mut number = 1_u64;
        loop {
            let path = folder.join(format!("{name}-{number}"));
            let is_new = !folder.exists();
            match fs::create_dir(&path) {
                Ok(()) => {
                    made().push(path.clone());
                    return Ok(Claimed { path });
                }
                // Another process may have taken it a moment ago.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    fs::create_dir_all(folder).with_context(|| cannot(folder))?;
                    if is_new {
                        made().insert(0, folder.to_path_buf());
                    }
                }
                Err(error) => return Err(error).with_context(|| cannot(&path)),
            }
        }
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        give_back();
    }
}

/// Removes the folders that were made and are still empty.
pub fn give_back() {
    let made = std::mem::take(&mut *made());
    for path in made.iter().rev() {
        let _ = fs::remove_dir(path);
    }
}

fn made() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}
