"""Alpha of each topic and eta of each word."""

import numpy as np
import pytest

import lehr
from lehr import LatentDirichletAllocation
from lehr.errors import LehrError, SettingError

WORDS = [f"w{i}" for i in range(9)]


@pytest.fixture
def counts():
    """Three kinds of documents, of three words each."""
    rng = np.random.default_rng(0)
    return np.vstack([rng.poisson(np.where(np.arange(9) // 3 == n % 3, 4.0, 0.2)) for n in range(90)])


def of(alpha=None, eta=None, **more):
    priors = {"doc_topic_prior": alpha, "topic_word_prior": eta}
    return LatentDirichletAllocation(3, random_state=0, max_iter=20, **priors, **more)


def test_arrays_of_equal_numbers_are_that_number(counts):
    one = of(0.2, 0.3).fit(counts)
    each = of(np.full(3, 0.2), [0.3] * 9).fit(counts)
    np.testing.assert_array_equal(one.components_, each.components_)
    assert each.doc_topic_prior_ == 0.2 and np.shape(each.topic_word_prior_) == (9,)


def test_priors_are_taken_kept_and_made_again(counts, tmp_path):
    eta = np.linspace(0.1, 0.9, 9)
    lda = of([3.0, 0.1, 0.2], eta).fit(counts, feature_names=WORDS)
    np.testing.assert_array_equal(lda.doc_topic_prior_, [3.0, 0.1, 0.2])
    np.testing.assert_array_equal(lda.topic_word_prior_, eta)
    # What all topics have is at least their prior.
    assert (lda.components_ >= 0.999 * eta).all()
    assert lda.transform(counts)[:, 0].min() > 0.05
    lda.save(tmp_path / "run")
    back = lehr.load(tmp_path / "run")
    np.testing.assert_array_equal(back.topic_word_prior_, eta)
    again = back.fit(counts, feature_names=WORDS)
    np.testing.assert_array_equal(again.components_, lda.components_)
    with pytest.raises(lehr.LehrError, match="alpha is another number"):
        lda.to_sklearn()
    with pytest.raises(lehr.LehrError, match="eta is another number for each word"):
        of(0.1, eta).fit(counts).to_sklearn()


def test_some_words_have_their_own_eta(counts, tmp_path):
    lda = of(0.1, {"w2": 50.0, "w8": 0.001}).fit(counts, feature_names=WORDS)
    np.testing.assert_array_equal(lda.topic_word_prior_, [1 / 3, 1 / 3, 50, *[1 / 3] * 5, 0.001])
    assert (lda.components_[:, 2] >= 50).all()
    lda.save(tmp_path / "run")
    assert lehr.load(tmp_path / "run").topic_word_prior == {"w2": 50.0, "w8": 0.001}
    numbered = of(0.1, {2: 50.0, 8: 0.001}).fit(counts)
    np.testing.assert_array_equal(numbered.components_, lda.components_)
    with pytest.warns(UserWarning, match="1 of 2 words with an eta of their own is not in the vocabulary.*nix"):
        of(0.1, {"w1": 2.0, "nix": 1.0}).fit(counts, feature_names=WORDS)


@pytest.mark.parametrize(
    ("alpha", "eta", "what"),
    [
        ([0.1, 0.2], None, "has 2 numbers"),
        ([0.1, 0.2, 0], None, "between 1e-6 and 1e6"),
        ([[0.1, 0.2, 0.3]], None, "one for each topic"),
        ("many", None, "one for each topic"),
        ([0.1, 0.2, np.nan], None, "finite"),
        (None, [0.1] * 8, "9 words"),
        (None, [0.1] * 8 + [-1], "word 8"),
        (None, {"nix": 1.0}, "none of 1 words"),
        (None, {"w1": "x"}, "finite number"),
        (None, {1.5: 1.0}, "words are strings"),
        (None, {}, "9 words"),
    ],
)
def test_priors_that_cannot_be(counts, alpha, eta, what):
    with pytest.raises((SettingError, LehrError), match=what):
        of(alpha, eta).fit(counts, feature_names=WORDS)


def test_eta_of_words_is_not_learned(counts):
    with pytest.raises(SettingError, match="learn_topic_word_prior"):
        of(None, [0.1] * 9, learn_topic_word_prior=True).fit(counts)
    lda = of([1, 0.1, 0.1], [0.1] * 9, priors="learned").fit(counts)
    np.testing.assert_array_equal(lda.topic_word_prior_, [0.1] * 9)
    assert not np.array_equal(lda.doc_topic_prior_, [1, 0.1, 0.1])
