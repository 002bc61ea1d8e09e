"""Documents as texts and as lists of words: the same as a file of them, and what is refused."""

import json
import warnings

import numpy as np
import pytest

import lehr
from lehr import LatentDirichletAllocation
from lehr.errors import DataError, FormatError, SettingError

THEMES = ["bank rates loan money".split(), "goal team league coach".split(), "rain wind storm cloud".split()]
# Every other one has a word of another theme; words of more than half of them would be left out.
WORDS = [THEMES[n % 3] * 2 + [THEMES[n // 3 % 3 if n % 2 == 0 else n % 3][0]] for n in range(60)]
TEXTS = ["The " + ", ".join(words).title() + "!" for words in WORDS]


def of(**more):
    return LatentDirichletAllocation(3, max_iter=20, random_state=0, **more)


def test_lists_of_words_and_texts_are_those_of_a_file(tmp_path):
    path = tmp_path / "docs.json"
    path.write_text(json.dumps(WORDS))
    expected = of().fit(path)
    theta = expected.transform(path)
    for same in (WORDS, tuple(map(tuple, WORDS)), TEXTS, np.array(TEXTS), np.array(TEXTS, dtype=object)):
        lda = of().fit(same)
        np.testing.assert_array_equal(lda.components_, expected.components_)
        np.testing.assert_array_equal(lda.transform(same), theta)
        assert lda.n_features_in_ == 12
    assert sorted(lda.diagnostics(TEXTS)) == sorted(expected.diagnostics(path))
    assert [t["main"] for t in lda.topic_documents(WORDS, 2)] == [t["main"] for t in expected.topic_documents(path, 2)]
    assert lda.heldout_scores(TEXTS) == expected.heldout_scores(path)
    back = lehr.load(_saved(lda, tmp_path / "run"))
    np.testing.assert_array_equal(back.transform(WORDS), theta)


def _saved(lda, path):
    lda.save(path)
    return path


def test_columns_of_data_frames_are_documents():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    expected = of().fit(TEXTS).components_
    for column in (pandas.Series(TEXTS), polars.Series(TEXTS), pyarrow.chunked_array([TEXTS]), pandas.Series(WORDS)):
        np.testing.assert_array_equal(of().fit(column).components_, expected)


def test_options_are_those_of_a_file():
    lda = of(data_options={"ngrams": 2}, seed_words={"money": ["bank_rates"]}).fit(TEXTS)
    assert lda.components_.shape[1] > 12 and lda.topic_names_[0] == "money"
    with pytest.raises(SettingError, match="no word would be left"):
        of(data_options={"max_words": 0}).fit(TEXTS)
    with pytest.raises(FormatError, match="no words are left.*data_options"):
        of(data_options={"min_docs": 99}).fit(TEXTS)


def test_words_that_are_unknown_and_documents_that_are_missing_are_left_out():
    lda = of().fit(WORDS)
    shares = lda.transform([["bank", "nix"], ["bank"], ["nix"], []])
    np.testing.assert_array_equal(shares[0], shares[1])
    np.testing.assert_array_equal(shares[2], shares[3])
    with pytest.warns(UserWarning, match="2 of 4 documents have no text"):
        shares = lda.transform(["bank bank", None, float("nan"), "goal"])
    assert shares[1].argmax() == shares[2].argmax() and shares[0].argmax() != shares[3].argmax()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lda.partial_fit(WORDS)


@pytest.mark.parametrize(
    ("documents", "what"),
    [
        ([["a", "b"], 3], "document 1 is 3"),
        ([["a", 3]], "document 0 has the word 3"),
        (["a", b"b"], "document 1 is b'b'"),
        ([["a"], {"b": 1}], "document 1 is {'b': 1}"),
    ],
)
def test_what_is_no_document_is_named(documents, what):
    with pytest.raises(DataError, match=what):
        of().fit(documents)


def test_names_and_counts_belong_to_matrices():
    with pytest.raises(SettingError, match="documents have their words"):
        of().fit(WORDS, feature_names=["a"])
    with pytest.raises(DataError, match="not a file of them or texts"):
        of().fit(WORDS).to_pyldavis(WORDS)
