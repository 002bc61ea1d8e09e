#!/usr/bin/env python3
"""Seconds per sweep of a Gaussian mixture: lehr against scikit-learn.

    python3 benchsuite/mixture.py

Needs python3, cargo and, the first time, a network: the script makes its own
environment in benchsuite/.venv and builds lehr. The two programs run
alternately, each run in a process of its own, with the same number of threads.
Every single run goes to benchsuite/runs/<date>-<cpu>/raw.csv, next to the
printed tables and a description of the machine. See benchsuite/README.md.

This file uses the standard library only. That is also a matter of measuring:
a child's peak memory, as the kernel counts it, is at least its parent's size
at the fork, so the parent must stay small.
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
WORKER = HERE / "worker.py"

MEMORY_ALLOWANCE = 100_000_000
STEPS = 14
# lehr's first sweeps are left out of the mean: pages are touched, caches filled.
FIRST = 2
DATA_SEED = 20240611


class Setting:
    def __init__(self, name, n, d, k, target=None):
        self.name, self.n, self.d, self.k, self.target = name, n, d, k, target

    @property
    def data_bytes(self):
        return self.n * self.d * 8

    @property
    def flops(self):
        """Floating-point operations per sweep, see FLOPS."""
        d = self.d
        return self.n * self.k * (d * (d + 1) + 2 * d + 2 * (d * (d + 1) // 2 + d + 1))


FLOPS = "d(d+1) + 2d + 2(d(d+1)/2 + d + 1), exp counted as 0"

SETTINGS = [
    Setting("n200k-d16-k32", 200_000, 16, 32, 35.0),
    Setting("n1m-d4-k64", 1_000_000, 4, 64, 50.0),
    Setting("n50k-d64-k32", 50_000, 64, 32, 6.0),
]
LINEARITY = [Setting(f"n{n // 1000}k-d16-k32", n, 16, 32) for n in (25_000, 50_000, 100_000, 200_000, 400_000)]
NOISE = Setting("n200k-d16-k32", 200_000, 16, 32)

# The same shape of run in seconds: to try the script, not to learn anything.
TINY_SETTINGS = [
    Setting("n200k-d16-k32", 4_000, 16, 8, 35.0),
    Setting("n1m-d4-k64", 6_000, 4, 12, 50.0),
    Setting("n50k-d64-k32", 2_000, 32, 4, 6.0),
]
TINY_LINEARITY = [Setting(f"n{n // 1000}k-d16-k8", n, 16, 8) for n in (1_000, 2_000, 4_000)]
TINY_NOISE = Setting("n4k-d16-k8", 4_000, 16, 8)

CHECKS = [s.name for s in SETTINGS] + ["linearity", "noise"]
PARTS = ["sample", "anneal", "local", "update", "observe", "checkpoint"]


class Failure(Exception):
    """Something the user should read, without a traceback."""


# --- Processes ---------------------------------------------------------------


def say(text=""):
    print(text, flush=True)


def note(text):
    print(text, file=sys.stderr, flush=True)


def show(command):
    return " ".join(shlex.quote(str(part)) for part in command)


def tool(command, **kwargs):
    """Runs a build tool, its output on our stderr."""
    note("$ " + show(command))
    try:
        done = subprocess.run([str(c) for c in command], stdout=sys.stderr, **kwargs)
    except FileNotFoundError as error:
        raise Failure(f"cannot run {command[0]}: {error}") from error
    if done.returncode != 0:
        raise Failure(f"failed with status {done.returncode}: {show(command)}")


def output_of(command, default="unknown", **kwargs):
    try:
        done = subprocess.run(
            [str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **kwargs
        )
    except OSError:
        return default
    return done.stdout.strip() if done.returncode == 0 else default


class Measured:
    def __init__(self, stdout, wall, cpu, rss):
        self.stdout, self.wall, self.cpu, self.rss = stdout, wall, cpu, rss


def measure(command, threads):
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
    command = [str(c) for c in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=ROOT
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
    command = ["cargo", "run", "--release", "--quiet", "-p", "lehr", "--example", "peak"]
    note("$ " + show(command))
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        note(f"peak: {error}")
        return None
    if done.returncode != 0:
        note("peak: the example failed; shares of the peak are left out\n" + done.stderr.strip())
        return None
    answer = last_json(done.stdout, "the peak example")
    return {"gflops": float(answer["gflops_f64_one_core"]), "isa": str(answer.get("isa", "unknown"))}


def data_file(setting):
    path = WORK / f"n{setting.n}-d{setting.d}-k{setting.k}.npy"
    if not path.exists():
        note(f"data: {path.name}")
        partial = path.with_name("partial.npy")
        measure(
            [venv_python(), WORKER, "data", partial, setting.n, setting.d, setting.k, DATA_SEED], os.cpu_count() or 1
        )
        partial.rename(path)
    return path


# --- One run -----------------------------------------------------------------


class Raw:
    """raw.csv: one row a run, written as soon as it ends."""

    COLUMNS = [
        "check", "setting", "side", "round", "place", "n", "d", "k", "threads", "seed",
        "seconds_per_sweep", "wall_seconds", "cpu_seconds", "peak_rss_bytes", "data_bytes", "detail",
    ]  # fmt: skip

    def __init__(self, path):
        self.file = path.open("w", newline="", encoding="utf-8")
        self.writer = csv.DictWriter(self.file, self.COLUMNS, lineterminator="\n")
        self.writer.writeheader()
        self.file.flush()

    def add(self, row):
        self.writer.writerow({**row, "detail": json.dumps(row["detail"], separators=(",", ":"))})
        self.file.flush()


class Bench:
    def __init__(self, args, lehr, raw):
        self.args, self.lehr, self.raw = args, lehr, raw
        self.runs = 0

    def run(self, check, setting, side, round_, place):
        data = data_file(setting)
        seed = round_
        if side == "scikit-learn":
            got, seconds, detail = self.sklearn(setting, data, seed)
        else:
            noise = ["--effective", str(setting.n // 4), "--noise-end", "1"]
            extra = noise if side == "lehr with noise" else []
            got, seconds, detail = self.run_lehr(setting, data, seed, extra)
        row = {
            "check": check,
            "setting": setting.name,
            "side": side,
            "round": round_,
            "place": place,
            "n": setting.n,
            "d": setting.d,
            "k": setting.k,
            "threads": self.args.threads,
            "seed": seed,
            "seconds_per_sweep": seconds,
            "wall_seconds": got.wall,
            "cpu_seconds": got.cpu,
            "peak_rss_bytes": got.rss,
            "data_bytes": setting.data_bytes,
            "detail": detail,
        }
        self.raw.add(row)
        note(f"{check} {setting.name} round {round_} {side}: {seconds:.4g} s/sweep, {megabytes(got.rss)} MB")
        return row

    def sklearn(self, setting, data, seed):
        got = measure([venv_python(), WORKER, "sklearn", data, setting.k, seed], self.args.threads)
        answer = last_json(got.stdout, "the scikit-learn process")
        return got, answer["seconds_per_sweep"], {"fit_1": answer["fit_1"], "fit_4": answer["fit_4"]}

    def run_lehr(self, setting, data, seed, extra):
        self.runs += 1
        out = WORK / f"run-{self.runs}"
        if out.exists():
            shutil.rmtree(out)
        command = [
            self.lehr, "fit", "gmm", data, "-k", setting.k, "--steps", STEPS, "--tol", 0,
            "--threads", self.args.threads, "--seed", seed, "--quiet", "-o", out, "--start", "points", *extra,
        ]  # fmt: skip
        got = measure(command, self.args.threads)
        times = read_trace(out / "trace.jsonl", command)
        parts = read_parts(out / "result.json")
        last = max(times)
        first = FIRST if FIRST in times else min(times)
        if last - first < 3:
            raise Failure(f"lehr traced the sweeps {first} to {last} only: {show(command)}")
        seconds = (times[last] - times[first]) / (last - first)
        if not self.args.keep:
            shutil.rmtree(out)
        return got, seconds, {"first": first, "last": last, "trace": list(times.values()), "parts": parts}


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


def alternate(bench, check, setting, sides, rounds):
    """All sides in every round; the order turns around from round to round."""
    rows = {side: [] for side in sides}
    for round_ in range(1, rounds + 1):
        order = sides if round_ % 2 else sides[::-1]
        for place, side in enumerate(order, 1):
            rows[side].append(bench.run(check, setting, side, round_, place))
    return rows


# --- Tables ------------------------------------------------------------------


def megabytes(count):
    return f"{count / 1e6:.0f}"


def number(value):
    return f"{value:.4g}"


def table(head, rows):
    """A Markdown table that also reads well as plain text."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells):
        pads = [cells[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(cells[1:], widths[1:])]
        return "| " + " | ".join(pads) + " |"

    rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
    return "\n".join([line(head), rule] + [line(row) for row in rows])


def seconds_of(rows):
    return [row["seconds_per_sweep"] for row in rows]


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


class Report:
    def __init__(self, path):
        self.path, self.chunks = path, []
        self.failed = []

    def add(self, text):
        say(text)
        say()
        self.chunks.append(text)
        self.path.write_text("\n\n".join(self.chunks) + "\n", encoding="utf-8")


def report_speed(report, results, threads, rounds):
    report.add(
        f"## Seconds per sweep, {threads} threads, {rounds} rounds\n\n"
        "Full covariances, float64. Median, least and greatest over the rounds; the ratio is that of the medians."
    )
    rows = []
    for setting, sides in results:
        for side, runs in sides.items():
            s = seconds_of(runs)
            rows.append([setting.name, side, number(statistics.median(s)), number(min(s)), number(max(s))])
    report.add(table(["setting", "program", "median s", "least s", "greatest s"], rows))

    rows, memory = [], []
    for setting, sides in results:
        rss = {side: max(run["peak_rss_bytes"] for run in runs) for side, runs in sides.items()}
        if "lehr" in sides and "scikit-learn" in sides:
            theirs, ours = (statistics.median(seconds_of(sides[s])) for s in ("scikit-learn", "lehr"))
            passed = theirs / ours >= setting.target
            rows.append([setting.name, f"{theirs / ours:.1f}x", f"{setting.target:g}x", verdict(passed)])
            if not passed:
                report.failed.append(f"{setting.name}: ratio")
        line = [setting.name, megabytes(setting.data_bytes)]
        line += [megabytes(rss[s]) if s in rss else "-" for s in ("scikit-learn", "lehr")]
        allowed = setting.data_bytes + MEMORY_ALLOWANCE
        line.append(megabytes(allowed))
        if "lehr" in rss:
            passed = rss["lehr"] <= allowed
            line.append(verdict(passed))
            if not passed:
                report.failed.append(f"{setting.name}: memory")
        else:
            line.append("-")
        memory.append(line)
    if rows:
        report.add(table(["setting", "ratio", "target", "verdict"], rows))
    report.add(
        "## Peak memory\n\nGreatest resident set over the rounds, in MB of 10^6 bytes; "
        "lehr is allowed the data and 100 MB."
    )
    report.add(table(["setting", "data", "scikit-learn", "lehr", "allowed", "verdict"], memory))


def report_peak(report, results, threads, peak):
    results = [(setting, sides["lehr"]) for setting, sides in results if "lehr" in sides]
    if not results:
        return
    if peak is None:
        report.add("## Share of the peak\n\nThe peak of this machine was not measured.")
        return
    report.add(
        "## Share of the peak\n\n"
        f"Operations per item and component: {FLOPS}.\n"
        f"Share = N K operations / seconds / (threads x peak), with {threads} threads and a measured peak of\n"
        f"{peak['gflops']:.2f} Gflop/s per core (f64, {peak['isa']})."
    )
    rows = []
    for setting, runs in results:
        rate = setting.flops / statistics.median(seconds_of(runs)) / 1e9
        share = rate / (threads * peak["gflops"])
        rows.append([setting.name, f"{setting.flops / 1e9:.3f}", f"{rate:.2f}", f"{100 * share:.1f}%"])
    report.add(table(["setting", "Gflop per sweep", "Gflop/s", "share of the peak"], rows))


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


def report_linearity(report, results):
    rows, logs = [], []
    for setting, runs in results:
        median = statistics.median(seconds_of(runs))
        logs.append((math.log(setting.n), math.log(median)))
        rows.append([f"{setting.n:,}", number(median), f"{median / setting.n * 1e9:.1f}"])
    d, k = results[0][0].d, results[0][0].k
    report.add(f"## Time against the number of items\n\nlehr, d = {d}, K = {k}; medians over the rounds.")
    report.add(table(["items", "s per sweep", "ns per sweep and item"], rows))
    if len(logs) > 1:
        mx, my = (statistics.fmean(axis) for axis in zip(*logs))
        slope = sum((x - mx) * (y - my) for x, y in logs) / sum((x - mx) ** 2 for x, _ in logs)
        report.add(f"Fitted exponent of N: {slope:.3f} (1 is linear; least squares on the logarithms).")


def report_noise(report, setting, sides):
    plain, noisy = (statistics.median(seconds_of(sides[s])) for s in ("lehr", "lehr with noise"))
    report.add(
        f"## Cost of the noise\n\n{setting.name}: whole-data sweeps with `--effective {setting.n // 4}` "
        "against plain ones, alternately."
    )
    rows = []
    for side, runs in sides.items():
        s = seconds_of(runs)
        rows.append([side, number(statistics.median(s)), number(min(s)), number(max(s))])
    report.add(table(["run", "median s", "least s", "greatest s"], rows))
    report.add(f"Ratio of the medians, with noise / without: {noisy / plain:.3f}")
    report_parts(report, "Where the time goes, with and without noise", list(sides.items()))


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


def new_directory(args, model):
    if args.out:
        path = Path(args.out).resolve()
        path.mkdir(parents=True, exist_ok=True)
        if (path / "raw.csv").exists():
            raise Failure(f"{path} already holds a raw.csv")
        return path
    base = WORK / "tiny" if args.tiny else HERE / "runs"
    name = f"{datetime.date.today().isoformat()}-{slug(model)}"
    for attempt in range(1, 1000):
        path = base / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            continue
    raise Failure(f"no free name for {name}")


def describe(path, args, lehr, peak, cpu):
    model, facts, flags, caches = cpu
    measured = measure([venv_python(), WORKER, "versions"], args.threads)
    versions = last_json(measured.stdout, "the version check")
    commit = output_of(["git", "rev-parse", "HEAD"], cwd=ROOT)
    changed = output_of(["git", "status", "--porcelain", "--untracked-files=no"], "", cwd=ROOT)
    if changed:
        commit += " with uncommitted changes"
    # Where the checkout lies is nobody's business.
    command = ["python3", "benchsuite/mixture.py", *sys.argv[1:]]
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
    if peak:
        lines.append(f"- measured peak: {peak['gflops']:.2f} Gflop/s per core (f64, {peak['isa']})")
    (path / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def load():
    try:
        return " ".join(f"{value:.2f}" for value in os.getloadavg())
    except OSError:
        return "unknown"


# --- Command line ------------------------------------------------------------


def at_least_one(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def parse(argv):
    parser = argparse.ArgumentParser(description="Seconds per sweep of a Gaussian mixture: lehr against scikit-learn.")
    parser.add_argument("--rounds", type=at_least_one, default=5, help="runs of each program (5)")
    parser.add_argument("--threads", type=at_least_one, default=2, help="threads of each program (2)")
    parser.add_argument(
        "--only", metavar="NAME", action="append", choices=CHECKS, help="one of " + ", ".join(CHECKS) + "; repeatable"
    )
    parser.add_argument("--keep", action="store_true", help="keep the data and runs in benchsuite/work")
    parser.add_argument("--out", metavar="DIR", help="write here instead of benchsuite/runs/<date>-<cpu>")
    parser.add_argument("--lehr", metavar="PATH", help="this program instead of building lehr")
    # For trying the script itself.
    parser.add_argument("--tiny", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--sklearn-only", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def run(args):
    settings = TINY_SETTINGS if args.tiny else SETTINGS
    linearity = TINY_LINEARITY if args.tiny else LINEARITY
    noise = TINY_NOISE if args.tiny else NOISE
    wanted = args.only or CHECKS
    if args.rounds < 5 and not args.tiny:
        note("fewer than 5 rounds: not for quoting")

    make_venv()
    lehr = peak = None
    if not args.sklearn_only:
        lehr = Path(args.lehr).resolve() if args.lehr else build_lehr()
        peak = probe_peak()
    WORK.mkdir(exist_ok=True)
    cpu = cpu_facts()
    out = new_directory(args, cpu[0])
    describe(out, args, lehr, peak, cpu)
    bench = Bench(args, lehr, Raw(out / "raw.csv"))
    report = Report(out / "summary.md")
    if args.tiny:
        report.add("**Tiny sizes: a trial of the script. The numbers and verdicts mean nothing.**")

    sides = ["scikit-learn"] if args.sklearn_only else ["scikit-learn", "lehr"]
    results = [(s, alternate(bench, "speed", s, sides, args.rounds)) for s in settings if s.name in wanted]
    if results:
        report_speed(report, results, args.threads, args.rounds)
        report_peak(report, results, args.threads, peak)
        report_parts(report, "Where the time goes", [(s.name, by["lehr"]) for s, by in results if "lehr" in by])
    if lehr and "linearity" in wanted:
        # All sizes in every round, so that a slow minute does not bend the line.
        runs = {s.n: [] for s in linearity}
        for round_ in range(1, args.rounds + 1):
            order = linearity if round_ % 2 else linearity[::-1]
            for place, setting in enumerate(order, 1):
                runs[setting.n].append(bench.run("linearity", setting, "lehr", round_, place))
        report_linearity(report, [(s, runs[s.n]) for s in linearity])
    if lehr and "noise" in wanted:
        report_noise(report, noise, alternate(bench, "noise", noise, ["lehr", "lehr with noise"], args.rounds))

    if report.failed:
        report.add("Missed: " + "; ".join(report.failed) + ".")
    shown = out.relative_to(ROOT) if out.is_relative_to(ROOT) else out
    if args.keep or not out.is_relative_to(WORK):
        say(f"Every run is in {shown}/raw.csv.")


def main(argv=None):
    args = parse(argv)
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


if __name__ == "__main__":
    sys.exit(main())
