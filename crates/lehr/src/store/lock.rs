//! One writer at a time: the lock on a run directory, and a note that tells others who holds it.
//!
//! The system's lock on the folder decides; the system lets go of it when the process ends, however it
//! ends. The note is there to be read by people, and decides only where the system has no locks.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::platform::{self, host, lives, started};
use crate::{Error, Result};

/// The note's file.
pub(super) const NOTE: &str = ".lock";

/// Held while a process writes to a run directory.
#[derive(Debug)]
pub(super) struct Lock {
    /// None where the system has no locks.
    lock: Option<File>,
    note: PathBuf,
}

impl Lock {
    /// Takes the lock, or says who has it. What a dead process left behind is taken over.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        Lock::take_by(folder, platform::lock)
    }

    fn take_by(
        folder: &Path,
        lock: impl Fn(&Path, &Path) -> std::result::Result<File, TryLockError>,
    ) -> Result<Self> {
        let note = folder.join(NOTE);
        let locked = match lock(folder, &note) {
            Ok(file) => Some(file),
            // Not every disk can be locked.
            Err(TryLockError::Error(_)) => None,
            Err(TryLockError::WouldBlock) => {
                return Err(taken(folder, Holder::wait_for(&note)));
            }
        };
        let me = serde_json::to_string(&Holder::here()).expect("plain numbers become JSON");
        if let Some(lock) = locked {
            // Without room for it others do not learn our number, and the lock holds all the same.
            let _ = platform::write_note(&lock, &note, &me);
            return Ok(Lock { lock: Some(lock), note });
        }
        match Holder::read(&note) {
            Some(holder) if holder.may_live() => return Err(taken(folder, Some(holder))),
            _ => drop(fs::remove_file(&note)),
        }
        let made = File::options().write(true).create_new(true).open(&note);
        match made {
            Ok(mut file) => drop(std::io::Write::write_all(&mut file, me.as_bytes())),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(taken(folder, Holder::read(&note))); // it was faster
            }
            Err(_) => {} // the first file that matters will say why
        }
        Ok(Lock { lock: None, note })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        platform::unlock(self.lock.take(), &self.note);
    }
}

/// Keeps other processes from a folder until the value is gone.
pub(crate) fn lock_folder(folder: &Path) -> Result<impl Drop + use<>> {
    Lock::take(folder)
}

/// What to tell about a run directory that is locked, if it is.
pub(super) fn held(folder: &Path) -> Option<Error> {
    let note = folder.join(NOTE);
    platform::is_locked(folder, &note).then(|| taken(folder, Holder::wait_for(&note)))
}

fn taken(folder: &Path, holder: Option<Holder>) -> Error {
    let who = holder.map_or(String::new(), |holder| {
        let host = match holder.is_here() {
            true => String::new(),
            false => format!(" on {}; if that is gone, delete {NOTE} in it", holder.host),
        };
        format!(" (process {}{host})", holder.process)
    });
    let message = format!(
        "another lehr{who} is working on this run; wait until it has ended, or stop it first"
    );
    Error::run(folder, message)
}

/// A process, so that another one which got its number later is not taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    process: u32,
    /// When it started, in the system's own units; none where that is not known.
    started: Option<u64>,
    host: String,
}

impl Holder {
    fn here() -> Self {
        let process = std::process::id();
        Holder { process, started: started(process), host: host() }
    }

    fn read(note: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(note).ok()?).ok()
    }

    /// The holder of a lock that we cannot get; it may have been so fast that its note is not there yet, or
    /// still that of a dead process. None if it leaves no note.
    fn wait_for(note: &Path) -> Option<Self> {
        for _ in 0..50 {
            let holder = Holder::read(note).filter(Holder::may_live);
            if holder.is_some() {
                return holder;
            }
            std::thread::sleep(Duration::from_millis(4));
        }
        None
    }

    fn is_here(&self) -> bool {
        self.host == host()
    }

    /// Whether the process is still there, as far as can be known from here.
    fn may_live(&self) -> bool {
        if !self.is_here() {
            return true;
        }
        match self.started {
            Some(then) => started(self.process) == Some(then),
            None => lives(self.process),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn no_locks(_: &Path, _: &Path) -> std::result::Result<File, TryLockError> {
        Err(TryLockError::Error(std::io::ErrorKind::Unsupported.into()))
    }

    fn note(folder: &Path, holder: &Holder) {
        fs::write(folder.join(NOTE), serde_json::to_string(holder).unwrap()).unwrap();
    }

    #[test]
    fn the_second_hears_the_first_ones_number_and_nothing_stays_behind() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let first = Lock::take(folder).unwrap();
        let text = Lock::take(folder).unwrap_err().to_string();
        let process = std::process::id();
        assert!(text.contains(&format!("another lehr (process {process}) is working")), "{text}");
        assert_eq!(held(folder).unwrap().to_string(), text);
        drop(first);
        assert!(held(folder).is_none());
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
        drop(Lock::take(folder).unwrap());
    }

    #[test]
    fn without_locks_the_note_decides() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let first = Lock::take_by(folder, no_locks).unwrap();
        let text = Lock::take_by(folder, no_locks).unwrap_err().to_string();
        assert!(text.contains(&format!("(process {})", std::process::id())), "{text}");
        drop(first);
        drop(Lock::take_by(folder, no_locks).unwrap());
    }

    #[test]
    fn what_a_dead_process_left_behind_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let me = Holder::here();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let gone = [
            Holder { process: child.id(), ..me.clone() },
            Holder { process: child.id(), started: None, ..me.clone() },
            // The number is in use again, by us.
            Holder { started: me.started.map(|then| then - 1), ..me.clone() },
        ];
        for holder in &gone {
            note(folder, holder);
            assert!(Lock::take_by(folder, no_locks).is_ok(), "{holder:?}");
            note(folder, holder);
            assert!(Lock::take(folder).is_ok(), "{holder:?}");
        }
        for text in ["", "{", "17"] {
            fs::write(folder.join(NOTE), text).unwrap();
            assert!(Lock::take_by(folder, no_locks).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn a_process_on_another_machine_is_left_alone_without_locks() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        note(folder, &Holder { host: "elsewhere".into(), ..Holder::here() });
        let text = Lock::take_by(folder, no_locks).unwrap_err().to_string();
        assert!(text.contains(" on elsewhere; if that is gone, delete .lock in it)"), "{text}");
        assert!(folder.join(NOTE).exists());
        assert!(Lock::take(folder).is_ok(), "where there are locks, they decide");
    }
}
