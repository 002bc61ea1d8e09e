//! Linux, macOS and their relatives.

use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, TryLockError};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Resource, Signal};

/// The system's lock on a folder, until the file is closed.
pub(crate) fn lock(folder: &Path, _note: &Path) -> Result<File, TryLockError> {
    let folder = File::open(folder).map_err(TryLockError::Error)?;
    folder.try_lock()?;
    Ok(folder)
}

/// Writes the note of the lock's holder.
pub(crate) fn write_note(_lock: &File, note: &Path, text: &str) -> io::Result<()> {
    fs::write(note, text)
}

/// Gives a lock back: the note first, which would be the next one's afterwards.
pub(crate) fn unlock(lock: Option<File>, note: &Path) {
    let _ = fs::remove_file(note);
    drop(lock);
}

/// Whether the lock is held.
pub(crate) fn is_locked(folder: &Path, note: &Path) -> bool {
    matches!(lock(folder, note), Err(TryLockError::WouldBlock))
}

/// When a process started, in the system's own units; none if there is none, or if it is waiting to be buried.
#[cfg(target_os = "linux")]
pub(crate) fn started(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is a name in brackets, which may hold blanks and brackets.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (state != "Z" && state != "X").then(|| fields.nth(18)?.parse().ok())?
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn started(_process: u32) -> Option<u64> {
    None
}

/// Whether there is a process of this number.
pub(crate) fn lives(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| {
        rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
    })
}

/// The name of this machine.
pub(crate) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Ends this process as `kill -9` does.
pub(crate) fn kill() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
}

/// The bytes that we may still write to the disk of this folder.
pub(crate) fn free_on_disk(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// The largest file that this process may write.
pub(crate) fn largest_file() -> Option<u64> {
    rustix::process::getrlimit(Resource::Fsize).current
}

/// What `ulimit -v` allows this process.
pub(crate) fn address_space() -> Option<u64> {
    rustix::process::getrlimit(Resource::As).current
}

/// A path that is not UTF-8.
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The same back again.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// Standard input. Opening it by its name would not do where it is a socket.
pub(crate) fn stdin() -> io::Result<File> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// What an open file is; none if it is a pipe that cannot say.
pub(crate) fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    file.metadata().map(Some)
}

/// Opens a file, or a pipe that may have no writer yet, without waiting for that.
#[cfg(target_os = "linux")]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    File::options().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Waits a short time, or until there is something to read or nothing more will come: whether one of these is so.
#[cfg(target_os = "linux")]
pub(crate) fn wait_for(input: &File) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let tick = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&tick)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Where an empty pipe counts as ended before it has a writer, reading has to wait.
#[cfg(not(target_os = "linux"))]
pub(crate) fn wait_for(_input: &File) -> io::Result<bool> {
    Ok(true)
}

/// What is not meant to have a file written into it, in words.
pub(crate) fn not_to_be_written(found: FileType) -> Option<&'static str> {
    match found {
        found if found.is_block_device() => Some("is a disk"),
        found if found.is_socket() => Some("is a socket"),
        _ => None,
    }
}

/// Temporary files are private by default; these become ordinary files.
pub(crate) fn ordinary<'a, 'b, 'c>(
    builder: &'c mut tempfile::Builder<'a, 'b>,
) -> &'c mut tempfile::Builder<'a, 'b> {
    builder.permissions(fs::Permissions::from_mode(0o666))
}

/// A new name lives in its folder, which has to reach the disk, too.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}
