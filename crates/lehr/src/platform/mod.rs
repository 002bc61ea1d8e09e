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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    /// What else asks for the system: advice on mapped memory, which needs `unsafe`.
    const ALLOWED: [&str; 1] = ["data/mapped.rs"];

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found),
                false => found.push(path),
            }
        }
    }

    #[test]
    fn no_other_file_asks_which_system_it_is_on() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut all = Vec::new();
        sources(&root, &mut all);
        let mut asking = Vec::new();
        for path in &all {
            let text = fs::read_to_string(path).unwrap();
            let (code, _) = text.split_once("#[cfg(all(test").unwrap_or((&text, ""));
            let (code, _) = code.split_once("#[cfg(test)]").unwrap_or((code, ""));
            let asks = ["(unix", "(windows", "target_os", "target_family", "std::os::", "rustix::"];
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            if !name.starts_with("platform/") && asks.iter().any(|ask| code.contains(ask)) {
                asking.push(name);
            }
        }
        assert_eq!(asking, ALLOWED);
    }
}
