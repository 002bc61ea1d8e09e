"""`lehr.sweep`: sizes compared, the recommended one, and what it refuses."""

import os
import signal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

import lehr
from lehr.errors import SettingError

CENTRES = [[0, 0], [9, 0], [0, 9]]


@pytest.fixture(scope="module")
def points():
    return make_blobs(240, centers=CENTRES, random_state=0)[0]


@pytest.fixture
def mixture():
    return lehr.BayesianGaussianMixture(
        weight_concentration_prior_type="dirichlet_distribution", priors="learned", random_state=0
    )


def test_it_finds_the_number_of_clusters(mixture, points):
    found = lehr.sweep(mixture, points, n_components=[5, 1, 2, 3])
    assert found["n_components"].tolist() == [1, 2, 3, 5]
    assert found.n_components_ == 3 and found["recommended"].tolist() == [False, False, True, False]
    assert found.by_ == "heldout" and not found.at_the_end_
    assert [len(folds) for folds in found.heldouts_] == [5] * 4
    assert [len(starts) for starts in found.bounds_] == [3] * 4
    # One prior for all sizes.
    for name in ("mean_precision_prior_", "degrees_of_freedom_prior_", "covariance_prior_", "mean_prior_"):
        first, *others = (getattr(estimator, name) for estimator in found.estimators_)
        assert all(np.array_equal(first, other) for other in others), name
    assert not hasattr(mixture, "means_") and mixture.n_components == 1
    assert "n_components=3" in repr(found)


def test_the_recommended_estimator_is_fitted_and_can_be_fitted_again(mixture, points):
    best = lehr.sweep(mixture, points, n_components=[2, 3], folds=0).best_estimator_
    assert best.means_.shape == (3, 2) and best.n_init == 3
    assert clone(best).fit(points).lower_bound_ == best.lower_bound_
    frame = pd.DataFrame(points, columns=["x", "y"])
    best = lehr.sweep(mixture, frame, n_components=[2, 3], folds=0).best_estimator_
    assert best.feature_names_in_.tolist() == ["x", "y"]


def test_frames_are_made_of_the_columns(mixture, points):
    found = lehr.sweep(mixture, points, n_components=[2, 3], covariance_type=["full", "tied"], folds=2, n_init=1)
    for frame in (pd.DataFrame(found), pl.DataFrame(found)):
        assert frame.shape == (4, len(found))
        assert list(frame["covariance_type"]) == ["full", "full", "tied", "tied"]
    assert found.best_estimator_.covariance_type in ("full", "tied")
    ax = found.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["recommended", "full", "tied"]


def test_it_is_the_sweep_of_the_command_line(points, cli, tmp_path):
    np.savetxt(tmp_path / "points.csv", points, delimiter=",", header="x,y", comments="")
    cli("sweep", "gmm", tmp_path / "points.csv", "-k", "2,4", "--seed", "5", "-o", tmp_path / "s")
    table = pd.read_csv(tmp_path / "s/sweep.csv")
    like = lehr.load(tmp_path / "s/k4")
    # What was 1/4 for the largest is 1/K.
    mixture = clone(like).set_params(weight_concentration_prior=None)
    found = lehr.sweep(mixture, tmp_path / "points.csv", n_components=[2, 4])
    np.testing.assert_array_equal(found["bound"], table["bound"])
    np.testing.assert_array_equal(found["heldout"], table["heldout"])


def test_topics_and_ratings_are_swept_too():
    random = np.random.default_rng(0)
    topics = random.dirichlet(np.full(30, 0.1), size=3)
    counts = np.array([random.multinomial(40, topics[n % 3]) for n in range(90)])
    words = [f"w{v}" for v in range(30)]
    lda = lehr.LatentDirichletAllocation(priors="learned", random_state=0, max_iter=30)
    found = lehr.sweep(lda, counts, n_components=[1, 3, 6], folds=3, n_init=1, feature_names=words)
    assert found["heldout"].argmax() > 0 and found.n_components_ >= 3
    assert found.best_estimator_.transform(counts).shape == (90, found.n_components_)
    # scikit-learn's eta depends on the size; here it is that of the largest.
    found = lehr.sweep(lehr.LatentDirichletAllocation(random_state=0), counts, n_components=[2, 4], folds=0, n_init=1)
    assert [estimator.topic_word_prior_ for estimator in found.estimators_] == [0.25, 0.25]
    ratings = random.normal(size=(40, 2)) @ random.normal(size=(2, 30)) + 0.1 * random.normal(size=(40, 30))
    ratings[random.random(ratings.shape) < 0.4] = np.nan
    pmf = lehr.ProbabilisticMatrixFactorization(random_state=0)
    found = lehr.sweep(pmf, ratings, n_components=[1, 2, 4], folds=3, n_init=1)
    assert found.n_components_ >= 2 and found["rmse"][1] < 0.5 * found["rmse"][0]


def test_results_do_not_depend_on_threads(mixture, points):
    one, three = (lehr.sweep(mixture.set_params(n_jobs=n), points, n_components=[2, 3], folds=2) for n in (1, 3))
    for name in ("bound", "heldout"):
        np.testing.assert_array_equal(one[name], three[name])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"n_components": 3}, "must be several whole numbers"),
        ({"n_components": []}, "from 1 to 1000 numbers"),
        ({"n_components": range(1, 1500)}, "a list of 1499.*from 1 to 1000"),
        ({"n_components": [2, 2]}, "has 2 twice"),
        ({"n_components": [0]}, "at least 1"),
        ({"n_components": [2.5]}, "must be a whole number"),
        ({"n_components": [500]}, "there are only 240 rows"),
        ({"n_components": [200]}, "192 of the 240 items are left"),
        ({"n_components": [2], "folds": 1}, "must be 0, or from 2"),
        ({"n_components": [2], "folds": 241}, "must be 0, or from 2"),
        ({"n_components": [2], "n_init": 0}, "at least 1"),
        ({"n_components": [2], "covariance_type": "round"}, "must be 'full'"),
    ],
)
def test_nonsense_is_refused(mixture, points, bad, said):
    with pytest.raises(SettingError, match=said):
        lehr.sweep(mixture, points, **bad)


def test_what_only_some_models_have_is_refused(points):
    with pytest.raises(SettingError, match="only mixtures have shapes"):
        lehr.sweep(lehr.LatentDirichletAllocation(), np.ones((9, 3)), n_components=[2], covariance_type=["full"])
    with pytest.raises(SettingError, match="holds items out by itself"):
        lehr.sweep(lehr.BayesianGaussianMixture(holdout=0.1), points, n_components=[2])
    with pytest.raises(TypeError, match="an estimator of lehr"):
        lehr.sweep(object(), points, n_components=[2])


def test_it_can_be_interrupted():
    points = np.random.default_rng(0).normal(size=(20000, 8))
    mixture = lehr.BayesianGaussianMixture(init_params="random_from_data", max_iter=10**6, tol=0, random_state=0)
    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        lehr.sweep(mixture, points, n_components=[40, 50])
