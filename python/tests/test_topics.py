"""What pyLDAvis is given: distributions that fit together, and a page that it makes of them."""

import numpy as np
import pytest

from lehr import LatentDirichletAllocation
from lehr.errors import DataError

WORDS = list("abcdefghij")


def test_distributions_sum_to_one_and_counts_are_those_of_the_documents(counts):
    lda = LatentDirichletAllocation(3, random_state=0).fit(counts)
    given = lda.to_pyldavis(counts, WORDS)
    np.testing.assert_allclose(given["topic_term_dists"].sum(axis=1), 1.0)
    np.testing.assert_allclose(given["doc_topic_dists"], lda.transform(counts), atol=1e-12)
    np.testing.assert_array_equal(given["doc_lengths"], counts.sum(axis=1))
    np.testing.assert_array_equal(given["term_frequency"], counts.sum(axis=0))
    assert list(given["vocab"]) == WORDS
    dense = lda.to_pyldavis(counts.toarray().astype(np.float32), WORDS)
    np.testing.assert_allclose(dense["doc_topic_dists"].sum(axis=1), 1.0, atol=1e-12)


def test_words_that_do_not_occur_are_left_out(counts):
    lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
    some = counts.toarray()
    some[:, [0, 7]] = 0
    given = lda.to_pyldavis(some, WORDS)
    assert list(given["vocab"]) == list("bcdefgij")
    assert given["topic_term_dists"].shape == (2, 8)
    np.testing.assert_allclose(given["topic_term_dists"].sum(axis=1), 1.0)


def test_what_is_missing_is_asked_for(counts):
    pandas = pytest.importorskip("pandas")
    lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
    with pytest.raises(DataError, match="give feature_names"):
        lda.to_pyldavis(counts)
    with pytest.raises(DataError, match="not a file"):
        lda.to_pyldavis("counts.npz", WORDS)
    frame = pandas.DataFrame(counts.toarray(), columns=WORDS)
    named = LatentDirichletAllocation(2, random_state=0).fit(frame)
    assert list(named.to_pyldavis(frame)["vocab"]) == WORDS


def test_pyldavis_takes_it(counts):
    pyldavis = pytest.importorskip("pyLDAvis")
    lda = LatentDirichletAllocation(4, random_state=0).fit(counts)
    prepared = pyldavis.prepare(**lda.to_pyldavis(counts, WORDS), R=5, n_jobs=1)
    assert len(prepared.topic_coordinates) == 4
    assert "topic" in pyldavis.prepared_data_to_html(prepared)
