"""What a user of scikit-learn tries without thinking: settings that survive, ids as they come, odd numbers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import lehr

pandas = pytest.importorskip("pandas")


@pytest.fixture
def counts():
    return np.random.default_rng(0).poisson(1, (30, 12))


def test_a_loaded_model_learns_on_as_the_saved_one(counts, tmp_path):
    saved = lehr.LatentDirichletAllocation(3, total_samples=100, random_state=0).partial_fit(counts)
    saved.save(tmp_path / "run")
    loaded = lehr.load(tmp_path / "run")
    assert loaded.get_params() == saved.get_params()
    assert (saved.partial_fit(counts).components_ == loaded.partial_fit(counts).components_).all()


@pytest.mark.parametrize(
    "estimator",
    [
        lehr.BayesianGaussianMixture(2, max_iter=np.int64(7), tol=0.5, warm_start=True, random_state=3),
        lehr.LatentDirichletAllocation(2, evaluate_every=1, perp_tol=5.0, max_iter=9, random_state=3),
        lehr.ProbabilisticMatrixFactorization(1, duplicates="mean", max_iter=3, random_state=3),
    ],
)
def test_settings_are_saved(estimator, counts, tmp_path):
    estimator.fit(counts + np.random.default_rng(1).uniform(size=counts.shape) / 9)
    estimator.save(tmp_path / "run")
    assert type(estimator).load(tmp_path / "run").get_params() == estimator.get_params()


def test_settings_that_are_damaged_are_named(counts, tmp_path):
    lehr.LatentDirichletAllocation(2, random_state=0).fit(counts).save(tmp_path / "run")
    file = tmp_path / "run" / "estimator.json"
    for text in ("{", json.dumps({"n_clusters": 3}), "[]"):
        file.write_text(text)
        with pytest.raises(lehr.LehrError, match="estimator.json.*delete it"):
            lehr.load(tmp_path / "run")
    file.unlink()
    assert lehr.load(tmp_path / "run").n_components == 2


def test_columns_are_saved_and_frames_without_them_are_not_taken_for_matrices(tmp_path):
    frame = pandas.DataFrame([[0, 0, 5.0], [0, 1, 3.0], [1, 2, 4.0]], columns=["who", "movieId", "stars"])
    pmf = lehr.ProbabilisticMatrixFactorization(1, random_state=0, user="who").fit(frame)
    pmf.save(tmp_path / "run")
    loaded = lehr.load(tmp_path / "run")
    assert (loaded.user, loaded.item) == ("who", None) and loaded.score(frame) == pmf.score(frame)
    with pytest.raises(ValueError, match="who, movieId, stars, and none of them is known to be the user;"):
        lehr.ProbabilisticMatrixFactorization(1).fit(frame)


def test_texts_that_look_like_numbers_are_the_same_users():
    frame = pandas.DataFrame({"user": ["1", "1", "2", "2"], "item": ["10", "20", "10", "30"], "rating": [5.0, 3, 4, 1]})
    pmf = lehr.ProbabilisticMatrixFactorization(1, random_state=0).fit(frame)
    as_numbers = frame.astype({"user": int, "item": int})
    assert pmf.transform(frame).shape == (2, 1)
    assert (pmf.transform(frame) == pmf.transform(as_numbers)).all()
    with pytest.raises(ValueError, match="below 2"):
        pmf.fit(frame.assign(user=np.full(4, 2**63 + 1, "u8")))


@pytest.mark.parametrize("n_jobs", ["x", 0, 1.5, True])
def test_threads_are_whole_numbers(n_jobs, counts):
    with pytest.raises(ValueError, match="n_jobs = .*must be a whole number"):
        lehr.LatentDirichletAllocation(2, n_jobs=n_jobs).fit(counts)
    lehr.LatentDirichletAllocation(2, max_iter=1, n_jobs=np.int64(2)).fit(counts)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (lehr.BayesianGaussianMixture(2, total_samples=-1), "total_samples = -1"),
        (lehr.BayesianGaussianMixture(2, data_options={"foo": 1}), "data_options = .*there is no 'foo'; known are 'columns'"),
        (lehr.LatentDirichletAllocation(2, data_options=["vocab"]), "must be a dict of options"),
        (lehr.LatentDirichletAllocation(2, total_samples=0), "total_samples = 0"),
        (lehr.ProbabilisticMatrixFactorization(1, duplicates="x"), "duplicates = 'x'"),
        (lehr.ProbabilisticMatrixFactorization(1, data_options={"vocab": "x"}), "there is no 'vocab'"),
    ],
)
def test_settings_that_are_not_used_are_checked_all_the_same(estimator, message, counts):
    with pytest.raises(ValueError, match=message):
        estimator.fit(counts + 0.5)


@pytest.mark.parametrize("value", [1e300, 1e-300, -1e300])
def test_numbers_are_not_written_out_to_their_last_digit(value, counts):
    with pytest.raises(ValueError, match="doc_topic_prior") as caught:
        lehr.LatentDirichletAllocation(2, doc_topic_prior=value).fit(counts)
    assert len(str(caught.value)) < 120
    with pytest.raises(ValueError, match="mean_prior = 1e300: column 0 of it"):
        lehr.BayesianGaussianMixture(2, mean_prior=[1e300] * 12).fit(counts)


def test_a_column_far_from_zero_is_not_constant(recwarn):
    X = np.random.default_rng(0).normal(size=(500, 3))
    far = lehr.BayesianGaussianMixture(2, random_state=0).fit(X + 1e12)
    assert not [warning for warning in recwarn if "constant" in str(warning.message)]
    assert (far.covariances_[:, range(3), range(3)] > 0.1).any()


def test_odd_settings_are_named(counts):
    with pytest.raises(ValueError, match="evaluate_every = 'x'"):
        lehr.LatentDirichletAllocation(2, evaluate_every="x").fit(counts)
    with pytest.raises(ValueError, match="tol = 1000000000"):
        lehr.BayesianGaussianMixture(2, tol=10**400).fit(counts)
    with pytest.raises(TypeError, match="topics.. draws a LatentDirichletAllocation"):
        lehr.plot.topics(lehr.BayesianGaussianMixture(2, random_state=0).fit(counts + 0.5))


def test_what_cannot_be_is_an_exception(counts):
    items = np.random.default_rng(0).normal(size=(9, 2))
    mixture = lehr.BayesianGaussianMixture(2, random_state=0).fit(items)
    for n in (10**15, 2**62):
        with pytest.raises(MemoryError):
            mixture.sample(n)
        with pytest.raises(MemoryError):
            lehr.anneal.weights(n, 3)
    lda = lehr.LatentDirichletAllocation(2, random_state=0).fit(counts)
    assert lda.perplexity(np.zeros((2, 12))) == np.inf


def test_weights_of_integer_losses_are_not_integers():
    assert abs(lehr.anneal.weights(100, 25, rng=0, like=np.ones(100, int)).mean() - 1) < 1e-12
    assert abs(lehr.anneal.LossWeights(25)(np.ones(100, int)).mean() - 1) < 1e-12


def test_a_file_without_room_is_absent_and_told_with_its_size(tmp_path):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="estimator.json.*the file needs 200 bytes"):
            lehr._lehr.write_whole(tmp_path / "estimator.json", 200 * "x")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_a_release_build_ignores_faults(tmp_path):
    program = (
        "import lehr, numpy as np\n"
        "model = lehr.BayesianGaussianMixture(2, random_state=0).fit(np.random.default_rng(0).normal(size=(50, 2)))\n"
        f"model.save({str(tmp_path / 'run')!r})\n"
    )
    faulty = {**os.environ, "LEHR_FAULT": "full:half:1:estimator.json"}
    done = subprocess.run([sys.executable, "-c", program], env=faulty, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "estimator.json").exists()
