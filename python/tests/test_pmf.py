"""Matrix factorisation: predictions, uncertainty, recommendations, new users, and every kind of ratings."""

import pickle

import numpy as np
import pytest
import scipy.sparse

from lehr import ProbabilisticMatrixFactorization
from lehr.errors import DataError


def fitted(ratings, **settings):
    return ProbabilisticMatrixFactorization(**{"n_components": 2, "random_state": 0, **settings}).fit(ratings)


def frame_of(matrix, user="user", item="item", rating="rating"):
    pandas = pytest.importorskip("pandas")
    coo = matrix.tocoo()
    rows, columns = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
    return pandas.DataFrame({user: rows.astype(np.int64), item: columns.astype(np.int64), rating: coo.data})


def test_taste_is_learned(ratings):
    pmf = fitted(ratings)
    likes = pmf.predict([0, 0, 1, 1], [2, 3, 2, 3])
    assert min(likes[0], likes[3]) > 4 and max(likes[1], likes[2]) < 2
    assert pmf.heldout_scores(ratings)["rmse"] < 0.5
    assert pmf.score(ratings) == pmf.heldout_scores(ratings)["log_density"]
    assert pmf.user_factors_.shape == (40, 2) and pmf.components_.shape == (2, 24)
    assert pmf.n_dims_in_use_ <= 2
    _, std = pmf.predict([0], [2], return_std=True)
    assert 0 < std[0] < 1
    assert std[0] ** 2 > pmf.noise_variance_
    # Who is unknown is predicted from everybody, and less surely.
    _, unsure = pmf.predict([999], [2], return_std=True)
    assert unsure[0] > std[0]


def test_predictions_are_factors_biases_and_mean(ratings):
    pmf = fitted(ratings)
    expected = pmf.mean_ + pmf.user_biases_[:, None] + pmf.item_biases_ + pmf.user_factors_ @ pmf.components_
    users, items = np.meshgrid(np.arange(40), np.arange(24), indexing="ij")
    found = pmf.predict(users.ravel(), items.ravel()).reshape(40, 24)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_recommendations_leave_out_what_is_seen(ratings):
    pmf = fitted(ratings)
    seen = set(ratings[[3]].nonzero()[1])
    best, expected = pmf.recommend(3, 5, return_ratings=True)
    assert not seen & set(best) and (np.diff(expected) <= 0).all()
    assert set(pmf.recommend(3, 24, include_seen=True)) == set(range(24))
    assert all(item % 2 == 1 for item in best[:3])
    assert len(pmf.recommend("nobody", 4)) == 4
    assert len(pmf.recommend(3, 4, by="ucb", beta=2.0)) == 4
    draws = {tuple(pmf.recommend(3, 6, by="thompson", random_state=seed)) for seed in range(5)}
    assert len(draws) > 1


def test_stored_zeros_are_ratings():
    rows, columns = np.divmod(np.arange(30), 5)
    values = np.where((rows + columns) % 2 == 0, 3.0, 0.0)
    X = scipy.sparse.csr_array((values, (rows, columns)), shape=(6, 5))
    assert X.nnz == 30
    pmf = fitted(X, n_components=1)
    assert pmf.mean_ == pytest.approx(1.5)


def test_all_kinds_of_ratings_agree(ratings):
    pmf = fitted(ratings)
    dense = np.full(ratings.shape, np.nan)
    dense[ratings.nonzero()] = ratings.data
    for same in (dense, scipy.sparse.csc_matrix(ratings), ratings.astype(np.float32)):
        np.testing.assert_array_equal(fitted(same).user_factors_, pmf.user_factors_)
    frame = frame_of(ratings)
    ids = fitted(frame)
    # Numbered as they come, which is another order of the items: the same model, not the same bits.
    assert ids.predict([0], [2])[0] == pytest.approx(pmf.predict([0], [2])[0], abs=0.3)
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    for other in (polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        np.testing.assert_array_equal(fitted(other).user_factors_, ids.user_factors_)
    texts = frame.assign(user="u" + frame["user"].astype(str))
    named = fitted(texts)
    np.testing.assert_array_equal(named.user_factors_, ids.user_factors_)
    assert named.users_[0] == "u0"
    np.testing.assert_array_equal(fitted(polars.from_pandas(texts)).user_factors_, ids.user_factors_)
    assert named.predict(["u0"], [2]) == ids.predict([0], [2])
    other_names = fitted(frame_of(ratings, "who", "what", "stars"), columns=("who", "what", "stars"))
    np.testing.assert_array_equal(other_names.user_factors_, ids.user_factors_)


def test_new_users_are_folded_in(ratings):
    pmf = fitted(ratings)
    np.testing.assert_allclose(pmf.transform(ratings), pmf.user_factors_, atol=0.05)
    new = scipy.sparse.csr_array(([5.0, 1.0, 5.0], ([0, 0, 1], [0, 1, 3])), shape=(3, 24))
    assert pmf.transform(new).shape == (3, 2)
    everything = pmf.predict(new)
    assert everything.shape == (3, 24) and everything[0, 2] > everything[0, 3]
    before = pmf.user_factors_.copy()
    pmf.partial_fit(new)
    assert list(pmf.users_[-3:]) == [40, 41, 42]
    np.testing.assert_array_equal(pmf.user_factors_[:40], before)
    np.testing.assert_allclose(pmf.predict([40] * 24, np.arange(24)), everything[0], atol=1e-5)
    assert 0 not in pmf.recommend(40, 24)
    again = pickle.loads(pickle.dumps(pmf))
    np.testing.assert_array_equal(again.user_factors_, pmf.user_factors_)
    np.testing.assert_array_equal(again.recommend(40, 5), pmf.recommend(40, 5))
    with pytest.raises(DataError, match="no ratings"):
        pmf.partial_fit(scipy.sparse.csr_array((2, 24)))


def test_new_users_with_ids(ratings):
    pandas = pytest.importorskip("pandas")
    frame = frame_of(ratings).assign(user=lambda f: "u" + f["user"].astype(str))
    pmf = fitted(frame)
    new = pandas.DataFrame({"user": ["x", "u3", "x"], "item": [0, 0, 1], "rating": [5.0, 1.0, 1.0]})
    factors = pmf.transform(new)
    assert factors.shape == (2, 2)
    pmf.partial_fit(new)
    np.testing.assert_array_equal(pmf.user_factors_[list(pmf.users_).index("x")], factors[0])
    assert pmf.predict(["x"], [2])[0] > pmf.predict(["x"], [3])[0]
    with pytest.raises(DataError, match="fitted to ratings with ids"):
        pmf.transform(ratings)


def test_twice_rated_pairs(ratings):
    pandas = pytest.importorskip("pandas")
    frame = pandas.concat([frame_of(ratings)] * 2)
    with pytest.raises(DataError, match="twice"):
        fitted(frame)
    averaged = fitted(frame, duplicates="mean")
    np.testing.assert_array_equal(averaged.user_factors_, fitted(frame_of(ratings)).user_factors_)


def test_annealing_and_batches(ratings):
    plain = fitted(ratings, max_iter=20)
    noisy = fitted(ratings, max_iter=20, effective_batch_size=5)
    assert not np.array_equal(plain.user_factors_, noisy.user_factors_)
    batches = fitted(ratings, max_iter=5, batch_size=100)
    assert batches.n_steps_ > 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components = 0"),
        ({"prior_variance": -1.0}, "prior_variance = -1: must be a positive number"),
        ({"columns": "user"}, "columns = 'user'"),
        ({"noise": "lagged", "effective_batch_size": 5}, "noise = lagged"),
        ({"biases": "yes"}, "biases = 'yes': must be True or False"),
    ],
)
def test_a_bad_setting_is_named(ratings, settings, message):
    with pytest.raises(ValueError) as caught:
        fitted(ratings, **settings)
    assert message in str(caught.value)


def test_bad_ratings_are_refused(ratings):
    bad = ratings.copy()
    bad.data[3] = np.inf
    with pytest.raises(ValueError, match="infinity|inf"):
        fitted(bad)
    with pytest.raises(ValueError, match="no ratings"):
        fitted(np.full((3, 3), np.nan))
    with pytest.raises(DataError, match="rows of a matrix to score"):
        fitted(ratings).score(ratings[:5])
    with pytest.raises(DataError, match="do not make pairs"):
        fitted(ratings).predict([1, 2], [3])


def test_ids_are_integers_or_texts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": [1, 2, 2], "item": ["a", "a", "b"], "rating": [1.0, 2.0, 4.0]})
    whole = ProbabilisticMatrixFactorization(1, random_state=0).fit(frame.assign(user=frame.user.astype(float)))
    assert whole.users_.dtype == np.int64 and whole.users_.tolist() == [1, 2]
    for user in ([1.5, 2.0, 3.0], [1.0, np.nan, 2.0], ["x", None, "y"]):
        with pytest.raises(DataError, match="an id is .*; ids are integers or texts"):
            ProbabilisticMatrixFactorization(1).fit(frame.assign(user=pandas.Series(user, dtype=object)))
    with pytest.raises(DataError, match="an id is 1.5"):
        whole.recommend(1.5)
    with pytest.raises(DataError, match="columns who, item, rating, and not user; say which is what with columns="):
        ProbabilisticMatrixFactorization(1).fit(frame.rename(columns={"user": "who"}))
