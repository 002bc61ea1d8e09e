"""
Handwritten digits
==================

1,797 pictures of 8 x 8 pixels. A mixture in the space of the first 20 principal components sorts them into groups; each is
shown by its mean, largest first. The fit does not know which picture is which digit.
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

digits = load_digits()
pca = PCA(20, random_state=0).fit(digits.data)
X = pca.transform(digits.data)
mixture = lehr.BayesianGaussianMixture(40, priors="learned", max_iter=300, random_state=0).fit(X)
labels = mixture.predict(X)
used, sizes = np.unique(labels, return_counts=True)
order = used[np.argsort(-sizes)]
main = {k: np.bincount(digits.target[labels == k]).argmax() for k in used}
print(len(used), "groups; the most frequent digit of each is right for",
      f"{np.mean([main[k] == y for k, y in zip(labels, digits.target)]):.0%} of the pictures")

# %%
# A group is a way to write a digit, so some digits have several.

pictures = pca.inverse_transform(mixture.means_).reshape(-1, 8, 8)
columns = 8
rows = -(-len(order) // columns)
figure, axes = plt.subplots(rows, columns, figsize=(columns, 1.15 * rows), layout="constrained", squeeze=False)
for ax in axes.flat:
    ax.axis("off")
for ax, k in zip(axes.flat, order):
    ax.imshow(pictures[k], cmap="gray_r")
    ax.set_title(f"{np.sum(labels == k)} x {main[k]}", fontsize="small")
plt.show()
