"""Fitted topics by numbers: how wide, how coherent, how much their own, and which documents they are from."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._settings import whole

_NUMBERS = ("entropy", "effective_words", "exclusivity", "overlap")


def diagnostics(self: Any, X: Any = None, *, n_words: int = 10) -> dict[str, Any]:
    """Look at all topics by numbers; ``pandas.DataFrame`` takes what has one for each.

    Parameters
    ----------
    X : {array-like, sparse matrix, path} of shape (n_samples, n_features), default=None
        Documents, for the coherence; None leaves that out.
    n_words : int, default=10
        The most probable words of a topic that coherence, exclusivity and diversity look at.

    Returns
    -------
    found : dict
        An array with a number for each topic: 'entropy' of its words, in nats; 'effective_words', exp of that;
        'exclusivity', the mean over its first words of p(w|k) / sum_j p(w|j); 'nearest', the topic that has most in
        common with it (-1 if there is none), and 'overlap', how much, 1 being the same. With X 'npmi', 'umass' and 'c_v'.
        Of all together: 'diversity', the share of different words among the first of all topics, and 'duplicates', a
        list of pairs of topics with an overlap above 0.8.

    Examples
    --------
    >>> import numpy as np
    >>> from lehr import LatentDirichletAllocation
    >>> X = np.kron(np.eye(2), np.full((20, 3), 4))
    >>> lda = LatentDirichletAllocation(2, random_state=0, topic_word_prior=0.01).fit(X)
    >>> found = lda.diagnostics(X, n_words=3)
    >>> found["effective_words"].round(1), found["npmi"], found["diversity"]
    (array([3., 3.]), array([1., 1.]), 1.0)
    """
    check_is_fitted(self, "_core")
    n_words = whole("n_words", n_words, least=1)
    told = json.loads(self._core.diagnose(n_words, self._threads()))
    topics = told["topics"]
    found: dict[str, Any] = {name: np.array([topic[name] for topic in topics]) for name in _NUMBERS}
    found["nearest"] = np.array([-1 if topic["nearest"] is None else topic["nearest"] for topic in topics])
    if X is not None:
        data = self._new_docs(X, "diagnostics")
        numbers = self._core.coherence(data, n_words, self._threads())
        found.update(zip(("npmi", "umass", "c_v"), numbers, strict=True))
    found["diversity"] = told["diversity"]
    found["duplicates"] = [tuple(pair) for pair in told["duplicates"]]
    return found


def topic_documents(self: Any, X: Any, n: int = 5) -> list[dict[str, Any]]:
    """Find the documents that have most of each topic.

    Parameters
    ----------
    X : {array-like, sparse matrix, path} of shape (n_samples, n_features)
        Documents.
    n : int, default=5
        How many of each topic.

    Returns
    -------
    topics : list of dict
        For each topic 'documents', the rows of X, most of it first; 'shares', what it is of each; 'mean_share' over all
        rows; 'effective_documents', exp of the entropy of its shares; 'main', how many rows have most of it.

    Examples
    --------
    >>> import numpy as np
    >>> from lehr import LatentDirichletAllocation
    >>> X = np.array([[9, 9, 0], [1, 1, 0], [0, 0, 7], [0, 0, 2]])
    >>> lda = LatentDirichletAllocation(2, random_state=0, topic_word_prior=0.01).fit(X)
    >>> sorted(topic["documents"].tolist() for topic in lda.topic_documents(X, 2))
    [[0, 1], [2, 3]]
    """
    data = self._new_docs(X, "topic_documents")
    found = json.loads(self._core.topic_documents(data, whole("n", n, least=1), self._threads()))
    return [
        {
            "documents": np.array([document for document, _ in topic["top"]], dtype=np.int64),
            "shares": np.array([share for _, share in topic["top"]]),
            "mean_share": topic["mean_share"],
            "effective_documents": topic["effective_documents"],
            "main": topic["main"],
        }
        for topic in found
    ]
