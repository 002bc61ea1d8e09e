"""What all estimators share: running the compiled part, the trace, saving and loading, pickling."""

from __future__ import annotations

import functools
import inspect
import json
import warnings
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from . import _data, _lehr
from ._found import frozen, is_found, refuse
from ._settings import (
    RENAMED,
    TABLES,
    as_json,
    checked,
    documented,
    jobs_of,
    plain_json,
    seed_of,
    steps_in_a_pass,
    threads_of,
    whole,
)
from ._verbose import Bar
from ._watch import CallbackSupportMixin, EnoughSteps, Watch, level_of_caller
from .errors import LehrError, RunError, told

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._typing import Self

# The estimators by the names that runs call their models. A class is here as soon as its file is imported.
ESTIMATORS = {}
# An auxiliary file of the run: the parameters that its record does not have, or has as the last fit needed them.
PARAMETERS = "estimator.json"
# The present names of values that had another name.
_CONVERTED = {"quench": lambda share: 1.0 - share}


def _same(value):
    return value


def _refuse_old(names):
    """Refuses parameters by the names that they once had."""
    for name in names:
        if name in RENAMED:
            hint = "; noise_end = 1 - quench" if name == "quench" else ""
            raise TypeError(f"the parameter {name!r} is called {RENAMED[name]!r} now{hint}")


def _refusing_old(init):
    @functools.wraps(init)
    def refusing(self, *args, **kwargs):
        _refuse_old(kwargs)
        init(self, *args, **kwargs)

    return refusing


class Fitting(CallbackSupportMixin, BaseEstimator):
    """The base of the estimators. Classes name their compiled counterpart, their model, and what they call choices."""

    if TYPE_CHECKING:
        n_features_in_: int
        feature_names_in_: NDArray[Any]
        n_iter_: int
        n_steps_: int
        n_guard_hits_: int
        converged_: bool

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    _core_class: Any = None
    _model: Any = None
    # What Python calls the choices of a setting, if not by their names.
    _choices: dict[str, dict[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A class that a user derives from an estimator inherits its counterpart, and takes no runs from it.
        if cls.__dict__.get("_core_class") is not None:
            ESTIMATORS.update(dict.fromkeys(cls._core_class.names, cls))
        if cls._model is None or "__init__" not in cls.__dict__:
            return
        rows = [row for section in ("own", "fit") for row in TABLES[cls._model][section]]
        cls._names = {row["name"]: row["python"] for row in rows if row["python"]}
        cls._values = {ours: theirs for names in cls._choices.values() for theirs, ours in names.items()}
        # scikit-learn wants no **kwargs in __init__, and a name that was right once deserves an answer.
        cls.__init__ = _refusing_old(cls.__init__)
        cls.__doc__ = cls.__doc__ and documented(cls.__doc__, cls._model)

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of this estimator.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self : object
            The estimator.
        """
        _refuse_old(params)
        return super().set_params(**params)

    def _checked(self, section, **given):
        """The settings of a section of the table: parameters by their kinds, and those `given` as they are."""
        settings = dict(given)
        defaults = inspect.signature(type(self)).parameters
        for row in TABLES[self._model][section]:
            name = row["name"]
            if name not in given and row["python"] in defaults:
                optional = defaults[row["python"]].default is None
                value = getattr(self, row["python"])
                settings[name] = checked(row, value, optional, self._choices.get(name))
        return settings

    def _fit_settings(self, n_items, batch, **given):
        """The settings of a fit to this many items in batches of this size; None is all of them."""
        _data.check_options(self.data_options, self._model)
        return self._checked(
            "fit",
            steps=self._steps(self.max_iter, n_items, batch),
            batch=batch,
            seed=seed_of(self.random_state),
            threads=self._threads(),
            **{"population": None, **given},
        )

    def _threads(self):
        return threads_of(self.n_jobs)

    def _threads_for(self, data):
        """Threads for a readout of these items; None if it is so short that to ask for them would take longer."""
        jobs_of(self.n_jobs)
        return None if self._core.is_short(data) else self._threads()

    @staticmethod
    def _steps(max_iter, n_items, batch):
        """Steps of this many passes over the data."""
        return whole("max_iter", max_iter) * steps_in_a_pass(n_items, batch)

    def _batch(self, n_items):
        """The batch size, which is at most everything."""
        batch = whole("batch_size", self.batch_size, least=1, optional=True)
        return batch if batch is None else min(batch, n_items)

    def _printer(self, data, config):
        """What shows the progress of a fit of `data` under these settings, if that is wanted."""
        return Bar(self.verbose) if self.verbose else None

    def _run(self, call, data, X, *settings, **begin):
        """Runs `call` of the compiled part and takes its result over, also when it was cut short."""
        watch = Watch(self, X, self._printer(data, settings[-1]))
        texts = [as_json(setting) for setting in settings]
        core = None
        try:
            core, exception, notes = self._translated(call, data, *texts, watch=watch.wanted, **begin)
        finally:
            watch.ends(core and json.loads(core.result() or "{}").get("stop"))
        self._take(core)
        if exception is not None and not isinstance(exception, EnoughSteps):
            raise exception
        self._warn_of(notes, data, X)
        return self

    def _warn_of(self, notes, data, X):
        """Warns of what a fit has noted, but for what its data and its model are asked for themselves."""
        known = [note for source in (data, self._core) if hasattr(source, "notes") for note in source.notes()]
        for note in notes:
            if note not in known:
                message = told(self._noted(note), _data.is_read(X), self._names, self._values)
                warnings.warn(message, UserWarning, stacklevel=level_of_caller())

    def _noted(self, note):
        """The parts of a note, with the parameters that the user has set."""
        return note

    def _translated(self, call, *args, **kwargs):
        """Calls the compiled part; its errors call settings by their names here."""
        try:
            return call(*args, **kwargs)
        except LehrError as error:
            raise error.renamed(self._names, self._values) from None

    def _take(self, core):
        """Takes a fitted model over: the attributes that all estimators have."""
        self._core = core
        self._lazy = {}
        self._outcome = json.loads(core.result() or "null")
        self._record = json.loads(core.record())
        stop = self._outcome["stop"] if self._outcome else None
        in_a_pass = steps_in_a_pass(self._record["data"]["items"], self._record["fit"]["batch"])
        self._note(
            n_steps_=core.step,
            n_guard_hits_=core.guard_hits,
            converged_=stop == "converged",
            n_iter_=-(-core.step // in_a_pass),
        )

    def _note(self, **found):
        """Sets attributes that a fit has found; users cannot set them."""
        self.__dict__.update(frozen(found))

    def __setattr__(self, name, value):
        if is_found(name) and "_core" in self.__dict__:
            refuse(self, name)
        super().__setattr__(name, value)

    def _cached(self, name, make):
        """What `make` makes, made once for a fitted model."""
        if name not in self._lazy:
            self._lazy[name] = frozen(make())
        return self._lazy[name]

    @property
    def trace_(self) -> dict[str, NDArray[Any]]:
        """The observations of the fit, a dictionary of columns: step, seconds, bound, rho and so on."""
        check_is_fitted(self, "_core")
        return self._cached("trace", self._core.trace)

    def _best_bounds(self):
        """The bounds of the best start, and the last of them; that is NaN after `partial_fit`, which evaluates none."""
        trace = self.trace_
        best = trace["restart"] == (self._outcome or {"restart": 0})["restart"]
        bounds = trace["bound"][best]
        known = len(bounds) and self._record["fit"].get("eval_every") != 0
        return bounds, float(bounds[-1]) if known else float("nan")

    def _warn_if_not_converged(self):
        # Without a pass there is only the start, and that was asked for.
        if self.max_iter and not self.converged_ and self._outcome["stop"] == "steps":
            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, or increase "
                "max_iter, tol, or check for degenerate data.",
                ConvergenceWarning,
                stacklevel=level_of_caller(),
            )

    def _repr_html_(self) -> str:
        """A small card of the fitted model for notebooks; before that, scikit-learn's own picture."""
        return self._core.card() if "_core" in self.__dict__ else estimator_html_repr(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What notebooks ask for before they ask for HTML alone."""
        bundle = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

    def _write_report(self, path, html):
        """Writes a page, whole or not at all."""
        _lehr.write_whole(Path(path), html)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the fitted model as a run directory, which the command line reads as well.

        Parameters
        ----------
        path : str or os.PathLike
            The directory to make. One that holds a run already is refused.
        """
        check_is_fitted(self, "_core")
        self._save(self._core, path)

    def _save(self, core, path):
        core.save(path)
        _lehr.write_whole(Path(path) / PARAMETERS, plain_json(self.get_params(deep=False)))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a run directory, as `save` and the command line write it.

        Parameters
        ----------
        path : str or os.PathLike
            The run directory.

        Returns
        -------
        estimator : object
            A fitted estimator of this class with the settings of the run.
        """
        core = cls._core_class.load(path)
        if core.warning:
            warnings.warn(core.warning, stacklevel=2)
        record = json.loads(core.record())
        estimator = cls(**cls._parameters_of(record, core))
        estimator.set_params(**cls._saved_parameters(path, estimator))
        estimator._take(core)
        names = record["data"]["columns"]
        if names:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        return estimator

    @staticmethod
    def _saved_parameters(path, estimator):
        """What `save` has noted; nothing of a run that the command line has made."""
        file = Path(path) / PARAMETERS
        try:
            saved = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise RunError(f"{file}: is damaged ({error}); delete it to load the run without it") from error
        known = estimator.get_params(deep=False)
        if isinstance(saved, dict):
            saved = {RENAMED.get(name, name): _CONVERTED.get(name, _same)(value) for name, value in saved.items()}
        if not isinstance(saved, dict) or not saved.keys() <= known.keys():
            raise RunError(f"{file}: is not of this estimator; delete it to load the run without it")
        return {name: tuple(value) if isinstance(value, list) else value for name, value in saved.items()}

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_lazy", None)
        if "_core" in state:
            state["_core"] = self._core.to_bytes()
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if isinstance(self.__dict__.get("_core"), bytes):
            self._core = self._core_class.from_bytes(self._core)
            self._lazy = {}
        # Arrays come out of a pickle ready to be written to.
        frozen({name: value for name, value in self.__dict__.items() if is_found(name)})
