"""What a fitted matrix factorisation says of users and items: predictions, recommendations, scores."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _ratings
from ._settings import choice, flag, real, seed_of, whole
from .errors import DataError, SettingError

_RANKINGS = {"mean": "mean", "ucb": "ucb", "thompson": "thompson"}


class PmfReadout:
    """The methods of a matrix factorisation that need no fitting."""

    def predict(self, users, items=None, return_std=False):
        """Predict ratings.

        Parameters
        ----------
        users : array-like
            The ids of users, one for each rating to predict. Or, without `items`, a matrix of ratings whose rows
            are new users.
        items : array-like, default=None
            The ids of items.
        return_std : bool, default=False
            Whether to return the standard deviations as well.

        Returns
        -------
        mean : ndarray
            The expected ratings: one for each pair, or those of all items for each row of a matrix.
        std : ndarray
            How far a rating may be from that, noise included. Only if `return_std`.
        """
        check_is_fitted(self, "_core")
        if items is None:
            if return_std:
                raise SettingError("return_std", True, "is for pairs of users and items; give both")
            matrix, data = self._new_rows(users)
            if data is None:
                everyone = self.mean_ + self.item_biases_
                return np.tile(everyone, (matrix.shape[0], 1))
            return self._core.fold_in(data, len(self.users_), True, self._threads())[1]
        users, items = _ratings.names(users), _ratings.names(items)
        if len(users) != len(items):
            raise DataError(f"{len(users)} users and {len(items)} items do not make pairs; give as many of each")
        mean, variance = self._core.predict(users, items, self._threads())
        return (mean, np.sqrt(variance)) if return_std else mean

    def recommend(
        self, user, n=10, *, by="mean", beta=1.0, random_state=0, include_seen=False, return_ratings=False
    ):
        """Recommend items to a user, best first.

        Parameters
        ----------
        user : int or str
            The user's id. Users that the model does not know get what most people like.
        n : int, default=10
            How many items.
        by : {'mean', 'ucb', 'thompson'}, default='mean'
            What comes first: the highest expected rating, that plus `beta` standard deviations, or the best in
            one random draw of all that is uncertain.
        beta : float, default=1.0
            For 'ucb'.
        random_state : int, RandomState instance or None, default=0
            For 'thompson': which draw.
        include_seen : bool, default=False
            Whether items that the user has rated are listed as well.
        return_ratings : bool, default=False
            Whether to return the expected ratings as well.

        Returns
        -------
        items : ndarray of shape (n,)
            The ids of the items.
        ratings : ndarray of shape (n,)
            Their expected ratings. Only if `return_ratings`.
        """
        check_is_fitted(self, "_core")
        items, _, ratings = self._core.recommend(
            _ratings.names([user]),
            whole("n", n, least=1),
            choice("by", by, _RANKINGS),
            real("beta", beta),
            seed_of(random_state),
            flag("include_seen", include_seen),
            self._threads(),
        )
        return (np.asarray(items), ratings) if return_ratings else np.asarray(items)

    def heldout_scores(self, X):
        """Score the predictions of ratings that the model was not fitted to.

        Parameters
        ----------
        X : sparse matrix, array, data frame or path
            Ratings. The rows of a matrix are the users of the fit, all of them.

        Returns
        -------
        scores : dict
            'rmse', 'mae', 'log_density' (mean log predictive density), 'coverage' (shares of the ratings inside
            their 50, 80 and 95 % intervals), 'unknown_users' and 'unknown_items'.
        """
        check_is_fitted(self, "_core")
        if self._has_ids(X):
            data = self._with_ids(X, self._core)
        else:
            matrix = _ratings.as_matrix(self, X, reset=False)
            if not self._is_numbered() or matrix.shape[0] != len(self.users_):
                raise DataError(
                    f"the rows of a matrix to score are the {len(self.users_)} users of the fit, and there are "
                    f"{matrix.shape[0]}; name users by ids in a data frame to score other selections"
                )
            data = _ratings.from_matrix(matrix)
        return self._core.scores(data, self._threads())

    def score(self, X, y=None):
        """Compute the mean log predictive density of ratings; see `heldout_scores`."""
        return self.heldout_scores(X)["log_density"]
