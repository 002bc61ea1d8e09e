//! Faults on demand: the real program dies, finds the disk full or stalls while it writes a file.
//!
//! `LEHR_FAULT=ACTION:POINT:N[:FILE]`, for tests (docs/reference/reliability.md). `kill` ends the process the N-th
//! time that a file has come to the point, `full` makes the disk full there, `slow` waits N
//! milliseconds each time. With FILE only files of that name count. Only builds for tests obey it: those
//! with debug assertions, or with the feature `faults`. All others do not even look.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::platform;

/// Whether this build obeys `LEHR_FAULT`.
const OBEYED: bool = cfg!(any(debug_assertions, feature = "faults"));

/// How far the writing of a file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// The file that will take its place is there, and empty.
    Begun,
    /// Half of its bytes, or of a line, are written.
    Half,
    /// All are written, and not synced.
    Written,
    /// They are synced.
    Synced,
    /// The old file has its second name.
    Kept,
    /// The new file has the name; the folder is not synced.
    Renamed,
    /// The folder is synced.
    Done,
}

const POINTS: [(&str, Point); 7] = [
    ("begun", Point::Begun),
    ("half", Point::Half),
    ("written", Point::Written),
    ("synced", Point::Synced),
    ("kept", Point::Kept),
    ("renamed", Point::Renamed),
    ("done", Point::Done),
];

#[derive(Debug, PartialEq, Eq)]
enum Action {
    Kill,
    Full,
    Slow,
}

#[derive(Debug, PartialEq, Eq)]
struct Fault {
    action: Action,
    point: Point,
    n: u64,
    file: Option<String>,
}

impl Fault {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ':');
        let action = match parts.next()? {
            "kill" => Action::Kill,
            "full" => Action::Full,
            "slow" => Action::Slow,
            _ => return None,
        };
        let name = parts.next()?;
        let point = POINTS.iter().find(|(known, _)| *known == name)?.1;
        let n = parts.next()?.parse().ok()?;
        Some(Fault { action, point, n, file: parts.next().map(str::to_string) })
    }
}

/// The fault that was asked for; an error if the text means nothing.
fn wanted() -> &'static Result<Option<Fault>, String> {
    static NONE: Result<Option<Fault>, String> = Ok(None);
    static WANTED: OnceLock<Result<Option<Fault>, String>> = OnceLock::new();
    if !OBEYED {
        return &NONE;
    }
    WANTED.get_or_init(|| match std::env::var("LEHR_FAULT") {
        Err(_) => Ok(None),
        Ok(text) => Fault::parse(&text).map(Some).ok_or_else(|| {
            let points: Vec<&str> = POINTS.iter().map(|(name, _)| *name).collect();
            format!(
                "LEHR_FAULT={text}: must be kill, full or slow, then :POINT (one of {}), :N and \
                 perhaps :FILE",
                points.join(", ")
            )
        }),
    })
}

/// `path` has come to `point`: the moment for a fault, if one is wanted here.
pub(crate) fn reached(point: Point, path: &Path) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let fault = match wanted() {
        Ok(None) => return Ok(()),
        Ok(Some(fault)) => fault,
        Err(text) => return Err(io::Error::new(io::ErrorKind::InvalidInput, text.as_str())),
    };
    let name = path.file_name().map(|name| name.to_string_lossy());
    let meant = fault.file.as_deref().is_none_or(|file| name.is_some_and(|name| name == file));
    if fault.point != point || !meant {
        return Ok(());
    }
    match fault.action {
        Action::Slow => std::thread::sleep(Duration::from_millis(fault.n)),
        _ if COUNT.fetch_add(1, Ordering::SeqCst) + 1 != fault.n => {}
        Action::Kill => die(),
        Action::Full => return Err(io::ErrorKind::StorageFull.into()),
    }
    Ok(())
}

/// Ends the process as `kill -9` does: nothing is tidied up.
fn die() -> ! {
    platform::kill();
    std::process::abort()
}

/// Writes all bytes; with a chance of a fault in the middle of them.
pub(crate) fn write_all(file: &mut File, bytes: &[u8], path: &Path) -> io::Result<()> {
    write_pieces(file, &[bytes], path)
}

/// The same for bytes in pieces.
pub(crate) fn write_pieces(file: &mut File, pieces: &[&[u8]], path: &Path) -> io::Result<()> {
    if matches!(wanted(), Ok(None)) {
        return pieces.iter().try_for_each(|piece| file.write_all(piece));
    }
    let mut half = pieces.iter().map(|piece| piece.len()).sum::<usize>() / 2;
    let mut is_over = false;
    for piece in pieces {
        let (first, second) = piece.split_at(half.min(piece.len()));
        file.write_all(first)?;
        half -= first.len();
        if half == 0 && !is_over {
            is_over = true;
            reached(Point::Half, path)?;
        }
        file.write_all(second)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_an_action_a_point_a_number_and_perhaps_a_file() {
        let fault = |action, point, n, file: Option<&str>| {
            Some(Fault { action, point, n, file: file.map(str::to_string) })
        };
        assert_eq!(Fault::parse("kill:half:3"), fault(Action::Kill, Point::Half, 3, None));
        let named = fault(Action::Full, Point::Renamed, 1, Some("trace.jsonl"));
        assert_eq!(Fault::parse("full:renamed:1:trace.jsonl"), named);
        for text in ["", "kill", "kill:half", "kill:half:x", "die:half:1", "kill:middle:1"] {
            assert_eq!(Fault::parse(text), None, "{text}");
        }
    }
}
