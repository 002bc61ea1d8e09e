"""
Ratings, with how sure they are
===============================

A factorisation of synthetic ratings with three hidden tastes: 300 users, 100 items, a quarter of all pairs rated. It is
given eight dimensions, and its intervals are compared with ratings that it has not seen.
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import norm

rng = np.random.default_rng(0)
tastes, traits = 0.7 * rng.normal(size=(300, 3)), 0.7 * rng.normal(size=(100, 3))
truth = 3.4 + 0.3 * rng.normal(size=(300, 1)) + 0.4 * rng.normal(size=100) + tastes @ traits.T
user, item = np.nonzero(rng.random(truth.shape) < 0.25)
ratings = pd.DataFrame({"user": user, "item": item, "rating": truth[user, item] + 0.5 * rng.normal(size=len(user))})
test = ratings.sample(frac=0.2, random_state=0)
pmf = lehr.ProbabilisticMatrixFactorization(8, random_state=0).fit(ratings.drop(test.index))
mean, std = pmf.predict(test["user"], test["item"], return_std=True)

# %%
# Left: dimensions without variance were pruned. Right: of the held-out ratings, how many lie inside intervals of
# which size. A model that knows how sure it is stays on the diagonal.

off = np.abs(test["rating"] - mean) / std
levels = np.linspace(0.05, 0.95, 19)
inside = [np.mean(off < norm.ppf(0.5 + level / 2)) for level in levels]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.bar(range(8), pmf.item_variances_)
left.set(xlabel="dimension", ylabel="variance among the items", xticks=range(8))
right.plot([0, 1], [0, 1], color="0.7")
right.plot(levels, inside, "o-")
right.set(xlabel="interval that should hold", ylabel="share of ratings inside", aspect="equal")
plt.show()
