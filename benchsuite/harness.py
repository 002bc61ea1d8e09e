"""What the benchmarks share: running processes, building lehr, tables, the machine.

Standard library only. That is also a matter of measuring: a child's peak
memory, as the kernel counts it, is at least its parent's size at the fork, so
the parent must stay small.
"""

import argparse
import csv
import datetime
import json
import math
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = HERE / ".venv"
WORK = HERE / "work"
REQUIREMENTS = HERE / "requirements.txt"

# Arguments that say where something lies on this machine.
HIDDEN = ("data", "python", "old", "new", "yardstick")

PARTS = ["sample", "anneal", "local", "update", "observe", "checkpoint"]


class Failure(Exception):
    """Something the user should read, without a traceback."""


# --- Processes ---------------------------------------------------------------


def say(text=""):
    print(text, flush=True)


def note(text):
    print(text, file=sys.stderr, flush=True)


def words(command):
    """A command as strings; a part may itself be a sequence, such as a program with its `env` and `taskset`."""
    return [str(word) for part in command for word in (part if isinstance(part, (list, tuple)) else [part])]


def show(command):
    return " ".join(map(shlex.quote, words(command)))


def tool(command, **kwargs):
    """Runs a build tool, its output on our stderr."""
    note("$ " + show(command))
    try:
        done = subprocess.run(words(command), stdout=sys.stderr, **kwargs)
    except FileNotFoundError as error:
        raise Failure(f"cannot run {command[0]}: {error}") from error
    if done.returncode != 0:
        raise Failure(f"failed with status {done.returncode}: {show(command)}")


def output_of(command, default="unknown", **kwargs):
    try:
        done = subprocess.run(words(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **kwargs)
    except OSError:
        return default
    return done.stdout.strip() if done.returncode == 0 else default


class Measured:
    def __init__(self, stdout, wall, cpu, rss):
        self.stdout, self.wall, self.cpu, self.rss = stdout, wall, cpu, rss


def measure(command, threads, cwd=ROOT):
    """Runs a process to its end; its own peak memory and times from wait4."""
    env = dict(os.environ)
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "RAYON_NUM_THREADS",
    ):
        env[name] = str(threads)
    command = words(command)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=cwd
            )
        except OSError as error:
            raise Failure(f"cannot run {command[0]}: {error}") from error
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        stdout = out.read().decode(errors="replace")
        err.seek(0)
        stderr = err.read().decode(errors="replace")
    if child.returncode != 0:
        how = f"status {child.returncode}" if child.returncode > 0 else f"signal {-child.returncode}"
        tail = stderr.strip() or "(nothing on stderr)"
        raise Failure(f"ended with {how}: {show(command)}\n{tail}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(stdout, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def last_json(text, what):
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return json.loads(lines[-1])
    except (IndexError, ValueError) as error:
        raise Failure(f"{what} did not print a JSON line: {text!r}") from error


# --- Preparing ---------------------------------------------------------------


def venv_python():
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_venv():
    wanted = REQUIREMENTS.read_text()
    stamp = VENV / "requirements.installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if VENV.exists():
        shutil.rmtree(VENV)
    tool([sys.executable, "-m", "venv", VENV])
    tool([venv_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS])
    stamp.write_text(wanted)


def install_lehr():
    """The Python package in the environment of the peers."""
    tool([venv_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ROOT])


def target_dir():
    text = output_of(["cargo", "metadata", "--format-version", "1", "--no-deps"], "", cwd=ROOT)
    return Path(json.loads(text)["target_directory"]) if text else ROOT / "target"


def build_lehr():
    tool(["cargo", "build", "--release"], cwd=ROOT)
    path = target_dir() / "release" / ("lehr.exe" if os.name == "nt" else "lehr")
    if not path.exists():
        raise Failure(f"cargo build made no {path}")
    return path


def probe_peak():
    """Measured peak of one core in Gflop/s, or None with a note."""
    command = ["cargo", "bench", "--quiet", "-p", "lehr-kernels", "--bench", "peak"]
    note("$ " + show(command))
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        note(f"peak: {error}")
        return None
    if done.returncode != 0:
        note("peak: the benchmark failed; shares of the peak are left out\n" + done.stderr.strip())
        return None
    answer = last_json(done.stdout, "the peak benchmark")
    return {"gflops": float(answer["gflops_f64_one_core"]), "isa": str(answer.get("isa", "unknown"))}


# --- Output ------------------------------------------------------------------


class Raw:
    """raw.csv: one row a run, written as soon as it ends."""

    def __init__(self, path, columns):
        self.file = path.open("w", newline="", encoding="utf-8")
        self.writer = csv.DictWriter(self.file, columns, lineterminator="\n")
        self.writer.writeheader()
        self.file.flush()

    def add(self, row):
        self.writer.writerow({**row, "detail": json.dumps(row["detail"], separators=(",", ":"))})
        self.file.flush()


def megabytes(count):
    return f"{count / 1e6:.0f}"


def number(value):
    return f"{value:.4g}"


def spread(values, form=number):
    return [form(statistics.median(values)), form(min(values)), form(max(values))]


def table(head, rows):
    """A Markdown table that also reads well as plain text."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells):
        pads = [cells[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(cells[1:], widths[1:])]
        return "| " + " | ".join(pads) + " |"

    rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
    return "\n".join([line(head), rule] + [line(row) for row in rows])


def verdict(passed):
    return "pass" if passed else "FAIL"


def total_parts(rows):
    total = {}
    for row in rows:
        for name, value in row["detail"].get("parts", {}).items():
            total[name] = total.get(name, 0.0) + value
    return total


def parts_order(names):
    return [p for p in PARTS if p in names] + sorted(n for n in names if n not in PARTS)


def read_trace(path, command):
    """step -> seconds since the start."""
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return {int(row["step"]): float(row["seconds"]) for row in rows if "step" in row}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failure(f"cannot use the trace of {show(command)}\n{path}: {error!r}") from error


def read_parts(path):
    try:
        parts = json.loads(path.read_text(encoding="utf-8"))["seconds_by_part"]
        return {name: float(value) for name, value in parts.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        note(f"{path.name}: no seconds_by_part ({error!r})")
        return {}


class Report:
    def __init__(self, path):
        self.path, self.chunks = path, []
        self.failed = []

    def add(self, text):
        say(text)
        say()
        self.chunks.append(text)
        self.path.write_text("\n\n".join(self.chunks) + "\n", encoding="utf-8")


def report_parts(report, title, named_rows):
    rows, names = [], set()
    totals = [(name, total_parts(runs)) for name, runs in named_rows]
    for _, total in totals:
        names.update(total)
    if not names:
        return
    order = parts_order(names)
    for name, total in totals:
        everything = sum(total.values()) or math.nan
        rows.append([name] + [f"{100 * total.get(part, 0.0) / everything:.2f}%" for part in order])
    report.add(f"## {title}\n\nAs lehr reports it (`seconds_by_part`), over all rounds.")
    report.add(table(["run", *order], rows))


# --- The machine -------------------------------------------------------------


def cpu_facts():
    facts = {}
    for line in output_of(["lscpu"], "").splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    model = facts.get("Model name") or output_of(["sysctl", "-n", "machdep.cpu.brand_string"], platform.machine())
    flags = set(facts.get("Flags", "").split())
    of_interest = [f for f in ("sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512dq", "avx512vl") if f in flags]
    caches = ", ".join(f"{key[:-6]} {facts[key]}" for key in ("L1d cache", "L2 cache", "L3 cache") if key in facts)
    return model, facts, " ".join(of_interest) or "unknown", caches or "unknown"


def memory_total():
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB"
    except (ValueError, OSError):
        return "unknown"


def slug(text):
    text = re.sub(r"\((r|tm)\)|@.*$", " ", text.lower())
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "unknown"


def new_directory(args, model, trial):
    if args.out:
        path = Path(args.out).resolve()
        path.mkdir(parents=True, exist_ok=True)
        if (path / "raw.csv").exists():
            raise Failure(f"{path} already holds a raw.csv")
        return path
    base = WORK / "trial" if trial else HERE / "runs"
    name = f"{datetime.date.today().isoformat()}-{slug(model)}"
    for attempt in range(1, 1000):
        path = base / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            continue
    raise Failure(f"no free name for {name}")


def describe(path, script, worker, args, lehr, peak, cpu, extra=()):
    model, facts, flags, caches = cpu
    python = getattr(args, "python", None) or venv_python()
    versions = {}
    for one in words([worker]):
        measured = measure([python, one, "versions"], args.threads)
        versions |= last_json(measured.stdout, "the version check")
    commit = output_of(["git", "rev-parse", "HEAD"], cwd=ROOT)
    changed = output_of(["git", "status", "--porcelain", "--untracked-files=no"], "", cwd=ROOT)
    if changed:
        commit += " with uncommitted changes"
    # Paths of the checkout and of the data are not published.
    hidden = {str(value) for value in (args.out, args.lehr, *(getattr(args, name, None) for name in HIDDEN)) if value}
    command = ["python3", f"benchsuite/{script}", *("DIR" if part in hidden else part for part in sys.argv[1:])]
    lines = [
        f"# {path.name}",
        "",
        "`raw.csv` has every single run, `summary.md` the tables made of it.",
        "",
        f"- command: `{show(command)}`",
        f"- commit: {commit}",
        f"- started: {datetime.datetime.now().astimezone().isoformat(timespec='seconds')}",
        f"- processor: {model}",
        f"- cores: {os.cpu_count()} logical, {facts.get('Thread(s) per core', 'unknown')} threads per core",
        f"- flags: {flags}",
        f"- caches: {caches}",
        f"- virtual: {facts.get('Hypervisor vendor', 'no or unknown')}",
        f"- memory: {memory_total()}",
        f"- load before the start: {load()}",
        f"- kernel: {platform.system()} {platform.release()}",
        f"- rustc: {output_of(['rustc', '--version'], cwd=ROOT)}",
        f"- RUSTFLAGS: {os.environ.get('RUSTFLAGS') or 'not set'}",
        f"- lehr: {output_of([lehr, '--version']) if lehr else 'not run'}",
    ]
    lines += [f"- {name}: {value}" for name, value in versions.items()]
    lines += [f"- {line}" for line in extra]
    if peak:
        lines.append(f"- measured peak: {peak['gflops']:.2f} Gflop/s per core (f64, {peak['isa']})")
    (path / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def load():
    try:
        return " ".join(f"{value:.2f}" for value in os.getloadavg())
    except OSError:
        return "unknown"


def at_least_one(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def some_of(names):
    """The type of an argument that takes some of the names, separated by commas."""

    def split(text):
        wrong = [name for name in text.split(",") if name not in names]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(names)}")
        return text.split(",")

    return split


# --- A benchmark from its arguments to its end ---------------------------------


def common_parser(description, checks, rounds_help="runs of each program (5)"):
    """The arguments that every benchmark takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=at_least_one, help=rounds_help)
    parser.add_argument("--threads", type=at_least_one, default=2, help="threads or processes of each program (2)")
    parser.add_argument(
        "--only", metavar="NAME,...", action="extend", type=some_of(checks), help="some of " + ", ".join(checks)
    )
    parser.add_argument("--keep", action="store_true", help="keep the data and runs in benchsuite/work")
    parser.add_argument("--out", metavar="DIR", help="write here instead of benchsuite/runs/<date>-<cpu>")
    parser.add_argument("--lehr", metavar="PATH", help="this program instead of building lehr")
    # For trying the script itself.
    parser.add_argument("--peers-only", action="store_true", help=argparse.SUPPRESS)
    return parser


def set_up(args, trial, with_peak=True):
    """Environment, work directory and program: lehr's path and the peak of a core, None where they are not asked for."""
    if args.rounds < 5 and not trial:
        note("fewer than 5 rounds: not for quoting")
    make_venv()
    lehr = peak = None
    if not args.peers_only:
        lehr = Path(args.lehr).resolve() if args.lehr else build_lehr()
        peak = probe_peak() if with_peak else None
    WORK.mkdir(exist_ok=True)
    return lehr, peak


class Output:
    """The directory of a run of the benchmark: raw.csv, summary.md and README.md."""

    def __init__(self, args, worker, columns, lehr, peak, kind="", trial=False, extra=()):
        cpu = cpu_facts()
        self.args = args
        self.path = new_directory(args, f"{cpu[0]} {kind}", trial)
        describe(self.path, Path(sys.argv[0]).name, worker, args, lehr, peak, cpu, extra)
        self.raw = Raw(self.path / "raw.csv", columns)
        self.report = Report(self.path / "summary.md")
        if trial:
            self.report.add("**A trial of the script on little data. The numbers and verdicts mean nothing.**")

    def close(self):
        if self.report.failed:
            self.report.add("Missed: " + "; ".join(self.report.failed) + ".")
        shown = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        if self.args.keep or not self.path.is_relative_to(WORK):
            say(f"Every run is in {shown}/raw.csv.")


def run_directory(number_):
    """A name for lehr's output, with nothing there."""
    path = WORK / f"run-{number_}"
    if path.exists():
        shutil.rmtree(path)
    return path


def alternate(sides, rounds):
    """All sides in every round; the order turns around from round to round.

    `sides` maps a name to a function of the round and the place in it.
    """
    rows = {side: [] for side in sides}
    for round_ in range(1, rounds + 1):
        order = list(sides) if round_ % 2 else list(sides)[::-1]
        for place, side in enumerate(order, 1):
            rows[side].append(sides[side](round_, place))
    return rows


def guarded(run, args):
    """The end of every benchmark: an exit status, and no data left behind."""
    try:
        run(args)
    except Failure as failure:
        note(f"error: {failure}")
        return 1
    except KeyboardInterrupt:
        note("interrupted; the runs so far are in raw.csv")
        return 130
    finally:
        if not args.keep and WORK.exists():
            shutil.rmtree(WORK, ignore_errors=True)
    return 0
