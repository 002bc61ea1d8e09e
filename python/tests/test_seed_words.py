"""Seed words, diagnostics, documents of topics, and matches of two fits."""

import json
import pickle

import numpy as np
import pytest

import lehr
from lehr import LatentDirichletAllocation
from lehr.errors import DataError, SettingError

WORDS = [f"w{i}" for i in range(9)]


@pytest.fixture
def counts():
    """Three kinds of documents, of three words each."""
    rng = np.random.default_rng(0)
    return np.vstack([rng.poisson(np.where(np.arange(9) // 3 == n % 3, 4.0, 0.2)) for n in range(90)])


def of(seeds, **more):
    return LatentDirichletAllocation(3, random_state=0, max_iter=30, seed_words=seeds, **more)


def test_seeds_number_the_topics_and_name_them(counts, tmp_path):
    seeds = {"last": ["w8", "w7"], "first": {"w0": 2.0, "w1": 0.5}}
    lda = of(seeds).fit(counts, feature_names=WORDS)
    assert lda.topic_names_ == ["last", "first", None]
    top = lda.components_.argmax(axis=1)
    assert top[0] in (6, 7, 8) and top[1] in (0, 1, 2) and top[2] in (3, 4, 5)
    assert (lda.components_[0, 8] >= counts[:, 8].sum()).all()
    lda.save(tmp_path / "run")
    back = lehr.load(tmp_path / "run")
    assert back.topic_names_ == lda.topic_names_
    np.testing.assert_array_equal(back.components_, lda.components_)
    again = back.fit(counts, feature_names=WORDS)
    np.testing.assert_array_equal(again.components_, lda.components_)


def test_columns_without_names_are_numbers(counts):
    lda = of({"last": [8, 7]}).fit(counts)
    assert lda.components_.argmax(axis=1)[0] in (6, 7, 8)


def test_partial_fit_keeps_the_prior(counts):
    lda = of({"last": [8, 7]}, total_samples=90)
    for _ in range(20):
        lda.partial_fit(counts)
    assert lda.components_.argmax(axis=1)[0] in (6, 7, 8)


def test_unknown_words_are_told(counts):
    with pytest.warns(UserWarning, match="1 of 2 seed words is not in the vocabulary.*nix"):
        of({"a": ["w1", "nix"]}).fit(counts, feature_names=WORDS)


@pytest.mark.parametrize(
    ("seeds", "what"),
    [
        ({"a": ["nix"]}, "none of 1 seed words"),
        ({"a": "w1"}, "must be a dict"),
        (["w1"], "must be a dict"),
        ({"a": [1.5]}, "words are strings"),
        ({"a": {"w1": -1.0}}, "found strength -1"),
        ({"a": ["w1"], "b": ["w1"]}, "same seed words"),
        ({name: [f"w{name}"] for name in range(4)}, "has 4 topics"),
        ({}, "has no topics"),
    ],
)
def test_seeds_that_cannot_be(counts, seeds, what):
    with pytest.raises(lehr.LehrError, match=what):
        of(seeds).fit(counts, feature_names=WORDS)


def test_diagnostics_are_plain_sums(counts):
    lda = LatentDirichletAllocation(4, random_state=0, max_iter=30).fit(counts)
    p = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    found = lda.diagnostics(counts, n_words=3)
    np.testing.assert_allclose(found["entropy"], -(p * np.log(p)).sum(axis=1))
    overlap = np.minimum(p[:, None], p).sum(axis=2) - np.eye(4)
    np.testing.assert_allclose(found["overlap"], overlap.max(axis=1))
    assert (found["nearest"] == overlap.argmax(axis=1)).all()
    assert found["npmi"].shape == found["umass"].shape == found["c_v"].shape == (4,)
    theta = lda.transform(counts)
    for k, topic in enumerate(lda.topic_documents(counts, 4)):
        np.testing.assert_array_equal(topic["documents"], np.argsort(-theta[:, k], kind="stable")[:4])
        assert topic["main"] == (theta.argmax(axis=1) == k).sum()
    json.dumps(found["duplicates"])


def test_fits_are_compared(counts):
    one, two = (LatentDirichletAllocation(k, random_state=k, max_iter=60).fit(counts) for k in (3, 4))
    found = lehr.compare(one, two)
    assert len(found["first"]) == 3 and len(found["only_second"]) == 1
    assert (lehr.compare(one, one)["similarity"] > 0.999999).all()
    mixture = lehr.BayesianGaussianMixture(2, random_state=0).fit(counts.astype(float))
    assert lehr.compare(mixture, mixture)["mean"] == pytest.approx(1)
    with pytest.raises(lehr.LehrError, match="nothing to compare"):
        lehr.compare(one, mixture)


def test_topics_get_names_that_stay(counts, tmp_path):
    lda = of({"last": ["w8", "w7"]}).fit(counts, feature_names=WORDS)
    before = lda.transform(counts)
    assert lda.name_topics({2: " middle ", 0: None}) is lda
    assert lda.topic_names_ == [None, None, "middle"]
    np.testing.assert_array_equal(lda.transform(counts), before)
    lda.save(tmp_path / "run")
    back = lehr.load(tmp_path / "run")
    assert back.topic_names_ == [None, None, "middle"]
    assert back.name_topics(["a", "b", ""]).topic_names_ == ["a", "b", None]
    assert pickle.loads(pickle.dumps(back)).topic_names_ == ["a", "b", None]
    back.report(tmp_path / "page.html")
    assert "Topic 1: b" in (tmp_path / "page.html").read_text()
    for names, what in [({3: "x"}, "no topic 3"), (["a", "a"], "both be called 'a'"), (["a"] * 4, "no topic 3")]:
        with pytest.raises(DataError, match=what):
            back.name_topics(names)
    for names in ("sport", {"sport": 1}, {0: 3}, 7, {-1: "x"}, {True: "x"}):
        with pytest.raises(SettingError, match="dict of topics"):
            back.name_topics(names)
    assert back.topic_names_ == ["a", "b", None]
