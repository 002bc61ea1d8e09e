"""The mixture against scikit-learn's: same fixed point, same numbers, clusters as good; then what only lehr has."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture as Theirs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lehr import BayesianGaussianMixture
from lehr.errors import DataError, SettingError

warnings.simplefilter("ignore", ConvergenceWarning)

ATTRIBUTES = [
    "weights_",
    "means_",
    "covariances_",
    "precisions_",
    "precisions_cholesky_",
    "mean_precision_",
    "degrees_of_freedom_",
    "mean_prior_",
    "covariance_prior_",
    "weight_concentration_prior_",
    "mean_precision_prior_",
    "degrees_of_freedom_prior_",
]


class TheirsFrom(Theirs):
    """scikit-learn's mixture, starting with given responsibilities."""

    def _initialize_parameters(self, X, random_state, xp=None):
        self._initialize(X, self.start)


def start(n, k):
    resp = np.random.default_rng(3).dirichlet(np.ones(k), size=n)
    return np.ascontiguousarray(resp)


# Of one column, diagonal and spherical mixtures are scikit-learn's as well.
@pytest.mark.parametrize(("covariance_type", "columns"), [("full", 2), ("tied", 2), ("diag", 1), ("spherical", 1)])
@pytest.mark.parametrize("prior_type", ["dirichlet_process", "dirichlet_distribution"])
@pytest.mark.parametrize("priors", [{}, {"mean_precision_prior": 0.3, "weight_concentration_prior": 2.0,
                                         "degrees_of_freedom_prior": 7.5, "reg_covar": 0.01}])
def test_the_fixed_point_from_the_same_start_is_scikit_learns(blobs, covariance_type, columns, prior_type, priors):
    blobs = np.ascontiguousarray(blobs[:, :columns])
    settings = {
        "n_components": 3,
        "covariance_type": covariance_type,
        "weight_concentration_prior_type": prior_type,
        "tol": 0.0,
        "max_iter": 300,
        **priors,
    }
    theirs = TheirsFrom(**settings)
    theirs.start = start(90, 3)
    theirs.fit(blobs)
    ours = BayesianGaussianMixture(init_params=start(90, 3), **settings).fit(blobs)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(ours.predict_proba(blobs), theirs.predict_proba(blobs), atol=1e-7)
    if covariance_type != "tied":  # theirs takes ln |precision| of N/K items, not of N
        np.testing.assert_allclose(ours.score_samples(blobs), theirs.score_samples(blobs), rtol=1e-7)
        assert ours.score(blobs) == pytest.approx(theirs.score(blobs))
    if prior_type == "dirichlet_process":
        np.testing.assert_allclose(ours.weight_concentration_, theirs.weight_concentration_, rtol=1e-7)
    np.testing.assert_array_equal(ours.predict(blobs), theirs.predict(blobs))


def test_the_bound_prefers_the_shape_that_made_the_data():
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(3, 5)) * 6
    X = centres[rng.integers(3, size=300)] + rng.normal(size=(300, 5)) * [1.0, 0.5, 2.0, 1.5, 0.7]

    def bound(covariance_type):
        mixture = BayesianGaussianMixture(3, covariance_type=covariance_type, random_state=0, n_init=3)
        return mixture.fit(X).lower_bound_

    assert bound("diag") > bound("full") + 20
    assert bound("diag") > bound("spherical") + 20
    spheres = centres[rng.integers(3, size=300)] + rng.normal(size=(300, 5))
    X = spheres
    assert bound("spherical") > bound("diag") > bound("full")


def test_given_priors_are_used_and_reported(blobs):
    prior = np.array([[2.0, 0.3], [0.3, 1.5]])
    mixture = BayesianGaussianMixture(2, mean_prior=[1.0, 2.0], covariance_prior=prior, random_state=0).fit(blobs)
    np.testing.assert_allclose(mixture.mean_prior_, [1.0, 2.0])
    np.testing.assert_allclose(mixture.covariance_prior_, prior)
    for given in (2.0, [2.0, 2.0], 2 * np.eye(2)):
        for covariance_type, expected in (("full", 2 * np.eye(2)), ("diag", [2.0, 2.0])):
            mixture = BayesianGaussianMixture(
                2, covariance_type=covariance_type, covariance_prior=given, random_state=0
            ).fit(blobs)
            np.testing.assert_allclose(mixture.covariance_prior_, expected)


@pytest.mark.parametrize("n_components", [10, 20, 50])
def test_our_priors_find_the_number_of_clusters_by_one_word(n_components):
    rng = np.random.default_rng(0)
    X = np.array([[0, 0], [7, 0], [0, 7], [7, 7.0]])[rng.integers(4, size=400)] + rng.normal(size=(400, 2))
    mixture = BayesianGaussianMixture(n_components, priors="learned", random_state=0, max_iter=500).fit(X)
    sizes = np.bincount(mixture.predict(X), minlength=n_components)
    assert (sizes > 4).sum() == 4
    # Its settings are scikit-learn's unless others are asked for.
    assert BayesianGaussianMixture().priors == "scikit-learn"
    with pytest.raises(SettingError, match="priors = 'mine': must be"):
        BayesianGaussianMixture(2, priors="mine").fit(X)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_missing_values_are_part_of_the_model(covariance_type):
    rng = np.random.default_rng(1)
    labels = rng.integers(3, size=600)
    whole = np.array([[0.0, 0.0, 9.0], [9.0, 0.0, 0.0], [0.0, 9.0, -9.0]])[labels] + rng.normal(size=(600, 3))
    X = np.where(rng.random(whole.shape) < 0.2, np.nan, whole)
    mixture = BayesianGaussianMixture(3, covariance_type=covariance_type, random_state=0, n_init=3).fit(X)
    assert best_match(X, labels, mixture.predict(X)) > 0.97
    assert np.isfinite(mixture.score_samples(X)).all() and np.isfinite(mixture.log_predictive(X)).all()
    assert np.all(np.diff(mixture.lower_bounds_) > -1e-9)
    mean, std = mixture.impute(X)
    there = ~np.isnan(X)
    np.testing.assert_array_equal(mean[there], X[there])
    assert (std[there] == 0).all() and (std[~there] > 0).all()
    off = (mean - whole)[~there] / std[~there]
    assert 0.8 < np.sqrt(np.mean(off**2)) < 1.2
    again = pickle.loads(pickle.dumps(mixture))
    np.testing.assert_array_equal(again.impute(X)[0], mean)
    # float32 and data frames, too.
    np.testing.assert_array_equal(mixture.predict(X.astype(np.float32)), mixture.predict(X))
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(mixture.predict(pandas.DataFrame(X).to_numpy()), mixture.predict(X))
    with pytest.raises(DataError, match="found inf"):
        mixture.impute([[np.inf, 1.0, 2.0]])


def best_match(X, labels, found):
    """The share of items in the right cluster, clusters matched as well as can be."""
    table = np.array([[np.sum((labels == a) & (found == b)) for b in np.unique(found)] for a in np.unique(labels)])
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns].sum() / len(labels)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_clusters_of_known_data_are_as_good_as_scikit_learns(load):
    X, labels = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    settings = {"n_components": 3, "covariance_type": "diag", "n_init": 5, "max_iter": 500, "random_state": 0}
    ours = BayesianGaussianMixture(**settings).fit_predict(X)
    theirs = Theirs(**settings).fit_predict(X)
    assert best_match(X, labels, ours) >= best_match(X, labels, theirs) - 0.02
    assert adjusted_rand_score(labels, ours) >= adjusted_rand_score(labels, theirs) - 0.05


def partition_bounds(X, **settings):
    """The bounds of the starts of ten seeds: equal ones are of equal partitions, whatever the order of clusters."""
    settings = {"weight_concentration_prior_type": "dirichlet_distribution", "max_iter": 1, "reg_covar": 0.0, **settings}
    return [BayesianGaussianMixture(3, random_state=s, **settings).fit(X).lower_bounds_[0] for s in range(10)]


def test_a_start_by_k_means_is_scikit_learns_in_the_units_of_the_columns():
    X = load_wine().data
    theirs = KMeans(3, n_init=20, random_state=0).fit(X).labels_
    expected = partition_bounds(X, init_params=np.eye(3)[theirs])[0]
    same = np.isclose(partition_bounds(X), expected, rtol=1e-12)
    assert same.sum() >= 2  # from a single start each, k-means ends in several optima, of which this is the best
    standard = StandardScaler().fit_transform(X)
    best = KMeans(3, n_init=20, random_state=0).fit(standard).labels_
    expected = partition_bounds(X, init_params=np.eye(3)[best])[0]
    assert np.isclose(partition_bounds(X, init_units="deviations"), expected, rtol=1e-12).sum() >= 2
    assert not np.isclose(partition_bounds(X), expected, rtol=1e-12).any()


def test_a_warning_points_at_the_line_that_has_called(blobs):
    class Hears:
        def setup(self, estimator, context):
            pass

        teardown = on_fit_task_begin = on_fit_task_end = setup

    settings = {"max_iter": 1, "init_params": "random", "random_state": 0}
    mixture = BayesianGaussianMixture(3, **settings)
    calls = [mixture.fit, mixture.fit_predict, make_pipeline(StandardScaler(), mixture).fit]
    if hasattr(mixture, "set_callbacks"):
        calls.append(BayesianGaussianMixture(3, **settings).set_callbacks(Hears()).fit)
    for call in calls:
        with pytest.warns(ConvergenceWarning, match="did not converge") as caught:
            call(blobs)
        assert caught[0].filename == __file__


def test_the_bound_has_every_constant_and_never_falls(blobs):
    mixture = BayesianGaussianMixture(3, tol=1e-9, reg_covar=0.0, random_state=1).fit(blobs)
    assert mixture.converged_
    assert (np.diff(mixture.lower_bounds_) > -1e-9).all()
    assert mixture.lower_bound_ == mixture.lower_bounds_[-1]
    # The evidence of a density, so at most that of the items' best densities.
    assert mixture.lower_bound_ < mixture.log_predictive(blobs).sum()


def test_partial_fit_finds_what_fit_finds(blobs):
    rng = np.random.default_rng(5)
    whole = BayesianGaussianMixture(3, random_state=0).fit(blobs)
    parts = BayesianGaussianMixture(3, batch_size=30, total_samples=90, random_state=0)
    parts.partial_fit(blobs)
    for _ in range(60):
        parts.partial_fit(blobs[rng.choice(90, 30, replace=False)])
    distance = np.linalg.norm(whole.means_[:, None] - parts.means_, axis=2)
    rows, columns = linear_sum_assignment(distance)
    assert distance[rows, columns].max() < 0.5
    assert parts.n_steps_ == 3 + 60
    # A stream pays for its steps alone.
    assert np.isnan(parts.lower_bound_) and len(parts.lower_bounds_) == 0
    whole.partial_fit(blobs)
    assert np.isnan(whole.lower_bound_) and np.isfinite(whole.lower_bounds_).all()
    assert np.isfinite(pickle.loads(pickle.dumps(parts)).means_).all()


def test_partial_fit_counts_what_it_has_seen(blobs):
    mixture = BayesianGaussianMixture(2, random_state=0).partial_fit(blobs[:50]).partial_fit(blobs[50:])
    assert mixture._record["population"] == 90
    with pytest.raises(ValueError, match="is expecting 2 features"):
        mixture.partial_fit(np.ones((5, 3)))


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_a_weight_of_two_is_the_item_twice(blobs, covariance_type):
    weights = np.tile([1.0, 2.0, 0.0], 30)
    twice = np.repeat(blobs, weights.astype(int), axis=0)
    settings = {"n_components": 3, "covariance_type": covariance_type, "tol": 0, "max_iter": 100, "mean_prior": [0, 0]}
    resp = start(90, 3)
    weighted = BayesianGaussianMixture(init_params=resp, **settings).fit(blobs, sample_weight=weights)
    repeated = BayesianGaussianMixture(init_params=np.repeat(resp, weights.astype(int), axis=0), **settings).fit(twice)
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-8)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-7)
    assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_, rel=1e-9)


def test_annealing_is_noise_that_ends(blobs):
    settings = {"n_components": 3, "max_iter": 40, "tol": 0, "random_state": 0}
    plain = BayesianGaussianMixture(**settings).fit(blobs)
    noisy = BayesianGaussianMixture(effective_batch_size=20, **settings).fit(blobs)
    assert not np.array_equal(plain.lower_bounds_, noisy.lower_bounds_)
    effective = noisy.trace_["effective"]
    assert effective[5] == 20 and effective[-1] == 90
    same = BayesianGaussianMixture(effective_batch_size=90, **settings).fit(blobs)
    np.testing.assert_allclose(same.means_, plain.means_, rtol=1e-6)
    assert isinstance(noisy.n_guard_hits_, int)
    for schedule in ("10t", "geometric:10:20"):
        BayesianGaussianMixture(effective_batch_size=schedule, **settings).fit(blobs)


def test_the_trace_has_columns_of_one_length(blobs):
    mixture = BayesianGaussianMixture(2, n_init=3, holdout=0.2, random_state=0).fit(blobs)
    trace = mixture.trace_
    assert {len(column) for column in trace.values()} == {len(trace["step"])}
    assert set(trace["restart"]) == {0, 1, 2}
    assert np.isfinite(trace["heldout"]).all()


def test_warm_start_goes_on(blobs):
    cold = BayesianGaussianMixture(3, max_iter=7, tol=0, random_state=0).fit(blobs)
    warm = BayesianGaussianMixture(3, max_iter=3, tol=0, warm_start=True, random_state=0).fit(blobs)
    warm.set_params(max_iter=4).fit(blobs)
    np.testing.assert_array_equal(warm.means_, cold.means_)


def test_a_warm_start_keeps_its_shape(blobs):
    warm = BayesianGaussianMixture(3, warm_start=True, random_state=0).fit(blobs)
    with pytest.raises(SettingError, match="n_components = 4: a warm start goes on"):
        warm.set_params(n_components=4).fit(blobs)


def test_samples_are_from_the_mixture(blobs):
    mixture = BayesianGaussianMixture(3, random_state=0).fit(blobs)
    X, y = mixture.sample(3000)
    assert X.shape == (3000, 2) and (np.diff(y) >= 0).all()
    for k in range(3):
        np.testing.assert_allclose(X[y == k].mean(axis=0), mixture.means_[k], atol=0.3)
    assert mixture.predict(X[:5]).shape == (5,)


def test_it_works_in_pipelines_and_searches(blobs):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), BayesianGaussianMixture(random_state=0)),
        {"bayesiangaussianmixture__n_components": [1, 3]},
        cv=3,
    )
    search.fit(np.random.default_rng(0).permutation(blobs))
    assert search.best_params_["bayesiangaussianmixture__n_components"] == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components = 0: must be a whole number, at least 1"),
        ({"n_components": 2.5}, "n_components = 2.5"),
        ({"covariance_type": "round"}, "covariance_type = 'round': must be 'full', 'tied', 'diag' or 'spherical'"),
        ({"covariance_type": None}, "covariance_type = None: must be 'full', 'tied', 'diag' or 'spherical'"),
        ({"covariance_type": "spherical", "covariance_prior": [1.0, 2.0]}, "spheres have one variance; give one number"),
        ({"covariance_type": "tied", "covariance_prior": [[1.0, 2.0]]}, "as many rows as columns"),
        ({"covariance_type": "spherical", "covariance_prior": -1.0}, "covariance_prior"),
        ({"init_params": "best"}, "init_params = 'best'"),
        ({"tol": "small"}, "tol = 'small'"),
        ({"tol": -1.0}, "tol = -1: must be 0"),
        ({"max_iter": -1}, "max_iter = -1"),
        ({"batch_size": 30, "effective_batch_size": 40}, "effective_batch_size = 40: must be at most the batch size"),
        ({"effective_batch_size": "much"}, "effective_batch_size = much: is not an effective batch size: use a number"),
        ({"effective_batch_size": -3}, "effective_batch_size = -3.0: the effective batch size must be at least 0.001"),
        ({"effective_batch_size": "geometric:3:0"}, "effective_batch_size = geometric:3:0: a schedule needs"),
        ({"time_limit": -1}, "time_limit = -1: must be a positive number of seconds"),
        ({"random_state": 2**70}, "random_state = 1180591620717411303424: "),
        ({"n_init": 2**40}, "n_init = 1099511627776: is out of range"),
        ({"max_iter": 2**70}, "max_iter = 1180591620717411303424: "),
        ({"init_units": "metres"}, "init_units = 'metres': must be 'deviations' or 'own'"),
        ({"noise": "pink"}, "noise = 'pink'"),
        ({"guard": "shrink"}, "guard = shrink"),
        ({"guard": "shrinkk"}, "guard = 'shrinkk': must be 'reject'"),
        ({"holdout": 1.5}, "holdout = 1.5: must be a whole number"),
        ({"holdout": 90}, "holdout = 90: there are only 90 items"),
        ({"step_size": "fast"}, "step_size = fast: is not a step size: use a number"),
        ({"step_size": 7}, "step_size = 7.0: a step size must lie above 0"),
        ({"noise_end": 2}, "noise_end = 2: must be a fraction of the steps between 0 and 1"),
        ({"degrees_of_freedom_prior": 0.5}, "degrees_of_freedom_prior = 0.5: The parameter"),
        ({"covariance_prior": [[1.0, 2.0], [2.0, 1.0]]}, "covariance_prior = the matrix given"),
        ({"mean_prior": [1.0, 2.0, 3.0]}, "mean_prior = 3 numbers"),
        ({"mean_prior": [1e300, 1e300]}, "mean_prior = 1e300: column 0 of it is more than a million"),
        ({"covariance_prior": [1.0, 2.0, 3.0]}, "covariance_prior = 3 numbers"),
        ({"covariance_prior": [[1.0, 2.0]]}, "covariance_prior = an array of shape (1, 2)"),
        ({"covariance_prior": -1.0}, "covariance_prior = the matrix given"),
        ({"covariance_prior": np.inf}, "covariance_prior = an array of shape ()"),
        ({"covariance_prior": np.ones((1, 1, 1))}, "covariance_prior = an array of shape (1, 1, 1)"),
        ({"random_state": -3}, "random_state = -3"),
        ({"init_params": np.ones((3, 3))}, "initial responsibilities are 3 x 3"),
    ],
)
def test_a_bad_setting_is_named_with_what_is_allowed(blobs, settings, message):
    with pytest.raises(ValueError) as caught:
        BayesianGaussianMixture(**{"n_components": 3, **settings}).fit(blobs)
    assert isinstance(caught.value, (SettingError, DataError))
    assert message in str(caught.value)


def test_a_search_never_ends_below_the_plain_fit_and_tells_what_it_did(blobs):
    settings = {"n_components": 12, "random_state": 0, "init_params": "k-means++"}
    plain = BayesianGaussianMixture(**settings).fit(blobs)
    found = BayesianGaussianMixture(**settings, search=4).fit(blobs)
    assert plain.search_ is None
    assert found.search_["plain_bound"] == plain.lower_bound_ <= found.lower_bound_
    assert found.search_["passes"] >= 4 * max(found.search_["passes_plain"], 30)
    noise = BayesianGaussianMixture(**settings, search=2, kicks="noise").fit(blobs)
    assert set(noise.search_["kicks"]) == {"noise"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": -1}, "search = -1"),
        ({"search": 0.5}, "must be 0 .off. or between 1 and"),
        ({"search": "much"}, "search"),
        ({"search": 4, "kicks": "jump"}, "is no kick: use swap"),
        ({"kicks": "noise"}, "is for a search"),
    ],
)
def test_nonsense_about_a_search_is_named(blobs, settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        BayesianGaussianMixture(3, **settings).fit(blobs)


def test_no_pass_keeps_the_start(blobs, recwarn):
    begun = BayesianGaussianMixture(3, max_iter=0, random_state=0).fit(blobs)
    assert (begun.n_iter_, begun.n_steps_, begun.converged_) == (0, 0, False)
    assert not [warning for warning in recwarn if "converge" in str(warning.message)]
    whole = BayesianGaussianMixture(3, max_iter=5, tol=0, random_state=0).fit(blobs)
    assert begun.lower_bound_ == whole.lower_bounds_[0]
    assert begun.predict(blobs).shape == (90,)


def test_labels_are_the_largest_responsibilities():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 3))
    for settings in ({}, {"covariance_type": "tied"}, {"covariance_type": "spherical"}):
        mixture = BayesianGaussianMixture(7, max_iter=5, random_state=0, **settings).fit(X)
        labels = mixture.predict(X)
        assert labels.dtype == np.int64
        np.testing.assert_array_equal(labels, mixture.predict_proba(X).argmax(axis=1))
    X[rng.random(X.shape) < 0.2] = np.nan
    np.testing.assert_array_equal(mixture.predict(X), mixture.predict_proba(X).argmax(axis=1))
    X[5] = 1e200
    for method in (mixture.predict, mixture.predict_proba):
        with pytest.raises(ValueError, match="row 6 is so far from every component"):
            method(X)


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical"])
def test_criteria_are_near_those_of_scikit_learn_where_there_is_much_data(shape):
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (4000, 2)), rng.normal(9, 1, (4000, 2))])
    theirs = GaussianMixture(2, covariance_type=shape, random_state=0).fit(X)
    ours = BayesianGaussianMixture(2, covariance_type=shape, random_state=0).fit(X)
    assert ours._n_parameters() == theirs._n_parameters()
    assert ours.bic(X) == pytest.approx(theirs.bic(X), abs=5)
    assert ours.aic(X) == pytest.approx(theirs.aic(X), abs=5)
    # Components that are empty cost nothing.
    assert BayesianGaussianMixture(6, covariance_type=shape, init_params="merge", random_state=0).fit(X)._n_parameters() \
        == theirs._n_parameters()
