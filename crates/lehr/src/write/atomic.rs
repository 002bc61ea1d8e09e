//! Writes a temporary file and renames it when complete; what is no file is written into.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::fault::{self, Point};
use super::room::{self, Need};
use super::stream::Stream;
use crate::{Error, Result, platform};

/// Writes a file so that its name never stands for half of it, whatever stops the process: into a
/// temporary file in the same folder, synced to disk and then renamed over `path`. Whatever the
/// closure returns is returned; if it fails, `path` is left as it was.
///
/// A pipe, a device or standard output (`/dev/stdout`) is not replaced: it gets the bytes when they are
/// complete. Disks and sockets are refused.
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
    place(path, None, None, write)
}

/// [`atomically`] for a file whose bytes are all there: without room for it the error says how much it needs.
pub fn whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let size = Some(bytes.len() as u64);
    place(path, size, None, |file| fault::write_all(file, bytes, path))
}

/// The same for bytes in pieces; the file that was there before is called `previous` afterwards. At every moment `path`
/// is one of the two.
pub(crate) fn whole_keeping(path: &Path, previous: &Path, pieces: &[&[u8]]) -> Result<()> {
    let size = Some(pieces.iter().map(|piece| piece.len() as u64).sum());
    place(path, size, Some(previous), |file| fault::write_pieces(file, pieces, path))
}

/// Adds bytes to the end of a file that is open. Without room for them the error says how much the file needs;
/// a part of them may be there.
pub fn append(file: &mut File, bytes: &[u8], path: &Path) -> Result<()> {
    let before = file.metadata().map_or(0, |file| file.len());
    fault::write_all(file, bytes, path).map_err(|error| {
        let need = before + bytes.len() as u64;
        let folder = path.parent().unwrap_or(path);
        Error::io(path, "cannot write", room::explained(error, folder, Need::Exactly(need)))
    })
}

fn place<T>(
    path: &Path,
    size: Option<u64>,
    previous: Option<&Path>,
    write: impl FnOnce(&mut File) -> io::Result<T>,
) -> Result<T> {
    let Some(Target { file: target, folder, existing }) = Target::of(path)? else {
        return match Stream::of(path)? {
            Some(stream) => stream.write(path, write),
            None => Err(Error::run(path, "is something else by now; try again")),
        };
    };
    let cannot_write = |error, written: u64| {
        let need = size.map_or(Need::MoreThan(written), Need::Exactly);
        Error::io(path, "cannot write", room::explained(error, &folder, need))
    };
    let mut temporary = unfinished(&target, &folder).map_err(|error| cannot_write(error, 0))?;
    let result = (|| {
        fault::reached(Point::Begun, path)?;
        let result = write(temporary.as_file_mut())?;
        if let Some(existing) = &existing {
            temporary.as_file().set_permissions(existing.permissions())?;
        }
        fault::reached(Point::Written, path)?;
        temporary.as_file().sync_all()?;
        fault::reached(Point::Synced, path)?;
        if let (Some(previous), Some(_)) = (previous, &existing) {
            keep(&target, previous)?;
        }
        fault::reached(Point::Kept, path)?;
        Ok(result)
    })();
    let written = || temporary.as_file().metadata().map_or(0, |file| file.len());
    let result = result.map_err(|error| cannot_write(error, written()))?;
    temporary.persist(&target).map_err(|error| cannot_write(error.error, 0))?;
    let settle = || {
        fault::reached(Point::Renamed, path)?;
        platform::sync_folder(&folder)?;
        fault::reached(Point::Done, path)
    };
    settle().map_err(|error| cannot_write(error, 0))?;
    Ok(result)
}

/// Whether a file can be written here, to know it before long work: not where a folder, a disk or a socket is, nor
/// in a folder that is missing.
pub fn check_target(path: &Path) -> Result<()> {
    Target::of(path).map(drop)
}

/// The file that a path stands for.
struct Target {
    /// A link is written through, not replaced.
    file: PathBuf,
    folder: PathBuf,
    existing: Option<fs::Metadata>,
}

impl Target {
    /// None if it leads to something that is written into.
    fn of(path: &Path) -> Result<Option<Self>> {
        if Stream::of(path)?.is_some() {
            return Ok(None);
        }
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let existing = fs::metadata(&file).ok();
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(Error::run(path, "is a folder; give the name of a file"));
        }
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !folder.is_dir() {
            let message = format!("there is no folder {}; create it first", folder.display());
            return Err(Error::run(path, message));
        }
        Ok(Some(Target { file, folder, existing }))
    }
}

/// A new file in `folder` that is to become `target`, and is gone with this value until it does.
fn unfinished(target: &Path, folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let prefix = beginning(target);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(UNFINISHED);
    platform::ordinary(&mut builder).tempfile_in(folder)
}

const UNFINISHED: &str = ".tmp";

/// How the names of a file's unfinished versions start.
fn beginning(target: &Path) -> String {
    format!(".{}.", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Whether a process that was killed has left a file of this name behind while it wrote `file`.
pub(crate) fn is_unfinished(name: &str, file: &str) -> bool {
    name.ends_with(UNFINISHED) && name.starts_with(&beginning(Path::new(file)))
}

/// Gives the file a second name, in place of what had it before: both names are whole at any moment.
fn keep(target: &Path, previous: &Path) -> io::Result<()> {
    let spare = beginning(previous) + &std::process::id().to_string() + UNFINISHED;
    let spare = previous.with_file_name(spare);
    let _ = fs::remove_file(&spare);
    // Not every disk has second names.
    let linked = fs::hard_link(target, &spare).or_else(|_| {
        fs::copy(target, &spare)?;
        File::open(&spare)?.sync_all()
    });
    let kept = linked.and_then(|()| fs::rename(&spare, previous));
    // Still there if that failed, or if both names were the same file's already.
    let _ = fs::remove_file(&spare);
    kept
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
    fn the_file_before_is_kept_under_its_second_name() {
        let folder = tempfile::tempdir().unwrap();
        let (path, previous) = (folder.path().join("a"), folder.path().join("b"));
        let read = |path: &Path| fs::read_to_string(path).ok();
        whole_keeping(&path, &previous, &[b"1"]).unwrap();
        assert_eq!((read(&path), read(&previous)), (Some("1".into()), None));
        for n in 2..5 {
            whole_keeping(&path, &previous, &[n.to_string().as_bytes()]).unwrap();
            let expected = (Some(n.to_string()), Some((n - 1).to_string()));
            assert_eq!((read(&path), read(&previous)), expected);
        }
        // Killed between the two: both names are one file, and the next time all is well.
        fs::remove_file(&previous).unwrap();
        fs::hard_link(&path, &previous).unwrap();
        whole_keeping(&path, &previous, &[b"5"]).unwrap();
        assert_eq!((read(&path), read(&previous)), (Some("5".into()), Some("4".into())));
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, ["a", "b"]);
    }

    #[test]
    fn unfinished_files_are_known_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let file = unfinished(&folder.path().join("a.json"), folder.path()).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap();
        assert!(is_unfinished(name, "a.json"), "{name}");
        assert!(!is_unfinished(name, "b.json") && !is_unfinished("a.json", "a.json"));
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
