"""Fits on many machines, bit-identical to one machine: data in shards, workers on Ray.

``shard`` cuts data into files that any worker can open; ``fit`` fits an estimator to them and leaves an ordinary fitted
estimator; ``resume`` goes on with a fit that was cut short, on other workers if need be; ``transform`` applies a fitted
estimator, a file for each shard. The same from a shell: ``python -m lehr.distributed --help``. Results do not depend on
the number of workers or on which of them were lost on the way; they are those of a fit to the same shards on the threads
of one machine. Ray is imported when it is needed, not before: ``pip install 'lehr[ray]'``.
"""

from __future__ import annotations

import copy
import json
import os
import tempfile
import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from . import _lehr
from ._base import ESTIMATORS, PARAMETERS
from ._lda import LatentDirichletAllocation
from ._mixture import BayesianGaussianMixture
from ._pmf import ProbabilisticMatrixFactorization
from ._ray import Cluster, Crew, StragglerWarning
from ._settings import as_json, plain_json, real, threads_of, whole
from ._shards import Folder, found, is_address, put
from ._topics import perplexity_of
from ._watch import EnoughSteps, Watch
from .errors import DataError, RunError, SettingError, told

if TYPE_CHECKING:
    from typing import TypeAlias, TypeVar

    Estimator = TypeVar(
        "Estimator", LatentDirichletAllocation, BayesianGaussianMixture, ProbabilisticMatrixFactorization
    )
    AnyPath: TypeAlias = str | PathLike[str]

__all__ = ["StragglerWarning", "fit", "resume", "shard", "transform"]

_KINDS = {
    LatentDirichletAllocation: _lehr.Docs,
    BayesianGaussianMixture: _lehr.Points,
    ProbabilisticMatrixFactorization: _lehr.Ratings,
}


def shard(
    files: AnyPath | Sequence[AnyPath],
    folder: AnyPath,
    n_shards: int = 64,
    *,
    kind: str = "documents",
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Cut data into shards, which any worker can open by itself.

    Files are read one after the other. Documents wait on disk, so that a file may be larger than memory; of points and
    ratings the largest file must fit into it. What a fit to shards comes to depends on how many there are, in its last
    digits; give as many as the most workers you will have.

    Parameters
    ----------
    files : str, os.PathLike or sequence of them
        Files that `fit` reads, patterns such as ``articles/*.parquet``, or addresses that fsspec knows.
    folder : str or os.PathLike
        The folder to make, or an address that fsspec knows, such as ``s3://bucket/news.shards``. All workers must be
        able to open it by this name.
    n_shards : int, default=64
        How many shards.
    kind : {'documents', 'points', 'ratings'}, default='documents'
        What the rows are. A shard of ratings has all of its users' ratings, and their posteriors stay with who has it:
        about as many shards as workers are best.
    options : dict, default=None
        How to read the files, as the estimators' `data_options`.

    Returns
    -------
    manifest : dict
        What the folder holds: rows, tokens, columns, and for each shard its file, rows, bytes and hash.
    """
    n_shards = whole("n_shards", n_shards, least=1)
    with tempfile.TemporaryDirectory() as copies:
        names, options = found(files, copies), as_json(options or {})
        if not is_address(folder):
            return json.loads(_lehr.make_shards(names, kind, options, n_shards, folder))
        made = os.path.join(copies, "made.shards")
        manifest = json.loads(_lehr.make_shards(names, kind, options, n_shards, made))
        put(made, folder)
        return manifest


def _checked(workers, threads, timeout):
    timeout = real("timeout", timeout, optional=True)
    if timeout is not None and timeout <= 0:
        raise SettingError("timeout", timeout, "must be a positive number of seconds, or None")
    return whole("workers", workers, least=1), whole("threads", threads, least=1), timeout


def _data_of(estimator, folder):
    """The shards of a folder, as this estimator's data; refuses estimators that cannot be fitted on workers."""
    kind = next((data for cls, data in _KINDS.items() if isinstance(estimator, cls)), None)
    if kind is None:
        names = ", ".join(cls.__name__ for cls in _KINDS)
        raise TypeError(f"workers fit {names}; {type(estimator).__name__} is fitted on one machine")
    given = {"holdout": 0, "warm_start": False, "init_components": None}
    for name, needed in given.items():
        value = getattr(estimator, name, needed)
        if value is not needed and value != needed:
            raise SettingError(name, repr(value), f"must be {needed!r} for a fit on workers")
    if not isinstance(getattr(estimator, "init_params", ""), str):
        raise SettingError("init_params", "an array", "must be a name for a fit on workers")
    return kind.from_shards(folder.bring())


def fit(
    estimator: Estimator,
    shards: AnyPath,
    *,
    workers: int = 2,
    threads: int = 1,
    address: str | None = None,
    save: AnyPath | None = None,
    every: int | None = None,
    timeout: float | None = None,
    object_store_memory: int | None = None,
) -> Estimator:
    """Fit an estimator to shards on workers.

    Parameters
    ----------
    estimator : LatentDirichletAllocation, BayesianGaussianMixture or ProbabilisticMatrixFactorization
        What to fit, with all its settings. Nothing may be held out, and ratings are fitted without batches.
    shards : str or os.PathLike
        A folder that `shard` or ``lehr convert --shards`` has made, or its address. From an address, each machine copies
        the shards that it works on into the folder ``LEHR_CACHE``, or ``lehr`` in the user's cache folder.
    workers : int, default=2
        How many processes do local steps. Does not change results.
    threads : int, default=1
        Threads of each. Does not change results.
    address : str, default=None
        Where Ray is: ``ray://host:10001``, ``auto``, ``host:6379``. None starts it on this machine, and ends it again; if
        this process is connected to Ray already, that is used.
    save : str or os.PathLike, default=None
        A run directory to make, from which `resume` and ``lehr resume`` go on.
    every : int, default=None
        Steps between checkpoints in it; None is a minute.
    timeout : float, default=None
        Seconds after which a worker that has not answered is replaced; None is ten times what is usual, at least 30.
    object_store_memory : int, default=None
        Bytes of memory for Ray's objects, if it is started here; None leaves that to Ray.

    Returns
    -------
    estimator : object
        The same estimator, fitted. Its attribute `workers_` says what was sent.
    """
    workers, threads, timeout = _checked(workers, threads, timeout)
    folder = Folder(shards)
    data = _data_of(estimator, folder)
    size = data.shape[-1] if isinstance(data, _lehr.Ratings) else data.shape[0]
    params, config = estimator._params(), estimator._config_of_fit(size)
    config["checkpoint_every"] = whole("every", every, least=1, optional=True)
    if save is not None and os.path.exists(save) and not os.path.isdir(save):
        raise RunError(f"{save}: is a file; a run is a directory")
    bound = isinstance(estimator, LatentDirichletAllocation) and estimator._has_whole_story(config)
    watch = Watch(estimator, shards, None)
    with Cluster(address, workers * threads, object_store_memory) as ray:
        crew = Crew(ray, folder, workers, threads, timeout, bool(estimator.verbose))
        core = None
        try:
            core, exception, exact, notes = estimator._translated(
                estimator._core_class.fit_on,
                data,
                as_json(params),
                as_json(config),
                crew,
                save=save,
                bound=bound,
                watch=watch.wanted,
            )
        finally:
            crew.end()
            watch.ends(core and json.loads(core.result() or "{}").get("stop"))
    if isinstance(estimator, LatentDirichletAllocation):
        estimator._random()
        estimator._keeps_single = False
    _take(estimator, core, crew)
    if exact is not None:
        estimator._note(bound_=perplexity_of(exact, data.tokens()))
    if save is not None:
        _lehr.write_whole(Path(save) / PARAMETERS, plain_json(estimator.get_params(deep=False)))
    if exception is not None and not isinstance(exception, EnoughSteps):
        raise exception
    estimator._warn_of(notes, data, shards)
    if isinstance(estimator, BayesianGaussianMixture):
        for note in core.notes():
            warnings.warn(told(note, True, estimator._names, estimator._values), UserWarning, stacklevel=2)
        if config["batch"] is None:
            estimator._warn_if_not_converged()
    return estimator


def _take(estimator, core, crew):
    estimator._take(core)
    estimator._note(workers_=dict(crew.report))


def resume(
    run: AnyPath,
    *,
    workers: int = 2,
    threads: int = 1,
    address: str | None = None,
    timeout: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    object_store_memory: int | None = None,
) -> Any:
    """Go on with a run that was cut short, on as many workers as there are now.

    Parameters
    ----------
    run : str or os.PathLike
        The run directory that `fit` made. Its shards must be where they were, and as they were.
    workers : int, default=2
        How many processes, as for `fit`; it need not be what it was.
    threads : int, default=1
        Threads of each worker.
    address : str, default=None
        Where Ray is, such as ``ray://head:10001``; None starts it on this machine.
    timeout : float, default=None
        Seconds for a task, as for `fit`.
    n_jobs : int, default=None
        Threads of this process, which sums and updates; None and -1 are all cores.
    verbose : int, default=0
        Whether to show how it goes.
    object_store_memory : int, default=None
        Bytes of memory for Ray's objects on this machine, as for `fit`.

    Returns
    -------
    estimator : object
        A fitted estimator, bit-identical to that of an uninterrupted run.
    """
    workers, threads, timeout = _checked(workers, threads, timeout)
    cls = ESTIMATORS.get(_lehr.model_name(run))
    if cls not in _KINDS:
        raise RunError(f"{run}: is no run that workers can go on with")
    with open(Path(run) / "config.json", encoding="utf-8") as file:
        path = json.load(file)["data"]["path"]
    if not isinstance(path, str) or not os.path.isdir(path):
        raise RunError(f"{run}: was not fitted to a folder of shards, or that is gone ({path}); use 'lehr resume'")
    folder = Folder(path)
    folder.bring()
    with Cluster(address, workers * threads, object_store_memory) as ray:
        crew = Crew(ray, folder, workers, threads, timeout, bool(verbose))
        try:
            _, exception = cls._core_class.resume_on(run, threads_of(n_jobs), crew, watch=None)
        finally:
            crew.end()
    if exception is not None:
        raise exception
    estimator = cls.load(run)
    estimator._note(workers_=dict(crew.report))
    return estimator


def transform(
    estimator: Any,
    shards: AnyPath,
    out: AnyPath,
    *,
    workers: int = 2,
    threads: int = 1,
    address: str | None = None,
    timeout: float | None = None,
) -> list[Path]:
    """Apply a fitted estimator to shards on workers.

    Parameters
    ----------
    estimator : LatentDirichletAllocation or BayesianGaussianMixture
        A fitted estimator.
    shards : str or os.PathLike
        A folder of shards.
    out : str or os.PathLike
        The folder to write to: a NumPy file for each shard, with the rows of `transform` (documents) or `predict_proba`
        (points). Workers write there, so that all of them must be able to.
    workers : int, default=2
        How many processes, as for `fit`.
    threads : int, default=1
        Threads of each worker.
    address : str, default=None
        Where Ray is, such as ``ray://head:10001``; None starts it on this machine.
    timeout : float, default=None
        Seconds for one shard, as for `fit`.

    Returns
    -------
    files : list of pathlib.Path
        What was written, in the order of the shards.
    """
    workers, threads, timeout = _checked(workers, threads, timeout)
    check_is_fitted(estimator, "_core")
    if isinstance(estimator, ProbabilisticMatrixFactorization):
        raise TypeError("a factorisation has the factors of its users already: user_factors_, in the order of users_")
    folder = Folder(shards)
    _data_of(estimator, folder)
    entries = json.loads(_lehr.shard_manifest(folder.path))["shards"]
    out = Path(out).absolute()
    out.mkdir(parents=True, exist_ok=True)
    there = [path for path in out.iterdir() if not path.name.endswith(".part")]
    if there:
        raise DataError(f"{out}: holds {there[0].name} already; give a folder that is empty or not there yet")
    applied = copy.copy(estimator)
    applied.data_options, applied.n_jobs = None, threads
    files = [out / f"{Path(entry['file']).stem}.npy" for entry in entries]
    jobs = [(part, str(file)) for part, file in enumerate(files)]
    with Cluster(address, workers * threads) as ray:
        crew = Crew(ray, folder, min(workers, len(jobs)), threads, timeout)
        try:
            crew.transform(jobs, applied)
        finally:
            crew.end()
    return files


if __name__ == "__main__":
    from ._distributed_program import main

    main()
