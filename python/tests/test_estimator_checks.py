"""scikit-learn's own checks of estimators, on all three."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import lehr

ESTIMATORS = [
    lehr.BayesianGaussianMixture(random_state=0),
    lehr.BayesianGaussianMixture(n_components=3, covariance_type="diag", random_state=0),
    lehr.BayesianGaussianMixture(n_components=2, batch_size=8, effective_batch_size=4, random_state=0),
    lehr.LatentDirichletAllocation(n_components=3, random_state=0),
    lehr.LatentDirichletAllocation(n_components=3, learning_method="online", batch_size=8, random_state=0),
    lehr.ProbabilisticMatrixFactorization(n_components=2, max_iter=50, random_state=0, matrix=True),
]


def expected_failures(estimator):
    """The checks that an estimator cannot pass, with the reason."""
    weights = "check_sample_weight_equivalence_on_dense_data"
    sparse = "predict(X) returns the expected ratings of all items for each row, so a matrix"
    if isinstance(estimator, lehr.ProbabilisticMatrixFactorization):
        return {"check_estimator_sparse_array": sparse, "check_estimator_sparse_matrix": sparse}
    if getattr(estimator, "batch_size", None) and isinstance(estimator, lehr.BayesianGaussianMixture):
        return {weights: "batches are drawn from items, so a repeated item is drawn more often"}
    if estimator.n_components > 1 and isinstance(estimator, lehr.BayesianGaussianMixture):
        # From the same start they agree: test_a_weight_of_two_is_the_item_twice.
        return {weights: "the check changes the order of the items, and with it the random start"}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator(estimator, check):
    check(estimator)
