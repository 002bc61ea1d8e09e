"""Theorem 1's factor d^(1/4): the total variation distance between a gradient and its Gaussian where it can be computed.

Items with d independent exponential coordinates, M = 16, |S| = tau M, noise with the exact covariance: coordinates of the gradient are
independent, so that its density is a product of d densities, which a quadrature gives. With L the ratio to the Gaussian's density the
distance is P(L > 1) under the gradient less P(L > 1) under the Gaussian.

    python benchsuite/theorem_dimension.py [DRAWS]      # needs numpy and scipy
"""

import sys

import numpy as np
from scipy import stats

M, DIMS, TAUS = 16, (1, 2, 4, 8, 16, 32, 64), (1, 2, 4)
GRID = np.arange(-9, 9, 1 / 64)


def log_ratio(size, tau):
    """ln of the ratio of a coordinate's density to the standard normal one, on the grid."""
    items = stats.gamma.pdf(size + np.sqrt(size) * GRID, size) * np.sqrt(size)
    if tau > 1:
        a, b = np.sqrt(1 / tau), np.sqrt(1 - 1 / tau)
        items = np.array([(items * stats.norm.pdf((y - a * GRID) / b) / b).sum() / 64 for y in GRID])
    return np.log(np.maximum(items, 1e-300)) - stats.norm.logpdf(GRID)


def main(draws=200_000):
    rng = np.random.default_rng(1)
    for tau in TAUS:
        size = M * tau
        ratio = log_ratio(size, tau)
        found = []
        for d in DIMS:
            above = np.zeros(2)
            for _ in range(-(-draws * d // 2_000_000)):
                n = min(draws, 2_000_000 // d)
                y = np.sqrt(1 / tau) * (rng.gamma(size, size=(n, d)) - size) / np.sqrt(size)
                y += np.sqrt(1 - 1 / tau) * rng.normal(size=(n, d))
                for side, x in enumerate((y, rng.normal(size=(n, d)))):
                    above[side] += (np.interp(x, GRID, ratio).sum(1) > 0).mean()
            blocks = -(-draws * d // 2_000_000)
            found.append((above[0] - above[1]) / blocks)
        small = [i for i, x in enumerate(found) if x < 0.25]
        slope = np.polyfit(np.log([DIMS[i] for i in small]), np.log([found[i] for i in small]), 1)[0]
        print(f"tau = {tau}:", *(f"d = {d}: {x:.4f}" for d, x in zip(DIMS, found)), f"exponent {slope:.3f} where below 0.25")


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:]))
