"""What a fitted matrix factorisation says of users and items: predictions, recommendations, scores."""

from __future__ import annotations

import json
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _ratings
from ._pmf_lists import PmfLists, clipped
from ._data import collected, is_path
from ._settings import real, whole
from .errors import DataError, SettingError

if TYPE_CHECKING:
    from ._typing import Floats


class PmfReadout(PmfLists):
    """The methods of a matrix factorisation that need no fitting."""

    @overload
    def predict(
        self, users: Any, items: Any = None, return_std: Literal[False] = False, *, clip: Any = False
    ) -> Floats: ...
    @overload
    def predict(
        self, users: Any, items: Any, return_std: Literal[True], *, clip: Any = False
    ) -> tuple[Floats, Floats]: ...
    def predict(
        self, users: Any, items: Any = None, return_std: bool = False, *, clip: Any = False
    ) -> Floats | tuple[Floats, Floats]:
        """Predict ratings.

        Parameters
        ----------
        users : array-like
            The ids of users, one for each rating to predict, or one for all of them. Or, without `items`, a data frame
            with a column of users and one of items, or a matrix of ratings whose rows are new users.
        items : array-like, default=None
            The ids of items, one for each rating to predict, or one for all of them.
        return_std : bool, default=False
            Whether to return the standard deviations as well.
        clip : bool or (low, high), default=False
            Whether to keep expected ratings within a scale; True is that of the ratings of the fit.

        Returns
        -------
        mean : ndarray
            The expected ratings: one for each pair, or those of all items for each row of a matrix.
        std : ndarray
            How far a rating may be from that, noise included. Only if `return_std`.
        """
        check_is_fitted(self, "_core")
        scale = self._scale(clip)
        columns = None
        if items is None:
            users = collected(users)
            columns = self._columns(users, ("user", "item"))
        if columns is not None:
            users, items = (_ratings.ids_in(users, column) for column in columns)
        elif items is None:
            if return_std:
                raise SettingError("return_std", True, "is for pairs of users and items; give both")
            matrix, data = self._new_rows(users)
            if data is None:
                everyone = self.mean_ + self.item_biases_
                return clipped(np.tile(everyone, (matrix.shape[0], 1)), scale)
            return clipped(self._core.fold_in(data, len(self.users_), True, self._threads())[1], scale)
        else:
            users, items = _ratings.pairs(users, items)
        if len(users) != len(items):
            raise DataError(f"{len(users)} users and {len(items)} items do not make pairs; give as many of each")
        mean, variance = self._core.predict(users, items, bool(return_std), self._threads())
        mean = clipped(mean, scale)
        return mean if variance is None else (mean, np.sqrt(variance))

    def heldout_scores(self, X: Any) -> dict[str, Any]:
        """Score the predictions of ratings that the model was not fitted to.

        Parameters
        ----------
        X : sparse matrix, array, data frame or path
            Ratings. The rows of a matrix are the users of the fit, all of them.

        Returns
        -------
        scores : dict
            'rmse', 'mae', 'log_density' (mean log predictive density), 'coverage' (shares of the ratings inside
            their 50, 80 and 95 % intervals), 'by_uncertainty' (for fifths of the ratings, from those of which the model is
            surest to those of which it is least sure: 'n_ratings', 'predicted_rmse', 'rmse' and 'coverage'),
            'unknown_users' and 'unknown_items'.
        """
        return self._core.scores(self._ratings_of(X), self._threads())

    def ranking_scores(self, X: Any, k: int = 10, *, relevant: float | None = None) -> dict[str, Any]:
        """Score the lists of `k` items that users would have been shown by what they turned to later.

        Items that a user has rated in the fit are not listed, and not looked for; users whom the model does not know are
        left out.

        Parameters
        ----------
        X : sparse matrix, array, data frame or path
            Ratings that the model was not fitted to. The rows of a matrix are the users of the fit, all of them.
        k : int, default=10
            The length of the lists.
        relevant : float, default=None
            What is rated at least so high is to be found; None: all that is rated.

        Returns
        -------
        scores : dict
            'ndcg', 'recall', 'precision', 'map', 'hit_rate' and 'coverage', means over users; the same of the most
            popular items in 'popularity', a dict; 'n_users', 'unknown_users' and 'unknown_items'.

        Examples
        --------
        >>> import numpy as np, scipy.sparse
        >>> from lehr import ProbabilisticMatrixFactorization
        >>> used = np.kron(np.eye(2), np.ones((6, 6)))
        >>> later = np.zeros_like(used)
        >>> later[range(12), range(12)], used[range(12), range(12)] = 1, 0
        >>> pmf = ProbabilisticMatrixFactorization(2, implicit=True, random_state=0).fit(scipy.sparse.csr_array(used))
        >>> pmf.ranking_scores(scipy.sparse.csr_array(later), k=1)["hit_rate"]
        1.0
        """
        relevant = real("relevant", relevant, optional=True)
        k = whole("k", k, least=1)
        scores = self._core.rank(self._ratings_of(X), k, relevant, self._threads())
        if not scores["n_users"]:
            raise DataError(
                "no user whom the model knows has anything to find; lists are for users of the fit, and for items that "
                "they had not rated yet"
            )
        return scores

    def _ratings_of(self, X):
        """Ratings by users of the fit, or by others where they have ids."""
        check_is_fitted(self, "_core")
        X = collected(X)
        data = self._with_ids(X, self._core)
        if data is None:
            matrix = _ratings.as_matrix(self, X, reset=False)
            if not self._is_numbered() or matrix.shape[0] != len(self.users_):
                raise DataError(
                    f"the rows of a matrix to score are the {len(self.users_)} users of the fit, and there are "
                    f"{matrix.shape[0]}; name users by ids in a data frame to score other selections"
                )
            data = _ratings.from_matrix(matrix)
        return data

    def report(
        self, path: str | PathLike[str], X: Any = None, texts: dict[Any, str] | None = None, users: Any = None
    ) -> None:
        """Write one page of HTML to look at the factorisation with: the same as ``lehr report``.

        Parameters
        ----------
        path : str or os.PathLike
            The file to write; one that is there is replaced.
        X : ratings, default=None
            Ratings to measure errors and intervals on, in any form that `fit` takes; those that the model was fitted to
            are left out.
        texts : dict, default=None
            What items are called, by their ids.
        users : list, default=None
            The ids of users to recommend to; by default nine with few to many ratings.
        """
        check_is_fitted(self, "_core")
        data = None if X is None else self._ratings_of(X)
        titles = None if texts is None else {str(item): str(title) for item, title in dict(texts).items()}
        chosen = None if users is None else [str(user) for user in users]
        self._write_report(path, self._core.report(self._threads(), data, titles, chosen))

    def _chart_numbers(self, X=None):
        """The numbers of the charts of that page, by their names."""
        check_is_fitted(self, "_core")
        data = None if X is None else self._ratings_of(X)
        return json.loads(self._core.chart_numbers(self._threads(), data))

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the mean log predictive density of ratings, for `cross_val_score` and the like; higher is better.

        The rows of a matrix are new users, as in `transform` and `predict`: every other rating of a row is predicted from
        the rest of the row. The rows of a data frame or a file are ratings, as in `heldout_scores`; users and items that
        the model does not know are predicted by what is usual.

        Parameters
        ----------
        X : sparse matrix, array, data frame or path
            Ratings.
        y : Ignored
            Not used, present here for API consistency by convention.

        Returns
        -------
        score : float
            The mean log predictive density of a rating.

        Examples
        --------
        >>> import numpy as np, scipy.sparse
        >>> from sklearn.model_selection import cross_val_score
        >>> from lehr import ProbabilisticMatrixFactorization
        >>> X = scipy.sparse.random_array((30, 9), density=0.5, format="csr", rng=np.random.default_rng(0))
        >>> scores = cross_val_score(ProbabilisticMatrixFactorization(1, random_state=0), X, cv=2)
        >>> bool(np.isfinite(scores).all())
        True
        """
        check_is_fitted(self, "_core")
        X = collected(X)
        if is_path(X) or self._columns(X) is not None:
            return self.heldout_scores(X)["log_density"]
        matrix, _ = self._new_rows(X)
        if not matrix.nnz:
            raise DataError("there are no ratings to score; give at least one")
        given, hidden = _ratings.every_other(matrix)
        core, first = self._core, len(self.users_)
        if given.nnz:
            core, _ = core.absorb(_ratings.from_matrix(given, first), self._threads())
        return core.scores(_ratings.from_matrix(hidden, first), self._threads())["log_density"]
