"""Whether two fits say the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .errors import DataError


def compare(first: Any, second: Any) -> dict[str, Any]:
    """Match the topics, clusters or latent dimensions of two fitted estimators of the same kind.

    They are matched one to one so that they have as much in common as can be: topics by their words, clusters by how far
    they lie over each other, latent dimensions by the items' factors.

    Parameters
    ----------
    first, second : estimators
        Fitted, of the same class; sizes may differ. Words and items are found by their names.

    Returns
    -------
    found : dict
        'first' and 'second', the numbers of the matched parts as arrays, those with most in common first;
        'similarity', from 0 to 1; 'mean', that on average; 'only_first' and 'only_second', what has no match.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> X = np.random.default_rng(0).normal(size=(150, 2)) + np.repeat([[0, 0], [8, 8], [16, 0]], 50, axis=0)
    >>> one, two = (lehr.BayesianGaussianMixture(3, random_state=seed).fit(X) for seed in (0, 1))
    >>> bool(lehr.compare(one, two)["mean"] > 0.9)
    True
    """
    for estimator in (first, second):
        check_is_fitted(estimator, "_core")
    if type(first._core) is not type(second._core):
        kinds = f"{type(first).__name__} and {type(second).__name__}"
        raise DataError(f"{kinds} have nothing to compare; give two estimators of the same class")
    found = json.loads(first._core.compare(second._core, first._threads()))
    pairs = found["pairs"]
    return {
        "first": np.array([pair["first"] for pair in pairs], dtype=np.int64),
        "second": np.array([pair["second"] for pair in pairs], dtype=np.int64),
        "similarity": np.array([pair["similarity"] for pair in pairs]),
        "mean": found["mean"],
        "only_first": found["only_first"],
        "only_second": found["only_second"],
    }
