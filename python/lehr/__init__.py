"""Bayesian topics, clusters and recommendations, fast, with numbers you can trust.

The estimators follow scikit-learn 1.9: names and meanings of parameters, attributes and methods are the same
where scikit-learn has them. All computation is compiled; results do not depend on the number of threads.
"""

from . import anneal, errors, plot
from ._compare import compare
from ._lda import LatentDirichletAllocation
from ._lehr import __version__
from ._mixture import BayesianGaussianMixture
from ._open import load
from ._pmf import ProbabilisticMatrixFactorization
from ._sweep import Sweep, sweep
from .errors import LehrError

__all__ = [
    "BayesianGaussianMixture",
    "LatentDirichletAllocation",
    "LehrError",
    "ProbabilisticMatrixFactorization",
    "Sweep",
    "__version__",
    "anneal",
    "compare",
    "errors",
    "load",
    "plot",
    "sweep",
]
