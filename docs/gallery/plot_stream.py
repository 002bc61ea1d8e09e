"""
A stream, learned chunk by chunk
================================

`partial_fit` sees each chunk once (stochastic variational inference). Here 40 chunks of 250 items come from four clusters;
the picture shows where the means go. (A stream is seen once, so a poor start stays: of the seeds 0 to 11 ten end at the true
means, and two with a pair of clusters in one component.)
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(2)
centres = np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 6.0], [6.0, 7.0]])
mixture = lehr.BayesianGaussianMixture(4, total_samples=10_000, random_state=1)
path = []
for chunk in range(40):
    X = centres[rng.integers(4, size=250)] + rng.normal(size=(250, 2))
    mixture.partial_fit(X)
    path.append(mixture.means_.copy())
path = np.array(path)

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.scatter(*X.T, s=8, color="0.8", label="the last chunk")
for k in range(4):
    ax.plot(*path[:, k].T, ".-", color=f"C{k}")
    ax.plot(*path[-1, k], "o", color=f"C{k}", markersize=9)
ax.plot(*centres.T, "k+", markersize=14, label="true means")
ax.legend(frameon=False)
plt.show()
