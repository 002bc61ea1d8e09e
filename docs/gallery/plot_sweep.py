"""
How many components?
====================

`lehr.sweep` fits several sizes, scores each on parts of the data that it has not seen, and recommends the simplest one
that cannot be distinguished from the best.
"""

import lehr
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

X = StandardScaler().fit_transform(load_wine().data)
mixture = lehr.BayesianGaussianMixture(
    weight_concentration_prior_type="dirichlet_distribution", covariance_type="diag", priors="learned", max_iter=500,
    random_state=0,
)
found = lehr.sweep(mixture, X, n_components=range(1, 8))
print(found)

# %%
# Error bars are standard errors over five folds. A filled point cannot be distinguished from the best, and the
# ring is the recommendation: 178 wines came from three growers.

found.plot()
plt.show()
