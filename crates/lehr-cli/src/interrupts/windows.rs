//! Interrupts on Windows: Ctrl-C, Ctrl-Break, and a console that is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// `SIGBREAK` of the C library: Ctrl-Break, and a console that is closed.
const SIGBREAK: i32 = 21;

/// How often the flag is looked at; signals cannot be waited for here.
const TICK: Duration = Duration::from_millis(50);

/// Calls `heed` in a thread of its own each time.
pub fn on_each_interrupt(heed: impl Fn() + Send + 'static) {
    let raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGBREAK] {
        if flag::register(signal, Arc::clone(&raised)).is_err() {
            return;
        }
    }
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(TICK);
            if raised.swap(false, Ordering::SeqCst) {
                heed();
            }
        }
    });
}
