//! How people stop the program: once for a stop that saves, twice for one that does not.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use crate::commands::claim;

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

/// The exit code of a program that a signal has ended before there was anything to save, or a second one.
pub const ENDED_BY_SIGNAL: u8 = 130;

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(false)));

/// Whether there is something to save.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Ctrl-C, a termination signal or a terminal that is closed asks for a stop in the middle of whatever is done, which
/// leaves all whole steps saved; a second one means now, as does the first before there is something to save.
pub fn catch_interrupts(quiet: bool) {
    static ONCE: OnceLock<()> = OnceLock::new();
    // Without a handler a signal simply ends the program, which the checkpoints survive.
    ONCE.get_or_init(|| system::on_each_interrupt(move || heed(quiet)));
}

fn heed(quiet: bool) {
    let mut err = std::io::stderr();
    let again = INTERRUPTED.swap(true, Ordering::SeqCst);
    let lost = !again && !BEGUN.load(Ordering::SeqCst);
    if lost && !quiet {
        let _ = writeln!(err, "interrupted before the first step, so that there is no model");
    }
    if again || lost {
        claim::give_back();
        std::process::exit(ENDED_BY_SIGNAL.into());
    }
    if !quiet && err.is_terminal() {
        let _ = writeln!(err, "\nstopping; press Ctrl-C again to stop without saving");
    }
}

/// From now on there is something to save.
pub fn begun() {
    BEGUN.store(true, Ordering::SeqCst);
}

/// Whether the user has asked for a stop.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// A flag that is raised when they have.
pub fn stop_flag() -> Arc<AtomicBool> {
    Arc::clone(&INTERRUPTED)
}
