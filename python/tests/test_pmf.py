"""Matrix factorisation: predictions, uncertainty, recommendations, new users, and every kind of ratings."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV, cross_val_score

import lehr
from lehr import ProbabilisticMatrixFactorization
from lehr._ratings import every_other
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
    scores = pmf.heldout_scores(ratings)
    assert scores["rmse"] < 0.5
    fifths = scores["by_uncertainty"]
    squares = sum(part["n_ratings"] * part["rmse"] ** 2 for part in fifths)
    assert len(fifths) == 5 and np.isclose(squares / ratings.nnz, scores["rmse"] ** 2)
    assert [part["predicted_rmse"] for part in fifths] == sorted(part["predicted_rmse"] for part in fifths)
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
    other_names = fitted(frame_of(ratings, "who", "what", "stars"), user="who", item="what", rating="stars")
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
        ({"prior_variance": -1.0}, "prior_variance = -1: must be between 1e-9 and 1e9"),
        ({"user": 3}, "user = 3: must be the name of the column with the users, or None"),
        ({"matrix": 1}, "matrix = 1: must be True or False"),
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
        fitted(ratings).heldout_scores(ratings[:5])
    with pytest.raises(DataError, match="no ratings to score"):
        fitted(ratings).score(scipy.sparse.csr_array((2, 24)))
    with pytest.raises(DataError, match="do not make pairs"):
        fitted(ratings).predict([1, 2], [3])


def test_ids_are_integers_or_texts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": [1, 2, 2], "item": ["a", "a", "b"], "rating": [1.0, 2.0, 4.0]})
    whole = ProbabilisticMatrixFactorization(1, random_state=0).fit(frame.assign(user=frame.user.astype(float)))
    assert whole.users_.dtype == np.int64 and whole.users_.tolist() == [1, 2]
    for user in ([1.5, 2.0, 3.0], [1.0, np.nan, 2.0], ["x", None, "y"]):
        with pytest.raises(DataError, match="an id is .*; ids are integers or strings"):
            ProbabilisticMatrixFactorization(1).fit(frame.assign(user=pandas.Series(user, dtype=object)))
    with pytest.raises(DataError, match="an id is 1.5"):
        whole.recommend(1.5)
    with pytest.raises(DataError, match="columns who, item, rating, and none of them is known to be the user; say which"):
        ProbabilisticMatrixFactorization(1).fit(frame.rename(columns={"user": "who"}))


def test_rows_to_score_are_new_users(ratings):
    pmf = fitted(ratings[:25])
    new = ratings[25:]
    given, hidden = every_other(new)
    assert given.nnz + hidden.nnz == new.nnz and 0 <= hidden.nnz - given.nnz <= new.shape[0]
    known = copy.deepcopy(pmf).partial_fit(given)
    users, items = hidden.nonzero()
    mean, std = known.predict(25 + users, items, return_std=True)
    expected = -0.5 * np.log(2 * np.pi * std**2) - 0.5 * ((hidden.data - mean) / std) ** 2
    assert pmf.score(new) == pytest.approx(expected.mean(), rel=1e-5)
    # As many rows as the fit has users are new users as well.
    assert pmf.score(ratings[:25]) != pmf.heldout_scores(ratings[:25])["log_density"]
    # Of users with one rating each nothing is given.
    one = scipy.sparse.csr_array(([4.0, 2.0], ([0, 1], [3, 5])), shape=(2, 24))
    assert np.isfinite(pmf.score(one))


def test_cross_validation_of_a_matrix_tells_taste_from_none(ratings):
    scores = [cross_val_score(fitted(ratings, n_components=d), ratings, cv=2).mean() for d in (1, 2)]
    assert np.isfinite(scores).all()
    constant = ratings.copy()
    constant.data = np.random.default_rng(0).permutation(constant.data)
    assert cross_val_score(fitted(ratings), constant, cv=2).mean() < min(scores)
    search = GridSearchCV(fitted(ratings), {"n_components": [1, 2]}, cv=3).fit(ratings)
    assert np.isfinite(search.best_score_)


def test_frames_that_are_not_known_are_refused_whatever_their_width(ratings):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    frame = frame_of(ratings, "who", "what", "grade").assign(when=1_000_000)
    for other in (frame, polars.from_pandas(frame), pandas.DataFrame(ratings.toarray()), frame[["who", "what"]]):
        with pytest.raises(DataError, match="none of them is known to be the user or the item or the rating; .*matrix=True"):
            fitted(other)
    named = {"user": "who", "item": "what", "rating": "grade"}
    pmf = fitted(frame, **named)
    usual = fitted(frame_of(ratings, "user_id", "movieId", "stars").assign(when=1_000_000))
    np.testing.assert_array_equal(pmf.user_factors_, usual.user_factors_)
    assert pmf.score(frame) == usual.score(frame.rename(columns={"who": "User", "what": "item", "grade": "score"}))
    np.testing.assert_array_equal(pmf.predict(frame), pmf.predict(frame["who"], frame["what"]))
    mean, std = pmf.predict(polars.from_pandas(frame[["what", "who"]]), return_std=True)
    np.testing.assert_array_equal(mean, pmf.predict(frame))
    assert len(std) == len(frame)
    pmf.partial_fit(pandas.DataFrame({"who": [77], "what": [0], "grade": [5.0]}))
    assert pmf.users_[-1] == 77
    for bad in (frame.rename(columns={"grade": "rating"}), frame[["who", "what"]]):
        for use in (pmf.partial_fit, pmf.score, pmf.transform):
            with pytest.raises(DataError, match="and no 'grade', which rating='grade' asks for"):
                use(bad)
    with pytest.raises(DataError, match="item='who', .*: give each its own column"):
        fitted(frame, user="who", item="who", rating="grade")


def test_a_frame_may_be_a_matrix(ratings, tmp_path):
    pandas = pytest.importorskip("pandas")
    dense = np.full(ratings.shape, np.nan)
    dense[ratings.nonzero()] = ratings.data
    frame = pandas.DataFrame(dense).add_prefix("film")
    pmf, expected = fitted(frame, matrix=True), fitted(ratings)
    np.testing.assert_array_equal(pmf.user_factors_, expected.user_factors_)
    np.testing.assert_array_equal(pmf.predict(frame[:3]), expected.predict(ratings[:3]))
    frame.fillna(99).to_csv(tmp_path / "wide.csv", index=False)
    read = fitted(tmp_path / "wide.csv", matrix=True, data_options={"missing": 99})
    assert read.items_.tolist()[0].startswith("film") and len(read.items_) == ratings.shape[1]
    assert read.predict([1], ["film2"])[0] == pytest.approx(pmf.predict([0], [2])[0], abs=0.3)
    with pytest.raises(ValueError, match="or, if each column is an item, give matrix=True"):
        fitted(tmp_path / "wide.csv")
    pandas.DataFrame(dense).fillna(99).to_csv(tmp_path / "bare.csv", index=False, header=False)
    with pytest.raises(ValueError, match="looks like a row for each user .* matrix=True .*data_options={'missing': 99}"):
        fitted(tmp_path / "bare.csv")


def test_lazy_frames_and_categories(ratings, blobs):
    polars = pytest.importorskip("polars")
    frame = frame_of(ratings).assign(user=lambda f: "u" + f["user"].astype(str))
    expected = fitted(frame)
    plain = polars.from_pandas(frame)
    coded = plain.with_columns(polars.col("user").cast(polars.Categorical))
    fixed = plain.with_columns(polars.col("user").cast(polars.Enum(plain["user"].unique().sort())))
    pandas_coded = frame.assign(user=frame["user"].astype("category"))
    for same in (plain.lazy(), coded, fixed, coded.lazy(), pandas_coded, coded.to_arrow()):
        pmf = fitted(same)
        assert pmf.users_.tolist() == expected.users_.tolist()
        np.testing.assert_array_equal(pmf.user_factors_, expected.user_factors_)
        assert pmf.score(same) == expected.score(frame)
        np.testing.assert_array_equal(pmf.transform(same), expected.transform(frame))
        np.testing.assert_array_equal(pmf.predict(same), expected.predict(frame))
    points = polars.DataFrame(blobs, schema=["a", "b"])
    mixture = lehr.BayesianGaussianMixture(3, random_state=0).fit(points.lazy())
    np.testing.assert_array_equal(mixture.predict(points.lazy()), mixture.predict(points))


def test_changed_ratings_are_told(ratings):
    pandas = pytest.importorskip("pandas")
    frame = frame_of(ratings)
    pmf = fitted(frame)
    new = pandas.DataFrame({"user": [77], "item": [0], "rating": [5.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(frame).partial_fit(pandas.concat([frame[:5], new]))  # the same ratings again
    changed = frame[:3].assign(rating=frame["rating"] + 1)
    with pytest.warns(UserWarning, match="^3 ratings of pairs that the model knows with another rating left out"):
        pmf.partial_fit(pandas.concat([changed, new]))
    assert pmf.users_[-1] == 77
