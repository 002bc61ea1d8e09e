#!/usr/bin/env python3
"""What overflow checks cost: instructions of a step with them and without, counted by callgrind.

    python3 benchsuite/checks.py --data DIR

Builds lehr twice, as it is handed out and with CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=false, and counts
the instructions of fits of 13 and of 3 steps on one thread; a tenth of the difference is a step, the rest is
reading and writing. DIR holds docword.ap.txt.gz and ml-1m/ratings.dat.gz. Counts do not depend on what else the
machine does, so one run is enough. Needs valgrind. The table and the counts go to
benchsuite/runs/<date>-<cpu>-checks.
"""

import argparse
import gzip
import os
import random
import re
import subprocess
import sys
from pathlib import Path

from harness import ROOT, WORK, Failure, Output, guarded, make_venv, note, run_directory, show, table, target_dir, tool

WORKER = Path(__file__).resolve().parent / "python_worker.py"
COLUMNS = ["check", "side", "steps", "instructions", "detail"]
SHORT, LONG = 3, 13


def build(checked):
    target = target_dir() / ("checked" if checked else "unchecked")
    env = dict(os.environ, CARGO_TARGET_DIR=str(target), CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=str(checked).lower())
    tool(["cargo", "build", "--release", "--locked", "-p", "lehr-cli"], cwd=ROOT, env=env)
    return target / "release" / "lehr"


def fits(data):
    """A fit of each kind: a name, its shape in words and the arguments."""
    points, ratings = WORK / "points.csv", WORK / "ratings.dat"
    rng = random.Random(1)
    rows = ([rng.gauss((7 * (i % 20) + 3 * j) % 11, 1) for j in range(8)] for i in range(2000))
    points.write_text("".join(",".join(f"{x:.4f}" for x in row) + "\n" for row in rows))
    with gzip.open(data / "ml-1m" / "ratings.dat.gz", "rt") as file:
        ratings.write_text("".join(line for line, _ in zip(file, range(60_000))))
    return [
        ("lda", "Associated Press, K = 50, batches of 200", ["lda", data / "docword.ap.txt.gz", "-k", 50, "--priors", "fixed", "--batch", 200]),
        ("pmf", "60,000 ratings of MovieLens, d = 10", ["pmf", ratings, "-d", 10]),
        ("gmm", "2,000 points in 8 dimensions, K = 20", ["gmm", points, "-k", 20]),
    ]


def count(lehr, arguments, steps):
    command = [
        "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", lehr, "fit", *arguments, "--tol", 0,
        "--threads", 1, "--seed", 1, "--steps", steps, "--quiet", "-o", run_directory(steps),
    ]  # fmt: skip
    command = [str(part) for part in command]
    note("$ " + show(command))
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise Failure(f"cannot run valgrind: {error}") from error
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise Failure(f"failed: {show(command)}\n{done.stderr.strip()}")
    return int(found[1])


def run(args):
    data = Path(args.data).resolve()
    make_venv()
    WORK.mkdir(exist_ok=True)
    sides = {"with checks": build(True), "without": build(False)}
    output = Output(args, WORKER, COLUMNS, sides["with checks"], None, kind="checks")
    lines = []
    for name, shape, arguments in fits(data):
        steps = {}
        for side, lehr in sides.items():
            counts = {n: count(lehr, arguments, n) for n in (SHORT, LONG)}
            for n, instructions in counts.items():
                output.raw.add({"check": name, "side": side, "steps": n, "instructions": instructions, "detail": {}})
            steps[side] = (counts[LONG] - counts[SHORT]) / (LONG - SHORT)
        more = steps["with checks"] / steps["without"] - 1
        lines.append([name, shape, *(f"{value / 1e6:.2f}" for value in steps.values()), f"{100 * more:+.1f} %"])
    output.report.add("## Millions of instructions a step, one thread")
    output.report.add(table(["fit", "of", *sides, "more"], lines))
    output.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="DIR", required=True, help="the folder with the data sets")
    parser.add_argument("--out", metavar="DIR", help="write here instead of benchsuite/runs/<date>-<cpu>")
    parser.add_argument("--keep", action="store_true", help="keep the data and runs in benchsuite/work")
    parser.set_defaults(threads=1, lehr=None)
    sys.exit(guarded(run, parser.parse_args()))
