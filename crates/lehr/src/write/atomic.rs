//! Writes a file beside its place and moves it there when complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Writes a file so that its name never stands for half of it, whatever stops the process: into a
/// temporary file in the same folder, synced to disk and then renamed over `path`. Whatever the
/// closure returns is returned; if it fails, `path` is left as it was.
///
/// The file is not buffered; wrap it in a [`BufWriter`](io::BufWriter) for small writes and flush
/// that before returning.
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("state.json");
/// lehr::write::atomically(&path, |file| file.write_all(b"{}"))?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn atomically<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T> {
    let cannot_write = |error| Error::io(path, "cannot write", error);
    // A link is written through, not replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(Error::run(path, "is a folder; give the name of a file"));
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    if !folder.is_dir() {
        let message = format!("there is no folder {}; create it first", folder.display());
        return Err(Error::run(path, message));
    }

    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    {
        // Temporary files are private by default; this one becomes an ordinary file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(&folder).map_err(cannot_write)?;
    let result = write(temporary.as_file_mut()).map_err(cannot_write)?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions()).map_err(cannot_write)?;
    }
    temporary.as_file().sync_all().map_err(cannot_write)?;
    temporary.persist(&target).map_err(|error| cannot_write(error.error))?;
    // The new name lives in the folder, which has to reach the disk too.
    #[cfg(unix)]
    File::open(&folder).and_then(|folder| folder.sync_all()).map_err(cannot_write)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        atomically(&path, |file| file.write_all(b"old")).unwrap();
        let failed = atomically(&path, |file| {
            file.write_all(b"ne")?;
            Err::<(), _>(io::Error::other("disk full"))
        });
        let text = failed.unwrap_err().to_string();
        assert_eq!(text, format!("{}: cannot write: disk full", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn the_result_of_the_closure_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        assert_eq!(atomically(&path, |file| file.write(b"new")).unwrap(), 3);
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_missing_folder_and_a_folder_in_the_way_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("x").join("a.txt");
        let text = atomically(&missing, |_| Ok(())).unwrap_err().to_string();
        let place = folder.path().join("x");
        let there_is_none = format!("there is no folder {}; create it first", place.display());
        assert_eq!(text, format!("{}: {there_is_none}", missing.display()));
        let text = atomically(folder.path(), |_| Ok(())).unwrap_err().to_string();
        assert!(text.ends_with("is a folder; give the name of a file"));
    }

    #[cfg(unix)]
    #[test]
    fn an_existing_file_keeps_its_mode_and_a_link_its_target() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        atomically(&link, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
