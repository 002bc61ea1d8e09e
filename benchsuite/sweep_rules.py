#!/usr/bin/env python3
"""Which rule finds the planted number of clusters in a sweep: 60 mixtures, five rules.

    python benchsuite/sweep_rules.py [--out benchsuite/runs/NAME]

Needs the lehr package. Every choice goes to choices.csv, the counts to summary.md.
"""

import argparse
import collections
import csv
import warnings
from pathlib import Path

import lehr
import numpy as np

PROBLEMS = 60
SIZES = range(1, 10)


def problem(seed):
    """Planted clusters, no two closer than `apart` deviations: their number, that, and the points."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    n, apart = int(rng.choice([150, 300, 600])), float(rng.choice([3.0, 4.0, 6.0]))
    while True:
        means = rng.normal(size=(k, d)) * apart * 1.2
        distances = np.linalg.norm(means[:, None] - means[None], axis=-1) + 1e9 * np.eye(k)
        if distances.min() >= apart:
            break
    of = rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0)))
    roots = [np.linalg.cholesky(0.6 * np.eye(d) + 0.4 * np.cov(rng.normal(size=(d, 3 * d)))) for _ in range(k)]
    return k, apart, np.array([means[j] + roots[j] @ rng.normal(size=d) for j in of])


def choices(found, n_items):
    """The row that each rule takes."""
    scores = np.array(found.heldouts_)
    mean, folds = scores.mean(axis=1), scores.shape[1]
    best = mean.argmax()
    behind = scores[best] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(folds)
    own_error = scores[best].std(ddof=1) / np.sqrt(folds)

    def simplest(within):
        rows = np.flatnonzero(within)
        return rows[found["parameters"][rows].argmin()]

    return {
        "within one error of the difference (lehr)": simplest(behind.mean(axis=1) <= np.maximum(error, 1 / n_items)),
        "within two errors of the difference": simplest(behind.mean(axis=1) <= 2 * error),
        "within one error of the best score": simplest(mean >= mean[best] - own_error),
        "the best score": best,
        "the best bound": found["bound"].argmax(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, rows = collections.defaultdict(collections.Counter), []
    for seed in range(PROBLEMS):
        k, apart, points = problem(seed)
        mixture = lehr.BayesianGaussianMixture(
            weight_concentration_prior_type="dirichlet_distribution", priors="learned", random_state=0, max_iter=300
        )
        found = lehr.sweep(mixture, points, n_components=SIZES)
        taken = choices(found, len(points))
        assert found["recommended"][taken["within one error of the difference (lehr)"]]
        for rule, row in taken.items():
            size = int(found["n_components"][row])
            counts[rule]["right" if size == k else "too many" if size > k else "too few"] += 1
            rows.append([seed, *points.shape, apart, k, rule, size])
    lines = ["| rule | right | too few | too many |", "|---|--:|--:|--:|"]
    lines += [f"| {rule} | {c['right']} | {c['too few']} | {c['too many']} |" for rule, c in counts.items()]
    print("\n".join(lines))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "summary.md").write_text("\n".join(lines) + "\n")
        with open(args.out / "choices.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["seed", "n", "d", "apart", "planted", "rule", "taken"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
