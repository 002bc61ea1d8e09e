"""What type checkers see of the public names; test_types.py has them check it. Nothing here is run."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from typing_extensions import assert_type

import lehr

Floats = NDArray[np.float64]
Real = NDArray[np.floating[Any]]
Whole = NDArray[np.int64]
X = np.ones((9, 2))


class Mine(lehr.BayesianGaussianMixture):
    """A class of the user's own."""


def mixtures() -> None:
    mixture = lehr.BayesianGaussianMixture(3, covariance_type="tied", random_state=0, n_jobs=2)
    assert_type(mixture.fit(X), lehr.BayesianGaussianMixture)
    assert_type(Mine().fit(X), Mine)
    assert_type(mixture.partial_fit(X), lehr.BayesianGaussianMixture)
    assert_type(mixture.fit_predict(X), Whole)
    assert_type(mixture.predict(X), Whole)
    assert_type(mixture.predict_proba(X), Floats)
    assert_type(mixture.score_samples(X), Floats)
    assert_type(mixture.log_predictive(X), Floats)
    assert_type(mixture.score(X), float)
    assert_type(mixture.bic(X), float)
    assert_type(mixture.aic(X), float)
    assert_type(mixture.impute(X), tuple[Floats, Floats])
    assert_type(mixture.sample(3), tuple[Floats, Whole])
    assert_type(mixture.means_, Floats)
    assert_type(mixture.lower_bound_, float)
    assert_type(mixture.n_components_in_use_, int)
    assert_type(mixture.converged_, bool)
    assert_type(mixture.trace_, dict[str, NDArray[Any]])
    assert_type(mixture.set_params(tol=1e-4), lehr.BayesianGaussianMixture)
    assert_type(mixture.get_params(), dict[str, Any])
    assert_type(mixture.save("run"), None)
    assert_type(lehr.BayesianGaussianMixture.load("run"), lehr.BayesianGaussianMixture)
    mixture.to_sklearn().predict(X)


def topics() -> None:
    lda = lehr.LatentDirichletAllocation(3, search=2, search_by="heldout", holdout=0.1)
    assert_type(lda.fit(X, feature_names=["a", "b"]), lehr.LatentDirichletAllocation)
    assert_type(lda.partial_fit(X), lehr.LatentDirichletAllocation)
    assert_type(lda.transform(X), Real)
    assert_type(lda.fit_transform(X), Real)
    assert_type(lda.score(X), float)
    assert_type(lda.perplexity(X), float)
    assert_type(lda.heldout_scores(X), dict[str, float])
    assert_type(lda.components_, Real)
    assert_type(lda.bound_, float)
    assert_type(lda.to_pyldavis(X), dict[str, Any])
    assert_type(lda.save("run", ["a", "b"]), None)
    assert_type(lehr.LatentDirichletAllocation.load("run"), lehr.LatentDirichletAllocation)
    lda.to_sklearn().transform(X)


def ratings() -> None:
    pmf = lehr.ProbabilisticMatrixFactorization(2, user="who", item="what", rating="stars")
    assert_type(pmf.fit(X), lehr.ProbabilisticMatrixFactorization)
    assert_type(pmf.partial_fit(X), lehr.ProbabilisticMatrixFactorization)
    assert_type(pmf.transform(X), Floats)
    assert_type(pmf.fit_transform(X), Floats)
    assert_type(pmf.predict([1], [2]), Floats)
    assert_type(pmf.predict([1], [2], return_std=True), tuple[Floats, Floats])
    assert_type(pmf.recommend(3), NDArray[Any])
    assert_type(pmf.recommend("ann", 5, return_ratings=True), tuple[NDArray[Any], Floats])
    assert_type(pmf.heldout_scores(X), dict[str, Any])
    assert_type(pmf.score(X), float)
    assert_type(pmf.user_factors_, Floats)
    assert_type(lehr.ProbabilisticMatrixFactorization.load("run"), lehr.ProbabilisticMatrixFactorization)


def the_rest() -> None:
    loaded = lehr.load("run")
    assert_type(
        loaded,
        lehr.BayesianGaussianMixture | lehr.LatentDirichletAllocation | lehr.ProbabilisticMatrixFactorization,
    )
    assert_type(loaded.n_iter_, int)
    assert_type(lehr.anneal.weights(3, 2.0), Floats)
    mixture = lehr.BayesianGaussianMixture()
    assert_type(lehr.plot.bound(mixture), Axes)
    assert_type(lehr.plot.clusters(mixture, X), Axes)
    assert_type(lehr.__version__, str)
