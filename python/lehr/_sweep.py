"""How many components, topics or dimensions? The same fit at several sizes, and which of them to take."""

import json
import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ._base import Fitting
from ._data import is_read
from ._settings import as_json, choice, whole
from .errors import SettingError, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More sizes than this are a mistake.
_MOST = 1000


class Sweep(dict[str, np.ndarray]):
    """What a sweep has found: a dictionary of columns, with a row for each size.

    ``pandas.DataFrame(sweep)`` and ``polars.DataFrame(sweep)`` make a data frame of it.

    Columns are `n_components`; `covariance_type` if several were tried; `parameters`, how many numbers such a model has
    to learn; `in_use`, how many components or dimensions are in use where that may be fewer; `bound`, the best of the
    starts, and `bound_sd`, the starts' standard deviation; `heldout`, the mean score of what was held out (log density of
    an item or rating, completion of a document's words, in nats), and `heldout_se`, its standard error over the folds;
    `rmse` for ratings; `seconds`; `alike`, whether a row cannot be distinguished from the best; and `recommended`.

    Attributes
    ----------
    n_components_ : int
        The recommended size: the simplest model within one standard error of the best.
    best_estimator_ : estimator
        The recommended model, fitted to all of X.
    estimators_ : list of estimators
        All of them, in the order of the rows.
    by_ : {'heldout', 'bound'}
        What was compared.
    at_the_end_ : bool
        Whether the recommended size is the largest that was tried, so that larger ones may be better.
    heldouts_, bounds_ : list of ndarray
        The score of each fold and the bound of each start, for each row.
    """

    n_components_: int | None
    best_estimator_: Any
    estimators_: list[Any]
    by_: str
    at_the_end_: bool
    heldouts_: list[np.ndarray]
    bounds_: list[np.ndarray]

    def __init__(self, table: dict[str, Any], estimators: list[Any]) -> None:
        rows = table["rows"]
        several = any("shape" in row for row in rows)
        chosen = table.get("recommended")

        def column(name, kind=float):
            return np.array([np.nan if row.get(name) is None else row[name] for row in rows], dtype=kind)

        columns = {"n_components": column("size", int)}
        if several:
            columns["covariance_type"] = np.array([e.covariance_type for e in estimators], dtype=object)
        columns["parameters"] = column("parameters").astype(int)
        if all("in_use" in row for row in rows):
            columns["in_use"] = column("in_use", int)
        columns["bound"], columns["bound_sd"] = column("bound"), column("bound_sd")
        if table["by"] == "heldout":
            columns["heldout"], columns["heldout_se"] = column("heldout"), column("heldout_se")
        if any("rmse" in row.get("measures", ()) for row in rows):
            columns["rmse"] = np.array([row["measures"]["rmse"] for row in rows])
        columns["seconds"] = column("seconds")
        columns["alike"] = column("alike", bool)
        columns["recommended"] = np.arange(len(rows)) == (-1 if chosen is None else chosen)
        super().__init__(columns)
        self.by_, self.at_the_end_ = table["by"], table["at_the_end"]
        self.estimators_ = estimators
        self.best_estimator_ = None if chosen is None else estimators[chosen]
        self.n_components_ = None if chosen is None else int(rows[chosen]["size"])
        self.heldouts_ = [np.array(row["heldouts"]) for row in rows]
        self.bounds_ = [np.array(row["bounds"]) for row in rows]

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the scores against the size; see :func:`lehr.plot.sweep`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
            Where it was drawn.
        """
        from .plot import sweep as draw

        return draw(self, ax=ax)

    def __repr__(self) -> str:
        texts = [[name, *(_cell(value) for value in values)] for name, values in self.items()]
        widths = [max(map(len, cells)) for cells in texts]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in zip(*texts)]
        error = "one standard error" if self.by_ == "heldout" else "the spread over the starts"
        if self.n_components_ is None:
            return "\n".join([*lines, "nothing can be compared: no score is a finite number"])
        names = [name for name in ("n_components", "covariance_type") if name in self]
        row = int(np.flatnonzero(self["recommended"])[0])
        chosen = ", ".join(f"{name}={self[name][row]!s}" for name in names)
        lines.append(f"recommended: {chosen}, the simplest within {error} of the best")
        return "\n".join(lines)


def _cell(value):
    return str(value) if isinstance(value, (str, bool, np.bool_, np.integer)) else f"{value:.6g}"


def sweep(
    estimator: Any,
    X: Any,
    *,
    n_components: Iterable[int],
    covariance_type: Iterable[str] | None = None,
    n_init: int = 3,
    folds: int = 5,
    **data: Any,
) -> Sweep:
    """Fit an estimator at several sizes and say which to take.

    All sizes have the same prior, that of the largest, so that their bounds can be compared. For each size there is a fit
    to all of X from `n_init` starts, and one for each fold, which is scored on the part of X that it has not seen. The
    recommended size is the smallest whose score is within one standard error of the best, the error being that of the
    difference to the best, fold by fold. Fits are made side by side, on `n_jobs` threads of the estimator; results do not
    depend on their number and are those of ``lehr sweep``.

    A Dirichlet process finds its number of clusters by itself: fit it once, with `n_components` large enough.

    Parameters
    ----------
    estimator : BayesianGaussianMixture, LatentDirichletAllocation or ProbabilisticMatrixFactorization
        What to fit; it is left as it is.
    X : array-like, sparse matrix, data frame or path
        The data, as for the estimator's `fit`.
    n_components : sequence of int
        The sizes to try, such as ``range(2, 13)`` or ``[10, 20, 50]``.
    covariance_type : sequence of str, default=None
        The shapes of components to try, for mixtures; None is the estimator's.
    n_init : int, default=3
        Starts of each fit to all of X.
    folds : int, default=5
        Parts of X, each of which is held out once; 0 compares bounds alone.
    **data
        What else `fit` takes with X: `sample_weight`, `feature_names`.

    Returns
    -------
    sweep : Sweep
        A dictionary of columns with `plot`, `n_components_` and `best_estimator_`.

    Examples
    --------
    >>> import lehr
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> mixture = lehr.BayesianGaussianMixture(
    ...     weight_concentration_prior_type="dirichlet_distribution", priors="learned", random_state=0
    ... )
    >>> found = lehr.sweep(mixture, X, n_components=range(1, 6))
    >>> found.n_components_
    3
    >>> found.best_estimator_.means_.shape
    (3, 2)
    """
    if not isinstance(estimator, Fitting):
        raise TypeError(f"sweep() fits an estimator of lehr, and this is a {type(estimator).__name__}")
    sizes = _sizes(n_components)
    model, cls = clone(estimator).set_params(n_components=max(sizes)), type(estimator)
    names = cls._choices.get("covariance", {})
    shapes = _shapes(covariance_type, names)
    given, params, config = model._asked(X, **data)
    config["n_init"] = whole("n_init", n_init, least=1)
    grid = {"sizes": sizes, "shapes": shapes, "folds": whole("folds", folds)}
    progress = _Progress() if int(getattr(estimator, "verbose", 0)) else None
    try:
        table, cores, notes = model._translated(
            cls._core_class.sweep, given, as_json(params), as_json(config), as_json(grid), watch=progress
        )
    finally:
        if progress is not None:
            progress.ends()
    known = given.notes() if hasattr(given, "notes") else []
    for note in notes:
        if note not in known:
            message = told(model._noted(note), is_read(X), model._names, model._values)
            warnings.warn(message, UserWarning, stacklevel=2)
    return Sweep(json.loads(table), [_fitted(model, core) for core in cores])


def _fitted(model, core):
    """The estimator of a fit, with the parameters that make it again."""
    fitted = clone(model).set_params(**model._parameters_of(json.loads(core.record()), core))
    # What was learned of the data's columns while they were read.
    fitted.__dict__.update({k: v for k, v in model.__dict__.items() if k not in fitted.__dict__})
    fitted._take(core)
    return fitted


def _sizes(values):
    try:
        sizes = sorted(whole("n_components", value, least=1) for value in values)
    except TypeError:
        allowed = "must be several whole numbers, such as range(2, 13)"
        raise SettingError("n_components", repr(values), allowed) from None
    twice = [a for a, b in zip(sizes, sizes[1:]) if a == b]
    if not sizes or twice or len(sizes) > _MOST:
        why = f"has {twice[0]} twice" if twice else f"must have from 1 to {_MOST} numbers, such as range(10, 101, 10)"
        raise SettingError("n_components", f"a list of {len(sizes)}" if len(sizes) > 20 else repr(values), why)
    return sizes


def _shapes(values, names):
    if values is None:
        return []
    if not names:
        raise SettingError("covariance_type", repr(values), "only mixtures have shapes; leave it out")
    values = [values] if isinstance(values, str) else list(values)
    return [choice("covariance_type", value, names) for value in values]


class _Progress:
    """A line on stderr: how many fits have ended."""

    def __call__(self, what, facts):
        if what == "swept":
            print(f"\r\x1b[Klehr: {facts['done']}/{facts['runs']} fits", end="", file=sys.stderr, flush=True)

    def ends(self):
        """All have, or there is an error."""
        print(file=sys.stderr)
