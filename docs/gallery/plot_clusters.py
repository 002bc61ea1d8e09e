"""
Clusters without knowing how many
=================================

With its default prior, a Dirichlet process, a mixture of up to ten components uses as many as the data need. Two
measurements of 150 irises: the fit does not know that there are three kinds.
"""

import lehr
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

iris = load_iris(as_frame=True)
petals = iris.data[["petal length (cm)", "petal width (cm)"]]
mixture = lehr.BayesianGaussianMixture(10, priors="learned", n_init=5, max_iter=500, random_state=0).fit(petals)
print(len(mixture.components_in_use_), "components in use, bound", round(mixture.lower_bound_, 1))

# %%
# Ellipses reach two standard deviations from the means. Rings are flowers whose cluster is not clear: no component has
# nine tenths of the responsibility.

figure, ax = plt.subplots(layout="constrained")
lehr.plot.clusters(mixture, petals, ax=ax)
unsure = mixture.predict_proba(petals).max(axis=1) < 0.9
ax.scatter(*petals[unsure].to_numpy().T, s=90, facecolors="none", edgecolors="black", label="not clear")
ax.legend(frameon=False, loc="lower right")
plt.show()
