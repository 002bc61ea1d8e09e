#!/usr/bin/env python3
"""Does a matrix factorisation keep the dimensions that are there, and only those?

    python benchsuite/pmf_sparse.py --lehr old=PATH --lehr new=PATH [--only seeds,...] [--data DIR] [--out DIR]

Needs numpy. Fits planted ratings, few per user, with every `lehr` given, and real ones in DIR (`ml-1m/ratings.dat.gz` and
`netflix-10m/ratings.dat.gz`) if there is one. What a run gives is added to `raw.csv` in --out; the tables of all that is
there are printed and written to `summary.md`. Parts, for `--only`:

    seeds     500 x 300, 4 dimensions, 5 % observed, noise 0.8: ten draws, fitted with 4, 6 and 12 dimensions
    starts    the first of these draws from ten starts
    batches   four of these draws, in batches of 1000
    shapes    other sizes, densities, noises and numbers of dimensions, also none, biases, stars
    ml-1m, netflix-10m   held-out RMSE at d = 5, 10, 20, 50 (--dims) for some --seeds; --steps bounds the sweeps
"""

import argparse
import csv
import json
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

FIELDS = ["part", "case", "side", "d", "seed", "rmse", "constant", "bound", "dims", "noise", "steps", "stop", "seconds"]
PARTS = ["seeds", "starts", "batches", "shapes", "ml-1m", "netflix-10m"]
KINDS = ["plain", "plain", "bias", "decay", "stars", "plain", "nothing", "bias"]
SIZES = [(200, 150), (500, 300), (1000, 400), (300, 1000), (2000, 500)]


def planted(seed, users=500, items=300, d=4, density=0.05, noise=0.8, kind="plain"):
    """Users, items and ratings, and which of them are for training."""
    r = np.random.default_rng(seed)
    u, v = r.normal(size=(users, d)), r.normal(size=(items, d))
    u *= {"decay": 0.75 ** np.arange(d), "stars": 0.75 ** np.arange(d), "nothing": np.zeros(d)}.get(kind, np.ones(d))
    pairs = np.argwhere(r.random((users, items)) < density)
    i, j = pairs.T
    y = 3 + (u[i] * v[j]).sum(1) + noise * r.normal(size=len(pairs))
    train = r.random(len(y)) < 0.9
    if kind in ("bias", "stars", "nothing"):
        y += 0.7 * r.normal(size=users)[i] + 0.7 * r.normal(size=items)[j]
    if kind == "stars":
        y = np.clip(np.round(3 + (y - 3) / 2), 1, 5)
    return pairs, y, train


def shapes():
    """Other planted cases, each with its name and its number of dimensions."""
    r = np.random.default_rng(12345)
    for k in range(40):
        (users, items), kind = SIZES[k % 5], KINDS[k % 8]
        d = int(r.integers(2, 9))
        density, noise = float(np.exp(r.uniform(np.log(0.03), np.log(0.2)))), float(r.uniform(0.3, 1.5))
        name = f"{kind} {users} x {items}, d = {d}, {100 * density:.1f} %, noise {noise:.2f}"
        yield k, name, d, planted(1000 + k, users, items, d, density, noise, kind)


def write(path, pairs, y):
    with open(path, "w") as file:
        file.write("user,item,rating\n")
        file.writelines(f"{i},{j},{rating:.5f}\n" for (i, j), rating in zip(pairs, y))


def told(*command):
    return json.loads(subprocess.run([str(x) for x in command], capture_output=True, text=True, check=True).stdout)


def fit(lehr, path, d, seed, run, *more):
    command = [lehr, "fit", "pmf", path, "-d", d, "--seed", seed, "--threads", 1, "--quiet", "--json", "-o", run]
    return told(*command, *more)


def row(part, case, side, d, seed, found, rmse, constant=""):
    measures = found["measures"]
    values = [part, case, side, d, seed, rmse, constant, found["bound"], int(measures["dims_in_use"])]
    return values + [measures["noise_variance"], found["steps"], found["stop"], found["seconds"]]


def planted_runs(part, sides):
    draws = {"seeds": range(10), "starts": [0] * 10, "batches": range(4)}
    if part == "shapes":
        jobs = ((name, k, planted_data, (d, 12)) for k, name, d, planted_data in shapes())
    else:
        jobs = ((f"draw {s}", k, planted(s), (4, 6, 12)) for k, s in enumerate(draws[part]))
    more = ["--batch", 1000, "--steps", 3000] if part == "batches" else []
    for name, seed, (pairs, y, train), dims in jobs:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            write(folder / "train.csv", pairs[train], y[train])
            write(folder / "test.csv", pairs[~train], y[~train])
            for d in dims:
                for side, lehr in sides:
                    run = folder / f"{side}-{d}"
                    found = fit(lehr, folder / "train.csv", d, seed, run, *more)
                    scores = told(lehr, "eval", run, folder / "test.csv", "--json")
                    yield row(part, name, side, d, seed, found, scores["rmse"], scores["constant_rmse"])


def real_runs(part, sides, data, dims, steps, seeds):
    path = data / part / "ratings.dat.gz"
    more = ["--holdout", 0.1] + (["--steps", steps] if steps else [])
    for d, seed in ((d, seed) for d in dims for seed in seeds):
        for side, lehr in sides:
            with tempfile.TemporaryDirectory() as folder:
                found = fit(lehr, path, d, seed, Path(folder) / "run", *more)
                case = f"at most {steps} sweeps" if steps else "until converged"
                yield row(part, case, side, d, seed, found, found["measures"]["rmse"])


def tables(rows):
    sides = list(dict.fromkeys(r["side"] for r in rows))
    runs = defaultdict(dict)
    for r in rows:
        runs[r["part"], r["case"], int(r["d"]), int(r["seed"])][r["side"]] = r
    for part in PARTS:
        chosen = {key: run for key, run in runs.items() if key[0] == part}
        if not chosen:
            continue
        yield f"\n## {part}\n\nHeld-out RMSE (dimensions in use; sweeps)\n"
        yield "| case | d | seed | " + " | ".join(sides) + " |\n|---|--:|--:|" + "--:|" * len(sides)
        for (_, case, d, seed), run in chosen.items():
            cells = [run.get(side) for side in sides]
            text = [f"{float(r['rmse']):.4f} ({r['dims']}; {r['steps']})" if r else "" for r in cells]
            yield f"| {case} | {d} | {seed} | " + " | ".join(text) + " |"
        for d in sorted({key[2] for key in chosen}) if part in ("seeds", "starts", "batches") else []:
            for side in sides:
                found = [float(run[side]["rmse"]) for key, run in chosen.items() if key[2] == d and side in run]
                if found:
                    yield f"\n{side}, d = {d}: mean {np.mean(found):.3f}, worst {max(found):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lehr", action="append", required=True, metavar="NAME=PATH")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--dims", default="5,10,20,50")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchsuite/work/pmf-sparse"))
    args = parser.parse_args()
    sides = [side.split("=", 1) for side in args.lehr]
    args.out.mkdir(parents=True, exist_ok=True)
    raw = args.out / "raw.csv"
    fresh = not raw.exists()
    with open(raw, "a", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if fresh:
            out.writerow(FIELDS)
        for part in args.only.split(","):
            if part in ("ml-1m", "netflix-10m"):
                dims = [int(d) for d in args.dims.split(",")]
                seeds = [int(seed) for seed in args.seeds.split(",")]
                rows = real_runs(part, sides, args.data, dims, args.steps, seeds) if args.data else []
            else:
                rows = planted_runs(part, sides)
            for values in rows:
                out.writerow(values)
                file.flush()
    with open(raw, newline="") as file:
        summary = "\n".join(tables(list(csv.DictReader(file)))).strip() + "\n"
    (args.out / "summary.md").write_text(summary)
    print(summary)


if __name__ == "__main__":
    main()
