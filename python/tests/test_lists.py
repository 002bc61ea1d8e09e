"""Lists of items for one user and for many, reasons, and what is alike."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from lehr import ProbabilisticMatrixFactorization
from lehr.errors import DataError, SettingError


@pytest.fixture
def pmf(ratings):
    return ProbabilisticMatrixFactorization(3, random_state=0, max_iter=30).fit(ratings)


def test_lists_of_many_are_those_of_each(pmf, ratings):
    items, expected, std = pmf.recommend(pmf.users_, 4, return_ratings=True, return_std=True)
    assert items.shape == expected.shape == std.shape == (40, 4)
    for user in (0, 17, 39):
        alone, rating = pmf.recommend(user, 4, return_ratings=True)
        np.testing.assert_array_equal(items[user], alone)
        np.testing.assert_array_equal(expected[user], rating)
        seen = ratings[[user]].indices
        unseen = np.setdiff1d(np.arange(24), seen)
        order = unseen[np.argsort(-pmf.predict(user, unseen), kind="stable")]
        np.testing.assert_array_equal(items[user], order[:4])
    mean, spread = pmf.predict(3, items[3], return_std=True)
    np.testing.assert_array_equal(mean, expected[3])
    np.testing.assert_allclose(spread**2, std[3] ** 2 + pmf.noise_variance_, rtol=1e-12)


def test_who_has_fewer_items_left_gets_fewer(pmf, ratings):
    found = pmf.recommend([0, 1, 2], 1000)
    left = 24 - np.diff(ratings.indptr)[:3]
    np.testing.assert_array_equal((found >= 0).sum(axis=1), left)
    assert found.shape == (3, left.max())
    assert len(pmf.recommend(0, 1000)) == left[0]


def test_lists_have_what_they_may(pmf):
    assert set(pmf.recommend(3, 9, items=[1, 5, 8], include_seen=True)) == {1, 5, 8}
    assert not set(pmf.recommend([3, 4], 24, exclude=[0, 2]).ravel()) & {0, 2}
    with pytest.warns(UserWarning, match="does not know 1 of 2"):
        assert set(pmf.recommend(3, 9, items=[1, 99], include_seen=True)) == {1}
    with pytest.raises(SettingError, match="at least one"):
        pmf.recommend(3, items=[])
    with pytest.raises(DataError, match="no item is left"):
        pmf.recommend(3, items=[1], exclude=[1])
    assert len(pmf.recommend(3, 2, exclude=[])) == 2
    with pytest.raises(DataError, match="knows none"), pytest.warns(UserWarning):
        pmf.recommend(3, items=["x"])


def test_ratings_stay_within_a_scale_on_request(pmf, ratings):
    everything = pmf.predict(3, np.arange(24))
    low, high = ratings.data.min(), ratings.data.max()
    np.testing.assert_array_equal(pmf.predict(3, np.arange(24), clip=True), np.clip(everything, low, high))
    np.testing.assert_array_equal(pmf.predict(np.arange(40), 5, clip=(2, 3)).max(), 3)
    _, clipped = pmf.recommend(3, 4, clip=(2, 2.5), return_ratings=True)
    assert clipped.max() <= 2.5
    for wrong in ("x", (3, 1), 5):
        with pytest.raises(SettingError, match="clip"):
            pmf.predict([0], [1], clip=wrong)


def test_names_are_ids_everywhere(ratings):
    rows = ratings.tocoo()
    frame = pd.DataFrame({"user": [f"u{i}" for i in rows.row], "item": [f"i{j}" for j in rows.col], "rating": rows.data})
    pmf = ProbabilisticMatrixFactorization(3, random_state=0, max_iter=30).fit(frame)
    with pytest.warns(UserWarning, match=r"does not know 1 of 2 users \(nobody\)"):
        found = pmf.recommend(["u3", "nobody"], 30)
    assert found.shape == (2, 24) and found[0, -1] is None and found[1, -1] is not None
    items, similarity, std = pmf.similar_items("i4", 6)
    assert all(int(item[1:]) % 2 == 0 for item in items)
    assert (np.diff(similarity) <= 0).all() and (std > 0).all()
    users, *_ = pmf.similar_users("u4", 6)
    assert all(int(user[1:]) % 2 == 0 for user in users)
    because = pmf.explain("u3", [found[0, 0]], 3)[0]
    assert len(because) == 3 and abs(because[0][2]) >= abs(because[2][2])
    assert all(rated.startswith("i") and 1 <= rating <= 5 for rated, rating, _ in because)
    for call in (lambda: pmf.similar_items("x"), lambda: pmf.explain("x", ["i1"]), lambda: pmf.explain("u1", ["x"])):
        with pytest.raises(DataError, match="does not know"):
            call()


def test_a_rating_moves_what_it_is_said_to(ratings):
    pmf = ProbabilisticMatrixFactorization(2, random_state=0, max_iter=200, tol=1e-10).fit(ratings)
    row = ratings[[5]].tocsr()
    new = pmf.predict(row)[0]
    for item, rating, by in pmf.explain(5, [7], 3)[0]:
        fewer = row.copy()
        assert fewer[0, item] == pytest.approx(rating, rel=1e-6)
        kept = row.indices != item
        fewer = scipy.sparse.csr_array((row.data[kept], row.indices[kept], [0, kept.sum()]), shape=row.shape)
        assert new[7] - pmf.predict(fewer)[0, 7] == pytest.approx(by, abs=1e-3)
