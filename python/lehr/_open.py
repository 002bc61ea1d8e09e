"""Loading a run directory of whatever model."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from ._base import ESTIMATORS
from ._lehr import model_name
from .errors import RunError

if TYPE_CHECKING:
    from ._lda import LatentDirichletAllocation
    from ._mixture import BayesianGaussianMixture
    from ._pmf import ProbabilisticMatrixFactorization


def load(
    path: str | PathLike[str],
) -> BayesianGaussianMixture | LatentDirichletAllocation | ProbabilisticMatrixFactorization:
    """Load a run directory, as ``save`` and the command line write it.

    Parameters
    ----------
    path : str or os.PathLike
        The run directory.

    Returns
    -------
    estimator : object
        A fitted estimator of the class that the run's model has here.

    Examples
    --------
    >>> import os, tempfile, numpy as np, lehr
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> mixture = lehr.BayesianGaussianMixture(2, random_state=0).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "run")
    >>> mixture.save(path)
    >>> bool((lehr.load(path).predict(X) == mixture.predict(X)).all())
    True
    """
    name = model_name(path)
    if name not in ESTIMATORS:
        raise RunError(f"{path}: this run's model is {name!r}, which this version of lehr does not know; update lehr")
    return ESTIMATORS[name].load(path)
