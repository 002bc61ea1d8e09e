"""Lists that a fitted matrix factorisation makes: what to show, why, and what is alike."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _ratings
from ._settings import choice, flag, real, seed_of, whole
from .errors import DataError, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._typing import Floats, Random

_RANKINGS = {"mean": "mean", "ucb": "ucb", "thompson": "thompson"}


def clipped(ratings, scale):
    """Ratings within a scale, if there is one."""
    return ratings if scale is None else np.clip(ratings, *scale)


class PmfLists:
    """The methods that make lists."""

    @overload
    def recommend(
        self,
        user: int | str | Sequence[int] | Sequence[str] | NDArray[Any],
        n: int = 10,
        *,
        by: str = "mean",
        beta: float = 1.0,
        random_state: Random = 0,
        include_seen: bool = False,
        items: Any = None,
        exclude: Any = None,
        clip: Any = False,
        return_ratings: Literal[False] = False,
        return_std: Literal[False] = False,
    ) -> NDArray[Any]: ...
    @overload
    def recommend(
        self,
        user: int | str | Sequence[int] | Sequence[str] | NDArray[Any],
        n: int = 10,
        *,
        by: str = "mean",
        beta: float = 1.0,
        random_state: Random = 0,
        include_seen: bool = False,
        items: Any = None,
        exclude: Any = None,
        clip: Any = False,
        return_ratings: Literal[True],
        return_std: Literal[False] = False,
    ) -> tuple[NDArray[Any], Floats]: ...
    @overload
    def recommend(
        self,
        user: int | str | Sequence[int] | Sequence[str] | NDArray[Any],
        n: int = 10,
        *,
        by: str = "mean",
        beta: float = 1.0,
        random_state: Random = 0,
        include_seen: bool = False,
        items: Any = None,
        exclude: Any = None,
        clip: Any = False,
        return_ratings: bool = False,
        return_std: Literal[True],
    ) -> tuple[NDArray[Any], *tuple[Floats, ...]]: ...
    def recommend(
        self,
        user: int | str | Sequence[int] | Sequence[str] | NDArray[Any],
        n: int = 10,
        *,
        by: str = "mean",
        beta: float = 1.0,
        random_state: Random = 0,
        include_seen: bool = False,
        items: Any = None,
        exclude: Any = None,
        clip: Any = False,
        return_ratings: bool = False,
        return_std: bool = False,
    ) -> Any:
        """Recommend items to a user or to many, best first.

        Parameters
        ----------
        user : int, str or array-like of these
            The user's id, or those of many users, whose lists are made on all threads; ``users_`` has all. Users that
            the model does not know get what most people like; of many users a warning counts those.
        n : int, default=10
            How many items.
        by : {'mean', 'ucb', 'thompson'}, default='mean'
            What comes first: the highest expected rating, that plus `beta` standard deviations, or the best in
            one random draw of all that is uncertain.
        beta : float, default=1.0
            For 'ucb'.
        random_state : int, RandomState instance or None, default=0
            For 'thompson': which draw. Every user has one of their own.
        include_seen : bool, default=False
            Whether items that the user has rated are listed as well.
        items : array-like, default=None
            The only items to list, None being all. Those that the model does not know are left out with a warning.
        exclude : array-like, default=None
            Items that are not listed.
        clip : bool or (low, high), default=False
            Whether to keep the ratings that are returned within a scale; True is that of the ratings of the fit.
        return_ratings : bool, default=False
            Whether to return the expected ratings as well.
        return_std : bool, default=False
            Whether to return how sure these are as well: the standard deviation of each, without noise.

        Returns
        -------
        items : ndarray of shape (n,), or (n_users, n)
            The ids of the items. Where a user has fewer items left than others, -1, or None among strings.
        ratings : ndarray of the same shape
            Their expected ratings. Only if `return_ratings`.
        std : ndarray of the same shape
            Only if `return_std`.

        Examples
        --------
        >>> import scipy.sparse
        >>> from lehr import ProbabilisticMatrixFactorization
        >>> X = scipy.sparse.csr_array([[5.0, 1, 0, 0], [5, 0, 4, 0], [1, 5, 0, 5], [0, 4, 1, 5]])
        >>> pmf = ProbabilisticMatrixFactorization(1, random_state=0).fit(X)
        >>> pmf.recommend([0, 2], 1).shape, pmf.recommend(0, 1, exclude=[2])
        ((2, 1), array([3]))
        """
        check_is_fitted(self, "_core")
        users = _ratings.names(user)
        if np.ndim(user):
            self._tell_unknown(users)
        numbers, ratings, deviations = self._core.recommend(
            users,
            whole("n", n, least=1),
            choice("by", by, _RANKINGS),
            real("beta", beta),
            seed_of(random_state),
            flag("include_seen", include_seen),
            self._candidates(items, exclude),
            flag("return_std", return_std),
            self._threads(),
        )
        ratings = clipped(ratings, self._scale(clip))
        found = [numbers, ratings] if deviations is None else [numbers, ratings, deviations]
        if np.ndim(user) == 0:
            found = [values[numbers >= 0] for values in found]
        else:
            longest = len(numbers) // max(len(users), 1)
            found = [values.reshape(len(users), longest) for values in found]
            if len(users):
                # What no user has any more is no column.
                longest = int((found[0] >= 0).sum(axis=1).max())
                found = [values[:, :longest] for values in found]
        told = [self._ids_of(found[0])]
        told += [found[1]] if flag("return_ratings", return_ratings) else []
        told += found[2:]
        return told[0] if len(told) == 1 else tuple(told)

    def similar_items(self, item: int | str, n: int = 10) -> tuple[NDArray[Any], Floats, Floats]:
        """Find the items that users think the same of as of one.

        Parameters
        ----------
        item : int or str
            Its id.
        n : int, default=10
            How many.

        Returns
        -------
        items : ndarray of shape (n,)
            Their ids, the most similar first.
        similarity : ndarray of shape (n,)
            The expected correlation of what users think of both, biases aside: 1 if it is always the same. Items with few
            ratings are like nothing.
        std : ndarray of shape (n,)
            How sure that is.
        """
        return self._similar("item", 1, item, n)

    def similar_users(self, user: int | str, n: int = 10) -> tuple[NDArray[Any], Floats, Floats]:
        """Find the users whose taste is most like that of one.

        Parameters
        ----------
        user : int or str
            The user's id.
        n : int, default=10
            How many.

        Returns
        -------
        users : ndarray of shape (n,)
            Their ids, the most similar first.
        similarity : ndarray of shape (n,)
            As in `similar_items`.
        std : ndarray of shape (n,)
            How sure that is.
        """
        return self._similar("user", 0, user, n)

    def explain(self, user: int | str, items: Any, n: int = 5) -> list[list[tuple[Any, float, float]]]:
        """Say which of a user's ratings move the expected ratings of items most.

        Parameters
        ----------
        user : int or str
            The id of a user of the fit.
        items : array-like
            The ids of items.
        n : int, default=5
            How many ratings for each.

        Returns
        -------
        moved : list of lists
            For each item the ratings that move it most, the first most: the id of what was rated, the rating, and by how
            much the expected rating is higher than it would be without it, the items being as they are.

        Examples
        --------
        >>> import scipy.sparse
        >>> from lehr import ProbabilisticMatrixFactorization
        >>> X = scipy.sparse.csr_array([[5.0, 1, 0, 0], [5, 0, 4, 0], [1, 5, 0, 5], [0, 4, 1, 5]])
        >>> pmf = ProbabilisticMatrixFactorization(1, random_state=0).fit(X)
        >>> len(pmf.explain(0, [2, 3])[0])
        2
        """
        check_is_fitted(self, "_core")
        wanted = _ratings.names(items)
        found = self._core.numbers_of(wanted, 1)
        if (found < 0).any():
            unknown = np.asarray(wanted, dtype=object)[found < 0]
            raise DataError(f"the model does not know the item {unknown[0]!r}; explain items that it can recommend")
        number = self._number("user", 0, user)
        told = self._core.explain(number, found.tolist(), whole("n", n, least=1), self._threads())
        ids = self.items_
        return [[(ids[[item]].tolist()[0], rating, by) for item, rating, by in moved] for moved in told]

    def _similar(self, name, side, one, n):
        check_is_fitted(self, "_core")
        number = self._number(name, side, one)
        numbers, similarity, std = self._core.similar(side, number, whole("n", n, least=1), self._threads())
        return (self.users_, self.items_)[side][numbers], similarity, std

    def _number(self, name, side, one):
        """The number of a user or an item that the model has to know."""
        ids = _ratings.names(one)
        number = int(self._core.numbers_of(ids, side)[0]) if len(ids) == 1 else -1
        if number < 0:
            raise DataError(f"the model does not know the {name} {one!r}; give the id of one that it was fitted to")
        return number

    def _candidates(self, items, exclude):
        """The numbers of the only items to list, rising; None for all."""
        if items is None and exclude is None:
            return None
        allowed = np.arange(len(self.items_))
        if items is not None:
            allowed = self._known("items", items)
            if not len(allowed):
                raise DataError("the model knows none of the items; they are named as in the fit")
        if exclude is not None and np.size(exclude):
            allowed = np.setdiff1d(allowed, self._known("exclude", exclude))
        if not len(allowed):
            raise DataError("no item is left that a list could have: exclude names all of them")
        return np.unique(allowed).tolist()

    def _tell_unknown(self, users):
        """Warns of users in bulk whom the model does not know: their ids may be written otherwise."""
        unknown = np.flatnonzero(self._core.numbers_of(users, 0) < 0)
        if len(unknown):
            first = ", ".join(str(users[n]) for n in unknown[:3]) + (", ..." if len(unknown) > 3 else "")
            message = f"the model does not know {len(unknown)} of {len(users)} users ({first}): they get what most people like"
            warnings.warn(message, UserWarning, stacklevel=3)

    def _known(self, name, items):
        ids = _ratings.names(items)
        if not len(ids):
            raise SettingError(name, "[]", "must name at least one item, or be None")
        found = self._core.numbers_of(ids, 1)
        unknown = int((found < 0).sum())
        if unknown:
            warnings.warn(f"{name}: the model does not know {unknown} of {len(found)} items", UserWarning, stacklevel=4)
        return found[found >= 0]

    def _ids_of(self, numbers):
        """The ids of items; -1 or None where there is none."""
        missing = numbers < 0
        ids = self.items_[numbers]
        if missing.any():
            ids = ids.astype(object) if ids.dtype.kind not in "iu" else ids.copy()
            ids[missing] = -1 if ids.dtype.kind in "iu" else None
        return ids

    def _scale(self, clip):
        """What ratings are kept within: None, or two numbers."""
        if isinstance(clip, (bool, np.bool_)):
            return self._core.scale() if clip else None
        try:
            low, high = (float(x) for x in clip)
        except (TypeError, ValueError):
            low, high = 0.0, 0.0
        if not low < high:
            raise SettingError("clip", repr(clip), "must be True, False or the lowest and the highest rating, e.g. (1, 5)")
        return low, high
