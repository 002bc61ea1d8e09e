//! Interrupts on Linux and macOS: Ctrl-C, `kill`, and a terminal that is closed.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `heed` in a thread of its own each time. A hang-up that is ignored, as nohup has it, stays ignored.
pub fn on_each_interrupt(heed: impl Fn() + Send + 'static) {
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up)) else {
        return;
    };
    std::thread::spawn(move || signals.forever().for_each(|_| heed()));
}

/// Whether this process was started with a signal turned off; where that cannot be known it is left as it is.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}
