#!/usr/bin/env python3
"""Does `--search` end higher than restarts at equal passes? Bounds of mixtures, with the command line.

    python benchsuite/search.py [--lehr target/release/lehr] [--data PIMA.csv] [--out benchsuite/runs/NAME] [--quick]

For every problem: a plain fit from 40 starts (`--n-init 40`: a bound and a number of passes each), and the search from 10
of them with 2, 4 and 10 times the passes, with all kicks, without noise, and with noise alone. A search of P passes is
compared with the best of as many plain fits, drawn at random from the 40, as P passes pay for (the last one is let
finish), in units of the plain bounds' standard deviation; above or below is more than two standard errors. Every start is
k-means++ under a fixed prior: learned priors differ a little from seed to seed, and bounds under different priors do not
compare.
Needs numpy and scikit-learn (for its tables).
"""

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from priors_tables import planted
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

STARTS, SEARCHED = 40, 10
FIXED = ["--priors", "volume", "--start", "kmeans-plus-plus"]
KICKS = {"all": [], "no noise": ["--kicks", "swap,merge,merge-birth,restart"], "noise alone": ["--kicks", "noise"]}

#  name, model, K, table: a family of planted clusters, or a real table
PROBLEMS = [
    ("round-n500-d10", "gmm", 25, ("round", 500, 10, 12, 3.0, 101)),
    ("round-n1000-d20", "dpgmm", 25, ("round", 1000, 20, 12, 4.0, 102)),
    ("any-n2000-d5", "gmm", 15, ("any", 2000, 5, 15, 3.0, 103)),
    ("any-n3000-d8", "dpgmm", 20, ("any", 3000, 8, 12, 3.0, 104)),
    ("long-n2000-d2", "gmm", 12, ("long", 2000, 2, 12, 3.0, 105)),
    ("long-n20000-d3", "gmm", 15, ("long", 20000, 3, 15, 3.0, 106)),
    ("unequal-n20000-d6", "dpgmm", 25, ("unequal", 20000, 6, 15, 3.5, 107)),
    ("tails-n1000-d5", "gmm", 10, ("t", 1000, 5, 6, 6.0, 108)),
    ("sizes-n1200-d4", "dpgmm", 25, ("sizes", 1200, 4, 10, 3.0, 109)),
    ("grid-n2500-d2", "gmm", 25, "grid"),
    ("flat-n3000-d3", "gmm", 20, "flat"),
    ("iris", "dpgmm", 10, load_iris),
    ("wine", "gmm", 10, load_wine),
    ("breast-cancer", "gmm", 10, load_breast_cancer),
    ("pima-gmm", "gmm", 10, "pima"),
    ("pima-dpgmm", "dpgmm", 25, "pima"),
]


def table(what, pima):
    rng = np.random.default_rng(11)
    if what == "grid":
        centres = np.array([(i, j) for i in range(5) for j in range(5)]) * 4.0
        return centres[rng.integers(25, size=2500)] + rng.normal(size=(2500, 2))
    if what == "flat":
        return rng.uniform(size=(3000, 3))
    if what == "pima":
        return np.loadtxt(pima, delimiter=",", skiprows=1)[:, :8] if pima else None
    if callable(what):
        return what().data
    return planted("", *what)[0]


def fit(lehr, folder, model, k, options):
    run = Path(folder) / "run"
    command = [lehr, "fit", model, str(Path(folder) / "x.csv"), "-k", str(k), "-o", str(run), "--quiet", *options]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    result = json.loads((run / "result.json").read_text())
    for path in sorted(run.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    run.rmdir()
    return result


def best_of(plain, passes, rng, draws=2000):
    """The expected best bound of random plain fits that this many passes pay for."""
    best = np.empty(draws)
    for i in range(draws):
        spent, top = 0.0, -np.inf
        for at in rng.permutation(len(plain)):
            bound, cost = plain[at]
            top, spent = max(top, bound), spent + cost
            if spent >= passes:
                break
        best[i] = top
    return best.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lehr", default="target/release/lehr")
    parser.add_argument("--data", help="the Pima table, a CSV file")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--times", type=int, nargs="*", default=[2, 4, 10], help="budgets, 4 among them")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", help="only these problems")
    parser.add_argument("--kicks", choices=KICKS, help="only these kicks")
    args = parser.parse_args()
    lehr = str(Path(args.lehr).resolve())
    base = FIXED
    budgets = [4] if args.quick else args.times
    if args.kicks:
        KICKS.update({args.kicks: KICKS[args.kicks]})
        for other in set(KICKS) - {args.kicks}:
            del KICKS[other]
    rows, lines, sums = [], [], {}
    for name, model, k, what in PROBLEMS:
        if args.only and name not in args.only:
            continue
        X = table(what, args.data)
        if X is None or (args.quick and len(X) > 3000):
            continue
        with tempfile.TemporaryDirectory() as folder:
            np.savetxt(Path(folder) / "x.csv", X, delimiter=",", fmt="%.10g")
            result = fit(lehr, folder, model, k, [*base, "--n-init", str(STARTS), "--seed", "1000"])
            plain = [(r["bound"], r["steps"] + 1) for r in result["restarts"]]
            sd = np.std([b for b, _ in plain], ddof=1)
            mean = np.mean([b for b, _ in plain])
            line = f"| {name} | {len(X)} x {X.shape[1]} | {model} {k} | {mean:.1f} | {sd:.2f} |"
            for side, options in KICKS.items():
                for times in budgets:
                    if side != "all" and times != 4:
                        continue
                    found = []
                    for seed in range(SEARCHED):
                        search = ["--search", str(times), *options, "--seed", str(seed)]
                        r = fit(lehr, folder, model, k, [*base, *search])
                        found.append((r["bound"], r["passes"], r["search"]["plain_bound"]))
                        rows.append([name, side, times, seed, r["bound"], r["passes"], r["passes_plain"], r["search"]["plain_bound"]])
                    rng = np.random.default_rng(0)
                    rival = np.mean([best_of(plain, passes, rng, 400) for _, passes, _ in found])
                    gap = np.mean([b for b, _, _ in found]) - rival
                    noise = np.std([b for b, _, _ in found], ddof=1) / np.sqrt(SEARCHED)
                    # Equal: within two standard errors of the mean over starts, or a twentieth of the spread.
                    edge = max(0.05 * sd, 2 * noise, 0.01)
                    verdict = "above" if gap > edge else "below" if gap < -edge else "equal"
                    wins = sum(b > p + 1e-9 for b, _, p in found)
                    losses = sum(b < p - 1e-6 for b, _, p in found)
                    sums.setdefault((side, times), []).append((gap / max(sd, 1e-9), verdict, wins, losses))
                    line += f" {gap / max(sd, 0.01):+.2f} ({gap:+.1f} ± {noise:.1f}) {verdict} |"
            for bound, passes in plain:
                rows.append([name, "plain", 1, "", bound, passes, passes, bound])
            lines.append(line)
            print(line, flush=True)
    sides = [(side, times) for side in KICKS for times in budgets if side == "all" or times == 4]
    head = "| problem | N x d | model, K | plain mean | sd | " + " | ".join(f"{side}, {times}x" for side, times in sides) + " |"
    total = []
    for side, times in sides:
        found = sums[side, times]
        count = {v: sum(x[1] == v for x in found) for v in ("above", "equal", "below")}
        total.append(
            f"{side}, {times}x: above / equal / below the best of {times} at equal passes {count['above']} / {count['equal']} / "
            f"{count['below']}; mean z {np.mean([x[0] for x in found]):+.2f}; above / below plain from the same start "
            f"{sum(x[2] for x in found)} / {sum(x[3] for x in found)} of {SEARCHED * len(found)}"
        )
    text = "\n".join([head, "|" + "---|" * (5 + len(sides)), *lines, "", *total]) + "\n"
    print("\n".join(total))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "summary.md").write_text(text)
        with open(args.out / "raw.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["problem", "side", "times", "seed", "bound", "passes", "passes_plain", "plain_bound"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
