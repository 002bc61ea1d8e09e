"""Python and the command line: same bits for the same data, seed and settings; runs of one for the other."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

import lehr
from lehr import BayesianGaussianMixture, LatentDirichletAllocation, ProbabilisticMatrixFactorization
from lehr.errors import MissingRunError, RunError


@pytest.fixture
def points_file(blobs, tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, blobs)
    return path


@pytest.fixture
def ratings_file(ratings, tmp_path):
    path = tmp_path / "ratings.csv"
    rows, columns = ratings.nonzero()
    lines = [f"{u},{i},{float(r)!r}" for u, i, r in zip(rows, columns, ratings[rows, columns])]
    path.write_text("user,item,rating\n" + "\n".join(lines) + "\n")
    return path


def config_of_theirs(tmp_path):
    """What Python's mixture says to the core beyond the command line's flags."""
    path = tmp_path / "fit.toml"
    path.write_text(
        '[fit]\ntol = 1e-3\ntol_of = "absolute"\n[model]\nstart = "kmeans"\nstart_units = "own"\ndefaults = "scikit-learn"\n'
        "ridge = 1e-6\nsort = false\n"
    )
    return path


@pytest.mark.parametrize("flags", [{}, {"batch": 30, "effective": 10}])
def test_a_mixture_has_the_same_bits(cli, blobs, points_file, tmp_path, flags):
    run = tmp_path / "run"
    extra = [x for name, value in flags.items() for x in (f"--{name}", value)]
    steps = 40 if not flags else 40 * 3
    args = ["-k", 3, "--seed", 5, "--n-init", 2, "--steps", steps, "--config", config_of_theirs(tmp_path), *extra]
    cli("fit", "dpgmm", points_file, *args, "-o", run, "--quiet")
    theirs = lehr.load(run)
    ours = BayesianGaussianMixture(
        3,
        max_iter=40,
        n_init=2,
        random_state=5,
        batch_size=flags.get("batch"),
        effective_batch_size=flags.get("effective"),
    )
    ours.fit(blobs)
    for name in ("weights_", "means_", "covariances_", "lower_bounds_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert theirs.get_params()["n_components"] == 3 and theirs.get_params()["random_state"] == 5
    np.testing.assert_array_equal(theirs.predict(blobs), ours.predict(blobs))


def test_lda_has_the_same_bits(cli, counts, tmp_path):
    docs = tmp_path / "docs.npz"
    scipy.sparse.save_npz(docs, scipy.sparse.csr_matrix(counts))
    run = tmp_path / "run"
    args = ["-k", 3, "--seed", 2, "--batch", 20, "--steps", 15, "--priors", "fixed", "--eta", 1 / 3, "--tol", 0]
    cli("fit", "lda", docs, *args, "--step-size", "power:10:0.7", "-o", run, "--quiet")
    theirs = lehr.load(run)
    ours = LatentDirichletAllocation(3, learning_method="online", batch_size=20, max_iter=5, random_state=2).fit(counts)
    np.testing.assert_array_equal(ours.components_, theirs.components_)
    np.testing.assert_array_equal(ours.transform(counts), theirs.transform(counts))


def test_learned_priors_have_the_same_bits(cli, counts, tmp_path):
    docs = tmp_path / "docs.npz"
    scipy.sparse.save_npz(docs, scipy.sparse.csr_matrix(counts))
    run = tmp_path / "run"
    args = ["-k", 3, "--seed", 2, "--batch", 20, "--steps", 24, "--tol", 0]
    cli("fit", "lda", docs, *args, "--step-size", "power:10:0.7", "-o", run, "--quiet")
    theirs = lehr.load(run)
    online = {"learning_method": "online", "batch_size": 20, "max_iter": 8, "random_state": 2}
    ours = LatentDirichletAllocation(3, priors="learned", **online).fit(counts)
    np.testing.assert_array_equal(ours.components_, theirs.components_)
    assert theirs.priors == "learned" and theirs.temper in (2, "2")
    assert len(theirs.doc_topic_prior_) == 3 and theirs.topic_word_prior_ != 1 / 3
    again = theirs.__class__(**theirs.get_params()).fit(counts)
    np.testing.assert_array_equal(again.components_, theirs.components_)


def test_ratings_have_the_same_bits(cli, ratings_file, tmp_path):
    pandas = pytest.importorskip("pandas")
    run = tmp_path / "run"
    cli("fit", "pmf", ratings_file, "-d", 2, "--seed", 3, "--effective", "5t", "-o", run, "--quiet")
    theirs = lehr.load(run)
    frame = pandas.read_csv(ratings_file)
    ours = ProbabilisticMatrixFactorization(2, random_state=3, effective_batch_size="5t").fit(frame)
    np.testing.assert_array_equal(ours.user_factors_, theirs.user_factors_)
    np.testing.assert_array_equal(ours.recommend(0, 5), theirs.recommend(0, 5))
    assert ours.lower_bound_ == theirs.lower_bound_


def test_the_command_line_reads_what_python_saves(cli, blobs, counts, ratings, points_file, ratings_file, tmp_path):
    mixture = BayesianGaussianMixture(3, random_state=0).fit(blobs)
    mixture.save(tmp_path / "mixture")
    shown = json.loads(cli("show", tmp_path / "mixture", "--json"))
    np.testing.assert_array_equal([c["mean"] for c in shown["components"]], mixture.means_)
    assert "in memory" in cli("show", tmp_path / "mixture")
    score = json.loads(cli("eval", tmp_path / "mixture", points_file, "--json"))
    assert score["log_predictive"] == pytest.approx(mixture.log_predictive(blobs).mean(), rel=1e-12)
    cli("transform", tmp_path / "mixture", points_file, "-o", tmp_path / "labels.npy")
    message = cli("resume", tmp_path / "mixture", "--steps", 3, ok=False)
    assert "in no file" in message
    with pytest.raises(lehr.LehrError, match="already holds a run.*; choose another directory, or delete it first$"):
        mixture.save(tmp_path / "mixture")

    lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
    lda.save(tmp_path / "lda")
    assert len(json.loads(cli("topics", tmp_path / "lda", "--json"))["topics"]) == 2
    docs = tmp_path / "docs.npz"
    scipy.sparse.save_npz(docs, scipy.sparse.csr_matrix(counts))
    cli("transform", tmp_path / "lda", docs, "-o", tmp_path / "theta.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "theta.npy"), lda.transform(counts))

    pmf = ProbabilisticMatrixFactorization(2, random_state=0).fit(ratings)
    pmf.save(tmp_path / "pmf")
    best = json.loads(cli("recommend", tmp_path / "pmf", "--user", 3, "--top", 4, "--json"))
    assert str(pmf.recommend(3, 4)[0]) in json.dumps(best)
    cli("eval", tmp_path / "pmf", ratings_file)


def test_a_run_that_came_from_a_path_can_be_resumed(cli, points_file, tmp_path):
    mixture = BayesianGaussianMixture(3, max_iter=3, tol=0, random_state=0).fit(points_file)
    mixture.save(tmp_path / "run")
    cli("resume", tmp_path / "run", "--steps", 4, "--quiet")
    longer = BayesianGaussianMixture(3, max_iter=7, tol=0, random_state=0).fit(points_file)
    np.testing.assert_array_equal(lehr.load(tmp_path / "run").means_, longer.means_)


def test_a_loaded_run_of_the_command_line_starts_as_it_did(cli, points_file, tmp_path, blobs):
    cli("fit", "gmm", points_file, "-k", 3, "--steps", 4, "--tol", 0, "-o", tmp_path / "run", "--quiet")
    loaded = lehr.load(tmp_path / "run")
    assert (loaded.init_params, loaded.init_units) == ("merge", "deviations")


def test_a_loaded_run_finds_its_columns_by_name(cli, tmp_path, blobs):
    rows = [f"p{n},{a!r},x,{b!r}" for n, (a, b) in enumerate(blobs.tolist())]
    table = tmp_path / "all.csv"
    table.write_text("who,a,label,b\n" + "\n".join(rows) + "\n")
    cli("fit", "gmm", table, "-k", 3, "--drop", "who,label", "-o", tmp_path / "run", "--quiet")
    loaded = lehr.load(tmp_path / "run")
    expected = loaded.predict(table)
    other = tmp_path / "other.csv"
    other.write_text("b,more,a\n" + "\n".join(f"{b!r},1,{a!r}" for a, b in blobs.tolist()) + "\n")
    np.testing.assert_array_equal(loaded.predict(other), expected)
    np.save(tmp_path / "plain.npy", blobs)
    np.testing.assert_array_equal(loaded.predict(tmp_path / "plain.npy"), expected)
    other.write_text("b,c\n1,2\n")
    with pytest.raises(ValueError, match="column a of the model is not there; the columns are b, c"):
        loaded.predict(other)


def test_the_command_line_shows_the_words_that_python_knows(cli, tmp_path):
    texts = ["the cat and the dog", "dogs and cats and dogs", "stocks and bonds", "a bond is no stock"] * 10
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    lda = LatentDirichletAllocation(2, random_state=0).fit(X)
    lda.save(tmp_path / "without")
    assert "word 3" in cli("topics", tmp_path / "without")
    lda.save(tmp_path / "saved", feature_names=words)
    lda.fit(X, feature_names=words).save(tmp_path / "fitted")
    for run in ("saved", "fitted"):
        shown = cli("topics", tmp_path / run)
        assert "dogs" in shown and "word " not in shown
    assert lehr.load(tmp_path / "saved")._facts["words"] == list(words)
    np.testing.assert_array_equal(lehr.load(tmp_path / "saved").components_, lda.components_)
    # A matrix is still a matrix to scikit-learn.
    assert not hasattr(lda, "feature_names_in_") and lda.transform(X).shape == (40, 2)
    for wrong, message in ((words[:3], "3 names for 12 words"), ([*words[:-1], 7], "must be a list of strings"),
                           ([*words[:-1], words[0]], "is word 1 already"), ("dog", "must be a list of strings")):
        with pytest.raises(ValueError, match=message):
            lda.fit(X, feature_names=wrong)
        with pytest.raises(ValueError, match=message):
            lda.save(tmp_path / "wrong", feature_names=wrong)


def test_a_loaded_run_has_its_settings(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    prior = np.array([[2.0, 0.3], [0.3, 1.5]])
    settings = {
        "n_components": 2,
        "max_iter": 7,
        "tol": 0.5,
        "covariance_prior": prior,
        "mean_precision_prior": 0.2,
        "init_params": "k-means++",
        "init_units": "deviations",
        "batch_size": 45,
        "effective_batch_size": "20",
        "random_state": 9,
    }
    frame = pandas.DataFrame(blobs, columns=["a", "b"])
    BayesianGaussianMixture(**settings).fit(frame).save(tmp_path / "run")
    loaded = lehr.load(tmp_path / "run")
    for name, value in settings.items():
        np.testing.assert_array_equal(loaded.get_params()[name], value, err_msg=name)
    assert list(loaded.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(loaded.fit(frame).means_, BayesianGaussianMixture(**settings).fit(frame).means_)


def test_runs_that_are_none_are_told(tmp_path, blobs):
    with pytest.raises(FileNotFoundError, match="there is no such directory$"):
        lehr.load(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingRunError, match="holds no run"):
        lehr.load(tmp_path / "empty")
    BayesianGaussianMixture(random_state=0).fit(blobs).save(tmp_path / "run")
    with pytest.raises(lehr.LehrError, match="is a run of dpgmm, not of lda"):
        LatentDirichletAllocation.load(tmp_path / "run")
    (tmp_path / "run" / "checkpoint.safetensors").write_bytes(b"nonsense")
    with pytest.raises(lehr.LehrError, match="is damaged"):
        lehr.load(tmp_path / "run")


def test_a_damaged_checkpoint_gives_way_with_a_warning(tmp_path, blobs):
    run = tmp_path / "run"
    mixture = BayesianGaussianMixture(2, random_state=0).fit(blobs)
    mixture.save(run)
    newest = run / "checkpoint.safetensors"
    (run / "checkpoint.previous.safetensors").write_bytes(newest.read_bytes())
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="checkpoint.safetensors: is damaged .* the checkpoint before it is used"):
        loaded = lehr.load(run)
    np.testing.assert_array_equal(loaded.means_, mixture.means_)


def test_a_run_that_is_being_fitted_is_not_saved_into(program, points_file, tmp_path, blobs):
    run = tmp_path / "run"
    mixture = BayesianGaussianMixture(2, random_state=0).fit(blobs)
    fit = [program, "fit", "gmm", points_file, "-k", "2", "--steps", "1000000", "--tol", "0", "--checkpoint-every", "5"]
    environment = {**os.environ, "LEHR_FAULT": "slow:synced:50:checkpoint.safetensors"}
    fitting = subprocess.Popen([*fit, "-o", run, "--quiet"], env=environment)
    try:
        while not (run / "config.json").exists():
            assert fitting.poll() is None
            time.sleep(0.01)
        with pytest.raises(RunError, match=rf"another lehr \(process {fitting.pid}\) is working on this run"):
            mixture.save(run)
        assert fitting.poll() is None
    finally:
        fitting.kill()
        fitting.wait()
    # Its run is still there.
    with pytest.raises(RunError, match="already holds a run, which is left as it is"):
        mixture.save(run)
    assert not (run / "estimator.json").exists()


def test_a_directory_in_which_a_run_never_began_can_be_saved_into(program, points_file, tmp_path, blobs):
    run = tmp_path / "run"
    environment = {**os.environ, "LEHR_FAULT": "kill:begun:1:config.json"}
    killed = subprocess.run([program, "fit", "gmm", points_file, "-k", "2", "-o", run], env=environment, check=False)
    if killed.returncode == 0:
        pytest.skip("a program that is released ignores LEHR_FAULT; that of ./check obeys it")
    assert killed.returncode == -signal.SIGKILL and (run / ".lock").exists() and not (run / "config.json").exists()
    mixture = BayesianGaussianMixture(2, random_state=0).fit(blobs)
    mixture.save(run)
    np.testing.assert_array_equal(lehr.load(run).means_, mixture.means_)
    assert not (run / ".lock").exists()


def test_a_file_that_may_not_become_so_large_is_told_with_its_size(tmp_path, blobs):
    resource = pytest.importorskip("resource")
    mixture = BayesianGaussianMixture(2, random_state=0).fit(blobs)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="the file needs .*, and a file may have 100 bytes here"):
            mixture.save(tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
