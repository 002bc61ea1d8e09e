"""Figure 1 of the paper with S_t = Omega to the letter: |S| is the number of all ratings, for every row.

lehr reads it so that each user and item has its own ratings as |S| (docs/paper/results.md). To the letter a weight has the variance
|Omega| / M_t - 1 with M_t = 50 t, which is 20,000 in the first sweep of a million ratings and 249 in the 80th, in rows of 20 to
3,000 ratings; and noise is centred over all ratings, not row by row.

    gunzip -c ml-1m/ratings.dat.gz > ratings.dat
    python benchsuite/literal_omega.py ratings.dat [SWEEPS] [STARTS]

needs numpy and scipy. c = 1, sigma^2 = 1/2, d = 5, rho = 0.85, nothing centred or learned, starts from the prior with variance 1,
a row that is not positive definite takes its noiseless step. Prints the bound and the share of refused rows.
"""

import sys

import numpy as np
import scipy.sparse as sp

D, NOISE = 5, 0.5
I, J = np.triu_indices(D)
TWICE = np.where(I == J, 1.0, 2.0)


def read(path):
    with open(path, encoding="latin-1") as file:
        rows = np.array([line.split("::")[:3] for line in file], dtype=float)
    users = np.unique(rows[:, 0], return_inverse=True)[1]
    items = np.unique(rows[:, 1], return_inverse=True)[1]
    return users, items, rows[:, 2]


def solve(precision, linear):
    cov = np.linalg.inv(precision)
    return np.einsum("nij,nj->ni", cov, linear), cov


def packed(mean, cov):
    return (mean[:, :, None] * mean[:, None, :] + cov)[:, I, J]


def sums(weights, ratings, side):
    """Natural parameters of every row without the prior: precision and precision times mean."""
    mean, cov = side
    upper = weights @ packed(mean, cov) / NOISE
    precision = np.zeros((weights.shape[0], D, D))
    precision[:, I, J] = upper
    precision[:, J, I] = upper
    return precision, ratings @ mean / NOISE


def bound(users, items, rows, cols, y):
    """The evidence lower bound with every constant."""
    u, v = packed(*users) * TWICE, packed(*items)
    total = 0.0
    for start in range(0, len(y), 100_000):
        part = slice(start, start + 100_000)
        r, c = rows[part], cols[part]
        mean = np.einsum("ij,ij->i", users[0][r], items[0][c])
        square = np.einsum("ij,ij->i", u[r], v[c])
        total -= (y[part] ** 2 - 2 * y[part] * mean + square).sum() / (2 * NOISE)
    total -= 0.5 * len(y) * np.log(2 * np.pi * NOISE)
    for mean, cov in (users, items):
        trace = (mean**2).sum() + np.einsum("nii->", cov)
        total -= 0.5 * (trace - mean.size - np.linalg.slogdet(cov)[1].sum())
    return total


def main(path, sweeps=80, starts=3):
    rows, cols, y = read(path)
    shape = rows.max() + 1, cols.max() + 1
    matrix = lambda values: sp.csr_matrix((values, (rows, cols)), shape=shape)
    ones, plain = matrix(np.ones(len(y))), matrix(y)
    for start in range(starts):
        for method in ("batch", "SVI+ to the letter"):
            rng = np.random.default_rng(start)
            sides = [(rng.normal(size=(n, D)), np.tile(np.eye(D), (n, 1, 1))) for n in shape]
            natural = [[np.linalg.inv(cov), np.einsum("nij,nj->ni", np.linalg.inv(cov), mean)] for mean, cov in sides]
            refused = []
            for t in range(1, sweeps + 1):
                variance = len(y) / (50 * t) - 1
                noisy = method != "batch" and variance > 0
                rho = 1.0 if method == "batch" else 0.85
                for side in (0, 1):
                    turn = (lambda m: m) if side == 0 else (lambda m: m.T.tocsr())
                    quiet = sums(turn(ones), turn(plain), sides[1 - side])
                    found = quiet
                    if noisy:
                        noise = rng.normal(size=len(y))
                        weights = 1 + np.sqrt(variance) * (noise - noise.mean())
                        found = sums(turn(matrix(weights)), turn(matrix(weights * y)), sides[1 - side])
                    step = lambda old, new, prior: (1 - rho) * old + rho * (prior + new)
                    propose = lambda part: (step(natural[side][0], part[0], np.eye(D)), step(natural[side][1], part[1], 0))
                    precision, linear = propose(found)
                    bad = np.linalg.eigvalsh(precision)[:, 0] < 1e-6
                    refused.append(bad.mean())
                    safe = propose(quiet)
                    precision[bad], linear[bad] = safe[0][bad], safe[1][bad]
                    natural[side] = [precision, linear]
                    sides[side] = solve(precision, linear)
                if t in (1, 10, 40, sweeps):
                    value = bound(*sides, rows, cols, y)
                    share = 100 * np.mean(refused)
                    print(f"start {start}, {method}, sweep {t}: bound {value:.0f}, refused {share:.1f} % of the rows so far", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *(int(x) for x in sys.argv[2:]))
