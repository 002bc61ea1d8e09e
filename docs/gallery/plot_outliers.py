"""
Density and outliers
====================

`log_predictive` is the log density of a new item given the data, averaged over everything that is uncertain. Items where
it is lowest are the ones to look at.
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

X, _ = make_moons(500, noise=0.08, random_state=0)
X = np.vstack([X, np.random.default_rng(1).uniform([-1.5, -1], [2.5, 1.5], size=(15, 2))])
mixture = lehr.BayesianGaussianMixture(30, priors="learned", max_iter=500, random_state=0).fit(X)
density = mixture.log_predictive(X)
strange = np.argsort(density)[:12]

# %%
# A Gaussian mixture is a density for any shape if it has components enough; it found how many.

across, up = np.meshgrid(np.linspace(-1.7, 2.7, 150), np.linspace(-1.2, 1.7, 120))
grid = mixture.log_predictive(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
shades = ax.contourf(across, up, grid, levels=np.linspace(-9, 0.5, 20), cmap="Blues", extend="both")
ax.scatter(*X.T, s=6, color="0.2")
ax.scatter(*X[strange].T, s=70, facecolors="none", edgecolors="C3", label="the 12 least likely")
ax.legend(loc="lower left")
ax.set_title(f"{len(mixture.components_in_use_)} components in use")
figure.colorbar(shades, label="log density (nats)")
plt.show()
