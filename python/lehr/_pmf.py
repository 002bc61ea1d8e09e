"""Ratings and recommendations by Bayesian matrix factorisation."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _lehr, _ratings
from ._base import Fitting
from ._data import collected, is_path
from ._loading import fit_parameters
from ._pmf_readout import PmfReadout
from ._settings import choice, flag, whole
from ._watch import with_callbacks
from .errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._typing import Floats, Random, Self

_DUPLICATES = {"refuse": False, "mean": True}


class ProbabilisticMatrixFactorization(PmfReadout, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Fitting):
    """Probabilistic matrix factorisation with a posterior for every user and every item.

    A rating is the inner product of a user's and an item's factors, plus biases and noise. Noise, prior variances
    and biases are learned, and unused dimensions are pruned (ARD).

    X is one of

    - a scipy sparse matrix, rows being users and columns items: the stored entries are the ratings, stored
      zeros included;
    - a dense array, in which NaN stands for what is not rated;
    - a data frame (pandas, polars, pyarrow) with a column for each of user, item and rating, whose ids are integers,
      strings or categories; or, with ``matrix=True``, with a row for each user and a column for each item;
    - the path of a file of ratings that the command line reads.

    Parameters
    ----------
    n_components : int, default=10
        d, the number of latent dimensions; give more than needed, since unused ones are pruned.
    max_iter : int, default=500
        Sweeps over all ratings; 0 keeps the start as it is.
    tol : float, default=1e-6
        The fit ends when the bound's relative change is smaller; 0 turns it off.
    implicit : bool, default=False
        Whether values say how often an item was used, and not how it was liked: pairs without one count as not used,
        and what is predicted is use. For lists of items to show.
    confidence : float, default=None
        With `implicit`: a pair that was used n times weighs 1 + confidence * n, one that was not used 1. None is 1.
    prior_variance : float, default=None
        The prior variance of the factors; None is the standard deviation of the ratings.
    noise_variance : float, default=None
        The initial variance of a rating around its mean; None is that of the ratings.
    learn_noise : bool, default=True
        Whether the noise is learned.
    ard : bool, default=True
        Whether a prior variance is learned for each dimension.
    gauge : bool, default=True
        Whether the latent space is turned to the best bound after sweeps.
    centre : bool, default=True
        Whether the mean of the ratings is subtracted.
    biases : bool, default=True
        Whether users and items have biases.
    n_init : int, default=1
        How many starts to try; the best by bound is kept.
    random_state : int, RandomState instance or None, default=None
        An int is the seed, as on the command line.
    verbose : int, default=0
        1 shows a line of progress on stderr, 2 prints a line for every evaluation of the bound.
    batch_size : int, default=None
        Ratings in a step; None: all of them.
    effective_batch_size : float or str, default=None
        M, the effective number of ratings of each user and item: smaller is noisier. A number, '50t' (50 times
        the step) or 'geometric:10:150'. None is no noise.
    noise : <law>, default='gaussian'
        The distribution of the annealing noise.
    guard : <guard>, default=None
        What happens when noise pushes a parameter out of its domain; None is 'reject-below-prior'.
    step_size : float or str, default=None
        rho: a number, 'power:10:0.75' or '0.85,1'. None is 1, '0.85,1' with noise, 'power:10:0.75' with batches.
    noise_end : float, default=0.75
        The fraction of the steps after which the noise ends.
    holdout : float, default=0
        Ratings to hold out and score during the fit: a count, or a share below 1.
    time_limit : float, default=None
        Seconds after which a fit ends.
    user : str, default=None
        The column of a data frame or file that says who rates; None finds it by its usual names ('user_id' and the
        like). A frame whose columns are not known is refused.
    item : str, default=None
        The column that says what is rated; None finds 'item', 'movieId' and the like.
    rating : str, default=None
        The column with the ratings; None finds 'rating', 'stars' and the like.
    weight : str, default=None
        The column that says how much each rating counts: the variance of a rating is sigma^2 divided by its weight, so that
        one of weight 2 counts like two that agree. New ratings may lack it, and count once then.
    matrix : bool, default=False
        Whether a data frame or file is a matrix: a row for each user, a column for each item, gaps for what is not
        rated. Arrays and sparse matrices always are.
    duplicates : {'refuse', 'mean'}, default='refuse'
        What becomes of several ratings of one item by one user in a data frame.
    n_jobs : int, default=None
        Threads, at most 4 for each core, or 16; None and -1 are all cores. Does not change results.
    data_options : dict, default=None
        How to read a file, if X is a path: missing, drop, duplicates, header.

    Attributes
    ----------
    user_factors_, item_factors_ : ndarray of shape (n_users, n_components), (n_items, n_components)
        The means of the factors.
    user_biases_, item_biases_ : ndarray
        The means of the biases; zeros if there are none.
    components_ : ndarray of shape (n_components, n_items)
        The items' factors by dimension.
    users_, items_ : ndarray
        The ids in the order of the factors.
    mean_ : float
        What is added to every prediction.
    noise_variance_ : float
        The variance of a rating around its mean.
    item_variances_ : ndarray of shape (n_components,)
        The prior variance of each dimension of the items.
    n_dims_in_use_ : int
        How many dimensions explain anything.
    lower_bound_ : float
        The bound, with every constant.
    converged_, n_iter_, n_steps_, n_guard_hits_, trace_
        As in :class:`BayesianGaussianMixture`.

    Examples
    --------
    >>> import scipy.sparse
    >>> from lehr import ProbabilisticMatrixFactorization
    >>> rows, columns = [0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 2, 1, 2, 0, 1]
    >>> X = scipy.sparse.csr_array(([5.0, 4, 5, 1, 4, 2, 5, 4], (rows, columns)), shape=(4, 3))
    >>> pmf = ProbabilisticMatrixFactorization(n_components=1, random_state=0).fit(X)
    >>> mean, std = pmf.predict([0], [2], return_std=True)
    >>> bool(mean[0] < 4), bool(std[0] > 0)
    (True, True)
    >>> pmf.recommend(3, 1)
    array([2])
    """

    if TYPE_CHECKING:
        user_factors_: Floats
        item_factors_: Floats
        user_biases_: Floats
        item_biases_: Floats
        components_: Floats
        users_: NDArray[Any]
        items_: NDArray[Any]
        mean_: float
        noise_variance_: float
        item_variances_: Floats
        n_dims_in_use_: int
        lower_bound_: float

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Floats: ...

    _core_class = _lehr.Pmf
    _model = "pmf"

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_iter: int = 500,
        tol: float = 1e-6,
        implicit: bool = False,
        confidence: float | None = None,
        prior_variance: float | None = None,
        noise_variance: float | None = None,
        learn_noise: bool = True,
        ard: bool = True,
        gauge: bool = True,
        centre: bool = True,
        biases: bool = True,
        n_init: int = 1,
        random_state: Random = None,
        verbose: int = 0,
        batch_size: int | None = None,
        effective_batch_size: float | str | None = None,
        noise: str = "gaussian",
        guard: str | None = None,
        step_size: float | str | None = None,
        noise_end: float = 0.75,
        holdout: float | str = 0,
        time_limit: float | None = None,
        user: str | None = None,
        item: str | None = None,
        rating: str | None = None,
        weight: str | None = None,
        matrix: bool = False,
        duplicates: str = "refuse",
        n_jobs: int | None = None,
        data_options: dict[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.implicit = implicit
        self.confidence = confidence
        self.prior_variance = prior_variance
        self.noise_variance = noise_variance
        self.learn_noise = learn_noise
        self.ard = ard
        self.gauge = gauge
        self.centre = centre
        self.biases = biases
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.batch_size = batch_size
        self.effective_batch_size = effective_batch_size
        self.noise = noise
        self.guard = guard
        self.step_size = step_size
        self.noise_end = noise_end
        self.holdout = holdout
        self.time_limit = time_limit
        self.user = user
        self.item = item
        self.rating = rating
        self.weight = weight
        self.matrix = matrix
        self.duplicates = duplicates
        self.n_jobs = n_jobs
        self.data_options = data_options

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _params(self):
        """The model's settings, as the command line's configuration file has them."""
        return self._checked("own", dims=whole("n_components", self.n_components, least=1))

    def _config(self, n_ratings):
        n_init = whole("n_init", self.n_init, least=1)
        self._averages()
        return self._fit_settings(n_ratings, self._batch(n_ratings), n_init=n_init)

    _config_of_fit = _config

    def _columns(self, X, roles=_ratings.ROLES):
        """The columns of a data frame that names users and items; None if X is a matrix."""
        wanted = _ratings.check_names(self.user, self.item, self.rating)
        return _ratings.columns_of(X, wanted, flag("matrix", self.matrix), roles)

    def _averages(self):
        """Whether several ratings of one item by one user become their mean."""
        return choice("duplicates", self.duplicates, _DUPLICATES)

    def _with_ids(self, X, known=None):
        """The ratings of a file, or of a data frame that names users and items; None if X is a matrix."""
        if is_path(X):
            wanted = _ratings.check_names(self.user, self.item, self.rating, self.weight)
            return _ratings.of_file(X, wanted, flag("matrix", self.matrix), self.data_options, known)
        columns = self._columns(X)
        if columns is None:
            return None
        _ratings.check_names(self.user, self.item, self.rating, self.weight)
        return _ratings.of_frame(X, columns, self._averages(), known, _ratings.weight_column(X, self.weight, known))

    def _asked(self, X, weights=None):
        """Ratings, and the settings of a model and a fit of them."""
        params, X = self._params(), collected(X)
        data = self._with_ids(X)
        if data is None:
            matrix = _ratings.as_matrix(self, X, reset=True)
            data = _ratings.from_matrix(matrix, weights=_ratings.weights_of(matrix, weights))
        elif weights is not None:
            raise DataError("weights are those of a matrix; of a data frame or a file name their column with weight=")
        else:
            self.__dict__.pop("feature_names_in_", None)
        return data, params, self._config(data.shape[2])

    @with_callbacks
    def fit(self, X: Any, y: Any = None, weights: Any = None) -> Self:
        """Learn from ratings.

        Parameters
        ----------
        X : sparse matrix, array, data frame or path
            The ratings; see the class.
        y : Ignored
            Not used, present here for API consistency by convention.
        weights : sparse matrix or array, default=None
            Of a matrix: how much each of its ratings counts, in a matrix of the same shape. A data frame has a column of
            them, see `weight`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        data, params, config = self._asked(X, weights)
        return self._run(self._core_class.fit, data, X, params, config)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take new users and items in without fitting again: what is known of others stays as it is.

        The rows of a matrix are new users, numbered after those that are there; a data frame names them. A pair that
        the model was fitted to keeps its rating; a warning says how many such ratings have changed.

        Parameters
        ----------
        X : sparse matrix, array, data frame or path
            New ratings.
        y : Ignored
            Not used, present here for API consistency by convention.

        Returns
        -------
        self : object
            The estimator; it is fitted to X if it was not fitted before.
        """
        if not hasattr(self, "_core"):
            return self.fit(X)
        X = collected(X)
        data = self._with_ids(X, self._core)
        if data is None:
            data = self._new_rows(X)[1]
        if data is None:
            raise DataError("there are no ratings; give at least one")
        core, n_changed = self._core.absorb(data, self._threads())
        if n_changed:
            warnings.warn(
                f"{n_changed} {'rating' if n_changed == 1 else 'ratings'} of pairs that the model knows with another "
                "rating left out: what was learned stays; fit again to change it",
                UserWarning,
                stacklevel=2,
            )
        self._take(core)
        return self

    def _take(self, core):
        super()._take(core)
        facts = core.attributes()
        users, items = np.asarray(facts["users"]), np.asarray(facts["items"])
        _, bound = self._best_bounds()
        self._note(
            user_factors_=facts["user_factors"],
            item_factors_=facts["item_factors"],
            user_biases_=facts.get("user_biases", np.zeros(len(users))),
            item_biases_=facts.get("item_biases", np.zeros(len(items))),
            users_=users,
            items_=items,
            components_=facts["item_factors"].T,
            mean_=facts["mean"],
            noise_variance_=float(facts["noise_variance"][0]),
            item_variances_=facts["item_variances"],
            n_dims_in_use_=facts["dims_in_use"],
            lower_bound_=bound,
        )
        self.n_features_in_ = len(items)

    @property
    def _n_features_out(self):
        return self.item_factors_.shape[1]

    def _is_numbered(self):
        """Whether users and items are numbered as the rows and columns of a matrix."""
        return all(ids.dtype.kind == "i" and (ids == np.arange(len(ids))).all() for ids in (self.users_, self.items_))

    def _new_rows(self, X):
        """The rows of a matrix as new users: the matrix, and its ratings if there are any."""
        check_is_fitted(self, "_core")
        matrix = _ratings.as_matrix(self, X, reset=False)
        if not self._is_numbered():
            raise DataError("the model was fitted to ratings with ids; give a data frame with the same columns")
        return matrix, _ratings.from_matrix(matrix, len(self.users_)) if matrix.nnz else None

    def transform(self, X: Any) -> Floats:
        """Find the factors of users: of new ones from their ratings alone, of known ones with what is known.

        Parameters
        ----------
        X : sparse matrix, array or data frame
            Ratings. The rows of a matrix are new users; a data frame names them.

        Returns
        -------
        factors : ndarray of shape (n_users, n_components)
            A row for each row of a matrix, or for each user of a data frame in order of appearance.
        """
        check_is_fitted(self, "_core")
        d = self._n_features_out
        if is_path(X):
            raise DataError("the factors of a file's users are not returned; read it into a data frame")
        X = collected(X)
        columns = self._columns(X)
        if columns is not None:
            numbers = _ratings.users_of(X, columns[0], self.users_.tolist())
            means, _ = self._core.fold_in(self._with_ids(X, self._core), 0, False, self._threads())
            return means[numbers, :d]
        matrix, data = self._new_rows(X)
        if data is None:
            return np.zeros((matrix.shape[0], d))
        means, _ = self._core.fold_in(data, len(self.users_), False, self._threads())
        return means[:, :d]

    @staticmethod
    def _parameters_of(record, _core):
        """The parameters of a matrix factorisation that makes the fit of a run again."""
        params = record["params"]
        names = ("prior_variance", "noise_variance", "learn_noise", "ard", "gauge", "centre", "biases")
        return {
            **fit_parameters(record),
            **{name: params[name] for name in names},
            "implicit": params.get("implicit", False),
            "confidence": params.get("confidence"),
            "n_components": params["dims"],
            "tol": record["fit"]["tol"],
            "n_init": record["fit"]["n_init"],
        }
