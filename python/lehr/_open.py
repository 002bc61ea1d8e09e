"""Loading a run directory of whatever model."""

from ._lda import LatentDirichletAllocation
from ._lehr import model_name
from ._mixture import BayesianGaussianMixture
from ._pmf import ProbabilisticMatrixFactorization
from .errors import RunError

_ESTIMATORS = (BayesianGaussianMixture, LatentDirichletAllocation, ProbabilisticMatrixFactorization)
_CLASSES = {name: estimator for estimator in _ESTIMATORS for name in estimator._core_class.names}


def load(path):
    """Load a run directory, as ``save`` and the command line write it.

    Parameters
    ----------
    path : str or os.PathLike
        The run directory.

    Returns
    -------
    estimator : BayesianGaussianMixture, LatentDirichletAllocation or ProbabilisticMatrixFactorization
        The fitted estimator.

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
    if name not in _CLASSES:
        raise RunError(f"{path}: this run's model is {name!r}, which this version of lehr does not know; update lehr")
    return _CLASSES[name].load(path)
