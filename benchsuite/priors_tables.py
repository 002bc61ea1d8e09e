"""The tables of the study of priors and starts: planted mixtures and three real tables, each with its seed.

A planted table has unit-scale clusters whose means are at least `apart` deviations from each other (of the wider
cluster, along the line between the two); then the whole table is stretched by a random diagonal matrix and shifted, so that
nothing can rely on units.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

#        name                 family        N   d   K  apart  seed
PLANTED = [
    ("sep-d1-k3",            "round",      300,  1,  3,  6.0,  1),
    ("sep-d2-k4",            "round",      400,  2,  4,  6.0,  2),
    ("sep-d2-k12",           "round",     2400,  2, 12,  5.0,  3),
    ("sep-d3-k7",            "any",       1000,  3,  7,  5.0,  4),
    ("sep-d5-k6",            "any",        900,  5,  6,  4.5,  5),
    ("sep-d5-k2-n50",        "round",       50,  5,  2,  5.0,  6),
    ("sep-d8-k10",           "any",       3000,  8, 10,  4.5,  7),
    ("sep-d10-k3",           "round",      300, 10,  3,  6.0,  8),
    ("sep-d10-k5-n5000",     "any",       5000, 10,  5,  4.0,  9),
    ("sep-d20-k4",           "round",      800, 20,  4,  6.0, 10),
    ("sep-d20-k3-n150",      "round",      150, 20,  3,  6.0, 11),
    ("sep-d2-k9-n200",       "round",      200,  2,  9,  6.0, 12),
    ("one-d1",               "round",      200,  1,  1,  0.0, 13),
    ("one-d2",               "any",        500,  2,  1,  0.0, 14),
    ("one-d10",              "any",        200, 10,  1,  0.0, 15),
    ("one-d20-n60",          "any",         60, 20,  1,  0.0, 16),
    ("overlap-d1-k2",        "round",      500,  1,  2,  2.5, 17),
    ("overlap-d2-k5",        "round",     1000,  2,  5,  2.5, 18),
    ("overlap-d5-k4",        "any",        800,  5,  4,  2.5, 19),
    ("overlap-d10-k8",       "any",       2000, 10,  8,  3.0, 20),
    ("long-d2-k3",           "long",       500,  2,  3,  4.0, 21),
    ("long-d2-k6",           "long",      1500,  2,  6,  4.0, 22),
    ("long-d5-k4",           "long",      1000,  5,  4,  4.0, 23),
    ("tails-d2-k4",          "t",         1000,  2,  4,  8.0, 24),
    ("tails-d5-k3",          "t",          600,  5,  3,  8.0, 25),
    ("unequal-d2-k5",        "unequal",   1000,  2,  5,  5.0, 26),
    ("unequal-d6-k8",        "unequal",   2000,  6,  8,  5.0, 27),
    ("sizes-d2-k4",          "sizes",      800,  2,  4,  4.0, 28),
    ("sizes-d4-k6",          "sizes",     1200,  4,  6,  4.0, 29),
]  # fmt: skip

REAL = {"iris": load_iris, "wine": load_wine, "breast-cancer": load_breast_cancer}


def shape(rng, family, d):
    """A matrix whose columns span a cluster: x = mean + L noise."""
    if family in ("round", "t", "unequal"):
        return np.eye(d)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    low, high = {"any": (0.5, 1.5), "long": (0.15, 0.4), "sizes": (1.0, 1.0)}[family]
    spread = rng.uniform(low, high, size=d)
    if family == "long":
        spread[0] = 3.0
    if family == "sizes":
        spread *= np.exp(rng.uniform(np.log(0.3), np.log(2.0)))
    return turn * spread


def planted(name, family, n, d, k, apart, seed):
    rng = np.random.default_rng([2026, seed])
    shapes = [shape(rng, family, d) for _ in range(k)]
    side, means = apart * k ** (1 / d) * 0.6, []

    def deviations(v, i, j):
        """How many deviations v is long, of the wider of two clusters along it."""
        return np.sqrt(v @ v) / max(np.linalg.norm(shapes[c].T @ v) / np.linalg.norm(v) for c in (i, j))

    while len(means) < k:
        x = rng.uniform(-side, side, size=d)
        if all(deviations(x - m, i, len(means)) >= apart for i, m in enumerate(means)):
            means.append(x)
        else:
            side *= 1.01
    # The nearest two exactly so far apart.
    means = np.array(means)
    if k > 1:
        near = min(deviations(means[i] - means[j], i, j) for j in range(k) for i in range(j))
        means *= apart / near
    share = np.ones(k) / k
    if family == "unequal":
        share = 0.6 ** np.arange(k) + 0.03
        share /= share.sum()
    counts = np.maximum(np.round(share * n).astype(int), 3)
    truth = np.repeat(np.arange(k), counts)
    noise = rng.normal(size=(len(truth), d))
    if family == "t":
        noise /= np.sqrt(rng.chisquare(4, size=(len(truth), 1)) / 4)
    X = np.array([means[c] + shapes[c] @ e for c, e in zip(truth, noise)])
    order = rng.permutation(len(truth))
    X = X[order] * np.exp(rng.normal(size=d)) + 10 * rng.normal(size=d)
    return np.ascontiguousarray(X), truth[order]


class Table:
    def __init__(self, name, family, X, truth, clear):
        self.name, self.family, self.X, self.truth, self.clear = name, family, X, truth, clear
        self.k = len(np.unique(truth))


def tables(quick=False, shift=0):
    """All tables; with a shift, planted ones of other seeds only."""
    out = []
    for row in PLANTED[:: 4 if quick else 1]:
        X, truth = planted(*row[:-1], row[-1] + shift)
        name, family, _, _, k, apart, _ = row
        # Where the number of clusters must be found: Gaussian clusters, 4 or more deviations apart (or one).
        clear = family != "t" and (apart >= 4 or k == 1)
        out.append(Table(f"{name}+{shift}" if shift else name, family, X, truth, clear))
    if shift:
        return out
    for name, load in list(REAL.items())[: 1 if quick else None]:
        data = load()
        out.append(Table(name, "real", np.ascontiguousarray(data.data), data.target, None))
    return out
