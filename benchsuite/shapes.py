#!/usr/bin/env python3
"""What a sweep of a mixture costs by shape, and with missing values: seconds of the loop, run alternately.

    python3 benchsuite/shapes.py --lehr PATH/lehr [--rounds 7] [--out benchsuite/runs/NAME]

Every round fits each shape once, and full covariances to the same items with a tenth of the values missing in 100
patterns, one after the other, on one thread, from the same start, 20 sweeps. Compared are the seconds that result.json
counts for the local pass and the update, as the median over the rounds of each / full. Raw seconds go to --out/raw.csv, the
table to --out/report.md.
"""

import argparse
import csv
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

SIZES = [(20_000, 4, 16), (20_000, 16, 10), (20_000, 16, 32), (4_000, 64, 16)]
SHAPES = ["full", "tied", "diagonal", "spherical"]


def tables(work, n, d, k):
    """The same items, complete and with gaps in 100 patterns."""
    rng = random.Random(n + d + k)
    centres = [[rng.gauss(0, 3) for _ in range(d)] for _ in range(k)]
    patterns = [set(rng.sample(range(d), max(1, d // 10))) for _ in range(100)]
    whole, gaps = [], []
    for _ in range(n):
        centre = rng.choice(centres)
        row = [f"{rng.gauss(c, 1):.4f}" for c in centre]
        gone = rng.choice(patterns)
        whole.append(",".join(row))
        gaps.append(",".join("" if j in gone else x for j, x in enumerate(row)))
    names = work / "whole.csv", work / "gaps.csv"
    for path, rows in zip(names, (whole, gaps)):
        path.write_text("\n".join(rows) + "\n")
    return names


def seconds(lehr, arguments, work):
    out = work / "run"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    flags = ["--start", "points", "--tol", "0", "--steps", "20", "--threads", "1", "--header", "no", "--json"]
    command = [str(lehr), "fit", "gmm", *map(str, arguments), *flags, "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    parts = json.loads(done.stdout)["seconds_by_part"]
    return parts["local"] + parts["update"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lehr", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows, lines = [], ["| items x columns, K | " + " | ".join([*SHAPES, "100 patterns missing"]) + " |"]
    lines.append("|---|" + "--:|" * (len(SHAPES) + 1))
    for n, d, k in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            whole, gaps = tables(work, n, d, k)
            fits = {shape: [whole, "-k", k, "--covariance", shape] for shape in SHAPES}
            fits["missing"] = [gaps, "-k", k, "--missing", "model"]
            found = {name: [] for name in fits}
            for round_ in range(args.rounds):
                for name, arguments in fits.items():
                    found[name].append(seconds(args.lehr, arguments, work))
                    rows.append([n, d, k, name, round_, found[name][-1]])
        ratios = [statistics.median(a / b for a, b in zip(found[name], found["full"])) for name in fits]
        full = statistics.median(found["full"]) / 20 * 1e3
        lines.append(f"| {n:,} x {d}, {k} | 1 ({full:.2f} ms) | " + " | ".join(f"{r:.2f}" for r in ratios[1:]) + " |")
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
        flags = open("/proc/cpuinfo").read()
        cpu += ", AVX-512" if "avx512f" in flags else ", AVX2"
        (args.out / "report.md").write_text(f"{cpu}; one thread; a sweep relative to one of full covariances\n\n{text}")
        with open(args.out / "raw.csv", "w", newline="") as file:
            csv.writer(file).writerows([["items", "columns", "components", "what", "round", "seconds"], *rows])


if __name__ == "__main__":
    main()
