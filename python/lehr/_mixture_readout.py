"""What a fitted mixture says of items: components, densities, draws."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _data
from ._settings import room_for, seed_of, whole
from .errors import DataError, SettingError


class MixtureReadout:
    """The methods of a mixture that need no fitting."""

    def _points(self, X):
        check_is_fitted(self, "_core")
        return _data.points(self, X, reset=False)

    def predict_proba(self, X):
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
        resp = self._core.responsibilities(data, self._threads())
        if not np.isfinite(resp).all():
            at = int(np.argmin(np.isfinite(resp).all(axis=1)))
            raise DataError(f"row {at} is so far from every component that its densities overflow")
        return resp

    def predict(self, X):
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
        return self.predict_proba(X).argmax(axis=1)

    def score_samples(self, X):
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
        return self._core.item_bounds(data, self._threads())

    def score(self, X, y=None):
        """Compute the mean of `score_samples`."""
        return float(np.mean(self.score_samples(X)))

    def log_predictive(self, X):
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
        return self._core.log_predictive(data, self._threads())

    def impute(self, X):
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

    def sample(self, n_samples=1):
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
        room_for(n_samples, self.n_features_in_)
        return self._core.sample(int(n_samples), seed_of(self.random_state))
