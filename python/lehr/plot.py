"""Pictures of fits: the bound, words, sizes and shares of topics, clusters, calibration, the scores of a sweep.

matplotlib is imported when a picture is drawn, not before. Every function draws into the axes that it is given,
or into new ones, and returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._data import is_path
from ._lda import LatentDirichletAllocation
from ._pmf import ProbabilisticMatrixFactorization
from ._settings import choice, either
from ._topics import word_names
from .errors import DataError, MissingPackageError, SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ._mixture import BayesianGaussianMixture
    from ._sweep import Sweep

__all__ = ["bound", "clusters", "ratings", "sweep", "topic_shares", "topic_sizes", "topics"]

# The colours of `lehr report` and of `lehr plot` (Okabe and Ito), which colour-blind people can tell apart.
_PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442")

_ACROSS = {"step": "step", "seconds": "seconds", "items": "items seen"}


def _matplotlib():
    """matplotlib, or an error that says how to get it."""
    try:
        import matplotlib.colors
        import matplotlib.patches
        import matplotlib.patheffects
        import matplotlib.pyplot
    except ImportError as error:
        raise MissingPackageError("lehr.plot needs matplotlib; install it with: pip install matplotlib") from error
    return matplotlib


def _colour(n):
    """The palette's colour number `n`, starting again after the last."""
    return _PALETTE[n % len(_PALETTE)]


def _axes(ax):
    """Where to draw: the axes given, or new ones."""
    return _matplotlib().pyplot.subplots(layout="constrained")[1] if ax is None else ax


def bound(model_or_trace: Any, *, x: str = "step", first: int = 1, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the bound of a fit against its steps, one line for each start.

    The best start is drawn strongly, the others faintly, and the time with annealing noise is shaded.

    Parameters
    ----------
    model_or_trace : estimator, dict of arrays or data frame
        A fitted estimator, or its `trace_`.
    x : {'step', 'seconds', 'items'}, default='step'
        What is drawn across.
    first : int, default=1
        The first step to draw. The start itself, step 0, is so much worse that it hides the rest.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.
    **line
        How to draw the best start's line, as for :meth:`matplotlib.axes.Axes.plot`.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> import lehr
    >>> from sklearn.datasets import load_iris
    >>> mixture = lehr.BayesianGaussianMixture(3, n_init=5, random_state=0).fit(load_iris().data)
    >>> ax = lehr.plot.bound(mixture)
    >>> len(ax.lines)
    5
    """
    if x not in _ACROSS:
        raise SettingError("x", repr(x), f"must be {either(_ACROSS)}")
    trace = model_or_trace.trace_ if hasattr(type(model_or_trace), "trace_") else model_or_trace
    trace = {name: np.asarray(trace[name]) for name in ("restart", "step", "bound", "effective", x)}
    drawn = (trace["step"] >= first) & np.isfinite(trace["bound"])
    if not drawn.any():
        last = f"the last step is {trace['step'].max()}" if len(trace["step"]) else "partial_fit evaluates none"
        raise DataError(f"there is no bound from step {first} on; {last}")
    ax = _axes(ax)
    ends = {int(r): trace["bound"][drawn & (trace["restart"] == r)][-1] for r in np.unique(trace["restart"][drawn])}
    best = max(ends, key=ends.get)
    rows = drawn & (trace["restart"] == best)
    label = line.pop("label", "best start" if len(ends) > 1 else None)
    # One observation alone makes no line, so it gets a dot.
    line = {"marker": "o" if rows.sum() == 1 else None, "zorder": 3, **line}
    if not {"color", "c"} & set(line):
        line["color"] = _colour(0)
    (strong,) = ax.plot(trace[x][rows], trace["bound"][rows], label=label, **line)
    for number, restart in enumerate(r for r in ends if r != best):
        other = drawn & (trace["restart"] == restart)
        faint = {"color": strong.get_color(), "alpha": 0.3, "linewidth": 1}
        ax.plot(trace[x][other], trace["bound"][other], label="_" if number else "other starts", **faint)
    noisy = rows & (trace["effective"] < trace["effective"].max())
    if noisy.any():
        until = trace[x][noisy][-1]
        ax.axvspan(trace[x][rows][0], until, color="0.93", zorder=0, linewidth=0, label="with noise")
    ax.set_xlabel(_ACROSS[x])
    ax.set_ylabel("bound (higher is better)")
    ax.margins(x=0.02)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False)
    return ax


def topics(
    model: LatentDirichletAllocation,
    *,
    feature_names: Any = None,
    n_words: int = 8,
    n_topics: int | None = None,
    relevance: float = 1.0,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw the words of each topic as bars, the largest topic first; its title says which share of all words it has.

    Of very many topics :func:`lehr.plot.topic_sizes` is easier to read.

    Parameters
    ----------
    model : LatentDirichletAllocation
        A fitted topic model.
    feature_names : array-like of str, default=None
        The words, such as ``vectorizer.get_feature_names_out()``. Not needed if the model knows them: from a data
        frame, or from a file.
    n_words : int, default=8
        How many words of each topic.
    n_topics : int, default=None
        How many topics; None is all of them.
    relevance : float, default=1.0
        1 orders the words of a topic by their probability; less also by how rare they are in other topics (0.6
        is what pyLDAvis suggests). The bars are probabilities all the same.
    ax : array-like of matplotlib.axes.Axes, default=None
        Where to draw, one for each topic; None makes a new figure.

    Returns
    -------
    axes : ndarray of matplotlib.axes.Axes
        Where it was drawn, one for each topic. ``axes[0].figure`` is the figure.

    Examples
    --------
    >>> import lehr, numpy as np
    >>> X = np.random.default_rng(0).poisson(1.0, size=(40, 3))
    >>> lda = lehr.LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> axes = lehr.plot.topics(lda, feature_names=["cat", "dog", "fish"])
    >>> len(axes)
    2
    """
    _check_topics(model, "topics")
    names = word_names(model, feature_names)
    chance = model.components_ / model.components_.sum(axis=1)[:, None]
    share = _shares(model)
    rank = np.log(chance) - (1.0 - relevance) * np.log(_frequencies(model))
    shown = np.argsort(-share, kind="stable")[:n_topics]
    axes = _grid(len(shown), n_words) if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if len(axes) < len(shown):
        raise SettingError("ax", f"{len(axes)} axes", f"there are {len(shown)} topics; give one for each of them")
    for here, k in zip(axes, shown):
        words = np.argsort(-rank[k], kind="stable")[:n_words]
        here.barh(np.arange(len(words)), chance[k, words], height=0.72, color=_colour(0))
        here.set_yticks(np.arange(len(words)), labels=names[words])
        here.invert_yaxis()
        here.set_title(f"topic {k} ({100 * share[k]:.0f} %)", fontsize="medium", loc="left")
        here.tick_params(left=False)
        here.locator_params(axis="x", nbins=3)
        for side in ("top", "right", "left"):
            here.spines[side].set_visible(False)
    return axes[: len(shown)]


def topic_sizes(
    model: LatentDirichletAllocation,
    *,
    feature_names: Any = None,
    n_words: int = 8,
    n_topics: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share that each topic has of all words, with its first words: a list that stays readable at 100 topics.

    Parameters
    ----------
    model : LatentDirichletAllocation
        A fitted topic model.
    feature_names : array-like of str, default=None
        The words, such as ``vectorizer.get_feature_names_out()``. Not needed if the model knows them.
    n_words : int, default=8
        How many words of each topic, the most probable ones.
    n_topics : int, default=None
        How many topics, from the largest; None is all of them.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure, higher for more topics.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> import lehr, numpy as np
    >>> X = np.random.default_rng(0).poisson(1.0, size=(40, 3))
    >>> lda = lehr.LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> ax = lehr.plot.topic_sizes(lda, feature_names=["cat", "dog", "fish"])
    >>> len(ax.patches)
    2
    """
    _check_topics(model, "topic_sizes")
    names = word_names(model, feature_names)
    share = 100 * _shares(model)
    shown = np.argsort(-share, kind="stable")[:n_topics]
    if ax is None:
        high = 0.8 + 0.2 * len(shown)
        _, ax = _matplotlib().pyplot.subplots(figsize=(7.5, max(high, 1.6)), layout="constrained")
    ax.barh(np.arange(len(shown)), share[shown], height=0.75, color=_colour(0))
    words = (" ".join(map(str, names[np.argsort(-model.components_[k], kind="stable")[:n_words]])) for k in shown)
    ax.set_yticks(np.arange(len(shown)), labels=[f"{text}   {k}" for text, k in zip(words, shown)], fontsize="small")
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.tick_params(left=False)
    ax.set_xlabel("share of words, in percent")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return ax


def topic_shares(
    model: LatentDirichletAllocation, X: Any, by: Any, *, n_topics: int = 8, ax: Axes | None = None
) -> Axes:
    """Draw the mean share of topics in groups of documents: a line for each topic over time, else bars by group.

    Parameters
    ----------
    model : LatentDirichletAllocation
        A fitted topic model.
    X : documents
        The documents, in any form that `transform` takes.
    by : array-like
        What each document belongs to. Dates (of numpy, pandas or Python) are gathered by month.
    n_topics : int, default=8
        How many topics, those whose shares differ most.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> import lehr, numpy as np
    >>> X = np.random.default_rng(0).poisson(1.0, size=(40, 3))
    >>> lda = lehr.LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> ax = lehr.plot.topic_shares(lda, X, by=["sports", "politics"] * 20)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['politics', 'sports']
    """
    _check_topics(model, "topic_shares")
    theta = model.transform(X)
    groups = np.asarray(by)
    if groups.ndim != 1 or len(groups) != len(theta):
        raise SettingError("by", f"shape {groups.shape}", f"there are {len(theta)} documents; give one value for each")
    if groups.dtype.kind == "O" and len(groups) and hasattr(groups[0], "isoformat"):
        groups = groups.astype("datetime64[D]")
    in_time = groups.dtype.kind == "M"
    groups = groups.astype("datetime64[M]") if in_time else groups.astype(str)
    names, member = np.unique(groups, return_inverse=True)
    shares = np.array([100 * theta[member == group].mean(axis=0) for group in range(len(names))])
    shown = np.argsort(-np.ptp(shares, axis=0), kind="stable")[:n_topics]
    ax = _axes(ax)
    for place, k in enumerate(shown):
        style = {"color": _colour(place), "label": f"topic {k}"}
        if in_time:
            ax.plot(names, shares[:, k], marker="o" if len(names) == 1 else None, **style)
        else:
            width = 0.8 / len(shown)
            ax.bar(np.arange(len(names)) + (place - (len(shown) - 1) / 2) * width, shares[:, k], 0.9 * width, **style)
    if not in_time:
        ax.set_xticks(np.arange(len(names)), labels=names)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("mean share, in percent")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _shares(model):
    """The share that each topic has of all words, as the page and `lehr topics` have it: without what the prior has."""
    size = model.components_.sum(axis=1, dtype=float) - model.components_.shape[1] * model.topic_word_prior_
    size = np.maximum(size, 0.0)
    return size / max(size.sum(), np.finfo(float).tiny)


def _frequencies(model):
    """The share that each word has of all words of the documents; one that they lack counts as one word."""
    counts = (model.components_ - model.topic_word_prior_).sum(axis=0, dtype=float)
    tiny = np.finfo(float).tiny
    return np.maximum(counts, max(min(1.0, counts.mean()), tiny)) / max(counts.sum(), tiny)


def _check_topics(model, whom):
    if not isinstance(model, LatentDirichletAllocation):
        raise TypeError(f"{whom}() draws a LatentDirichletAllocation, and this is a {type(model).__name__}")


def ratings(
    model: ProbabilisticMatrixFactorization, X: Any = None, *, what: str = "calibration", ax: Axes | None = None
) -> Axes:
    """Draw how far a matrix factorisation can be trusted, as the page of `model.report` does.

    Parameters
    ----------
    model : ProbabilisticMatrixFactorization
        A fitted model.
    X : ratings, default=None
        Ratings to test on, in any form that `fit` takes; those that the model was fitted to are left out. Not needed for
        'relevance'.
    what : {'calibration', 'errors', 'relevance'}, default='calibration'
        The share of ratings that intervals hold against the share that they shall hold, for all ratings and for the
        fifths of which the model is surest and least sure; the error by the number of training ratings of the user and
        of the item; or how much each latent dimension tells apart.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> import lehr, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"user": rng.integers(0, 20, 300), "item": rng.integers(0, 15, 300)}).drop_duplicates()
    >>> frame["rating"] = 3 + (frame["user"] % 2 == frame["item"] % 2) + 0.3 * rng.normal(size=len(frame))
    >>> pmf = lehr.ProbabilisticMatrixFactorization(2, random_state=0).fit(frame[:120])
    >>> ax = lehr.plot.ratings(pmf, frame[120:])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['as it should be', 'all ratings', 'surest fifth', 'least sure fifth']
    """
    if not isinstance(model, ProbabilisticMatrixFactorization):
        raise TypeError(f"ratings() draws a ProbabilisticMatrixFactorization, and this is a {type(model).__name__}")
    draw = choice("what", what, {"calibration": _calibration, "errors": _errors, "relevance": _relevance})
    if X is None and draw is not _relevance:
        raise DataError(f"{what} is measured on ratings that the model was not fitted to; give some as X")
    charts = model._chart_numbers(X)
    if draw is not _relevance and "calibration" not in charts:
        raise DataError("X has no rating that the model was not fitted to; give others")
    ax = _axes(ax)
    draw(charts, ax)
    return ax


def _calibration(charts, ax):
    rows = charts["calibration"]["rows"]
    ax.plot([0, 100], [0, 100], color="0.5", linewidth=1, linestyle="--", label="as it should be")
    for name, colour in (("all", 0), ("surest fifth", 2), ("least sure fifth", 1)):
        points = np.array([row[1:] for row in rows if row[0] == name], dtype=float)
        if len(points):
            label = "all ratings" if name == "all" else name
            ax.plot(points[:, 0], points[:, 1], color=_colour(colour), linewidth=1.8 if name == "all" else 1.3, label=label)
    ax.set(xlim=(0, 100), ylim=(0, 100), xlabel="level of the interval, in percent", ylabel="ratings inside, in percent")
    ax.legend(frameon=False)


def _errors(charts, ax):
    rows = charts["by-count"]["rows"]
    counts = sorted({row[1] for row in rows}, key=lambda count: int(str(count).split()[0]))
    for place, who in enumerate(("of the user", "of the item")):
        own = {row[1]: row[3] for row in rows if row[0] == who}
        at = [counts.index(count) for count in own]
        ax.bar(np.array(at) + 0.4 * place - 0.2, list(own.values()), 0.38, color=_colour(4 * place), label=who)
    ax.set_xticks(np.arange(len(counts)), labels=counts)
    ax.set(xlabel="training ratings", ylabel="RMSE")
    ax.legend(frameon=False)


def _relevance(charts, ax):
    dims, variances = zip(*charts["relevance"]["rows"], strict=True)
    ax.bar(dims, variances, 0.8, color=_colour(0))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="dimension", ylabel="prior variance of items")


def _grid(n, n_words):
    """New axes for n topics, in rows of at most four."""
    plt = _matplotlib().pyplot
    columns = min(n, 4 if n != 6 else 3)
    rows = -(-n // columns)
    _, axes = plt.subplots(
        rows, columns, figsize=(2.7 * columns, rows * (0.6 + 0.22 * n_words)), squeeze=False, layout="constrained"
    )
    for empty in axes.ravel()[n:]:
        empty.remove()
    return axes.ravel()[:n]


def _matrices(model):
    """The covariance matrix of every component, whatever the type keeps of it."""
    kept, (k, d) = model.covariances_, model.means_.shape
    if model.covariance_type == "full":
        return kept
    if model.covariance_type == "tied":
        return np.broadcast_to(kept, (k, d, d))
    variances = kept if model.covariance_type == "diag" else np.repeat(kept, d).reshape(k, d)
    return variances[:, :, None] * np.eye(d)


def clusters(
    model: BayesianGaussianMixture,
    X: Any,
    *,
    n_std: float = 2.0,
    max_points: int = 5000,
    ax: Axes | None = None,
    **points: Any,
) -> Axes:
    """Draw items in the colours of their clusters, and the clusters as ellipses.

    Above two dimensions both are projected on the first two principal components of X. Components to which no
    item of X belongs are not drawn.

    Parameters
    ----------
    model : BayesianGaussianMixture
        A fitted mixture.
    X : array-like or data frame of shape (n_samples, n_features)
        The items.
    n_std : float, default=2.0
        The ellipses' size in standard deviations: 2 holds 86 % of a Gaussian in the plane.
    max_points : int, default=5000
        The most items to draw, evenly spaced in X. All of them count for the projection.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.
    **points
        How to draw items, as for :meth:`matplotlib.axes.Axes.scatter`.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> import lehr
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> mixture = lehr.BayesianGaussianMixture(3, random_state=0).fit(X)
    >>> ax = lehr.plot.clusters(mixture, X)
    >>> ax.get_xlabel()
    'principal component 1 (92 % of the variance)'
    """
    if is_path(X):
        raise DataError("the items themselves are needed, not a file of them; give an array or a data frame")
    labels = model.predict(X)
    values = np.asarray(X, dtype=np.float64)
    if values.shape[1] < 2:
        raise DataError("there is one column, and ellipses need two; draw a histogram of it instead")
    origin, directions, axis_names = _plane(values, getattr(model, "feature_names_in_", None))
    flat = (values - origin) @ directions.T
    means = (model.means_ - origin) @ directions.T
    spreads = directions @ _matrices(model) @ directions.T
    matplotlib, ax = _matplotlib(), _axes(ax)
    used, sizes = np.unique(labels, return_counts=True)
    used = used[np.argsort(-sizes, kind="stable")]
    every = -(-len(flat) // max_points)
    style = {"s": 12, "alpha": 0.6, "linewidths": 0, **points}
    for k in used:
        colour = _colour(k)
        own = flat[::every][labels[::every] == k]
        ax.scatter(own[:, 0], own[:, 1], **{"color": colour, **style})
        ax.add_patch(_ellipse(matplotlib, means[k], spreads[k], n_std, colour))
        halo = matplotlib.patheffects.withStroke(linewidth=3, foreground="white")
        ax.annotate(str(k), means[k], ha="center", va="center", weight="bold", path_effects=[halo], zorder=4)
    ax.autoscale_view()
    ax.set_xlabel(axis_names[0])
    ax.set_ylabel(axis_names[1])
    return ax


def sweep(found: "Sweep", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the scores of a sweep against the size: means and standard errors over the folds, or bounds.

    The recommended size has a ring around it, and sizes that cannot be distinguished from the best are filled.

    Parameters
    ----------
    found : Sweep
        What :func:`lehr.sweep` returns.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> import lehr
    >>> from sklearn.datasets import load_iris
    >>> found = lehr.sweep(lehr.BayesianGaussianMixture(random_state=0), load_iris().data, n_components=[1, 2, 3, 4])
    >>> ax = lehr.plot.sweep(found)
    >>> ax.get_xlabel()
    'n_components'
    """
    ax = _axes(ax)
    score, error = ("heldout", "heldout_se") if found.by_ == "heldout" else ("bound", "bound_sd")
    shapes = found.get("covariance_type", np.full(len(found["n_components"]), "", dtype=object))
    for place, shape in enumerate(dict.fromkeys(shapes)):
        rows, colour = shapes == shape, _colour(place)
        sizes, values = found["n_components"][rows], found[score][rows]
        errors = np.nan_to_num(found[error][rows])
        ax.errorbar(sizes, values, errors, color=colour, capsize=3, label=shape or None, zorder=2)
        filled = np.where(found["alike"][rows], colour, "white")
        ax.scatter(sizes, values, color=filled, edgecolors=colour, zorder=3)
    chosen = found["recommended"]
    ax.scatter(
        found["n_components"][chosen],
        found[score][chosen],
        s=160,
        facecolors="none",
        edgecolors="black",
        linewidths=1.5,
        label="recommended",
        zorder=4,
    )
    ax.set_xlabel("n_components")
    by_fold, by_start = "held-out score (nats, higher is better)", "bound (higher is better)"
    ax.set_ylabel(by_fold if found.by_ == "heldout" else by_start)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    return ax


def _plane(values, names):
    """Where two-dimensional pictures of X are taken from: origin, two directions, and what to call them."""
    d = values.shape[1]
    if d == 2:
        names = ("feature 0", "feature 1") if names is None else names
        return np.zeros(2), np.eye(2), names
    origin = values.mean(axis=0)
    centred = values - origin
    variances, directions = np.linalg.eigh(centred.T @ centred)
    variances, directions = variances[::-1], directions.T[[-1, -2]]
    # A direction and its opposite are equally good: the largest entry is made positive, so that pictures agree.
    signs = np.sign(directions[np.arange(2), np.abs(directions).argmax(axis=1)])
    shares = 100 * variances / max(variances.sum(), np.finfo(float).tiny)
    labels = [f"principal component {i + 1} ({shares[i]:.0f} % of the variance)" for i in range(2)]
    return origin, directions * signs[:, None], labels


def _ellipse(matplotlib, mean, covariance, n_std, colour):
    """The line around `mean` that is `n_std` standard deviations away."""
    variances, axes = np.linalg.eigh(covariance)
    width, height = 2 * n_std * np.sqrt(np.maximum(variances, 0.0))
    angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
    fill = matplotlib.colors.to_rgba(colour, 0.1)
    return matplotlib.patches.Ellipse(
        mean, width, height, angle=angle, facecolor=fill, edgecolor=colour, linewidth=1.5, zorder=2.5
    )
