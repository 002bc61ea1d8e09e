//! Commands that are watched while they run, and whether what they leave is the same.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Place;

/// A place with points enough that a step takes about a millisecond, so that a run can be stopped on its way.
pub fn place() -> Place {
    let place = Place::new();
    place.points("points.csv", 3000);
    place
}

/// A command under way; killed when dropped, so that a failing test leaves nothing running.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    pub fn start(place: &Place, line: &str) -> Self {
        Running::of(place.command(line))
    }

    /// With five milliseconds for every line of its trace: time to stop it on its way, however busy the
    /// machine is.
    pub fn slowly(place: &Place, line: &str) -> Self {
        let mut command = place.command(line);
        command.env("LEHR_FAULT", "slow:half:5:trace.jsonl");
        Running::of(command)
    }

    pub fn of(mut command: Command) -> Self {
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Waits until the run's trace has this many lines; false if the command ended before.
    pub fn reaches(&mut self, place: &Place, run: &str, lines: usize) -> bool {
        let begin = Instant::now();
        while self.0.try_wait().unwrap().is_none() {
            if self::lines(place, run) >= lines {
                return true;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no progress in {run}");
            std::thread::sleep(Duration::from_micros(300));
        }
        false
    }

    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.0.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// The exit code and what was printed; no word on stderr.
    pub fn end(mut self) -> (Option<i32>, String) {
        use std::io::Read;
        let (mut out, mut err) = (String::new(), Vec::new());
        self.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.0.stderr.take().unwrap().read_to_end(&mut err).unwrap();
        assert_eq!(super::without_read(err).1, "");
        (self.0.wait().unwrap().code(), out)
    }
}

/// Whether nothing of a run is left to do, though the process may have been killed when it had done it.
pub fn is_complete(place: &Place, run: &str) -> bool {
    let shown = place.run(&format!("show {run}"));
    shown.code == 0 && !shown.stdout.contains("not done")
}

/// Takes back a dead process's note on who is at work, which a command that wrote to the run would do.
pub fn tidy(place: &Place, run: &str) {
    let _ = fs::remove_file(place.path(run).join(".lock"));
}

/// How many lines a run's trace has.
pub fn lines(place: &Place, run: &str) -> usize {
    let bytes = fs::read(place.path(&format!("{run}/trace.jsonl"))).unwrap_or_default();
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// Everything but the clock must be the same, and nothing may be left over.
pub fn same_run(place: &Place, run: &str, reference: &str) {
    let (trace, expected) = (place.trace(run), place.trace(reference));
    assert_eq!(trace.len(), expected.len(), "{run}");
    for (seen, expected) in trace.iter().zip(&expected) {
        assert_eq!(seen, expected, "{run}");
    }
    assert_eq!(place.lambda(run), place.lambda(reference), "{run}");
    let result = |run: &str| -> Value {
        let mut result = place.read_json(&format!("{run}/result.json"));
        let fields = result.as_object_mut().unwrap();
        for field in ["run", "seconds", "seconds_by_part", "local_iterations"] {
            fields.remove(field);
        }
        result
    };
    assert_eq!(result(run), result(reference), "{run}");
    let names = |run: &str| -> Vec<String> {
        let files = place.snapshot(run).into_keys();
        let name = files.map(|path| path.file_name().unwrap().to_str().unwrap().to_string());
        // There if there was more than one.
        name.filter(|name| name != "checkpoint.previous.safetensors").collect()
    };
    let mut own = vec!["checkpoint.safetensors", "config.json", "result.json", "trace.jsonl"];
    match place.read_json(&format!("{run}/config.json"))["model"].as_str() {
        Some("lda") => own.push("vocabulary.tsv"),
        Some("pmf") => own.extend(["items.jsonl", "seen.safetensors", "users.jsonl"]),
        _ => {}
    }
    own.sort_unstable();
    assert_eq!(names(run), own);
}
