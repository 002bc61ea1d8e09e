#!/usr/bin/env python3
"""Fits from Python against the command line: the same data, seed and settings, run in turn.

    python3 benchsuite/python.py --data DIR

Time of a mixture, an LDA model and a matrix factorisation, in the loop itself,
in the call of `fit` and in the whole process; whether both end with the same
bound, to the last bit; and how much memory a fit takes besides its array. DIR
holds docword.reuters-news.txt.gz and ml-1m/ratings.dat.gz; where a file is
absent, synthetic data of its shape stand in. Needs python3, cargo and, the first
time, a network. Every single run goes to
benchsuite/runs/<date>-<cpu>-python/raw.csv, next to the printed tables and a
description of the machine. See benchsuite/README.md.

This file uses the standard library only, for the reason harness.py gives.
"""

import json
import statistics
import sys
from pathlib import Path

from harness import (
    HERE, WORK, Failure, Output, alternate, build_lehr, common_parser, guarded, install_lehr, last_json, make_venv, measure,
    megabytes, note, number, run_directory, spread, table, venv_python, verdict,
)  # fmt: skip

WORKER = HERE / "python_worker.py"
FITS = ["mixture", "lda", "pmf"]
CHECKS = [*FITS, "memory"]
MOST = 1.05
COLUMNS = [
    "check", "setting", "side", "round", "place", "threads", "seed", "steps", "loop_seconds", "fit_seconds",
    "wall_seconds", "cpu_seconds", "peak_rss_bytes", "bound", "detail",
]  # fmt: skip

# What Python's mixture asks for beyond the flags: scikit-learn's priors, start and stopping rule.
AS_PYTHON = """[fit]
tol_of = "absolute"
[model]
start = "kmeans"
start_units = "own"
defaults = "scikit-learn"
ridge = 1e-6
sort = false
"""


class Sizes:
    """How large the problems are: the settings of a fit, as the worker and the command line get them."""

    def __init__(self, quick):
        self.fits = {
            "mixture": {"n": 5_000 if quick else 200_000, "d": 16, "k": 32, "steps": 5 if quick else 40},
            "lda": {"docs": 1_000 if quick else 20_000, "k": 50, "batch": 500 if quick else 1000, "passes": 2},
            "pmf": {"ratings": 20_000 if quick else 0, "d": 10, "steps": 5 if quick else 60},
        }
        self.memory = {"n": 20_000 if quick else 1_000_000, "d": 16}


def flags(check, size, facts):
    """The command line's words for a fit."""
    if check == "mixture":
        return ["dpgmm", facts["file"], "-k", size["k"], "--steps", size["steps"], "--config", WORK / "as_python.toml"]
    if check == "lda":
        steps = size["passes"] * -(-facts["items"] // size["batch"])
        rho = ["--step-size", "power:10:0.7", "--priors", "fixed", "--eta", 1 / size["k"]]
        return ["lda", facts["file"], "-k", size["k"], "--batch", size["batch"], "--steps", steps, *rho]
    return ["pmf", facts["file"], "-d", size["d"], "--steps", size["steps"]]


class Bench:
    def __init__(self, args, python, lehr, raw):
        self.args, self.python, self.lehr, self.raw = args, python, lehr, raw
        self.runs = 0

    def worker(self, *job):
        got = measure([self.python, WORKER, *map(str, job)], self.args.threads)
        return got, last_json(got.stdout, f"the job {job[0]}")

    def record(self, check, side, round_, place, got, **values):
        row = {name: "" for name in COLUMNS}
        row.update(check=check, setting=check, side=side, round=round_, place=place, threads=self.args.threads, detail={})
        row.update(wall_seconds=got.wall, cpu_seconds=got.cpu, peak_rss_bytes=got.rss, **values)
        self.raw.add(row)
        note(f"{check}, {side}, round {round_}: {got.wall:.2f} s")
        return row

    def command_line(self, check, size, facts, round_, place):
        self.runs += 1
        out = run_directory(self.runs)
        got = measure(
            [self.lehr, "fit", *flags(check, size, facts), "--tol", 0, "--threads", self.args.threads, "--seed", round_,
             "--quiet", "-o", out],
            self.args.threads,
        )  # fmt: skip
        try:
            result = json.loads((out / "result.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Failure(f"cannot read {out.name}/result.json: {error}") from error
        return self.record(
            check, "command line", round_, place, got, seed=round_, steps=result["steps"],
            loop_seconds=result["seconds"], bound=repr(result["bound"]),
            detail={"parts": result["seconds_by_part"]},
        )  # fmt: skip

    def from_python(self, check, size, facts, round_, place):
        job = {"check": check, **size, **facts, "seed": round_, "threads": self.args.threads}
        got, told = self.worker("fit", json.dumps(job))
        return self.record(
            check, "Python", round_, place, got, seed=round_, steps=told["steps"], loop_seconds=told["loop_seconds"],
            fit_seconds=told["fit_seconds"], bound=repr(told["bound"]),
            detail={name: told[name] for name in ("import_seconds", "read_seconds", "parts")},
        )  # fmt: skip


def compare(bench, report, check, size, facts):
    """Both sides in turn, and a table of their times."""
    sides = {
        "command line": lambda r, p: bench.command_line(check, size, facts, r, p),
        "Python": lambda r, p: bench.from_python(check, size, facts, r, p),
    }
    rows = alternate(sides, bench.args.rounds)
    theirs, ours = rows["command line"], rows["Python"]
    for a, b in zip(theirs, ours):
        if (a["bound"], a["steps"]) != (b["bound"], b["steps"]):
            raise Failure(f"{check}, seed {a['seed']}: bounds {a['bound']} and {b['bound']} after {a['steps']} and {b['steps']} steps")
    lines = []
    for name, column, side_rows in (
        ("loop, command line", "loop_seconds", theirs),
        ("loop, Python", "loop_seconds", ours),
        ("call of fit, Python", "fit_seconds", ours),
        ("process, command line", "wall_seconds", theirs),
        ("process, Python", "wall_seconds", ours),
    ):
        lines.append([name, *spread([row[column] for row in side_rows])])
    shape = ", ".join(f"{key} {value}" for key, value in {**size, **facts["shape"]}.items() if value)
    report.add(f"## {check}\n\n{shape}; {theirs[0]['steps']} steps. Seconds; both ended with the same bounds, to the last bit.")
    report.add(table(["what", "median", "least", "most"], lines))
    for what, mine, other in (
        ("loop", "loop_seconds", "loop_seconds"),
        ("call of fit against the command line's process", "fit_seconds", "wall_seconds"),
    ):
        # Round by round: a slow minute of the machine hits both sides of a pair.
        ratio = statistics.median(b[mine] / a[other] for a, b in zip(theirs, ours))
        report.add(f"{what}: {ratio:.3f} of the command line's; at most {MOST}: {verdict(ratio <= MOST)}")
        if ratio > MOST:
            report.failed.append(f"{check}, {what}")
    extra = [sum(row["detail"][part] for part in ("import_seconds", "read_seconds")) for row in ours]
    report.add(f"Importing and reading from Python: {number(statistics.median(extra))} s.")


def memory(bench, report, size):
    """What a fit adds to the peak of a process that holds its array."""
    rows = []
    for layout in ("float64, C order", "float32, C order", "float64, Fortran order"):
        grown = []
        for round_ in range(1, bench.args.rounds + 1):
            got, told = bench.worker("memory", json.dumps({**size, "layout": layout, "threads": bench.args.threads}))
            bench.record("memory", "Python", round_, 1, got, setting=layout, detail=told)
            grown.append(told["grown"])
        rows.append([layout, megabytes(told["size"]), *spread(grown, megabytes)])
        if layout == "float64, C order" and statistics.median(grown) > told["size"] / 2:
            report.failed.append("memory: the array is copied")
    report.add("## memory\n\nThe growth of the peak during a fit, in MB: an array in C order is not copied.")
    report.add(table(["X", "X itself", "median", "least", "most"], rows))


def run(args):
    sizes = Sizes(args.quick)
    args.rounds = args.rounds or (2 if args.quick else 5)
    if args.python:
        python = Path(args.python)
    else:
        make_venv()
        python = venv_python()
        install_lehr()
        args.python = str(python)
    lehr = Path(args.lehr).resolve() if args.lehr else build_lehr()
    WORK.mkdir(exist_ok=True)
    (WORK / "as_python.toml").write_text(AS_PYTHON, encoding="utf-8")
    output = Output(args, WORKER, COLUMNS, lehr, None, kind="python", trial=args.quick)
    bench = Bench(args, python, lehr, output.raw)
    for check in args.only or CHECKS:
        if check == "memory":
            memory(bench, output.report, sizes.memory)
            continue
        size = sizes.fits[check]
        _, facts = bench.worker("prepare", json.dumps({"check": check, **size, "data": args.data, "to": str(WORK)}))
        compare(bench, output.report, check, size, facts)
    output.close()


def main():
    parser = common_parser(__doc__.splitlines()[0], CHECKS)
    parser.add_argument("--data", metavar="DIR", help="where the corpus and the ratings are")
    parser.add_argument("--quick", action="store_true", help="a trial of the script on little data")
    parser.add_argument("--python", metavar="PATH", help="this interpreter, in which lehr is installed, instead of making one")
    return guarded(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
