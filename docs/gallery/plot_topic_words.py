"""
Topics of texts, with seed words
================================

The documents are scipy's docstrings. Seed words say what two of the topics
are to be about; the other four are free.
"""

import importlib

import lehr
import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer

texts = []
for part in "fft integrate interpolate linalg optimize signal sparse spatial special stats".split():
    module = importlib.import_module(f"scipy.{part}")
    texts += [getattr(module, name).__doc__ or "" for name in module.__all__]
texts = [text for text in texts if len(text) > 200]
vectorizer = CountVectorizer(token_pattern="[a-z]{4,}", stop_words="english", min_df=5, max_df=0.3)
counts = vectorizer.fit_transform(texts)
words = vectorizer.get_feature_names_out()
print(counts.shape[0], "documents,", counts.shape[1], "words")

lda = lehr.LatentDirichletAllocation(
    6, max_iter=40, priors="learned", random_state=0,
    seed_words={"signals": ["filter", "frequency", "window"], "distances": ["distance", "points", "tree"]},
).fit(counts, feature_names=words)
print(lda.topic_names_)

# %%
# Bars are probabilities; `relevance` below 1 puts words forward that are rarer in other topics.

axes = lehr.plot.topics(lda, n_words=7, relevance=0.6)
plt.show()
