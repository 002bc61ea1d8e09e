"""What a fitted mixture says of items: components, densities, draws."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _data, _to_sklearn
from ._settings import seed_of, whole
from .errors import SettingError

if TYPE_CHECKING:
    from ._typing import Floats, Whole


class MixtureReadout:
    """The methods of a mixture that need no fitting."""

    def _points(self, X):
        check_is_fitted(self, "_core")
        return _data.points(self, X, reset=False)

    def predict_proba(self, X: Any) -> Floats:
        """Evaluate the components' responsibilities for each item.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items.

        Returns
        -------
        resp : ndarray of shape (n_samples, n_components)
            How much of each item belongs to each component.
        """
        data = self._points(X)
        return self._core.responsibilities(data, self._threads_for(data))

    def predict(self, X: Any) -> Whole:
        """Predict the component of each item.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Component labels.
        """
        data = self._points(X)
        return self._core.labels(data, self._threads_for(data))

    def score_samples(self, X: Any) -> Floats:
        """Compute the log-likelihood of each item under q, as scikit-learn does.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items.

        Returns
        -------
        log_prob : ndarray of shape (n_samples,)
            The items' parts of the bound.
        """
        data = self._points(X)
        return self._core.item_bounds(data, self._threads_for(data))

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the mean of `score_samples`.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items.
        y : None
            Ignored.

        Returns
        -------
        score : float
            The mean contribution of an item to the bound.
        """
        return float(np.mean(self.score_samples(X)))

    def bic(self, X: Any) -> float:
        """Compute the Bayesian information criterion of X; lower is better.

        It is ``-2 * log_predictive(X).sum() + p * ln(n_samples)``, where p is the number of free parameters of the
        components in use: of scikit-learn's GaussianMixture with as many components. For scripts that choose by it, and
        for comparisons with such mixtures. `lower_bound_` is the better guide: it counts what the data say of every
        parameter, where this counts parameters.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items that the mixture was fitted to.

        Returns
        -------
        bic : float
            The criterion.

        Examples
        --------
        >>> import numpy as np
        >>> from lehr import BayesianGaussianMixture
        >>> rng = np.random.default_rng(0)
        >>> X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(9, 1, (100, 2))])
        >>> bic = [BayesianGaussianMixture(k, random_state=0).fit(X).bic(X) for k in (1, 2)]
        >>> bic[1] < bic[0]
        True
        """
        return self._criterion(X, np.log)

    def aic(self, X: Any) -> float:
        """Compute the Akaike information criterion of X; lower is better. See `bic`, with ``2 * p`` as the last term.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items that the mixture was fitted to.

        Returns
        -------
        aic : float
            The criterion.
        """
        return self._criterion(X, lambda _: 2.0)

    def _criterion(self, X, price):
        """Minus twice the log density, plus a price for each parameter."""
        logs = self.log_predictive(X)
        return float(-2.0 * logs.sum() + self._n_parameters() * price(len(logs)))

    def _n_parameters(self):
        """The free parameters of the components in use: weights, means, covariances."""
        k, d = self.n_components_in_use_, self.n_features_in_
        matrix = d * (d + 1) // 2
        shapes = {"full": k * matrix, "tied": matrix, "diag": k * d, "spherical": k}
        return k - 1 + k * d + shapes[self._shape()]

    def log_predictive(self, X: Any) -> Floats:
        """Compute the log predictive density of each item: a mixture of Student t densities.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            What to compare models by on data that they have not seen.
        """
        data = self._points(X)
        return self._core.log_predictive(data, self._threads_for(data))

    def impute(self, X: Any) -> tuple[Floats, Floats]:
        """Fill in missing values: their means and standard deviations given what is there.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items; NaN where a value is missing.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_features)
            X with the expected values in place of NaN.
        std : ndarray of shape (n_samples, n_features)
            Their standard deviations; 0 where the value is there.

        Examples
        --------
        >>> import numpy as np
        >>> from lehr import BayesianGaussianMixture
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=500)
        >>> X = np.column_stack([x, 2 * x + 0.1 * rng.normal(size=500)])
        >>> mean, std = BayesianGaussianMixture(random_state=0).fit(X).impute([[1.0, np.nan]])
        >>> [round(float(number), 1) for number in (mean[0, 1], std[0, 1])]
        [2.0, 0.1]
        """
        data = self._points(X)
        return self._core.impute(data, self._threads())

    def report(self, path: str | PathLike[str], X: Any = None, texts: Any = None) -> None:
        """Write one page of HTML to look at the clusters with: the same as ``lehr report``.

        Parameters
        ----------
        path : str or os.PathLike
            The file to write; one that is there is replaced.
        X : array-like of shape (n_samples, n_features), default=None
            Items to draw, and to look among for those that are explained least. They become part of the file.
        texts : list of str of length n_samples, default=None
            What each of these is called.
        """
        check_is_fitted(self, "_core")
        data = None if X is None else self._points(X)
        if texts is not None:
            texts = _data.texts("texts", texts)
            if X is None or len(texts) != len(X):
                raise ValueError(f"texts are the names of the rows of X; there are {len(texts)} for other rows, or none")
        self._write_report(path, self._core.report(self._threads(), data, texts))

    def sample(self, n_samples: int = 1) -> tuple[Floats, Whole]:
        """Draw items from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1
            How many.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The items, sorted by component.
        y : ndarray of shape (n_samples,)
            Their components.
        """
        check_is_fitted(self, "_core")
        if whole("n_samples", n_samples) < 1:
            raise SettingError("n_samples", n_samples, "must be at least 1")
        return self._core.sample(int(n_samples), seed_of(self.random_state))

    to_sklearn = _to_sklearn.mixture_to_sklearn
