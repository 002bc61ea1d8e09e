//! How much memory there is: what is about to be allocated is compared with it first.

/// Where the system does not say, this much is taken to be there: 16 GB.
const USUAL: u64 = 16_000_000_000;

/// The bytes that this process can still have without swapping, as far as the system tells: what is free on the
/// machine, what is left to its control group, and to its address space.
pub(crate) fn available() -> u64 {
    [free(), left_to_group(), left_of_address_space()].into_iter().flatten().min().unwrap_or(USUAL)
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
#[cfg(unix)]
fn left_of_address_space() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    let used = std::fs::read_to_string("/proc/self/status").ok();
    let used = used.and_then(|status| kilobytes(&status, "VmSize:")).unwrap_or(0);
    Some(limit.saturating_sub(used))
}

#[cfg(not(unix))]
fn left_of_address_space() -> Option<u64> {
    None
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
    }
}
