#!/usr/bin/env python3
"""Two builds of lehr against each other: seconds of the loop run alternately, and instructions of a step.

    python3 benchsuite/versions.py --data DIR --old PATH/lehr --new PATH/lehr [--rounds 5]

DIR holds docword.reuters-news.txt.gz and ml-1m/ratings.dat.gz. Every round runs the old and the new program once
on each fit, one after the other, with --threads 2; compared are the seconds that result.json counts in all parts
of the loop, as the median over the rounds of new / old. Instructions are counted by callgrind on one thread, where
valgrind is there: a tenth of the difference between 13 and 3 steps. Both must print the same bound. Raw runs go to
--out/raw.csv, the table to --out/report.md.
"""

import argparse
import csv
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SHORT, LONG = 3, 13


def fits(data, work):
    """A name and the arguments of each fit that is timed."""
    points = work / "points.csv"
    rng = random.Random(1)
    rows = ([rng.gauss((7 * (i % 20) + 3 * j) % 11, 1) for j in range(8)] for i in range(40_000))
    points.write_text("".join(",".join(f"{x:.4f}" for x in row) + "\n" for row in rows))
    reuters, ratings = data / "docword.reuters-news.txt.gz", data / "ml-1m" / "ratings.dat.gz"
    never = ["--eval-every", 0]
    return [
        ("LDA, K = 100, batches of 1,000", ["lda", reuters, "-k", 100, "--batch", 1000, "--steps", 40, *never]),
        ("LDA, the same with M = 100", ["lda", reuters, "-k", 100, "--batch", 1000, "--effective", 100, "--steps", 40, *never]),
        ("PMF, MovieLens 1M, d = 10", ["pmf", ratings, "-d", 10, "--steps", 30]),
        ("PMF, the same with M = 50 t", ["pmf", ratings, "-d", 10, "--effective", "50t", "--steps", 30]),
        ("mixture, 40,000 x 8, K = 20", ["gmm", points, "-k", 20, "--steps", 60]),
        ("mixture, batches of 200", ["gmm", points, "-k", 20, "--batch", 200, "--steps", 4000, *never]),
    ]  # fmt: skip


def run(lehr, arguments, work, threads=2, steps=None):
    """The result of a fit, and where it was left."""
    out = work / "run"
    shutil.rmtree(out, ignore_errors=True)
    arguments = [str(part) for part in arguments]
    if arguments[0] == "lda" and b"--priors" in subprocess.run([str(lehr), "fit", "lda", "--help"], capture_output=True).stdout:
        arguments += ["--priors", "fixed"]  # as in versions that learned nothing by default
    if steps is not None:
        arguments[arguments.index("--steps") + 1] = str(steps)
    return [str(lehr), "fit", *arguments, "--tol", "0", "--threads", str(threads), "--seed", "1", "--json", "-o", str(out)]


def timed(lehr, arguments, work):
    done = subprocess.run(run(lehr, arguments, work), capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    return sum(result["seconds_by_part"].values()), result["bound"]


def counted(lehr, arguments, work):
    counts = []
    for steps in (SHORT, LONG):
        command = run(lehr, arguments, work, threads=1, steps=steps)
        callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(callgrind + command, capture_output=True, text=True, check=True)
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]))
    return (counts[1] - counts[0]) / (LONG - SHORT)


def cpu():
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else "unknown CPU"


def main(args):
    out, lines = Path(args.out), []
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open(out / "raw.csv", "w", newline="") as file:
        raw, work = csv.writer(file), Path(folder)
        raw.writerow(["fit", "round", "side", "seconds", "bound"])
        for name, arguments in fits(Path(args.data).resolve(), work):
            seconds, bounds = {"old": [], "new": []}, set()
            for n in range(args.rounds):
                for side, lehr in (("old", args.old), ("new", args.new)):
                    took, bound = timed(lehr, arguments, work)
                    raw.writerow([name, n, side, took, bound])
                    seconds[side].append(took)
                    bounds.add(bound)
            ratio = statistics.median(new / old for old, new in zip(seconds["old"], seconds["new"]))
            more = ""
            if args.count:
                old, new = (counted(lehr, arguments, work) for lehr in (args.old, args.new))
                raw.writerow([name, "callgrind", "old", old, ""])
                raw.writerow([name, "callgrind", "new", new, ""])
                more = f"{new / old:.4f}"
            medians = [f"{statistics.median(seconds[side]):.3f}" for side in ("old", "new")]
            lines.append([name, *medians, f"{ratio:.3f}", more, "yes" if len(bounds) == 1 else "NO"])
            print(" | ".join(lines[-1]), flush=True)
    header = ["fit", "old, s", "new, s", "new / old", "instructions a step, new / old", "same bound"]
    rows = [header, ["---"] * len(header), *lines]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    (out / "report.md").write_text(f"# Two builds of lehr\n\n{cpu()}, 2 threads, {args.rounds} rounds, alternately.\n\n{table}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, metavar="DIR", help="the folder with the data sets")
    parser.add_argument("--old", required=True, metavar="PATH", help="the program before")
    parser.add_argument("--new", required=True, metavar="PATH", help="the program after")
    parser.add_argument("--out", required=True, metavar="DIR", help="where raw.csv and report.md go")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run [default: 5]")
    parser.add_argument("--count", action="store_true", help="count instructions as well; needs valgrind")
    sys.exit(main(parser.parse_args()))
