"""
The bound of an annealed fit
============================

`lehr.plot.bound` draws how a fit went: one line for each start, the best one strongly, and the time with noise shaded.
Annealing noise lowers the bound at first; what counts is where the fit ends when the noise is over.
"""

import warnings

import lehr
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

warnings.simplefilter("ignore", ConvergenceWarning)  # all fits make 200 steps
X = StandardScaler().fit_transform(load_wine().data)
settings = {"n_init": 8, "init_params": "random_from_data", "max_iter": 200, "tol": 0, "random_state": 0}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
for ax, effective in zip(axes, (None, 20)):
    mixture = lehr.BayesianGaussianMixture(4, effective_batch_size=effective, **settings).fit(X)
    lehr.plot.bound(mixture, ax=ax)
    ax.set_title("without noise" if effective is None else f"M = {effective} of {len(X)} items")
axes[0].set_ylim(-4200, -2650)
plt.show()
