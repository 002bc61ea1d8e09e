"""What data may come in: layouts, types, frames, files; what is refused, and in which words."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse

import lehr
from lehr import BayesianGaussianMixture, LatentDirichletAllocation, ProbabilisticMatrixFactorization, _lehr
from lehr._settings import TABLES
from lehr.errors import DataError, SettingError


def means(X, **settings):
    return BayesianGaussianMixture(3, random_state=0, **settings).fit(X).means_


def test_every_layout_gives_the_same_bits(blobs, tmp_path):
    expected = means(blobs)
    read_only = blobs.copy()
    read_only.flags.writeable = False
    path = tmp_path / "blobs.npy"
    np.save(path, blobs)
    wide = np.zeros((90, 4))
    wide[:, ::2] = blobs
    packed = np.zeros(90, dtype=[("a", "u1"), ("x", "f8", 2)])
    packed["x"] = blobs
    for same in (
        np.asfortranarray(blobs),
        read_only,
        np.load(path, mmap_mode="r"),
        wide[:, ::2],
        packed["x"],
        blobs.astype(">f8"),
        blobs.tolist(),
        np.matrix.view(blobs)[::1],
    ):
        np.testing.assert_array_equal(means(same), expected)


def test_float32_is_read_as_it_is(blobs):
    single = blobs.astype(np.float32)
    np.testing.assert_array_equal(means(single), means(single.astype(np.float64)))
    np.testing.assert_allclose(means(single), means(blobs), rtol=1e-4)


def test_arrays_are_shared_and_not_copied(blobs):
    points = _lehr.Points.from_array(blobs)
    assert points.shape == blobs.shape
    for bad in (np.asfortranarray(blobs), blobs.astype(int), blobs[0], blobs[:, :1]):
        with pytest.raises(DataError, match="in C order"):
            _lehr.Points.from_array(bad)


def test_data_frames_have_names(blobs):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(blobs, columns=["a", "b"])
    expected = means(blobs)
    for same in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        mixture = BayesianGaussianMixture(3, random_state=0).fit(same)
        np.testing.assert_array_equal(mixture.means_, expected)
        assert list(mixture.feature_names_in_) == ["a", "b"]
        assert mixture.predict(same).shape == (90,)
    chunks = pyarrow.concat_tables([pyarrow.Table.from_pandas(frame[:40]), pyarrow.Table.from_pandas(frame[40:])])
    np.testing.assert_array_equal(means(chunks), expected)
    gaps = polars.DataFrame({"a": [1.0, None, 2.0], "b": [1.0, 2.0, 3.0]})
    assert np.isfinite(means(gaps)).all()  # an empty cell is a missing value
    words = polars.DataFrame({"a": ["x", "y", "z"], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match="column a is .*; numbers are needed"):
        means(words)


def test_files_are_read_as_the_command_line_reads_them(blobs, counts, tmp_path):
    table = tmp_path / "points.csv"
    lines = [f"{a!r},{b!r},1" for a, b in blobs.tolist()]
    table.write_text("a,b,c\n" + "\n".join(lines) + "\n")
    mixture = BayesianGaussianMixture(3, data_options={"drop": ["c"]}, random_state=0).fit(str(table))
    np.testing.assert_array_equal(mixture.means_, means(blobs))
    assert mixture.predict(table).shape == (90,)
    np.save(tmp_path / "points.npy", blobs)
    np.testing.assert_array_equal(means(tmp_path / "points.npy"), means(blobs))
    scipy.sparse.save_npz(tmp_path / "docs.npz", scipy.sparse.csr_matrix(counts))
    lda = LatentDirichletAllocation(2, random_state=0).fit(tmp_path / "docs.npz")
    expected = LatentDirichletAllocation(2, random_state=0).fit(counts)
    np.testing.assert_array_equal(lda.components_, expected.components_)
    assert lda.transform(tmp_path / "docs.npz").shape == (60, 2)
    with pytest.raises(FileNotFoundError) as caught:
        means(tmp_path / "nothing.csv")
    assert isinstance(caught.value, lehr.LehrError) and "nothing.csv: " in str(caught.value)
    assert str(caught.value.filename).endswith("nothing.csv") and "None" not in str(caught.value)
    (tmp_path / "bad.csv").write_text("a,b\n1,2\nx,4\n5,6\n")
    with pytest.raises(ValueError, match="line 3"):
        means(tmp_path / "bad.csv")
    for options, message in (
        ({"colums": ["a"]}, "data_options = .*colums.*: unknown field 'colums', expected one of 'columns'"),
        ({"drop": "c"}, "data_options = {'drop': c}: invalid type"),
        ({"drop": ["z"]}, r"points.csv: data_options\['drop'\] asks for column"),
    ):
        with pytest.raises(ValueError, match=message):
            means(table, data_options=options)


def test_messages_call_settings_by_their_names_here(tmp_path):
    path = tmp_path / "a.csv"

    def said(call, content=None, **options):
        if content is not None:
            path.write_text(content)
        with pytest.raises(lehr.LehrError) as caught:
            call(data_options=options)
        assert "`" not in str(caught.value)
        return str(caught.value)

    def mixture(**settings):
        return BayesianGaussianMixture(1, **settings).fit(path)

    def lda(**settings):
        return LatentDirichletAllocation(2, **settings).fit(path)

    def pmf(**settings):
        return ProbabilisticMatrixFactorization(1, **settings).fit(path)

    assert said(mixture, "a,b\n1,x\n2,1\n").endswith("or leave the column out with data_options['drop']")
    words = """(data_options={'drop': ['a', "it's"]}), or write them as numbers"""
    assert said(mixture, "a,it's,b\nx,y,1\n2,5,1\n").endswith(words)
    gap = said(mixture, "a,b\n1,2\n,3\n")
    assert "data_options={'missing': 'model'}" in gap and "data_options={'missing': 'drop-rows'}" in gap
    assert said(pmf, "who,item,rating\na,1,2\n").endswith(
        "say which is what with user, item and rating"
    )
    assert said(pmf, "user,item,rating\na,1,2\na,1,3\n").endswith("with data_options={'duplicates': 'mean'}")
    one = "data_options = {'max_docs': 2}: a share of the documents"
    assert said(lda, "a few words of a text\n" * 9, max_docs=2.0).startswith(one)
    none = "with data_options={'min_docs': 20} and data_options={'max_docs': 1}"
    assert none in said(lda, min_docs=20)
    assert "data_options['field'] asks for column \"x\", which is not there; the columns are a few" in said(lda, field="x")
    assert "has a meaning for the format csv, json, jsonl and parquet with texts only" in said(lda, field="x", format="text")
    assert "or give data_options['format'] if that is wrong" in said(lda, field="x", format="text")
    # What is no option of a file has the name that the estimator gives it.
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match="^step_size = 0.5,1: .*with batch_size use power"):
        BayesianGaussianMixture(2, batch_size=10, step_size="0.5,1").fit(X)
    extreme = scipy.sparse.csr_array(np.array([[1e30, -1e30], [3e30, 1e30]]))
    with pytest.raises(ArithmeticError, match="or try exact=True$"):
        ProbabilisticMatrixFactorization(1, random_state=0).fit(extreme)
    names = (BayesianGaussianMixture._names, BayesianGaussianMixture._values)
    parts = ["use ", ("setting", "covariance", "diagonal")]
    assert str(lehr.errors._made("DataError", parts, False, ()).renamed(*names)) == "use covariance_type='diag'"
    # A string is never a setting, whatever it looks like.
    assert str(DataError("`covariance = diagonal`").renamed(*names)) == "`covariance = diagonal`"
    pandas = pytest.importorskip("pandas")
    twice = pandas.DataFrame({"user": [1, 1], "item": [2, 2], "rating": [3.0, 4.0]})
    with pytest.raises(DataError, match="average them with duplicates='mean'$"):
        ProbabilisticMatrixFactorization(1).fit(twice)


def test_every_option_of_a_reader_is_known_to_messages(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2,3\n")
    found = set()
    for reader in (_lehr.Points, _lehr.Docs, _lehr.Ratings):
        with pytest.raises(SettingError) as caught:
            reader.from_path(path, '{"no_such": 1}')
        listed = caught.value.allowed.split("expected one of ")[1]
        found.update(name.strip("' ") for name in listed.split(","))
    assert found == {row["name"] for rows in TABLES.values() for row in rows["data"]}


def test_sparse_matrices_of_every_kind(counts):
    def components(X):
        return LatentDirichletAllocation(2, random_state=0, n_jobs=1).fit(X).components_

    expected = components(counts)
    long = counts.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    rows = [(counts.indices[a:b][::-1], counts.data[a:b][::-1]) for a, b in zip(counts.indptr, counts.indptr[1:])]
    backwards = scipy.sparse.csr_array(
        (np.concatenate([r[1] for r in rows]), np.concatenate([r[0] for r in rows]), counts.indptr), shape=(60, 10)
    )
    halves = scipy.sparse.csr_array(
        (np.repeat(counts.data / 2, 2), np.repeat(counts.indices, 2), 2 * counts.indptr), shape=(60, 10)
    )
    for same in (
        scipy.sparse.csr_matrix(counts),
        counts.tocsc(),
        counts.tocoo(),
        counts.toarray(),
        long,
        backwards,
        halves,
        counts.astype(np.int64),
        counts.astype(np.float32),
    ):
        np.testing.assert_array_equal(components(same), expected)
    assert LatentDirichletAllocation(2, random_state=0).fit_transform(counts.astype(np.float32)).dtype == np.float32


def test_rows_without_words_have_the_priors_topics(counts):
    X = counts.toarray()
    X[7] = 0
    lda = LatentDirichletAllocation(3, random_state=0).fit(X)
    np.testing.assert_allclose(lda.transform(X)[7], 1 / 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((1, 2)), "1 sample"),
        (np.ones((0, 2)), "0 sample"),
        (np.ones(4), "Expected 2D array"),
        (np.array([[1.0, np.inf], [2.0, 3.0], [4.0, 1.0]]), "row 0, column 1: found inf"),
        (np.array([[1.0, np.nan], [2.0, np.nan], [4.0, np.nan]]), "all values of column 1 are missing"),
        (np.array([[1.0, 2.0], [np.inf, 3.0], [4.0, 1.0]]), "row 1, column 0: found inf"),
        (np.array([["a", "b"], ["c", "d"]]), "could not convert string to float"),
        (scipy.sparse.eye_array(4), "Sparse data"),
    ],
)
def test_what_cannot_be_fitted_is_a_value_error(X, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        BayesianGaussianMixture().fit(X)
    assert message.lower() in str(caught.value).lower()


def test_wrong_widths_and_weights(blobs):
    mixture = BayesianGaussianMixture(2, random_state=0).fit(blobs)
    with pytest.raises(ValueError, match="3 features"):
        mixture.predict(np.ones((4, 3)))
    for weights, message in ((np.ones(5), "shape"), (-np.ones(90), "not negative"), (np.full(90, np.nan), "finite")):
        with pytest.raises(ValueError, match=message):
            mixture.fit(blobs, sample_weight=weights)
    with pytest.raises(ValueError, match="n_components = 200"):
        BayesianGaussianMixture(200).fit(blobs)


def test_gaps_are_refused_unless_they_are_allowed(tmp_path, blobs):
    X = blobs.copy()
    X[3, 1] = np.nan
    for missing in (np.float64, np.float32):
        data = _lehr.Points.from_array(X.astype(missing), missing=True)
        assert data.gaps == (1, 0)
    with pytest.raises(ValueError, match="row 3, column 1: found NaN"):
        _lehr.Points.from_array(X)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="row 3, column 1: found inf"):
        _lehr.Points.from_array(X, missing=True)
    table = tmp_path / "gaps.csv"
    table.write_text("a,b\n" + "\n".join(f"{a!r},{'' if n == 5 else repr(b)}" for n, (a, b) in enumerate(blobs.tolist())))
    mixture = BayesianGaussianMixture(2, data_options={"missing": "drop-rows"}, random_state=0).fit(table)
    without = BayesianGaussianMixture(2, random_state=0).fit(np.delete(blobs, 5, axis=0))
    np.testing.assert_array_equal(mixture.means_, without.means_)
    for nonsense in ("", "yes", "Model", 1, ["model"]):
        with pytest.raises(ValueError, match="data_options"):
            BayesianGaussianMixture(2, data_options={"missing": nonsense}).fit(table)


def test_gaps_of_arrow_frames(blobs):
    pyarrow = pytest.importorskip("pyarrow")
    column = blobs[:, 0].tolist()
    column[7] = None
    frame = pyarrow.table({"a": column, "b": blobs[:, 1]})
    assert _lehr.Points.from_arrow(frame, missing=True).gaps == (1, 0)
    with pytest.raises(ValueError, match="column a has empty cells"):
        _lehr.Points.from_arrow(frame)


def test_a_constant_column_is_fitted_with_a_warning(blobs):
    X = np.column_stack([blobs, np.full(len(blobs), 7.5)])
    with pytest.warns(UserWarning, match=r"column 2 is constant \(always 7.5\) and adds nothing"):
        mixture = BayesianGaussianMixture(3, random_state=0).fit(X)
    plain = BayesianGaussianMixture(3, random_state=0).fit(blobs)
    assert np.isfinite(mixture.lower_bounds_).all()
    assert (mixture.predict(X) == plain.predict(blobs)).mean() > 0.95
    # Numbers that spread around a large one are not constant.
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*constant")
        BayesianGaussianMixture(2, random_state=0, max_iter=500, tol=1e-2).fit(1e12 + blobs)


def test_rows_and_columns_count_as_their_holder_does(blobs, counts, tmp_path):
    X = blobs.copy()
    X[4, 0] = np.inf
    with pytest.raises(DataError, match="row 4, column 0: found inf"):
        BayesianGaussianMixture(2).fit(X)
    weights = np.ones(len(blobs))
    weights[7] = -1
    with pytest.raises(DataError, match="row 7: "):
        BayesianGaussianMixture(2).fit(blobs, sample_weight=weights)
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(lehr.errors.FormatError, match="row 5, column 1: found inf"):
        BayesianGaussianMixture(2).fit(tmp_path / "x.npy")


def test_documents_of_tables_and_json(tmp_path):
    texts = ["cat dog cat", "fish bird", "dog bird fish", ""] * 6
    (tmp_path / "a.csv").write_text("id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts)))
    (tmp_path / "a.json").write_text(json.dumps([{"meta": {"body": text or None}} for text in texts]))
    models = []
    for name, options in (("a.csv", None), ("a.json", {"field": "meta.body"})):
        lda = LatentDirichletAllocation(2, random_state=0, data_options=options)
        with pytest.warns(UserWarning, match="6 of 24 documents have no text in .*; they are empty"):
            models.append(lda.fit(tmp_path / name).components_)
    np.testing.assert_array_equal(*models)
    with pytest.raises(ValueError, match=r"a.json: no document has the field of data_options={'field': 'x'}"):
        LatentDirichletAllocation(2, data_options={"field": "x"}).fit(tmp_path / "a.json")
