"""Implicit feedback, and scores of lists against a second way to compute them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import lehr
from lehr import ProbabilisticMatrixFactorization


@pytest.fixture
def uses():
    """What users of two tastes have used, and what they use later."""
    rng = np.random.default_rng(0)
    i, j = np.mgrid[:80, :30]
    used = rng.random((80, 30)) < np.where(i % 2 == j % 2, 0.6, 0.1) / (1 + j / 15)
    later = used & (rng.random(used.shape) < 0.25)
    return scipy.sparse.csr_array((used & ~later).astype(float)), scipy.sparse.csr_array(later.astype(float))


def by_hand(scores, train, test, k):
    """NDCG and recall at k, from whole rankings."""
    ndcg, recall = [], []
    for user in range(train.shape[0]):
        wanted = set(np.flatnonzero(test[[user]].toarray().ravel()).tolist())
        if not wanted:
            continue
        seen = train[[user]].toarray().ravel() > 0
        order = [item for item in np.argsort(-scores[user], kind="stable").tolist() if not seen[item]][:k]
        gains = [1 / np.log2(rank + 2) for rank, item in enumerate(order) if item in wanted]
        ndcg.append(sum(gains) / sum(1 / np.log2(rank + 2) for rank in range(min(k, len(wanted)))))
        recall.append(len(gains) / len(wanted))
    return np.mean(ndcg), np.mean(recall)


@pytest.mark.parametrize("implicit", [True, False])
def test_lists_are_scored_as_by_a_second_way(uses, implicit):
    train, test = uses
    pmf = ProbabilisticMatrixFactorization(4, implicit=implicit, random_state=0, max_iter=40).fit(train)
    scores = pmf.user_factors_ @ pmf.item_factors_.T + pmf.user_biases_[:, None] + pmf.item_biases_ + pmf.mean_
    for k in (1, 5, 10):
        found = pmf.ranking_scores(test, k)
        popular = np.tile(train.sum(axis=0), (80, 1))
        for lists, expected in ((found, scores), (found["popularity"], popular)):
            ndcg, recall = by_hand(expected, train, test, k)
            assert lists["ndcg"] == pytest.approx(ndcg, abs=1e-12)
            assert lists["recall"] == pytest.approx(recall, abs=1e-12)


def test_implicit_feedback_beats_popularity_and_comes_back(uses, tmp_path):
    train, test = uses
    pmf = ProbabilisticMatrixFactorization(4, implicit=True, confidence=2, random_state=0).fit(train)
    found = pmf.ranking_scores(test, 5)
    assert found["ndcg"] > found["popularity"]["ndcg"]
    assert (np.diff(pmf.trace_["bound"]) > -1e-6 * abs(pmf.lower_bound_)).all()
    pmf.save(tmp_path / "run")
    back = lehr.load(tmp_path / "run")
    assert back.implicit and back.confidence == 2
    assert back.ranking_scores(test, 5) == found


@pytest.mark.parametrize("times", [0.0, -1.0])
def test_what_is_no_use_is_refused(times):
    frame = pd.DataFrame({"user": ["a", "b"], "item": [1, 2], "rating": [1.0, times]})
    with pytest.raises(lehr.LehrError, match="user b, item 2.*positive"):
        ProbabilisticMatrixFactorization(1, implicit=True).fit(frame)


def test_lists_need_someone_to_find_something(uses):
    train, _ = uses
    pmf = ProbabilisticMatrixFactorization(2, implicit=True, random_state=0, max_iter=5).fit(train)
    with pytest.raises(lehr.LehrError, match="anything to find"):
        pmf.ranking_scores(train)
    with pytest.raises(lehr.LehrError, match="confidence"):
        ProbabilisticMatrixFactorization(2, confidence=2.0).fit(train)
    with pytest.raises(lehr.LehrError, match="k"):
        pmf.ranking_scores(train, 0)
