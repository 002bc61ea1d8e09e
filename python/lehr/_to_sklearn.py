"""Fitted models as scikit-learn's own estimators, with the same numbers: for what exports or audits those alone."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .errors import DataError

if TYPE_CHECKING:
    import sklearn.decomposition
    import sklearn.mixture

# Of a mixture, what scikit-learn calls by the same names.
_OF_MIXTURES = (
    *("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"),
    *("weight_concentration_", "mean_precision_", "degrees_of_freedom_"),
    *("weight_concentration_prior_", "mean_precision_prior_", "mean_prior_", "degrees_of_freedom_prior_"),
    *("covariance_prior_", "converged_", "n_iter_", "lower_bound_", "lower_bounds_"),
)
_OF_TOPICS = (
    *("components_", "exp_dirichlet_component_", "doc_topic_prior_", "topic_word_prior_"),
    *("bound_", "n_iter_", "n_batch_iter_"),
)


def _made(model: Any, kind: Any, names: tuple[str, ...], **settings: Any) -> Any:
    """An estimator of `kind` with the parameters and attributes of `model` that it has as well."""
    known = inspect.signature(kind).parameters
    theirs = {name: value for name, value in model.get_params(deep=False).items() if name in known}
    estimator = kind(**{**theirs, **settings})
    for name in (*names, "n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(estimator, name, _copied(getattr(model, name)))
    return estimator


def _copied(value: Any) -> Any:
    """Arrays that can be written to."""
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def mixture_to_sklearn(self: Any) -> sklearn.mixture.BayesianGaussianMixture:
    """Make scikit-learn's estimator of the fitted mixture, whose `predict` and `predict_proba` agree to rounding.

    For what knows scikit-learn's classes alone: skl2onnx, skops, sklearn-porter and so on. scikit-learn has no missing
    values here, and its bound lacks constants, so that `lower_bound_` is ours and not what it would compute.

    Returns
    -------
    mixture : sklearn.mixture.BayesianGaussianMixture
        The same mixture, fitted.

    Raises
    ------
    DataError
        If the mixture is none of scikit-learn's: 'diag' and 'spherical' have a Gamma distribution for each variance here,
        and a restricted Wishart there, which has other responsibilities.

    Examples
    --------
    >>> import numpy as np
    >>> from lehr import BayesianGaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> mixture = BayesianGaussianMixture(3, random_state=0).fit(X)
    >>> theirs = mixture.to_sklearn()
    >>> bool(np.allclose(theirs.predict_proba(X), mixture.predict_proba(X)))
    True
    """
    from sklearn.mixture import BayesianGaussianMixture

    check_is_fitted(self, "_core")
    shape = self._shape()
    if shape in ("diag", "spherical") and self.n_features_in_ > 1:
        raise DataError(
            f"a mixture with covariance_type={shape!r} is none of scikit-learn's, which has a restricted Wishart "
            "distribution where this one has a Gamma distribution for each variance; fit 'full' or 'tied' to convert it"
        )
    if not hasattr(self, "mean_precision_"):
        raise DataError(
            "this mixture has independent distributions of means and precisions, and scikit-learn's has one of both; "
            "fit it with factorisation = normal-wishart to convert it"
        )
    starts = ("kmeans", "k-means++", "random", "random_from_data")
    named = isinstance(self.init_params, str) and self.init_params in starts
    kind = self._values[self._record["params"]["weights"]]
    settings = {
        "covariance_type": shape,
        "init_params": self.init_params if named else "kmeans",
        "n_components": len(self.weights_),
        "weight_concentration_prior_type": kind,
    }
    return _made(self, BayesianGaussianMixture, _OF_MIXTURES, **settings)


def topics_to_sklearn(self: Any) -> sklearn.decomposition.LatentDirichletAllocation:
    """Make scikit-learn's estimator of the fitted topics, whose `transform` agrees to about 1e-5.

    For what knows scikit-learn's classes alone. `transform` here lets documents' local steps go on until gamma changes by
    less than 1e-5 on average, or `mean_change_tol` if that is less, and the other does so as well. With ``exact=True``
    they agree to 1e-8.

    Returns
    -------
    lda : sklearn.decomposition.LatentDirichletAllocation
        The same topics, fitted.

    Raises
    ------
    DataError
        If alpha is not the same for all topics, or eta for all words, which scikit-learn does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from lehr import LatentDirichletAllocation
    >>> X = np.random.default_rng(0).poisson(1.0, (50, 12))
    >>> lda = LatentDirichletAllocation(3, random_state=0).fit(X)
    >>> bool(np.allclose(lda.to_sklearn().transform(X), lda.transform(X), atol=1e-3))
    True
    """
    from sklearn.decomposition import LatentDirichletAllocation

    check_is_fitted(self, "_core")
    if np.ndim(self.doc_topic_prior_):
        raise DataError(
            "alpha is another number for each topic, and scikit-learn has one for all of them; "
            "fit with learn_doc_topic_prior='symmetric' or 'no' to convert it"
        )
    if np.ndim(self.topic_word_prior_):
        raise DataError("eta is another number for each word, and scikit-learn has one for all of them")
    # As `transform` here has them.
    local = {
        "mean_change_tol": min(self.mean_change_tol, 1e-5),
        "max_doc_update_iter": max(self.max_doc_update_iter, 500),
    }
    lda = _made(self, LatentDirichletAllocation, _OF_TOPICS, n_components=len(self.components_), **local)
    random = self.__dict__.get("random_state_")
    lda.random_state_ = random if isinstance(random, np.random.RandomState) else np.random.RandomState()
    return lda
