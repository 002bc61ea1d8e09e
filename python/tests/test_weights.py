"""Ratings with weights: columns of frames and files, matrices, and what is refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

import lehr
from lehr import ProbabilisticMatrixFactorization
from lehr.errors import LehrError, SettingError


@pytest.fixture
def frame(ratings):
    """Ratings with weights between 1/2 and 8."""
    rows = ratings.tocoo()
    weight = 2.0 ** np.random.default_rng(5).integers(-1, 4, len(rows.data))
    return pd.DataFrame({"user": rows.row, "item": rows.col, "rating": rows.data, "sure": weight})


def of(**more):
    return ProbabilisticMatrixFactorization(2, random_state=0, max_iter=15, tol=0, **more)


def test_frames_files_and_matrices_have_the_same_weights(frame, ratings, tmp_path):
    pmf = of(weight="sure").fit(frame)
    arrow = of(weight="sure").fit(pa.Table.from_pandas(frame))
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    frame.to_parquet(tmp_path / "ratings.parquet")
    files = [of(weight="sure").fit(tmp_path / name) for name in ("ratings.csv", "ratings.parquet")]
    for other in (arrow, *files):
        np.testing.assert_array_equal(other.item_factors_, pmf.item_factors_)
    weights = scipy.sparse.csr_array((frame["sure"], (frame["user"], frame["item"])), shape=ratings.shape)
    sparse, dense = of().fit(ratings, weights=weights), of().fit(ratings, weights=weights.toarray())
    np.testing.assert_array_equal(sparse.item_factors_, dense.item_factors_)
    assert sparse.mean_ == pytest.approx(pmf.mean_)
    plain = of().fit(frame.drop(columns="sure"))
    assert not np.allclose(plain.noise_variance_, pmf.noise_variance_, rtol=1e-3)
    assert pmf.mean_ == pytest.approx(np.average(frame["rating"], weights=frame["sure"]))


def test_weights_of_1_are_none(frame):
    ones = of(weight="sure").fit(frame.assign(sure=1))
    plain = of().fit(frame[["user", "item", "rating"]])
    np.testing.assert_allclose(ones.item_factors_, plain.item_factors_, rtol=1e-6, atol=1e-6)
    assert ones.lower_bound_ == pytest.approx(plain.lower_bound_)


def test_runs_keep_weights_and_new_ratings_may_lack_them(frame, tmp_path):
    pmf = of(weight="sure").fit(frame)
    pmf.save(tmp_path / "run")
    back = lehr.load(tmp_path / "run")
    assert back.explain(3, [1], 2) == pmf.explain(3, [1], 2)
    new = pd.DataFrame({"user": [99, 99], "item": [0, 1], "rating": [5.0, 1.0]})
    light, heavy = (new.assign(sure=weight) for weight in (0.01, 100.0))
    factors = [pmf.transform(ratings) for ratings in (new, new.assign(sure=1.0), light, heavy)]
    np.testing.assert_array_equal(factors[0], factors[1])
    assert np.linalg.norm(factors[2]) < np.linalg.norm(factors[0])
    assert not np.allclose(factors[3], factors[0], rtol=1e-2)
    pmf.partial_fit(heavy)
    assert 99 in pmf.users_


def test_weights_that_cannot_be(frame, ratings):
    for wrong in (0.0, -1.0, np.nan, np.inf):
        bad = frame.copy()
        bad.loc[3, "sure"] = wrong
        with pytest.raises(LehrError, match="rating 4 .* has weight"):
            of(weight="sure").fit(bad)
    with pytest.raises(LehrError, match="no 'much', which weight='much' asks for"):
        of(weight="much").fit(frame)
    with pytest.raises(LehrError, match="weights are numbers"):
        of(weight="sure").fit(frame.assign(sure="x"))
    with pytest.raises(SettingError, match="weight"):
        of(weight=3).fit(frame)
    with pytest.raises(LehrError, match="not averaged"):
        of(weight="sure", duplicates="mean").fit(frame)
    with pytest.raises(LehrError, match="implicit feedback"):
        of(weight="sure", implicit=True).fit(frame)
    with pytest.raises(LehrError, match="weights are those of a matrix"):
        of().fit(frame, weights=ratings)
    with pytest.raises(LehrError, match="make them equal"):
        of().fit(ratings, weights=ratings[:3])
    with pytest.raises(LehrError, match="has weight 0"):
        of().fit(ratings, weights=scipy.sparse.csr_array(ratings.shape))
