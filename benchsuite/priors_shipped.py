#!/usr/bin/env python3
"""The defaults that ship, on the tables of the study of priors: are they what the study's numpy rule promised?

    python benchsuite/priors_shipped.py [--peers benchsuite/runs/NAME] [--fresh 1000] [--out benchsuite/runs/NAME]

Run it with an interpreter in which lehr is installed. Fits every table with `priors="learned"` at K = 10, 20 and 50 (how
many clusters hold more than 1 %), at the true K (adjusted Rand index), and in ten folds (log predictive density). `--peers`
is a run of priors.py, whose numbers of scikit-learn on the same folds are compared.
"""

import argparse
import csv
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from priors_tables import tables
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import KFold

import lehr

KINDS = {"dpgmm": "dirichlet_process", "gmm": "dirichlet_distribution"}


def fitted(X, k, kind):
    mixture = lehr.BayesianGaussianMixture(
        min(k, len(X)),
        priors="learned",
        weight_concentration_prior_type=KINDS[kind],
        sort_components=True,
        reg_covar=0.0,
        max_iter=2000,
        tol=1e-4,
        random_state=0,
    )
    return mixture.fit(X)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--fresh", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    peers = defaultdict(list)
    if args.peers:
        for row in csv.DictReader(open(args.peers / "raw.csv")):
            if row["side"].startswith("sklearn"):
                peers[row["table"], row["side"][9:], row["k"], row["metric"]].append(float(row["value"]))
    of = lambda *key: float(np.mean(peers[key])) if key in peers else float("nan")  # noqa: E731
    lines = [
        "| table | N x d | true K | clusters at 10/20/50 | ARI dpgmm | gmm | Bayesian | density dpgmm | gmm | Bayesian | best of 10 |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    score = defaultdict(list)
    for table in tables(shift=args.fresh):
        X, k = table.X, table.k
        counts = [int((np.bincount(fitted(X, K, "dpgmm").predict(X)) > 0.01 * len(X)).sum()) for K in (10, 20, 50)]
        ari = {kind: adjusted_rand_score(table.truth, fitted(X, k, kind).predict(X)) for kind in KINDS}
        density = {}
        for kind in KINDS:
            for K in sorted({k, 10}):
                parts = np.zeros(len(X))
                for train, test in KFold(10, shuffle=True, random_state=0).split(X):
                    parts[test] = fitted(X[train], K, kind).log_predictive(X[test])
                density[kind, K] = parts.mean()
                for peer in ("Bayesian", "GaussianMixture, best of 10"):
                    theirs = of(table.name, peer, str(K), "density")
                    if not np.isnan(theirs):
                        score[kind, peer].append(density[kind, K] >= theirs)
        planted = table.clear is not None
        if planted:
            score["steady"].append(max(counts) - min(counts) <= 1 or (k > 10 and counts[1] == counts[2]))
            if table.clear:
                score["true"].append(all(c == min(k, K) for c, K in zip(counts, (10, 20, 50))))
        theirs = of(table.name, "Bayesian", str(k), "ari")
        score["ari", "dpgmm"].append(ari["dpgmm"])
        score["ari", "gmm"].append(ari["gmm"])
        score["ari", "Bayesian"].append(theirs)
        lines.append(
            f"| {table.name} | {len(X)} x {X.shape[1]} | {k} | {'/'.join(map(str, counts))} | {ari['dpgmm']:.2f} | {ari['gmm']:.2f} "
            f"| {theirs:.2f} | {density['dpgmm', k]:.3f} | {density['gmm', k]:.3f} "
            f"| {of(table.name, 'Bayesian', str(k), 'density'):.3f} "
            f"| {of(table.name, 'GaussianMixture, best of 10', str(k), 'density'):.3f} |"
        )
        print(lines[-1], flush=True)
    total = lambda key: f"{int(np.sum(score[key]))} of {len(score[key])}"  # noqa: E731
    lines += ["", f"Steady: {total('steady')} planted tables. True number, 4 or more deviations apart: {total('true')}."]
    lines.append(
        "Adjusted Rand index: "
        + ", ".join(f"{side} {np.nanmean(score['ari', side]):.3f}" for side in ("dpgmm", "gmm", "Bayesian"))
        + "."
    )
    for kind in KINDS:
        for peer in ("Bayesian", "GaussianMixture, best of 10"):
            lines.append(f"Density of {kind} not below scikit-learn's {peer}: {total((kind, peer))} (tables, at the true K and 10).")
    print("\n".join(lines[-6:]))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "shipped.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
