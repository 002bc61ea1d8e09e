"""Would intervals of ratings be better with a noise of its own for every user, or for every user and item?

A prototype in numpy, not part of lehr: factors and biases as in `lehr fit pmf`, y_ij ~ N(m_ij, 1 / (a_i b_j)) with
a_i ~ Gamma(s, s/m) and b_j ~ Gamma(t, t), both conjugate, s, m and t by the bound.

    gunzip -c ml-1m/ratings.dat.gz > ratings.dat
    python benchsuite/rating_noise.py ratings.dat plain|user|both [SWEEPS]

needs numpy and scipy. It prints RMSE, log density and coverage of the 50, 80 and 95 % intervals on a random tenth, and the same
for fifths by the predicted deviation. docs/method/factorisation.md has what it found.
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy import stats
from scipy.special import digamma, polygamma

D = 10  # latent dimensions
WIDTHS = stats.norm.ppf([0.75, 0.9, 0.975])


def read(path):
    with open(path, encoding="latin-1") as file:
        rows = [line.split("::")[:3] for line in file]
    rows = np.array(rows, dtype=float)
    users = np.unique(rows[:, 0], return_inverse=True)[1]
    items = np.unique(rows[:, 1], return_inverse=True)[1]
    return users, items, rows[:, 2]


class Side:
    """Users' vectors [u, a, 1] or items' vectors [v, 1, b] under q: means and second moments."""

    def __init__(self, n, free, one, rng):
        self.free, self.one = free, one
        self.mean = 0.1 * rng.normal(size=(n, D + 1))
        self.mean[:, D] = 0
        self.cov = np.tile(0.01 * np.eye(D + 1), (n, 1, 1))
        self.prior = np.r_[np.ones(D), 0.3]

    def moments(self):
        n = len(self.mean)
        mean = np.zeros((n, D + 2))
        mean[:, self.free] = self.mean
        mean[:, self.one] = 1
        second = mean[:, :, None] * mean[:, None, :]
        second[np.ix_(range(n), self.free, self.free)] += self.cov
        return mean, second

    def update(self, weights, ratings, other):
        """The best q given the other side: `weights` and weighted `ratings` are sparse, this side's rows first."""
        mean, second = other.moments()
        i, j = np.triu_indices(D + 2)
        sums = np.zeros((len(self.mean), D + 2, D + 2))
        sums[:, i, j] = weights @ second[:, i, j]
        sums[:, j, i] = sums[:, i, j]
        by_rating = (ratings @ mean)[:, self.free]
        precision = sums[:, self.free][:, :, self.free] + np.diag(1 / self.prior)
        self.cov = np.linalg.inv(precision)
        self.mean = np.einsum("nij,nj->ni", self.cov, by_rating - sums[:, self.free, self.one])

    def variances(self):
        return (self.mean**2).mean(0) + np.einsum("nii->ni", self.cov).mean(0)


def errors(users, items, rows, cols, y):
    """Expected squared errors, means and variances of some pairs."""
    (mean_u, second_u), (mean_i, second_i) = users.moments(), items.moments()
    i, j = np.triu_indices(D + 2)
    packed_u = second_u[:, i, j] * np.where(i == j, 1.0, 2.0)
    packed_i = second_i[:, i, j]
    mean, square = np.empty(len(y)), np.empty(len(y))
    for start in range(0, len(y), 40_000):
        part = slice(start, start + 40_000)
        mean[part] = np.einsum("ij,ij->i", mean_u[rows[part]], mean_i[cols[part]])
        square[part] = np.einsum("ij,ij->i", packed_u[rows[part]], packed_i[cols[part]])
    return y * y - 2 * y * mean + square, mean, square - mean**2


def gamma_prior(shape, rate):
    """Shape and rate of the prior at which the bound is highest."""
    mean, log_mean = (shape / rate).mean(), (digamma(shape) - np.log(rate)).mean()
    found = 0.5 / (np.log(mean) - log_mean)
    for _ in range(30):
        step = log_mean - np.log(mean) + np.log(found) - digamma(found)
        found = 1 / (1 / found + step / (found**2 * (1 / found - polygamma(1, found))))
    return found, found / mean


def main(path, mode, sweeps=30):
    rows, cols, y = read(path)
    test = np.random.default_rng(1).random(len(y)) < 0.1
    y = y - y[~test].mean()
    held = rows[test], cols[test], y[test]
    rows, cols, y = rows[~test], cols[~test], y[~test]
    n_users, n_items = rows.max() + 1, max(cols.max(), held[1].max()) + 1
    by_user, by_item = np.bincount(rows, minlength=n_users), np.bincount(cols, minlength=n_items)
    rng = np.random.default_rng(100)
    users = Side(n_users, [*range(D), D], D + 1, rng)
    items = Side(n_items, [*range(D), D + 1], D, rng)
    a, b = np.full(n_users, 1 / 0.8), np.ones(n_items)
    prior_a, prior_b = (2.0, 1.6), (2.0, 2.0)
    start = time.time()
    for sweep in range(sweeps):
        weights = a[rows] * b[cols]
        weighted = sp.csr_matrix((weights, (rows, cols)), shape=(n_users, n_items))
        ratings = sp.csr_matrix((weights * y, (rows, cols)), shape=(n_users, n_items))
        users.update(weighted, ratings, items)
        items.update(weighted.T.tocsr(), ratings.T.tocsr(), users)
        for side in (users, items):
            found = side.variances()
            side.prior[D] = found[D]
            if side is users and sweep >= 3:
                side.prior = found
        error, _, _ = errors(users, items, rows, cols, y)
        if mode == "plain":
            a[:] = 1 / error.mean()
            continue
        q_a = prior_a[0] + by_user / 2, prior_a[1] + np.bincount(rows, error * b[cols], n_users) / 2
        a, prior_a = q_a[0] / q_a[1], gamma_prior(*q_a)
        if mode == "both":
            q_b = prior_b[0] + by_item / 2, prior_b[1] + np.bincount(cols, error * a[rows], n_items) / 2
            b, shape = q_b[0] / q_b[1], gamma_prior(*q_b)[0]
            prior_b = shape, shape  # mean 1: the users have the scale
    _, mean, variance = errors(users, items, *held)
    if mode == "plain":
        noise = np.full(len(mean), 1 / a[0])
    else:
        noise = (q_a[1] / (q_a[0] - 1))[held[0]]
        if mode == "both":
            noise = noise * (q_b[1] / (q_b[0] - 1))[held[1]]
    error, deviation = held[2] - mean, np.sqrt(variance + noise)

    def report(name, those):
        inside = [100 * (np.abs(error[those]) <= w * deviation[those]).mean() for w in WIDTHS]
        rmse, predicted = np.sqrt((error[those] ** 2).mean()), np.sqrt((deviation[those] ** 2).mean())
        print(f"{name:12} predicted {predicted:.4f}  rmse {rmse:.4f}  in 50, 80, 95 %:", *(f"{x:.1f}" for x in inside))

    density = stats.norm.logpdf(error, 0, deviation).mean()
    print(f"{mode}: {sweeps} sweeps, {time.time() - start:.0f} s; log density {density:.4f}; shapes {prior_a[0]:.1f}, {prior_b[0]:.1f}")
    report("all", np.ones(len(error), bool))
    place = np.argsort(np.argsort(deviation, kind="stable"), kind="stable") * 5 // len(deviation)
    for fifth in range(5):
        report(f"fifth {fifth + 1}", place == fifth)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 30)
