//! Why a file could not be written: how large it had to be, and how much room there was.

use std::io;
use std::path::Path;

use crate::platform;

/// How many bytes a file needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// This many.
    Exactly(u64),
    /// It was being written piece by piece; this many were there.
    MoreThan(u64),
}

/// The same error; one about room also says how much was needed, and how much there is.
pub(super) fn explained(error: io::Error, folder: &Path, need: Need) -> io::Error {
    let limit = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            platform::free_on_disk(folder).map(|bytes| format!("{} are free", in_words(bytes)))
        }
        io::ErrorKind::FileTooLarge => platform::largest_file()
            .map(|bytes| format!("a file may have {} here (ulimit -f)", in_words(bytes))),
        _ => return error,
    };
    let need = match need {
        Need::Exactly(bytes) => format!("needs {}", in_words(bytes)),
        Need::MoreThan(bytes) => format!("needs more than {}", in_words(bytes)),
    };
    let limit = limit.map_or(String::new(), |limit| format!(", and {limit}"));
    let text = format!("{error}; the file {need}{limit}; make room and try again");
    io::Error::new(error.kind(), text)
}

/// 999 bytes, 12.3 kB, 4.5 MB, 6.7 GB.
fn in_words(bytes: u64) -> String {
    let size = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", size / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", size / 1e6),
        _ => format!("{:.1} GB", size / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_room_is_told_with_numbers_and_nothing_else_is_touched() {
        let folder = std::env::temp_dir();
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let text = explained(full(), &folder, Need::Exactly(12_345_678)).to_string();
        assert!(text.contains("; the file needs 12.3 MB"), "{text}");
        assert!(text.ends_with("; make room and try again"), "{text}");
        assert_eq!(text.contains(" are free; "), cfg!(unix), "{text}");
        let text = explained(full(), Path::new("/no/such"), Need::MoreThan(0)).to_string();
        assert!(text.contains("needs more than 0 bytes; make room"), "{text}");
        let other = io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(explained(other, &folder, Need::MoreThan(5)).to_string(), "permission denied");
    }

    #[test]
    fn sizes_are_easy_to_read() {
        let words = [999, 1_000, 25_040, 999_999_999, 5_000_000_000].map(in_words);
        assert_eq!(words, ["999 bytes", "1.0 kB", "25.0 kB", "1000.0 MB", "5.0 GB"]);
    }
}
