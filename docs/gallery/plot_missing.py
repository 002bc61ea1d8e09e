"""
Missing values
==============

A missing value is a hidden variable like any other: the fit integrates over it, and `impute` returns what it expects,
with how sure that is. A third of one column of the irises is removed and filled in again.
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

X = load_iris().data
missing = np.random.default_rng(0).random(len(X)) < 1 / 3
holes = X.copy()
holes[missing, 2] = np.nan

mixture = lehr.BayesianGaussianMixture(10, priors="learned", n_init=3, max_iter=500, random_state=0).fit(holes)
mean, std = mixture.impute(holes)
truth, filled, error = X[missing, 2], mean[missing, 2], std[missing, 2]
inside = np.mean(np.abs(truth - filled) < 1.96 * error)
print(f"{missing.sum()} values; {inside:.0%} inside their 95 % interval")

# %%
# The column's own mean, which is often filled in, is the dashed line.

figure, ax = plt.subplots(layout="constrained")
ax.errorbar(truth, filled, 1.96 * error, fmt="o", ecolor="0.75", label="filled in, 95 %")
ax.axline((4, 4), slope=1, color="black", linewidth=0.8)
ax.axhline(np.nanmean(holes[:, 2]), color="C3", linestyle="--", label="mean of the column")
ax.set(xlabel="petal length that was removed (cm)", ylabel="filled in (cm)")
ax.legend(frameon=False)
plt.show()
