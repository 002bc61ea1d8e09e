"""
Topics that are known
=====================

The test of Griffiths and Steyvers (2004): ten topics are the rows and columns of a 5 x 5 grid of "words", and each
document mixes a few of them. Does the fit find them?
"""

import lehr
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
bars = np.zeros((10, 5, 5))
for k in range(5):
    bars[k, k], bars[5 + k, :, k] = 0.2, 0.2
shares = rng.dirichlet([0.2] * 10, size=1000)
X = np.array([rng.multinomial(100, share @ bars.reshape(10, 25)) for share in shares])

figure, axes = plt.subplots(1, 8, figsize=(10, 1.6), layout="constrained")
for ax, document in zip(axes, X):
    ax.imshow(document.reshape(5, 5), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
figure.suptitle("eight of the 1,000 documents")
plt.show()

# %%
# What is learned from those, largest topic first.

lda = lehr.LatentDirichletAllocation(10, max_iter=100, priors="learned", n_init=3, random_state=0).fit(X)
topics = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
found = lda.components_.sum(axis=1).argsort()[::-1]
error = [np.abs(bars.reshape(10, 25) - topic).sum(axis=1).min() / 2 for topic in topics]
print(f"furthest topic from a true one: {max(error):.3f} of its probability is elsewhere")

figure, axes = plt.subplots(1, 10, figsize=(10, 1.3), layout="constrained")
for ax, k in zip(axes, found):
    ax.imshow(topics[k].reshape(5, 5), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
plt.show()
