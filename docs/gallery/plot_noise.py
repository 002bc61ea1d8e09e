"""
The laws of annealing noise
===========================

A batch of 1,000 items that shall be as noisy as one of 50. Each law draws weights with mean 1 whose weighted sums have
that variance; they differ in shape. Above: the weights. Below: weighted means of a skewed statistic, against what
batches of 50 have.
"""

import matplotlib.pyplot as plt
import numpy as np
from lehr.anneal import weights

rng = np.random.default_rng(0)
n, effective = 1000, 50
items = rng.exponential(size=n)
laws = ("gaussian", "gamma", "subsample")
small = [items[rng.choice(n, effective, replace=False)].mean() for _ in range(4000)]

figure, axes = plt.subplots(2, 3, figsize=(10, 5.5), sharey="row", layout="constrained")
for column, law in zip(axes.T, laws):
    drawn = [weights(n, effective, rng=rng, law=law) for _ in range(4000)]
    column[0].hist(np.concatenate(drawn[:50]), bins=80, range=(-15, 25), density=True, color="C0")
    column[0].set(title=law, xlabel="weight of an item", yscale="log")
    means = [(w * items).mean() for w in drawn]
    column[1].hist(small, bins=50, range=(0.4, 1.7), density=True, color="0.8", label="batches of 50")
    column[1].hist(means, bins=50, range=(0.4, 1.7), density=True, histtype="step", color="C3", label=law)
    column[1].set(xlabel="weighted mean")
    column[1].legend(frameon=False)
    print(f"{law:9}  mean of the weights {np.mean(drawn):.3f}, variance {np.var(drawn):.1f}, "
          f"negative {np.mean(np.array(drawn) < 0):.0%}")
plt.show()

# %%
# Gaussian weights are negative for about 41 % of the items; :doc:`/method/noise` has the formulas.
