"""scikit-learn's own checks of estimators, on all three."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import lehr

ESTIMATORS = [
    lehr.BayesianGaussianMixture(random_state=0),
    lehr.LatentDirichletAllocation(n_components=3, random_state=0),
    lehr.ProbabilisticMatrixFactorization(n_components=2, max_iter=50, random_state=0),
]


def expected_failures(estimator):
    """The checks that an estimator cannot pass, with the reason."""
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator(estimator, check):
    check(estimator)
