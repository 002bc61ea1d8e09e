#!/usr/bin/env python3
"""Which priors and starts suit Gaussian mixtures: candidates compared on planted and real tables.

    python benchsuite/priors.py [--quick] [--only TABLE ...] [--side lehr|ablation|sklearn ...]
    python benchsuite/priors.py --summary benchsuite/runs/NAME

Run it with an interpreter in which lehr is installed (`pip install .`), which brings numpy, scipy and scikit-learn.
Every number goes to benchsuite/runs/<date>-<cpu>-priors/raw.csv as it comes; the tables are printed at the end and
written next to it. `--summary` prints them again from what is there. One thread. The tables are in priors_tables.py, the
rules in priors_rules.py. docs/method/priors.md has what came out.
"""

import argparse
import csv
import datetime
import os
import re
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from scipy.special import gammaln, logsumexp  # noqa: E402
from sklearn.cluster import KMeans, kmeans_plusplus  # noqa: E402
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score  # noqa: E402
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture  # noqa: E402
from sklearn.model_selection import KFold  # noqa: E402
from sklearn.neighbors import NearestNeighbors  # noqa: E402

from priors_rules import Parts, Prior, default_prior_and_start, standardised, sweep  # noqa: E402
from priors_tables import tables  # noqa: E402

HERE = Path(__file__).resolve().parent
TRUNCATIONS = (10, 20, 50)
FOLDS = 10
NOISE = 0.002  # nats an item; smaller differences of densities are none


# --- Candidates: X, K, kind -> prior and start ---------------------------------


def covariance(X):
    C = np.cov(X.T).reshape(X.shape[1], X.shape[1])
    C[np.diag_indices(len(C))] *= 1 + 1e-6
    return C


def weak(X, A0, alpha):
    """m0 = mean, nu0 = d + 2, beta0 = 0.01: what lehr had."""
    return Prior(X.mean(0), 0.01, X.shape[1] + 2.0, A0, alpha)


def concentration(kind, k):
    return 1.0 if kind == "dpgmm" else 1.0 / k


def before(X, k, kind):
    return weak(X, covariance(X) * k ** (-2 / X.shape[1]), concentration(kind, k))


def of_data(share):
    return lambda X, k, kind: weak(X, covariance(X) * share, concentration(kind, k))


def as_sklearn(X, k, kind):
    return Prior(X.mean(0), 1.0, float(X.shape[1]), covariance(X), 1.0 / k)


def of_neighbours(X, k, kind):
    """Half the mean outer product of the differences to a neighbour, the 10 % nearest in turn."""
    Z, _, scale = standardised(X, np.ones(len(X)))
    near = max(2, len(X) // 10)
    index = NearestNeighbors(n_neighbors=near + 1).fit(Z).kneighbors(Z, return_distance=False)
    e = Z - Z[index[np.arange(len(Z)), 1 + np.arange(len(Z)) % near]]
    A0 = e.T @ e / (2 * len(Z))
    A0[np.diag_indices(len(A0))] *= 1 + 1e-6
    return weak(X, A0 * np.outer(scale, scale), concentration(kind, k))


def within_kmeans(X, k, kind):
    """The pooled covariance within the clusters of k-means, as many as Calinski and Harabasz say (2 to 10)."""
    Z, _, scale = standardised(X, np.ones(len(X)))
    Z = np.ascontiguousarray(Z)
    runs = [KMeans(n_clusters=c, n_init=1, random_state=0).fit(Z) for c in range(2, min(11, len(X) // 2))]
    best = max(runs, key=lambda run: calinski_harabasz_score(Z, run.labels_))
    e = Z - best.cluster_centers_[best.labels_]
    A0 = e.T @ e / len(Z) + 1e-6 * np.eye(X.shape[1])
    return weak(X, A0 * np.outer(scale, scale), concentration(kind, k))


def empirical(X, k, kind):
    """W0^-1 = nu0 K (sum of E[Lambda])^-1 over the clusters with an item or more, five times from the data's."""
    prior = weak(X, covariance(X), concentration(kind, k))
    for _ in range(5):
        fit = lehr_fit(X, k, kind, prior, "kmeans")
        occupied = fit.weights_ * len(X) > 1
        total = sum(fit.precisions_[occupied])
        prior.A0 = prior.nu0 * occupied.sum() * np.linalg.inv(total)
    return prior


def greedy(X, k):
    """k-means++ with the best of several items for every seed, as scikit-learn has it; items to the nearest."""
    Z = standardised(X, np.ones(len(X)))[0]
    centres, _ = kmeans_plusplus(Z, k, random_state=0)
    labels = ((Z[:, None] - centres) ** 2).sum(2).argmin(1)
    return np.eye(k)[labels]


class Rule:
    """What the rule finds for one table, kept for all K that admit it."""

    def __init__(self, X, **options):
        self.X, self.options, self.known = X, options, {}

    def __call__(self, k, kind):
        for most, (prior, _, R, search) in self.known.items():
            if most == k or (R > 0).any(0).sum() <= k <= most:
                break
        else:
            prior, items, R = default_prior_and_start(self.X, k, kind, **self.options)
            search = default_prior_and_start.search
            if len(items) < len(self.X):  # the others by one sweep
                parts = Parts.of(self.X[items], np.ones(len(items)), R[:, (R > 0).any(0)])
                R = sweep(self.X, np.ones(len(self.X)), parts, with_alpha(prior, 1.0))[0]
            self.known[k] = prior, items, R, search
        used = (R > 0).any(0).sum()
        start = np.zeros((len(R), k))
        start[:, :used] = R[:, :used]
        alpha = concentration(kind, k)
        return Prior(prior.m0, prior.beta0, prior.nu0, prior.A0, alpha), start, search

    def full(self, k):
        """K clusters: this many as the joins of the search have at K."""
        search = self(k, "gmm")[2]
        if search.exact is None or k not in search.exact[1] or len(search.Z) < len(self.X):
            return "kmeans"
        fine, path = search.exact
        return np.eye(k)[path[k][1][fine]]


def with_alpha(prior, alpha):
    return Prior(prior.m0, prior.beta0, prior.nu0, prior.A0, alpha)


# name: (kinds, how)
CANDIDATES = {
    "before":                  ("dpgmm gmm", lambda X, k, kind, rule: (before(X, k, kind), "k-means++")),
    "before, k-means":         ("gmm",       lambda X, k, kind, rule: (before(X, k, kind), "kmeans")),
    "before, points":          ("gmm",       lambda X, k, kind, rule: (before(X, k, kind), "random_from_data")),
    "before, greedy":          ("gmm",       lambda X, k, kind, rule: (before(X, k, kind), greedy(X, k))),
    "before, joined":          ("dpgmm gmm", lambda X, k, kind, rule: (before(X, k, kind), rule(k, kind)[1])),
    "scikit-learn's":          ("dpgmm gmm", lambda X, k, kind, rule: (as_sklearn(X, k, kind), "kmeans")),
    "covariance":              ("dpgmm gmm", lambda X, k, kind, rule: (of_data(1)(X, k, kind), "kmeans")),
    "covariance, joined":      ("dpgmm",     lambda X, k, kind, rule: (of_data(1)(X, k, kind), rule(k, kind)[1])),
    "covariance/4":            ("dpgmm",     lambda X, k, kind, rule: (of_data(0.25)(X, k, kind), "kmeans")),
    "neighbours":              ("dpgmm",     lambda X, k, kind, rule: (of_neighbours(X, k, kind), "kmeans")),
    "within k-means":          ("dpgmm",     lambda X, k, kind, rule: (within_kmeans(X, k, kind), "kmeans")),
    "empirical Bayes":         ("dpgmm",     lambda X, k, kind, rule: (empirical(X, k, kind), "kmeans")),
    "learned, k-means++":      ("gmm",       lambda X, k, kind, rule: (rule(k, kind)[0], "k-means++")),
    "learned, k-means":        ("dpgmm gmm", lambda X, k, kind, rule: (rule(k, kind)[0], "kmeans")),
    "learned, joined":         ("dpgmm gmm", lambda X, k, kind, rule: rule(k, kind)[:2]),
    "learned, joined to K":    ("gmm",       lambda X, k, kind, rule: (rule(k, kind)[0], rule.full(k))),
    "learned, joined, a0 = 1": ("gmm",       lambda X, k, kind, rule: (with_alpha(rule(k, kind)[0], 1.0), rule(k, kind)[1])),
    "learned, joined, alpha = 0.1": ("dpgmm", lambda X, k, kind, rule: (with_alpha(rule(k, kind)[0], 0.1), rule(k, kind)[1])),
    "learned, joined, alpha = 5": ("dpgmm",  lambda X, k, kind, rule: (with_alpha(rule(k, kind)[0], 5.0), rule(k, kind)[1])),
}  # fmt: skip
SHIPS = "learned, joined"
GMM = "gmm: learned, joined to K"

# The rule with a part of it left out or changed.
ABLATIONS = {
    "as it is": {},
    "nu0 = d + 2": {"nu0": lambda d: d + 2.0},
    "nu0 = 3 d + 2": {"nu0": lambda d: 3.0 * d + 2},
    "beta0 = 0.01": {"beta0": 0.01},
    "prior not learned": {"learn": False},
    "pieces do not adapt": {"adapt": False},
    "joins by evidence alone": {"soft": 0},
    "scatter not paid for": {"paid": False},
}


# --- Fits --------------------------------------------------------------------


def lehr_fit(X, k, kind, prior, start, seed=0):
    import lehr

    weights = {"dpgmm": "dirichlet_process", "gmm": "dirichlet_distribution"}[kind]
    return lehr.BayesianGaussianMixture(
        k, weight_concentration_prior_type=weights, weight_concentration_prior=prior.alpha, mean_prior=prior.m0,
        mean_precision_prior=prior.beta0, degrees_of_freedom_prior=prior.nu0, covariance_prior=prior.A0,
        init_params=start, init_units="deviations", sort_components=True, reg_covar=0, max_iter=2000,
        tol=1e-4 * max(1.0, len(X) / 1000), random_state=seed, n_jobs=1,
    ).fit(X)  # fmt: skip


def above_one_percent(labels):
    return int((np.bincount(labels) > 0.01 * len(labels)).sum())


def student_density(fit, X):
    """The predictive density that scikit-learn's Bayesian mixture could give: a mixture of Student t."""
    d, out = X.shape[1], []
    for k, weight in enumerate(fit.weights_):
        nu, beta = fit.degrees_of_freedom_[k], fit.mean_precision_[k]
        df = nu + 1 - d
        L = np.linalg.cholesky(fit.covariances_[k] * nu * (1 + beta) / (beta * df))
        square = (np.linalg.solve(L, (X - fit.means_[k]).T) ** 2).sum(0)
        out.append(
            np.log(weight + 1e-300) + gammaln((df + d) / 2) - gammaln(df / 2) - d / 2 * np.log(df * np.pi)
            - np.log(np.diag(L)).sum() - (df + d) / 2 * np.log1p(square / df)
        )  # fmt: skip
    return logsumexp(out, axis=0)


def folds(X, how_many=FOLDS):
    return list(KFold(FOLDS, shuffle=True, random_state=0).split(X))[:how_many]


def run_lehr(table, rows):
    X, n = table.X, len(table.X)
    whole = Rule(X)
    for name, (kinds, how) in CANDIDATES.items():
        for kind in kinds.split():
            side = f"{kind}: {name}"
            if kind == "dpgmm":
                for k in (k for k in TRUNCATIONS if k <= n):
                    fit = lehr_fit(X, k, kind, *how(X, k, kind, whole))
                    rows(side, k, "clusters", above_one_percent(fit.predict(X)))
                    rows(side, k, "sweeps", fit.n_iter_)
            fit = lehr_fit(X, table.k, kind, *how(X, table.k, kind, whole))
            rows(side, table.k, "ari", adjusted_rand_score(table.truth, fit.predict(X)))
    density = defaultdict(list)
    for train, test in folds(X):
        rule = Rule(X[train])
        rule(min(50, len(train)), "dpgmm")  # one search for all K, unless it finds more clusters than K
        for name, (kinds, how) in CANDIDATES.items():
            for kind in kinds.split():
                for k in sorted({table.k, 10}):
                    fit = lehr_fit(X[train], k, kind, *how(X[train], k, kind, rule))
                    density[f"{kind}: {name}", k].append(fit.log_predictive(X[test]))
    for (side, k), parts in density.items():
        rows(side, k, "density", np.concatenate(parts).mean())


def run_fresh(table, rows):
    """The rule and what was before, on tables that nothing was chosen by."""
    X, n = table.X, len(table.X)
    whole = Rule(X)
    for name in (SHIPS, "before"):
        how = CANDIDATES[name][1]
        for k in sorted({k for k in (*TRUNCATIONS, table.k) if k <= n}):
            fit = lehr_fit(X, k, "dpgmm", *how(X, k, "dpgmm", whole))
            rows(f"dpgmm: {name}", k, "clusters", above_one_percent(fit.predict(X)))
            if k == table.k:
                rows(f"dpgmm: {name}", k, "ari", adjusted_rand_score(table.truth, fit.predict(X)))
        fit = lehr_fit(X, table.k, "gmm", *how(X, table.k, "gmm", whole))
        rows(f"gmm: {name}", table.k, "ari", adjusted_rand_score(table.truth, fit.predict(X)))


def run_ablation(table, rows):
    """The dpgmm, truncated at 20, small tables only. Density by three folds where the number of clusters is no test."""
    X = table.X
    if len(X) > 1000:
        return
    for name, options in ABLATIONS.items():
        side = f"rule: {name}"
        prior, start, search = Rule(X, **options)(20, "dpgmm")
        fit = lehr_fit(X, 20, "dpgmm", prior, start)
        rows(side, 20, "clusters", above_one_percent(fit.predict(X)))
        rows(side, 20, "cost", search.cost)
        if table.clear:
            continue
        parts = []
        for train, test in folds(X, 3):
            prior, start, _ = Rule(X[train], **options)(20, "dpgmm")
            parts.append(lehr_fit(X[train], 20, "dpgmm", prior, start).log_predictive(X[test]))
        rows(side, 20, "density", np.concatenate(parts).mean())


def run_sklearn(table, rows):
    X, n = table.X, len(table.X)

    def bayesian(k, kind="dirichlet_process", seed=0):
        return BayesianGaussianMixture(
            n_components=k, weight_concentration_prior_type=kind, max_iter=500, random_state=seed
        )

    for k in (k for k in TRUNCATIONS if k <= n):
        rows("sklearn: Bayesian", k, "clusters", above_one_percent(bayesian(k).fit_predict(X)))
    for kind, side in (("dirichlet_process", "Bayesian"), ("dirichlet_distribution", "Bayesian, Dirichlet")):
        for seed in range(3):
            labels = bayesian(table.k, kind, seed).fit_predict(X)
            rows(f"sklearn: {side}", table.k, "ari", adjusted_rand_score(table.truth, labels))
    for k in sorted({table.k, 10}):
        parts = defaultdict(list)
        for train, test in folds(X):
            fit = bayesian(k).fit(X[train])
            parts["Bayesian"].append(fit.score_samples(X[test]))
            parts["Bayesian, Student t"].append(student_density(fit, X[test]))
            best = GaussianMixture(n_components=k, n_init=10, max_iter=200, random_state=0).fit(X[train])
            parts["GaussianMixture, best of 10"].append(best.score_samples(X[test]))
        for side, part in parts.items():
            rows(f"sklearn: {side}", k, "density", np.concatenate(part).mean())


# --- Tables ------------------------------------------------------------------


def read(directory):
    out = defaultdict(list)
    for path in sorted(directory.glob("raw*.csv")):
        for row in csv.DictReader(path.open()):
            out[row["table"], row["side"], int(row["k"]), row["metric"]].append(float(row["value"]))
    return {key: float(np.mean(values)) for key, values in out.items()}


def markdown(header, lines):
    out = ["| " + " | ".join(header) + " |", "|---" + "|--:" * (len(header) - 1) + "|"]
    return "\n".join(out + ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def summary(directory, known):
    value = read(directory)
    sides = list(dict.fromkeys(key[1] for key in value))
    done = [t for t in known if any(key[0] == t.name and key[1].endswith(SHIPS) for key in value)]
    text = []

    def of(table, side, k, metric):
        return value.get((table.name, side, k, metric), np.nan)

    # Every candidate in a line.
    lines = []
    for side in (s for s in sides if not s.startswith("rule: ")):
        clear = [t for t in done if t.clear and t.family != "real"]
        counts = {t.name: [of(t, side, k, "clusters") for k in TRUNCATIONS if k <= len(t.X) and k >= t.k] for t in done}
        counts = {name: c for name, c in counts.items() if c and not np.isnan(c).any()}
        clear = [t for t in clear if counts.get(t.name)]
        right = sum(counts[t.name] == [t.k] * len(counts[t.name]) for t in clear)
        planted = [c for t in done if t.family != "real" and (c := counts.get(t.name))]
        steady = sum(max(c) - min(c) <= 1 for c in planted)
        ari = [of(t, side, t.k, "ari") for t in done if t.k > 1]

        def against(other, side=side):
            pairs = [(of(t, side, k, "density"), of(t, other, k, "density")) for t in done for k in {t.k, 10}]
            pairs = [(a, b) for a, b in pairs if not np.isnan(a + b)]
            return f"{sum(a >= b - NOISE for a, b in pairs)}/{len(pairs)}" if pairs else ""

        gap = [of(t, side, k, "density") - of(t, f"dpgmm: {SHIPS}", k, "density") for t in done for k in {t.k, 10}]
        lines.append([
            side,
            f"{steady}/{len(planted)}" if planted else "",
            f"{right}/{len(clear)}" if planted else "",
            f"{np.nanmean(ari):.3f}" if not np.isnan(ari).all() else "",
            f"{np.nanmean(gap):+.3f}" if not np.isnan(gap).all() else "",
            f"{np.nanmin(gap):+.2f} to {np.nanmax(gap):+.2f}" if not np.isnan(gap).all() else "",
            against("sklearn: Bayesian"),
            against("sklearn: Bayesian, Student t"),
            against("sklearn: GaussianMixture, best of 10"),
        ])  # fmt: skip
    text.append(markdown(
        ["", "steady", "true number", "ARI", "density less the rule's", "from to", ">= Bayesian", ">= its Student t", ">= best of 10"],
        lines,
    ))  # fmt: skip

    # Every table in a line.
    ship, old, peer = f"dpgmm: {SHIPS}", "dpgmm: before", "sklearn: Bayesian"
    lines = []
    for t in done:
        show = lambda side, t=t: "/".join(f"{of(t, side, k, 'clusters'):.0f}" for k in TRUNCATIONS if k <= len(t.X))  # noqa: E731
        lines.append([
            t.name, f"{len(t.X)} x {t.X.shape[1]}", str(t.k), show(ship), show(old), show(peer),
            *(f"{of(t, side, t.k, 'density'):.3f}" for side in
              (ship, GMM, old, peer + ", Student t", "sklearn: GaussianMixture, best of 10")),
            *(f"{of(t, side, t.k, 'ari'):.2f}" for side in (ship, GMM, old, peer)),
        ])  # fmt: skip
    text.append(markdown(
        ["", "N x d", "K", "clusters: rule", "before", "scikit-learn", "density at K: dpgmm", "gmm", "before",
         "Bayesian", "best of 10", "ARI at K: dpgmm", "gmm", "before", "Bayesian"],
        lines,
    ))  # fmt: skip

    lines = []
    for side in (s for s in sides if s.startswith("rule: ")):
        judged = [t for t in known if not np.isnan(of(t, side, 20, "clusters"))]
        clear = [t for t in judged if t.clear]
        right = sum(of(t, side, 20, "clusters") == t.k for t in clear)
        gap = [of(t, side, 20, "density") - of(t, "rule: as it is", 20, "density") for t in judged]
        cost = [of(t, side, 20, "cost") for t in judged]
        lines.append([
            side.removeprefix("rule: "), f"{right}/{len(clear)}", f"{np.nanmean(gap):+.4f}",
            f"{np.nanmin(gap):+.2f} to {np.nanmax(gap):+.2f}", f"{np.mean(cost):.0f}",
        ])  # fmt: skip
    if lines:
        header = ["the rule with a change", "true number at 20", "density less the rule's", "from to", "sweeps at K = 50"]
        text.append(markdown(header, lines))
    return "\n".join(text)


def cpu():
    try:
        return re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few tables only")
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="these tables only")
    parser.add_argument("--side", nargs="+", choices=["lehr", "ablation", "sklearn"], default=["lehr", "ablation", "sklearn"])
    parser.add_argument("--fresh", type=int, metavar="S", help="planted tables with seeds S higher, numbers of clusters and ARI only")
    parser.add_argument("--out", type=Path, help="where to write")
    parser.add_argument("--raw", default="raw.csv", help="the name of the raw results")
    parser.add_argument("--summary", type=Path, metavar="DIR", help="print the tables of a run and end")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    shift = options.fresh or 0
    chosen = tables(options.quick, shift)
    if options.summary:
        print(summary(options.summary, chosen))
        return
    short = "-".join(re.sub(r"\(.*?\)", "", cpu()).lower().split()[:2])
    out = options.out or HERE / "runs" / f"{datetime.date.today()}-{short}-priors"
    out.mkdir(parents=True, exist_ok=True)
    chosen = [t for t in chosen if not options.only or t.name in options.only]
    with (out / options.raw).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "side", "k", "metric", "value"])
        for table in chosen:
            begin = time.perf_counter()
            for side in ["fresh"] if shift else options.side:
                {"fresh": run_fresh, "lehr": run_lehr, "ablation": run_ablation, "sklearn": run_sklearn}[side](
                    table, lambda side, k, metric, x, t=table: writer.writerow([t.name, side, k, metric, f"{x:.6g}"])
                )
            file.flush()
            print(f"{table.name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    text = summary(out, tables(options.quick, shift))
    (out / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
