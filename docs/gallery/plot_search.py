"""
Restarts, noise and search
==========================

Three ways to a better optimum with four times the passes: restarts, annealing noise (SVI+), and `search`, which
kicks a fit out of its optimum and keeps what is better. Twelve seeds each, on a hard problem: 25 round clusters with 25
components, started from random items.
"""

import warnings

import lehr
import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

warnings.simplefilter("ignore", ConvergenceWarning)  # all ways have the same number of passes, converged or not
rng = np.random.default_rng(0)
centres = np.array([(x, y) for x in range(5) for y in range(5)], dtype=float)
X = np.repeat(centres, 40, axis=0) + 0.15 * rng.normal(size=(1000, 2))
plain = {"n_components": 25, "init_params": "random_from_data", "max_iter": 60,
         "weight_concentration_prior_type": "dirichlet_distribution"}
ways = {
    "one start": {},
    "best of 4 starts": {"n_init": 4},
    "annealed, M = 100": {"effective_batch_size": 100, "max_iter": 240},
    "search = 4": {"search": 4},
}
bounds = {
    name: [lehr.BayesianGaussianMixture(random_state=seed, **{**plain, **more}).fit(X).lower_bound_ for seed in range(12)]
    for name, more in ways.items()
}
for name, values in bounds.items():
    print(f"{name:18}  mean {np.mean(values):7.0f}  best {max(values):7.0f}")

# %%
# Which is best depends on the data: :doc:`/guide/search` has sixteen problems.

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for row, (name, values) in enumerate(bounds.items()):
    ax.scatter(values, row + 0.12 * rng.uniform(-1, 1, size=len(values)), alpha=0.7)
    ax.plot([np.mean(values)] * 2, [row - 0.3, row + 0.3], color="black")
ax.set_yticks(range(len(bounds)), labels=list(bounds))
ax.invert_yaxis()
ax.set_xlabel("bound (nats, higher is better); bars are means")
plt.show()
