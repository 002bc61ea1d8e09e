//! What differs between operating systems, each difference once: `unix.rs` (Linux, macOS) and `windows.rs` have the same
//! functions. What a system does not tell is `None`, and callers do without it.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;
