"""Fitted models as scikit-learn's: the same predictions there, in ONNX, and after skops has written and read them."""

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.mixture

import lehr
from lehr import BayesianGaussianMixture, LatentDirichletAllocation
from lehr.errors import DataError


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 3)) + np.repeat([[0.0], [2.0], [4.0]], 100, axis=0)


@pytest.mark.parametrize("shape", ["full", "tied"])
@pytest.mark.parametrize("weights", ["dirichlet_process", "dirichlet_distribution"])
def test_a_mixture_predicts_the_same(points, shape, weights):
    settings = {"covariance_type": shape, "weight_concentration_prior_type": weights, "init_params": "merge"}
    ours = BayesianGaussianMixture(4, random_state=0, **settings).fit(points)
    theirs = ours.to_sklearn()
    assert type(theirs) is sklearn.mixture.BayesianGaussianMixture
    np.testing.assert_allclose(theirs.predict_proba(points), ours.predict_proba(points), atol=1e-9)
    np.testing.assert_array_equal(theirs.predict(points), ours.predict(points))
    theirs.means_ += 100  # its arrays are its own
    assert (ours.means_ < 50).all()
    assert theirs.sample(5)[0].shape == (5, 3)
    theirs.fit(points)  # its parameters are allowed ones


def test_a_mixture_of_one_column_predicts_the_same_whatever_its_shape(points):
    for shape in ("diag", "spherical"):
        ours = BayesianGaussianMixture(3, covariance_type=shape, random_state=0).fit(points[:, :1])
        np.testing.assert_allclose(ours.to_sklearn().predict_proba(points[:, :1]), ours.predict_proba(points[:, :1]))


@pytest.mark.parametrize("shape", ["diag", "spherical"])
def test_a_mixture_that_scikit_learn_has_not_is_refused(points, shape):
    mixture = BayesianGaussianMixture(3, covariance_type=shape, random_state=0).fit(points)
    with pytest.raises(DataError, match=f"covariance_type='{shape}' is none of scikit-learn's.*'full' or 'tied'"):
        mixture.to_sklearn()


def test_independent_means_and_precisions_are_refused(points, tmp_path, cli):
    np.savetxt(tmp_path / "points.csv", points, delimiter=",")
    cli("fit", "gmm", tmp_path / "points.csv", "-k", 2, "--factorisation", "independent", "-o", tmp_path / "run", "-q")
    with pytest.raises(DataError, match="independent distributions of means and precisions"):
        lehr.load(tmp_path / "run").to_sklearn()


@pytest.mark.parametrize(("settings", "digits"), [({}, 1e-4), ({"exact": True}, 1e-6), ({"mean_change_tol": 1e-7}, 1e-4)])
def test_topics_are_found_the_same(counts, settings, digits):
    ours = LatentDirichletAllocation(3, random_state=0, **settings).fit(counts)
    theirs = ours.to_sklearn()
    assert type(theirs) is sklearn.decomposition.LatentDirichletAllocation
    np.testing.assert_allclose(theirs.transform(counts), ours.transform(counts), atol=digits)
    assert theirs.perplexity(counts) == pytest.approx(ours.perplexity(counts), rel=1e-5)
    theirs.partial_fit(counts)
    symmetric = LatentDirichletAllocation(3, learn_doc_topic_prior="symmetric", random_state=0).fit(counts)
    assert symmetric.to_sklearn().doc_topic_prior_ == symmetric.doc_topic_prior_


def test_an_alpha_for_each_topic_is_refused(counts):
    lda = LatentDirichletAllocation(3, priors="learned", random_state=0).fit(counts)
    with pytest.raises(DataError, match="another number for each topic.*'symmetric' or 'no'"):
        lda.to_sklearn()


def test_what_is_not_fitted_is_not_converted():
    for estimator in (BayesianGaussianMixture(), LatentDirichletAllocation()):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            estimator.to_sklearn()


@pytest.mark.parametrize("shape", ["full", "tied"])
def test_onnx_predicts_the_same(points, shape):
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    mixture = BayesianGaussianMixture(4, covariance_type=shape, random_state=0).fit(points)
    graph = skl2onnx.to_onnx(mixture.to_sklearn(), points[:1], target_opset=15)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, shares = session.run(["label", "probabilities"], {session.get_inputs()[0].name: points})
    np.testing.assert_array_equal(labels.ravel(), mixture.predict(points))
    np.testing.assert_allclose(shares, mixture.predict_proba(points), atol=1e-6)


def test_skops_writes_and_reads_it_without_trusting_anything(points, counts, tmp_path):
    io = pytest.importorskip("skops.io")
    mixture = BayesianGaussianMixture(4, random_state=0).fit(points)
    lda = LatentDirichletAllocation(3, random_state=0).fit(counts)
    for ours, X, method in ((mixture, points, "predict_proba"), (lda, counts, "transform")):
        io.dump(ours.to_sklearn(), tmp_path / "model.skops")
        assert io.get_untrusted_types(file=tmp_path / "model.skops") == []
        read = io.load(tmp_path / "model.skops")
        np.testing.assert_array_equal(getattr(read, method)(X), getattr(ours.to_sklearn(), method)(X))
