"""Fitted topics for pictures of them: the names of the words, and what pyLDAvis wants to be given."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, check_is_fitted

from ._data import is_read
from .errors import DataError, SettingError


def word_names(model, feature_names=None):
    """The words of a fitted topic model, as an array: those that are given, or those that it knows."""
    check_is_fitted(model, "_core")
    names = model._facts["words"] if feature_names is None else feature_names
    if names is None:
        raise DataError(
            "the model was fitted to a matrix and does not know its words; "
            "give feature_names, such as vectorizer.get_feature_names_out()"
        )
    if len(names) != model.n_features_in_:
        raise DataError(f"feature_names has {len(names)} words, and the model has {model.n_features_in_}")
    return np.asarray(names, dtype=object)


def perplexity_of(bound, words):
    """exp(-bound / words), which is infinite without words."""
    with np.errstate(over="ignore"):
        return float(np.exp(-bound / words)) if words else float("inf")


def name_topics(self: Any, names: Any) -> Any:
    """Call topics by names, which are kept with the model: in ``topic_names_``, in what `save` writes, on its page.

    Parameters
    ----------
    names : dict or list of str
        Names by the numbers of topics; or one for each topic. None or an empty one takes a name away.

    Returns
    -------
    self : object
        The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from lehr import LatentDirichletAllocation
    >>> X = np.array([[4, 1, 0], [0, 2, 5], [3, 3, 1]])
    >>> lda = LatentDirichletAllocation(3, random_state=0).fit(X)
    >>> lda.name_topics({1: "sport"}).topic_names_
    [None, 'sport', None]
    """
    check_is_fitted(self, "_core")
    given = names.items() if isinstance(names, Mapping) else enumerate(names if np.iterable(names) else [names])
    pairs = []
    for topic, name in given:
        is_number = isinstance(topic, numbers.Integral) and not isinstance(topic, bool) and topic >= 0
        if isinstance(names, str) or not is_number or not (name is None or isinstance(name, str)):
            raise SettingError("names", repr(names)[:60], "must be a dict of topics' numbers and names, or a list of names")
        pairs.append((int(topic), name or ""))
    self._core = self._translated(self._core.with_topic_names, pairs)
    self._facts = self._core.attributes()
    self._note(topic_names_=self._facts["topic_names"])
    return self


def to_pyldavis(self: Any, X: Any, feature_names: Any = None) -> dict[str, Any]:
    """Make what ``pyLDAvis.prepare`` takes. pyLDAvis itself is not needed for it.

    Words that no document of X has are left out, since pyLDAvis divides by how often a word occurs.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        How often each document has each word.
    feature_names : array-like of str, default=None
        The words, such as ``vectorizer.get_feature_names_out()``. Not needed if the model knows them: from a data
        frame, or from a file.

    Returns
    -------
    arguments : dict
        topic_term_dists, doc_topic_dists, doc_lengths, vocab and term_frequency.

    Examples
    --------
    >>> import numpy as np
    >>> from lehr import LatentDirichletAllocation
    >>> X = np.array([[4, 1, 0], [0, 2, 5], [3, 3, 1]])
    >>> lda = LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> arguments = lda.to_pyldavis(X, ["cat", "dog", "fish"])
    >>> arguments["term_frequency"]
    array([7., 6., 6.])

    Then ``pyLDAvis.save_html(pyLDAvis.prepare(**arguments), "topics.html")`` writes the page.
    """
    names = word_names(self, feature_names)
    if is_read(X):
        raise DataError("the counts themselves are needed, not a file of them or texts; give a matrix")
    counts = scipy.sparse.csr_array(check_array(X, accept_sparse="csr", dtype=np.float64))
    theta = np.asarray(self.transform(X), dtype=np.float64)
    frequency = counts.sum(axis=0)
    occurs = frequency > 0
    phi = self.components_[:, occurs]
    return {
        "topic_term_dists": phi / phi.sum(axis=1, keepdims=True),
        "doc_topic_dists": theta / theta.sum(axis=1, keepdims=True),
        "doc_lengths": counts.sum(axis=1),
        "vocab": names[occurs],
        "term_frequency": frequency[occurs],
    }
