"""
Do topics come back?
====================

Topics that another seed does not find again should not be relied on. `lehr.compare` matches the topics of two fits one to
one. The data have six topics that are planted; the fits look for nine.
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(3)
planted = rng.dirichlet([0.05] * 60, size=6)
X = np.array([rng.multinomial(60, share @ planted) for share in rng.dirichlet([0.2] * 6, size=600)])
one, two = (lehr.LatentDirichletAllocation(9, max_iter=60, random_state=seed).fit(X) for seed in (0, 1))
found = lehr.compare(one, two)
print(f"{np.sum(found['similarity'] > 0.8)} of 9 topics came back")

# %%
# How much each topic of one fit has in common with each of the other, in the order of the matches.

share = [fit.components_ / fit.components_.sum(axis=1, keepdims=True) for fit in (one, two)]
common = np.minimum(share[0][found["first"]][:, None], share[1][found["second"]][None]).sum(axis=2)
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
shades = ax.imshow(common, cmap="viridis", vmin=0, vmax=1)
ax.set(xlabel="topic of seed 1", ylabel="topic of seed 0")
ax.set_xticks(range(9), labels=found["second"])
ax.set_yticks(range(9), labels=found["first"])
figure.colorbar(shades, label="probability in common")
plt.show()
