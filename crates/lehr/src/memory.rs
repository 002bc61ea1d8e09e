//! How much memory there is: what is about to be allocated is compared with it first, since a process that asks for
//! more than there is ends at once.

use crate::{Error, Result, platform};

/// Where the system does not say, this much is taken to be there: 16 GB.
const USUAL: u64 = 16_000_000_000;

/// The bytes that this process can still have without swapping, as far as the system tells: what is free on the
/// machine, what is left to its control group, and to its address space.
pub fn available() -> u64 {
    [free(), left_to_group(), left_of_address_space()].into_iter().flatten().min().unwrap_or(USUAL)
}

/// Refuses this many numbers of 8 bytes where they cannot be had; `what` says what they are.
pub fn room_for(what: &str, numbers: usize) -> Result<()> {
    let bytes = (numbers as u64).saturating_mul(8);
    let there = available();
    // The system may refuse what seems to be there.
    let refused = || Vec::<f64>::new().try_reserve_exact(numbers).is_err();
    if bytes <= there && !refused() {
        return Ok(());
    }
    Err(Error::memory(format!("{what}: {}; give fewer at a time", lacking(bytes, there))))
}

/// needs about 32.0 GB of memory, and 18.2 GB are available.
pub(crate) fn lacking(bytes: u64, available: u64) -> String {
    format!("needs about {} of memory, and {} are available", in_words(bytes), in_words(available))
}

/// 4.5 MB, 6.7 GB.
pub(crate) fn in_words(bytes: u64) -> String {
    let (by, unit) = if bytes < 1_000_000_000 { (1e6, "MB") } else { (1e9, "GB") };
    format!("{:.1} {unit}", bytes as f64 / by)
}

/// The most bytes of memory that this process has had at once, if the system tells.
pub fn peak() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// What the machine has.
fn free() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// What the control group leaves of its limit.
fn left_to_group() -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    // No limit is the word "max".
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// What `ulimit -v` leaves.
fn left_of_address_space() -> Option<u64> {
    let limit = platform::address_space()?;
    let used = std::fs::read_to_string("/proc/self/status").ok();
    let used = used.and_then(|status| kilobytes(&status, "VmSize:")).unwrap_or(0);
    Some(limit.saturating_sub(used))
}

/// The bytes behind a name in one of the system's lists.
fn kilobytes(list: &str, name: &str) -> Option<u64> {
    let line = list.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_list_is_read_and_anything_else_is_not() {
        let list = "MemTotal:  100 kB\nMemAvailable:    51 kB\n";
        assert_eq!(kilobytes(list, "MemAvailable:"), Some(51 * 1024));
        for list in ["", "MemAvailable: 51", "MemAvailable: x kB", "MemAvailable: -1 kB"] {
            assert_eq!(kilobytes(list, "MemAvailable:"), None, "{list}");
        }
        assert!(available() > 0);
        if cfg!(target_os = "linux") {
            assert!(peak().is_some_and(|bytes| bytes > 100_000));
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_its_size_and_what_can_is_not() {
        room_for("a table", 1000).unwrap();
        for numbers in [usize::MAX, usize::MAX / 16, 1 << 50] {
            let error = room_for("a table", numbers).unwrap_err();
            assert!(matches!(error.kind(), crate::ErrorKind::Memory(_)));
            let text = error.to_string();
            assert!(
                text.starts_with("a table: needs about ") && text.contains(" GB are"),
                "{text}"
            );
        }
        assert!(room_for("x", 1 << 50).unwrap_err().to_string().contains("9007199.3 GB of memory"));
    }
}
