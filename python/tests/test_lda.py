"""LDA against scikit-learn's: same gamma and lambda from the same step, same scores; then what only lehr has."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from scipy.special import digamma
from sklearn.decomposition import LatentDirichletAllocation as Theirs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import lehr
from lehr import LatentDirichletAllocation
from lehr.errors import SettingError

PRECISE = {"mean_change_tol": 1e-9, "max_doc_update_iter": 2000}


def topics(k, v):
    return np.ascontiguousarray(np.random.default_rng(4).gamma(100.0, 0.01, size=(k, v)))


def theirs_at(components, **settings):
    """scikit-learn's model as if it had been led to these topics."""
    model = Theirs(len(components), **PRECISE, **settings)
    model._init_latent_vars(components.shape[1])
    model.components_ = components.copy()
    model.exp_dirichlet_component_ = np.exp(digamma(components) - digamma(components.sum(axis=1, keepdims=True)))
    model.n_features_in_ = components.shape[1]
    return model


@pytest.mark.parametrize("exact", [True, False])
def test_a_batch_step_is_scikit_learns(counts, exact):
    tolerance = 1e-6 if exact else 1e-3
    begin = topics(3, 10)
    theirs = theirs_at(begin, random_state=0)
    theirs._em_step(counts, total_samples=60, batch_update=True)
    ours = LatentDirichletAllocation(3, init_components=begin, exact=exact, max_iter=1, **PRECISE).fit(counts)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=tolerance)
    np.testing.assert_allclose(ours.exp_dirichlet_component_, theirs.exp_dirichlet_component_, rtol=tolerance)
    np.testing.assert_allclose(
        ours.transform(counts, normalize=False), theirs._unnormalized_transform(counts), rtol=1e-2, atol=1e-3
    )
    np.testing.assert_allclose(ours.transform(counts), theirs.transform(counts), rtol=1e-2, atol=1e-4)
    assert ours.score(counts) == pytest.approx(theirs.score(counts), rel=1e-5)
    assert ours.perplexity(counts) == pytest.approx(theirs.perplexity(counts), rel=1e-5)
    assert (ours.doc_topic_prior_, ours.topic_word_prior_) == (1 / 3, 1 / 3)


def test_online_steps_are_scikit_learns(counts):
    begin = topics(2, 10)
    theirs = theirs_at(begin, total_samples=60, random_state=0)
    ours = LatentDirichletAllocation(
        2, init_components=begin, exact=True, batch_size=60, total_samples=60, **PRECISE
    )
    for _ in range(3):
        theirs.partial_fit(counts)
        ours.partial_fit(counts)
    assert ours.n_batch_iter_ == theirs.n_batch_iter_ == 4
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-5)


def test_topics_are_found(counts):
    for settings in ({}, {"learning_method": "online", "batch_size": 20, "max_iter": 40}):
        lda = LatentDirichletAllocation(2, random_state=0, **settings).fit(counts)
        shares = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
        halves = np.sort(shares[:, :5].sum(axis=1))
        assert halves[0] < 0.25 and halves[1] > 0.75
        assert lda.bound_ == pytest.approx(lda.perplexity(counts), rel=0.02)


def test_evaluating_the_perplexity_ends_the_fit(counts):
    lda = LatentDirichletAllocation(2, evaluate_every=1, perp_tol=0.05, max_iter=200, random_state=0).fit(counts)
    assert lda.converged_ and lda.n_iter_ < 200
    lda = LatentDirichletAllocation(2, max_iter=30, random_state=0).fit(counts)
    assert lda.n_iter_ == 30 and not lda.converged_


def test_settings_of_ours(counts):
    settings = {"n_components": 2, "learning_method": "online", "batch_size": 20, "max_iter": 10, "random_state": 0}
    plain = LatentDirichletAllocation(**settings).fit(counts)
    noisy = LatentDirichletAllocation(effective_batch_size=5, **settings).fit(counts)
    assert not np.array_equal(plain.components_, noisy.components_)
    assert noisy.trace_["mass"].shape == noisy.trace_["step"].shape
    learned = LatentDirichletAllocation(learn_doc_topic_prior="asymmetric", **settings).fit(counts)
    assert learned.doc_topic_prior_.shape == (2,)
    scores = plain.heldout_scores(counts)
    assert scores["completion"] > scores["unigram"]


def test_new_documents_are_learned(counts):
    lda = LatentDirichletAllocation(2, total_samples=60, batch_size=20, random_state=0)
    for _ in range(10):
        lda.partial_fit(counts[:30]).partial_fit(counts[30:])
    assert lda.n_steps_ == 40
    assert np.isnan(lda.bound_) and isinstance(lda.random_state_, np.random.RandomState)
    assert lda.perplexity(counts) < 11


def test_passes_are_whole_where_the_last_batch_is_not(counts, tmp_path):
    settings = {"max_iter": 3, "learning_method": "online", "random_state": 0}
    ours = LatentDirichletAllocation(2, batch_size=40, **settings).fit(counts[:50])
    theirs = sklearn.decomposition.LatentDirichletAllocation(2, batch_size=40, **settings).fit(counts[:50])
    assert (ours.n_steps_, ours.n_iter_) == (6, theirs.n_iter_)
    ours.save(tmp_path / "run")
    assert LatentDirichletAllocation.load(tmp_path / "run").max_iter == 3


def test_pipelines_searches_and_data_frames():
    pandas = pytest.importorskip("pandas")
    texts = ["the cat and the dog", "dogs and cats and dogs", "stocks and bonds", "a bond is no stock"] * 10
    pipeline = make_pipeline(CountVectorizer(), LatentDirichletAllocation(2, random_state=0))
    assert pipeline.fit_transform(texts).shape == (40, 2)
    frame = pipeline[-1].set_output(transform="pandas").transform(CountVectorizer().fit_transform(texts))
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["latentdirichletallocation0", "latentdirichletallocation1"]
    X = CountVectorizer().fit_transform(texts)
    search = GridSearchCV(LatentDirichletAllocation(random_state=0), {"n_components": [1, 2]}, cv=2).fit(X)
    assert search.best_estimator_.transform(X).shape[0] == 40


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": -1}, "n_components = -1"),
        ({"doc_topic_prior": 0.0}, "doc_topic_prior = 0: must be between 1e-6 and 1e6"),
        ({"topic_word_prior": "flat"}, "topic_word_prior = 'flat'"),
        ({"learning_method": "fast"}, "learning_method = 'fast': must be 'batch' or 'online'"),
        ({"mean_change_tol": 0.0}, "mean_change_tol = 0"),
        ({"max_doc_update_iter": 0}, "max_doc_update_iter = 0"),
        ({"learning_method": "online", "learning_decay": 3.0}, "learning_decay = 3.0: must be between 0 and 1"),
    ],
)
def test_a_bad_setting_is_named(counts, settings, message):
    with pytest.raises(ValueError) as caught:
        LatentDirichletAllocation(**settings).fit(counts)
    assert message in str(caught.value)


def test_negative_counts_and_empty_corpora_are_refused(counts):
    with pytest.raises(ValueError, match="Negative values"):
        LatentDirichletAllocation().fit(-counts)
    with pytest.raises(ValueError, match="all documents are empty"):
        LatentDirichletAllocation(priors="learned").fit(np.zeros((5, 4)))
    with pytest.raises(SettingError, match="max_iter = -1"):
        LatentDirichletAllocation(3, max_iter=-1).fit(counts)
    with pytest.raises(ValueError, match="initial topics are 2 x 10"):
        LatentDirichletAllocation(3, init_components=np.ones((2, 10))).fit(counts)


def test_priors_are_learned_in_one_word(counts):
    online = {"learning_method": "online", "batch_size": 20, "max_iter": 20, "random_state": 0}
    plain = LatentDirichletAllocation(2, **online).fit(counts)
    assert (plain.doc_topic_prior_, plain.topic_word_prior_) == (0.5, 0.5)
    learned = LatentDirichletAllocation(2, priors="learned", **online).fit(counts)
    assert np.shape(learned.doc_topic_prior_) == (2,) and learned.topic_word_prior_ > 1
    # Each part of it can be set otherwise.
    parts = {"learn_doc_topic_prior": "no", "learn_topic_word_prior": False, "temper": "off", "topic_word_prior": 0.5}
    fixed = LatentDirichletAllocation(2, priors="learned", **parts, **online).fit(counts)
    np.testing.assert_array_equal(fixed.components_, plain.components_)
    tempered = LatentDirichletAllocation(2, temper="2:5", **online).fit(counts)
    assert not np.array_equal(tempered.components_, plain.components_)
    for wrong in ({"priors": "fixed"}, {"temper": "hot"}, {"temper": -1}, {"learn_topic_word_prior": "no"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LatentDirichletAllocation(2, **wrong, **online).fit(counts)


def test_partial_fit_is_not_tempered(counts):
    settings = {"batch_size": 20, "total_samples": 60, "random_state": 0, "learn_topic_word_prior": False}
    cold, hot = (LatentDirichletAllocation(2, priors="learned", temper=t, **settings) for t in ("off", 2))
    for _ in range(2):
        np.testing.assert_array_equal(cold.partial_fit(counts).components_, hot.partial_fit(counts).components_)


def test_documents_without_words_leave_topics_at_their_prior():
    lda = LatentDirichletAllocation(2, topic_word_prior=0.3, evaluate_every=1).fit(np.zeros((5, 4)))
    np.testing.assert_allclose(lda.components_, 0.3)
    np.testing.assert_allclose(lda.transform(np.zeros((1, 4))), 0.5)
    assert lda.bound_ == np.inf


@pytest.mark.parametrize("settings", [{}, {"learning_method": "online", "batch_size": 10, "evaluate_every": 1}])
def test_bound_is_the_perplexity_of_the_training_documents(counts, settings):
    lda = LatentDirichletAllocation(2, max_iter=3, random_state=0, **settings).fit(counts)
    assert lda.bound_ == lda.perplexity(counts)
    held_out = LatentDirichletAllocation(2, max_iter=3, holdout=10, random_state=0, **settings).fit(counts)
    assert held_out.bound_ != held_out.perplexity(counts)


def test_the_perplexity_is_evaluated_every_so_many_passes(counts):
    settings = {"learning_method": "online", "batch_size": 20, "max_iter": 6, "perp_tol": 0, "random_state": 0}
    lda = LatentDirichletAllocation(2, evaluate_every=2, **settings).fit(counts)
    assert lda.trace_["step"].tolist() == [0, 6, 12, 18]


def test_float32_is_kept(counts):
    single = LatentDirichletAllocation(2, random_state=0).fit(counts.astype(np.float32))
    double = LatentDirichletAllocation(2, random_state=0).fit(counts)
    for name in ("components_", "exp_dirichlet_component_"):
        assert (getattr(single, name).dtype, getattr(double, name).dtype) == (np.float32, np.float64)
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), rtol=1e-6)
    # What X a method is given later does not matter.
    assert double.transform(counts.astype(np.float32)).dtype == np.float32
    assert double.components_.dtype == np.float64
    assert pickle.loads(pickle.dumps(single)).components_.dtype == np.float32


def test_no_pass_keeps_the_start(counts):
    lda = LatentDirichletAllocation(2, max_iter=0, random_state=0).fit(counts)
    assert (lda.n_iter_, lda.n_steps_) == (0, 0)
    begun = LatentDirichletAllocation(2, max_iter=1, init_components=lda.components_).fit(counts)
    np.testing.assert_allclose(
        begun.components_, LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(counts).components_, rtol=1e-6
    )


def test_a_search_never_ends_below_the_plain_fit(counts):
    settings = {"n_components": 4, "priors": "learned", "max_iter": 30, "random_state": 1}
    plain = LatentDirichletAllocation(**settings).fit(counts)
    found = LatentDirichletAllocation(**settings, search=4).fit(counts)
    assert plain.search_ is None
    assert found.search_["plain_bound"] == plain.lower_bound_ <= found.lower_bound_
    assert found.search_["kicks"]["restart"]["tries"] == 3
    held_out = LatentDirichletAllocation(**settings, search=3, search_by="heldout", holdout=15).fit(counts)
    assert held_out.search_["kicks"]["restart"]["tries"] == 2
    starts = LatentDirichletAllocation(**settings, n_init=3).fit(counts)
    assert starts.lower_bound_ >= plain.lower_bound_
    assert set(starts.trace_["restart"]) == {0, 1, 2}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": 0.5}, "must be 0 .off. or between 1 and"),
        ({"search_by": "heldout"}, "search_by = heldout: is for a search; ask for one with search=4"),
        ({"search": 2, "search_by": "heldout"}, "hold some out with holdout=0.1"),
        ({"search": 2, "search_by": "luck"}, "search_by = 'luck': must be 'bound' or 'heldout'"),
        ({"n_init": 0}, "n_init = 0"),
    ],
)
def test_nonsense_about_a_search_is_named(counts, settings, message):
    with pytest.raises(SettingError, match=message):
        LatentDirichletAllocation(2, **settings).fit(counts)


def test_a_search_is_saved_with_the_run(counts, tmp_path):
    LatentDirichletAllocation(2, search=2, n_init=2, random_state=0).fit(counts).save(tmp_path / "run")
    (tmp_path / "run" / "estimator.json").unlink()
    loaded = LatentDirichletAllocation.load(tmp_path / "run")
    assert (loaded.search, loaded.search_by, loaded.n_init) == (2, "bound", 2)
    assert loaded.search_["passes"] > loaded.search_["passes_plain"]


def test_single_precision_is_the_double_one_rounded_and_bad_counts_are_refused(counts):
    lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
    X = scipy.sparse.csr_array(counts, dtype=np.float64)
    for normalize in (True, False):
        whole = lda.transform(X, normalize=normalize)
        single = lda.transform(X.astype(np.float32), normalize=normalize)
        assert (whole.dtype, single.dtype) == (np.float64, np.float32)
        np.testing.assert_array_equal(single, whole.astype(np.float32))
        one_by_one = [lda.transform(X[n : n + 1], normalize=normalize) for n in range(5)]
        np.testing.assert_array_equal(np.concatenate(one_by_one), whole[:5])
    for bad, message in ((-1.0, "Negative values"), (np.nan, "NaN"), (np.inf, "infinity")):
        X.data[0] = bad
        with pytest.raises(ValueError, match=message):
            lda.transform(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_decay": 0.3}, r"^learning_decay=0\.3 falls so slowly that the noise of batches never dies out"),
        ({"step_size": "power:10:0.4"}, "^step_size='power:10:0.4' falls so slowly"),
        ({"noise": "gamma"}, "^noise='gamma' changes nothing, .* ask for it with effective_batch_size"),
    ],
)
def test_what_the_command_line_notes_is_a_warning(counts, settings, message):
    lda = LatentDirichletAllocation(2, learning_method="online", batch_size=20, max_iter=2, random_state=0, **settings)
    with pytest.warns(UserWarning, match=message) as caught:
        lda.fit(counts)
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(UserWarning, match=message) as caught:
        lehr.sweep(lda, counts, n_components=[1, 2], folds=0, n_init=1)
    assert len(caught) == 1 and caught[0].filename == __file__


def test_usual_settings_do_not_warn(counts, recwarn):
    LatentDirichletAllocation(2, learning_method="online", batch_size=20, max_iter=2, random_state=0).fit(counts)
    assert not [warning for warning in recwarn if warning.category is UserWarning]
