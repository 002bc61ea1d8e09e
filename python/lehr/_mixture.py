"""Gaussian mixtures, as scikit-learn has them, with batches, weights and annealing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import DensityMixin

from . import _data, _lehr
from ._base import Fitting
from ._data import is_path
from ._found import Found
from ._loading import fit_parameters
from ._mixture_readout import MixtureReadout
from ._settings import flag, steps_in_a_pass, whole
from ._verbose import Starts
from ._watch import with_callbacks
from .errors import DataError, SettingError, told

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._typing import Floats, Random, Self, Whole

# What Python calls the choices of a setting.
_STARTS = {
    "merge": "merge",
    "kmeans": "kmeans",
    "k-means++": "kmeans-plus-plus",
    "random": "responsibilities",
    "random_from_data": "points",
}
_WEIGHTS = {"dirichlet_process": "sticks", "dirichlet_distribution": "dirichlet"}
_COVARIANCES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


class BayesianGaussianMixture(MixtureReadout, DensityMixin, Fitting):
    """Variational Bayesian estimation of a Gaussian mixture.

    Parameters, attributes and methods up to `verbose_interval` have the names and meanings of
    :class:`sklearn.mixture.BayesianGaussianMixture`; from the same start, with 'full' and 'tied' covariances, it ends at
    the same fixed point. What is different: the bound carries every constant, so fits with other priors, K or
    covariance types can be compared; and 'diag' and 'spherical' are models of diagonal and spherical covariances, with
    a Gamma distribution for each variance, where scikit-learn's are a full Wishart with a restricted matrix. Updates
    from the same responsibilities are the same; responsibilities, bounds and fixed points differ a little, and only
    these bounds prefer 'diag' to 'full' where columns are independent.

    Parameters
    ----------
    n_components : int, default=1
        K, the number of components; of a Dirichlet process, the most there can be.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        The components' shape: any ellipsoid, one ellipsoid for all of them, ellipsoids along the axes, spheres.
    tol : float, default=1e-3
        The fit ends when the bound changes by less. With batches, when its running mean does.
    reg_covar : float, default=1e-6
        Added to every variance.
    max_iter : int, default=100
        Passes over the data; 0 keeps the start as it is.
    n_init : int, default=1
        How many starts to try; the best by bound is kept.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data', 'merge'} or array, default='kmeans'
        How a fit starts. An array of shape (n_samples, n_components) holds the initial responsibilities.
        'kmeans' is k-means from one k-means++ start, 'k-means++' its seeds alone; see `init_units`.
        'merge' cuts the data into pieces and joins them while the evidence rises, to n_components or fewer.
    weight_concentration_prior_type : {'dirichlet_process', 'dirichlet_distribution'}, \
default='dirichlet_process'
        The prior of the weights.
    weight_concentration_prior : float, default=None
        Its concentration; None is 1 / n_components.
    mean_precision_prior : float, default=None
        How many items the prior mean is worth; None is 1.
    mean_prior : array-like of shape (n_features,), default=None
        The prior mean; None is the data's mean.
    degrees_of_freedom_prior : float, default=None
        Of the prior of the precisions; None is n_features. Of 'tied' components the prior counts once for each of them,
        as in scikit-learn.
    covariance_prior : float or array-like, default=None
        Of shape (n_features, n_features); or its diagonal, or one number for all of that; None is the data's
        covariance.
    random_state : int, RandomState instance or None, default=None
        An int is the seed, as on the command line.
    warm_start : bool, default=False
        `fit` starts where the last one ended, with its priors.
    verbose : int, default=0
        1 prints scikit-learn's lines: every start, every `verbose_interval` passes and how it ended; 2 also how long they
        took, and the bound.
    verbose_interval : int, default=10
        Passes between lines.
    batch_size : int, default=None
        Items in a step (SVI). None: all of them (batch VI).
    effective_batch_size : float or str, default=None
        M: less than `batch_size` anneals (SVI+), and less is noisier. A number, '50t' (50 times the step) or
        'geometric:10:150' (from 10 to the batch in 150 steps). None is no noise.
    noise : <law>, default='gaussian'
        The distribution of the annealing noise.
    guard : <guard>, default=None
        What happens when noise pushes a component out of its domain; None is 'reject'.
    step_size : float or str, default=None
        rho: a number, 'power:10:0.75' for (10 + t)**-0.75, or '0.5,1' for 0.5 while there is noise and 1 after.
    noise_end : float, default=0.75
        The fraction of the steps after which the noise ends.
    search : float, default=0
        Search for better optima from where the plain fit ends, with N times its passes over the data, those
        included: 4 is usual, 0 is off. It never ends below the plain fit from the same start. See `search_`.
    kicks : str, default=None
        What the search may try, with commas: swap, merge, merge-birth, noise, restart; None is all of them. noise alone
        is the pure form of SVI+.
    total_samples : int, default=None
        N, for `partial_fit`; None is as many as it has seen.
    holdout : float, default=0
        Items to hold out and score during the fit: a count, or a share below 1.
    time_limit : float, default=None
        Seconds after which a fit ends.
    init_units : {'own', 'deviations'}, default='own'
        What 'kmeans' and 'k-means++' measure distances in: the columns' own units as in scikit-learn, where a column
        of large numbers decides, or standard deviations of each column, as the command line does.
    sort_components : bool, default=False
        Sort components by size after each step, which makes the bound of a Dirichlet process better.
    priors : {'scikit-learn', 'learned', 'volume'}, default='scikit-learn'
        Where priors that are None come from. 'learned' is what the command line does: from clusters that are found
        before the fit, so that the number of clusters of a Dirichlet process does not depend on `n_components`; the
        default 'kmeans' of `init_params` then becomes 'merge'. 'volume' is the data's covariance over
        ``n_components ** (2 / n_features)``.
    n_jobs : int, default=None
        Threads, at most 4 for each core, or 16; None and -1 are all cores. Does not change results.
    data_options : dict, default=None
        How to read a file, if X is a path: columns, drop, weight_column, header, missing.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : ndarray
        The expected mixture.
    weight_concentration_, mean_precision_, degrees_of_freedom_ : ndarray
        The parameters of q; for a Dirichlet process the first is a pair.
    weight_concentration_prior_, mean_precision_prior_, mean_prior_, degrees_of_freedom_prior_, \
covariance_prior_ : float or ndarray
        The priors that were used.
    n_components_in_use_ : int
        How many components hold at least one item in expectation (an item of weight w counts as w); the others are
        empty, and their means and covariances are those of the prior.
    components_in_use_ : ndarray of int
        Their numbers, which are the labels of `predict` and the columns of `predict_proba`:
        ``means_[components_in_use_]`` are their means.
    effective_n_components_ : float
        exp of the entropy of the components' shares of the items: how many components of equal size would be as
        evenly spread.
    lower_bound_ : float
        The bound of the best start, with every constant.
    lower_bounds_ : ndarray
        The bounds of its evaluations.
    converged_ : bool
        Whether the bound converged.
    n_iter_ : int
        Passes over the data of the best start.
    n_steps_ : int
        Its updates.
    n_guard_hits_ : int
        How often the guard acted.
    trace_ : dict of ndarray
        The observations: step, seconds, bound, rho, effective, and so on.
    search_ : dict or None
        What the search of the best start did: plain_bound, passes_plain, passes, and by kick its tries, wins and passes;
        None without one.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if X has any.

    See Also
    --------
    LatentDirichletAllocation : Topics of documents.

    Examples
    --------
    >>> import numpy as np
    >>> from lehr import BayesianGaussianMixture
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [4, 2], [12, 4], [10, 7]])
    >>> mixture = BayesianGaussianMixture(n_components=2, random_state=42).fit(X)
    >>> mixture.means_.shape
    (2, 2)
    >>> mixture.predict([[0, 0], [9, 3]]).shape
    (2,)
    """

    _core_class = _lehr.Mixture
    _model = "dpgmm"
    _choices = {"weights": _WEIGHTS, "covariance": _COVARIANCES, "start": _STARTS}

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str | ArrayLike = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        random_state: Random = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        batch_size: int | None = None,
        effective_batch_size: float | str | None = None,
        noise: str = "gaussian",
        guard: str | None = None,
        step_size: float | str | None = None,
        noise_end: float = 0.75,
        search: float = 0,
        kicks: str | None = None,
        total_samples: float | None = None,
        holdout: float | str = 0,
        time_limit: float | None = None,
        init_units: str = "own",
        sort_components: bool = False,
        priors: str = "scikit-learn",
        n_jobs: int | None = None,
        data_options: dict[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.batch_size = batch_size
        self.effective_batch_size = effective_batch_size
        self.noise = noise
        self.guard = guard
        self.step_size = step_size
        self.noise_end = noise_end
        self.search = search
        self.kicks = kicks
        self.total_samples = total_samples
        self.holdout = holdout
        self.time_limit = time_limit
        self.init_units = init_units
        self.sort_components = sort_components
        self.priors = priors
        self.n_jobs = n_jobs
        self.data_options = data_options

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _params(self):
        """The model's settings, as the command line's configuration file has them."""
        given = {} if isinstance(self.init_params, str) else {"start": "kmeans"}
        if self.priors == "learned" and isinstance(self.init_params, str) and self.init_params == "kmeans":
            given = {"start": "merge"}
        return self._checked(
            "own",
            components=whole("n_components", self.n_components, least=1),
            mean=_numbers("mean_prior", self.mean_prior, [1]),
            scatter=_matrix("covariance_prior", self.covariance_prior),
            **given,
        )

    def _config(self, n_items):
        n_init = whole("n_init", self.n_init, least=1)
        self._total()
        return self._fit_settings(n_items, self._batch(n_items), tol_of="absolute", n_init=n_init)

    _config_of_fit = _config

    def _asked(self, X, sample_weight=None):
        """Items, and the settings of a model and a fit of them."""
        data = _data.points(self, X, reset=True, sample_weight=sample_weight, least=2)
        return data, self._params(), self._config(data.shape[0])

    def _total(self):
        """N, for `partial_fit`, if it is given."""
        return whole("total_samples", self.total_samples, least=1, optional=True)

    def _printer(self, data, config):
        if not self.verbose or config.get("eval_every") == 0:
            return None
        interval = whole("verbose_interval", self.verbose_interval, least=1)
        tol = config["tol"] if config["batch"] is None else None
        return Starts(self.verbose, interval, steps_in_a_pass(data.shape[0], config["batch"]), tol)

    def _translated(self, call, *args, **kwargs):
        try:
            return super()._translated(call, *args, **kwargs)
        except SettingError as error:
            if error.field != "degrees_of_freedom_prior":
                raise
            theirs = (
                f"The parameter 'degrees_of_freedom_prior' should be greater than {self.n_features_in_ - 1}, "
                f"but got {self.degrees_of_freedom_prior:.3f}."
            )
            raise SettingError(error.field, error.value, theirs) from None

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the mixture.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items. float64 and float32 arrays in C order are not copied. NaN is a missing value (missing at random):
            what is there of an item is used, and `impute` says what the rest may be.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each item counts.

        Returns
        -------
        self : object
            The fitted mixture.
        """
        warm = flag("warm_start", self.warm_start) and hasattr(self, "_core")
        data, params, config = self._asked(X, sample_weight)
        n_items = data.shape[0]
        if n_items < params["components"]:
            raise DataError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {n_items}"
            )
        begin = {}
        if warm:
            self._check_same(params)
            config["n_init"], begin = 1, {"like": self._core}
        elif not isinstance(self.init_params, str):
            begin = {"begin": np.ascontiguousarray(self.init_params, dtype=np.float64)}
        self._run(self._core_class.fit, data, X, params, config, **begin)
        for note in self._core.notes():
            warnings.warn(told(note, is_path(X), self._names, self._values), UserWarning, stacklevel=2)
        if config["batch"] is None:
            self._warn_if_not_converged()
        return self

    def _check_same(self, params):
        """A warm start goes on with the model as it is."""
        names = {
            "components": "n_components",
            "covariance": "covariance_type",
            "weights": "weight_concentration_prior_type",
        }
        for ours, theirs in names.items():
            before = self._record["params"][ours]
            if params[ours] != before:
                allowed = f"a warm start goes on with the fit before, which has {before}; make a new estimator"
                raise SettingError(theirs, repr(getattr(self, theirs)), allowed)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from more items, in one pass over them (SVI, or SVI+ with `effective_batch_size`).

        The first call starts with these items: units, priors and start come from them. The bound is not evaluated:
        `lower_bound_` is NaN afterwards.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            More items.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each item counts.

        Returns
        -------
        self : object
            The mixture.
        """
        first = not hasattr(self, "_core")
        least = max(2, whole("n_components", self.n_components, least=1)) if first else 1
        data = _data.points(self, X, reset=first, sample_weight=sample_weight, least=least)
        n_items = data.shape[0]
        batch = self._batch(n_items) or n_items
        total = self._total()
        config = {**self._config(n_items), "batch": batch, "tol": 0.0, "n_init": 1, "holdout": 0.0, "search": 0.0, "kicks": None}
        config["eval_every"] = 0
        config["steps"] = -(-n_items // batch)
        config["population"] = None if total is None else max(total, n_items)
        if first:
            return self._run(self._core_class.fit, data, X, self._params(), config)
        return self._run(self._core.partial, data, X, config)

    def _take(self, core):
        super()._take(core)
        self.n_features_in_ = core.n_dims
        bounds, bound = self._best_bounds()
        in_use, effective = core.usage()
        self._note(
            lower_bounds_=bounds,
            lower_bound_=bound,
            search_=(self._outcome or {}).get("search"),
            components_in_use_=in_use,
            n_components_in_use_=len(in_use),
            effective_n_components_=effective,
        )

    def _shape(self):
        """The covariance type of the fit, as Python calls it."""
        return self._values[self._record["params"]["covariance"]]

    def _found(self):
        # Made when it is asked for: of many columns it takes as long as a step.
        return self._cached("attributes", self._core.attributes)

    if TYPE_CHECKING:
        weights_: Floats
        means_: Floats
        covariances_: Floats
        precisions_: Floats
        precisions_cholesky_: Floats
        weight_concentration_: Floats | tuple[Floats, Floats]
        mean_precision_: Floats
        degrees_of_freedom_: Floats | float
        weight_concentration_prior_: float
        mean_precision_prior_: float
        mean_prior_: Floats
        degrees_of_freedom_prior_: float
        covariance_prior_: Floats | float
        lower_bound_: float
        lower_bounds_: Floats
        search_: dict[str, Any] | None
        components_in_use_: Whole
        n_components_in_use_: int
        effective_n_components_: float
    else:
        weights_, means_, covariances_, precisions_, precisions_cholesky_ = (Found() for _ in range(5))
        weight_concentration_, mean_precision_, degrees_of_freedom_ = (Found() for _ in range(3))
        weight_concentration_prior_, mean_precision_prior_, mean_prior_ = (Found() for _ in range(3))
        degrees_of_freedom_prior_, covariance_prior_ = (Found() for _ in range(2))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Whole:
        """Estimate the mixture and label X; see `fit` and `predict`.

        Parameters
        ----------
        X : array-like, data frame or path, of shape (n_samples, n_features)
            The items.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each item counts; None is once.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The component of each item.
        """
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    @staticmethod
    def _parameters_of(record, core):
        """The parameters of a mixture that makes the fit of a run again."""
        params, fit = record["params"], record["fit"]
        starts = {ours: theirs for theirs, ours in _STARTS.items()}
        weights = {ours: theirs for theirs, ours in _WEIGHTS.items()}
        covariances = {ours: theirs for theirs, ours in _COVARIANCES.items()}
        # Priors that the command line took from the data have other defaults than ours.
        known = core.attributes() if params.get("defaults") != "scikit-learn" else {}
        prior = {
            "weight_concentration_prior": known.get("weight_concentration_prior_", params.get("concentration")),
            "mean_precision_prior": known.get("mean_precision_prior_", params.get("mean_precision")),
            "degrees_of_freedom_prior": known.get("degrees_of_freedom_prior_", params.get("degrees_of_freedom")),
            "mean_prior": known.get("mean_prior_", params.get("mean")),
            "covariance_prior": known.get("covariance_prior_", _written(params.get("scatter"), record)),
        }
        return {
            **fit_parameters(record),
            **prior,
            **({"tol": fit["tol"]} if fit.get("tol_of") == "absolute" else {}),
            "n_components": params["components"],
            "covariance_type": covariances[params["covariance"]],
            "init_params": starts[params["start"]],
            "init_units": params.get("start_units", "deviations"),
            "weight_concentration_prior_type": weights[params["weights"]],
            "reg_covar": params.get("ridge", 0.0),
            "sort_components": params["sort"],
            "n_init": fit["n_init"],
            "search": fit.get("search") or 0,
            "kicks": fit.get("kicks"),
        }


def _written(scatter, record):
    """A number, a diagonal or a matrix that was written as a list."""
    if scatter is None:
        return None
    d = len(record["frozen"]["units"]["shift"])
    return scatter[0] if len(scatter) == 1 < d else np.reshape(scatter, (d, d)) if len(scatter) == d * d else scatter


def _numbers(name, value, n_dims):
    """An array as a flat list, for JSON, of as many dimensions as are allowed."""
    if value is None:
        return None
    array = np.asarray(value, dtype=np.float64)
    if array.ndim not in n_dims or not np.isfinite(array).all():
        dims = " or ".join(map(str, n_dims))
        raise SettingError(name, f"an array of shape {array.shape}", f"must be {dims}-dimensional and finite")
    return array.ravel().tolist()


def _matrix(name, value):
    """A covariance as a flat list: a number for every feature, a diagonal, or a square matrix."""
    shape = np.shape(value)
    if len(shape) == 2 and shape[0] != shape[1]:
        raise SettingError(name, f"an array of shape {shape}", "a matrix must have as many rows as columns")
    return _numbers(name, value, [0, 1, 2])
