//! Writing into what is not a regular file: standard output, pipes and devices, which are never replaced.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use super::room::{self, Need};
use crate::{Error, Result, platform};

/// Standard output as a path.
pub const STDOUT: &str = "/dev/stdout";

/// Links that are followed before they are taken for a ring.
const MOST_LINKS: usize = 40;

/// What takes bytes and has no place for its own file.
pub(super) enum Stream {
    Stdout,
    Into(PathBuf),
}

impl Stream {
    /// What a path leads to, if that is no regular file and no folder; none for files, those that are to be made
    /// included.
    pub(super) fn of(path: &Path) -> Result<Option<Self>> {
        if let Some(open) = descriptor(path) {
            let is_stdout = open == Path::new(STDOUT) || open == Path::new("/dev/fd/1");
            return Ok(Some(if is_stdout { Stream::Stdout } else { Stream::Into(open) }));
        }
        match fs::metadata(path) {
            Ok(found) if !(found.is_file() || found.is_dir()) => {
                if let Some(what) = platform::not_to_be_written(found.file_type()) {
                    let advice = "which is left as it is; give the name of a file, or a pipe";
                    return Err(Error::run(path, format!("{what}, {advice}")));
                }
                Ok(Some(Stream::Into(path.to_path_buf())))
            }
            _ => Ok(None),
        }
    }

    /// Writes all that `write` makes, once it is complete: formats go back to their start, which a pipe cannot. A
    /// reader that has gone away, as `head` does, has seen enough: no error.
    pub(super) fn write<T>(
        self,
        path: &Path,
        write: impl FnOnce(&mut File) -> io::Result<T>,
    ) -> Result<T> {
        let folder = std::env::temp_dir();
        let cannot_write = |error| {
            Error::io(path, "cannot write", room::explained(error, &folder, Need::MoreThan(0)))
        };
        let mut whole = tempfile::tempfile().map_err(cannot_write)?;
        let result = write(&mut whole).map_err(cannot_write)?;
        whole.rewind().map_err(cannot_write)?;
        let copied = match &self {
            Stream::Stdout => {
                let mut out = io::stdout().lock();
                io::copy(&mut whole, &mut out).and_then(|_| out.flush())
            }
            // Behind what is there, where it is a file that another process has open.
            Stream::Into(into) => File::options()
                .append(true)
                .open(into)
                .and_then(|mut into| io::copy(&mut whole, &mut into))
                .map(drop),
        };
        match copied {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::io(path, "cannot write", error))
            }
            _ => Ok(result),
        }
    }
}

/// Whether bytes for this path go into something that is there, and no file of this name is made.
pub fn is_stream(path: &Path) -> bool {
    matches!(Stream::of(path), Ok(Some(_)))
}

/// Whether a path is standard output, by whatever name.
pub fn is_stdout(path: &Path) -> bool {
    matches!(Stream::of(path), Ok(Some(Stream::Stdout)))
}

/// The open file of this process that a path is a name of, also by links.
fn descriptor(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let is_open = path.starts_with("/dev/fd")
            || path == Path::new(STDOUT)
            || path == Path::new("/dev/stderr")
            || (path.starts_with("/proc") && path.parent().is_some_and(|fd| fd.ends_with("fd")));
        if is_open {
            return Some(path);
        }
        let target = fs::read_link(&path).ok()?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::super::atomically;
    use super::*;

    #[test]
    fn a_pipe_gets_the_bytes_and_stays_a_pipe_also_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link) = (folder.path().join("pipe.csv"), folder.path().join("link.csv"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            let reader = {
                let pipe = pipe.clone();
                std::thread::spawn(move || {
                    let mut text = String::new();
                    File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                    text
                })
            };
            atomically(path, |file| {
                file.write_all(b"?ello")?;
                file.rewind()?;
                file.write_all(b"h")
            })
            .unwrap();
            assert_eq!(reader.join().unwrap(), "hello");
        }
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn devices_stay_and_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("x.csv");
        symlink("/dev/null", &link).unwrap();
        atomically(&link, |file| file.write_all(b"x")).unwrap();
        fs::remove_file(&link).unwrap();
        symlink("/dev/full", &link).unwrap();
        let text = atomically(&link, |file| file.write_all(b"x")).unwrap_err().to_string();
        assert!(text.contains("cannot write: No space left"), "{text}");
        for device in ["/dev/null", "/dev/full"] {
            assert!(fs::metadata(device).unwrap().file_type().is_char_device());
        }
        let socket = folder.path().join("s.csv");
        let _listener = UnixListener::bind(&socket).unwrap();
        let text = atomically(&socket, |_| Ok(())).unwrap_err().to_string();
        assert!(text.contains("is a socket, which is left as it is"), "{text}");
        assert!(fs::metadata(&socket).unwrap().file_type().is_socket());
    }

    #[test]
    fn standard_output_is_known_by_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("x.csv");
        symlink(STDOUT, &link).unwrap();
        for path in [Path::new(STDOUT), Path::new("/dev/fd/1"), &link] {
            assert!(is_stdout(path), "{}", path.display());
        }
        for path in [Path::new("/dev/null"), Path::new("x.csv"), folder.path()] {
            assert!(!is_stdout(path), "{}", path.display());
        }
        assert!(is_stream(Path::new("/dev/null")) && !is_stream(folder.path()));
    }
}
