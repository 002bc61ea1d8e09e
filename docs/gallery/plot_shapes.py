"""
Which shape do clusters have?
=============================

Four models of the same data: every component with its own covariance matrix, one matrix for all, only variances, or
only one variance. Bounds have every constant, so the shape with the highest bound is the one the data support best.
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(4)
stretch = np.array([[1.6, 1.2], [0.0, 0.5]])
X = np.vstack([centre + rng.normal(size=(150, 2)) @ stretch for centre in ([0, 0], [4, -1], [-3, 4])])

figure, axes = plt.subplots(2, 2, figsize=(8, 7), sharex=True, sharey=True, layout="constrained")
for ax, shape in zip(axes.flat, ("full", "tied", "diag", "spherical")):
    mixture = lehr.BayesianGaussianMixture(
        8, covariance_type=shape, priors="learned", n_init=3, max_iter=500, random_state=0
    ).fit(X)
    lehr.plot.clusters(mixture, X, ax=ax)
    ax.set_title(f"{shape}: {len(mixture.components_in_use_)} clusters, bound {mixture.lower_bound_:.0f}")
plt.show()

# %%
# The data are three copies of one long cluster, which `tied` says with the fewest numbers. Models without correlations
# have to cover a long cluster with several components, or with one that is too wide.
