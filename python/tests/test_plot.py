"""Pictures: what is drawn, where, and the error when something is missing."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import lehr
from lehr.errors import DataError, SettingError

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    """No figure outlives its test."""
    yield
    plt.close("all")


@pytest.fixture
def mixture(blobs):
    return lehr.BayesianGaussianMixture(4, n_init=3, random_state=0).fit(blobs)


def ellipses(ax):
    return [patch for patch in ax.patches if isinstance(patch, matplotlib.patches.Ellipse)]


def test_the_bound_has_a_line_for_each_start(mixture):
    ax = lehr.plot.bound(mixture)
    assert len(ax.lines) == 3
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "bound (higher is better)")
    best = ax.lines[0]
    assert best.get_ydata()[-1] == mixture.lower_bound_
    assert best.get_xdata()[0] == 1, "the start itself is left out"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["best start", "other starts"]


def test_the_bound_of_a_trace_goes_where_it_is_told(mixture):
    _, (left, right) = plt.subplots(1, 2)
    assert lehr.plot.bound(mixture.trace_, x="seconds", first=0, ax=right, color="red", label="mine") is right
    assert not left.lines and right.lines[0].get_color() == "red" and right.get_xlabel() == "seconds"
    assert len(right.lines[0].get_xdata()) == len(mixture.lower_bounds_)
    assert right.get_legend().get_texts()[0].get_text() == "mine"


def test_noise_is_shaded_until_it_ends(blobs):
    noisy = lehr.BayesianGaussianMixture(
        3, batch_size=30, effective_batch_size=10, max_iter=20, random_state=0
    ).fit(blobs)
    ax = lehr.plot.bound(noisy)
    (span,) = ax.patches
    trace = noisy.trace_
    last = trace["step"][trace["effective"] < 30].max()
    assert span.get_extents().x1 == pytest.approx(ax.transData.transform((last, 0))[0])
    assert not lehr.plot.bound(lehr.BayesianGaussianMixture(3, random_state=0).fit(blobs)).patches


def test_what_cannot_be_drawn_is_said(mixture):
    with pytest.raises(SettingError, match="x = 'time': must be 'step', 'seconds' or 'items'"):
        lehr.plot.bound(mixture, x="time")
    with pytest.raises(DataError, match="no bound from step 9999 on; the last step is"):
        lehr.plot.bound(mixture, first=9999)
    with pytest.raises(NotFittedError):
        lehr.plot.bound(lehr.BayesianGaussianMixture())
    with pytest.raises(DataError, match="no bound from step 1 on; partial_fit evaluates none"):
        lehr.plot.bound(lehr.BayesianGaussianMixture(2).partial_fit(np.random.default_rng(0).normal(size=(9, 2))))
    with pytest.raises(DataError, match="not a file"):
        lehr.plot.clusters(mixture, "points.csv")


def test_every_model_and_data_frame_can_be_drawn(mixture, blobs, counts, ratings, tmp_path):
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    mixture.save(tmp_path / "run")
    drawn = [
        lehr.load(tmp_path / "run"),
        pandas.DataFrame(mixture.trace_),
        lehr.LatentDirichletAllocation(2, random_state=0).fit(counts),
        lehr.ProbabilisticMatrixFactorization(2, effective_batch_size=5, max_iter=30, random_state=0).fit(ratings),
    ]
    for model_or_trace in drawn:
        assert lehr.plot.bound(model_or_trace).lines
    frame = pandas.DataFrame(blobs, columns=["a", "b"])
    for X in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        ax = lehr.plot.clusters(lehr.BayesianGaussianMixture(3, random_state=0).fit(X), X)
        assert len(ax.collections) == 3


def test_topics_have_axes_of_their_own(counts):
    lda = lehr.LatentDirichletAllocation(3, random_state=0).fit(counts)
    names = [f"word{i}" for i in range(10)]
    axes = lehr.plot.topics(lda, feature_names=names, n_words=4)
    assert axes.shape == (3,) and len(axes[0].figure.axes) == 3
    size = lda.components_.sum(axis=1)
    own = size - 10 * lda.topic_word_prior_
    shares = []
    for ax in axes:
        assert len(ax.patches) == 4
        k = int(ax.get_title(loc="left").split()[1])
        assert ax.get_title(loc="left") == f"topic {k} ({100 * own[k] / own.sum():.0f} %)"
        chance = lda.components_[k] / size[k]
        best = np.argsort(-chance)[:4]
        assert [label.get_text() for label in ax.get_yticklabels()] == [names[word] for word in best]
        assert [bar.get_width() for bar in ax.patches] == pytest.approx(chance[best])
        shares.append(size[k])
    assert shares == sorted(shares, reverse=True)
    assert len(lehr.plot.topics(lda, feature_names=names, n_topics=1)) == 1


def test_eighty_topics_are_a_list_that_can_be_read():
    rng = np.random.default_rng(0)
    lda = lehr.LatentDirichletAllocation(80, max_iter=1, random_state=0).fit(rng.poisson(0.3, size=(200, 120)))
    names = [f"word{i}" for i in range(120)]
    ax = lehr.plot.topic_sizes(lda, feature_names=names, n_words=3)
    assert len(ax.patches) == 80
    # What the prior has of the words is not theirs.
    size = np.maximum(lda.components_.sum(axis=1) - 120 * lda.topic_word_prior_, 0)
    order = np.argsort(-size, kind="stable")
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(100 * size[order] / size.sum())
    first = order[0]
    words = " ".join(names[w] for w in np.argsort(-lda.components_[first], kind="stable")[:3])
    assert ax.get_yticklabels()[0].get_text() == f"{words}   {first}"
    # No two rows of text lie over each other.
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(upper.y0 >= lower.y1 - 1 for upper, lower in zip(boxes, boxes[1:]))
    assert min(box.x0 for box in boxes) >= 0
    assert len(lehr.plot.topic_sizes(lda, feature_names=names, n_topics=5).patches) == 5


def test_shares_by_group_are_means(counts):
    pandas = pytest.importorskip("pandas")
    lda = lehr.LatentDirichletAllocation(3, random_state=0).fit(counts)
    theta, kind = 100 * lda.transform(counts), np.resize(["b", "a", "b"], counts.shape[0])
    ax = lehr.plot.topic_shares(lda, counts, kind)
    heights = {text.get_text(): [bar.get_height() for bar in bars] for text, bars in zip(ax.get_legend().get_texts(), ax.containers)}
    for k in range(3):
        assert heights[f"topic {k}"] == pytest.approx([theta[kind == "a", k].mean(), theta[kind == "b", k].mean()])
    days = pandas.to_datetime(np.resize(["2026-01-03", "2026-01-30", "2026-03-01"], counts.shape[0]))
    for dates in (days, list(days.to_pydatetime()), [day.date() for day in days.to_pydatetime()]):
        ax = lehr.plot.topic_shares(lda, counts, dates, n_topics=2)
        assert len(ax.lines) == 2 and len(ax.lines[0].get_xdata()) == 2
    with pytest.raises(SettingError, match=f"there are {counts.shape[0]} documents; give one value for each"):
        lehr.plot.topic_shares(lda, counts, kind[:-1])


def test_ratings_have_the_numbers_of_the_page(ratings):
    pmf = lehr.ProbabilisticMatrixFactorization(2, max_iter=20, random_state=0).fit(ratings)
    ax = lehr.plot.ratings(pmf, what="relevance")
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(pmf.item_variances_, rel=1e-6)
    with pytest.raises(DataError, match="give some as X"):
        lehr.plot.ratings(pmf)
    with pytest.raises(DataError, match="no rating that the model was not fitted to"):
        lehr.plot.ratings(pmf, ratings)
    with pytest.raises(SettingError, match="must be 'calibration', 'errors' or 'relevance'"):
        lehr.plot.ratings(pmf, what="bias")
    with pytest.raises(TypeError, match="draws a ProbabilisticMatrixFactorization"):
        lehr.plot.ratings(lehr.LatentDirichletAllocation(2))


def test_intervals_and_errors_are_those_of_new_ratings():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"user": rng.integers(0, 40, 1500), "item": rng.integers(0, 30, 1500)}).drop_duplicates()
    frame["rating"] = 3 + (frame["user"] % 2 == frame["item"] % 2) + 0.4 * rng.normal(size=len(frame))
    train, test = frame[::2], frame[1::2]
    pmf = lehr.ProbabilisticMatrixFactorization(2, random_state=0).fit(train)
    ax = lehr.plot.ratings(pmf, test)
    line = next(line for line in ax.lines if line.get_label() == "all ratings")
    coverage = dict(zip(line.get_xdata(), line.get_ydata()))
    scores = pmf.heldout_scores(test)
    assert [coverage[level] for level in (50, 80, 95)] == pytest.approx(100 * np.array(list(scores["coverage"])), rel=1e-5)
    ax = lehr.plot.ratings(pmf, test, what="errors")
    rated = train["user"].value_counts()
    counts = [text.get_text() for text in ax.get_xticklabels()]
    low, high = map(int, counts[0].split(" to "))
    own = test[test["user"].map(rated).between(low, high)]
    error = own["rating"] - pmf.predict(own["user"], own["item"])
    (bars, *_) = ax.containers
    assert bars[0].get_height() == pytest.approx(np.sqrt((error**2).mean()), rel=1e-3)


def test_colours_are_those_of_the_page(mixture, blobs, counts):
    assert lehr.plot.bound(mixture).lines[0].get_color() == "#0072b2"
    assert lehr.plot.bound(mixture, color="red").lines[0].get_color() == "red"
    page = mixture._core.report(1, None, None)
    for colour in ("#0072b2", "#d55e00", "#009e73"):
        assert f'fill="{colour}"' in page and colour in lehr.plot._PALETTE
    ax = lehr.plot.clusters(mixture, blobs)
    drawn = {matplotlib.colors.to_hex(ellipse.get_edgecolor()) for ellipse in ellipses(ax)}
    assert drawn <= {lehr.plot._colour(k) for k in range(4)}


def test_relevance_puts_what_is_everywhere_behind():
    # Word 0 is the most frequent one of both topics; words 1 and 2 have a topic each.
    begin = np.array([[50.0, 30.0, 0.1], [50.0, 0.1, 30.0]])
    X = np.array([[5, 4, 0], [5, 0, 4]] * 20)
    lda = lehr.LatentDirichletAllocation(2, doc_topic_prior=0.1, init_components=begin, max_iter=1).fit(X)
    first = {}
    for relevance in (1.0, 0.3):
        axes = lehr.plot.topics(lda, feature_names=["the", "cat", "bond"], relevance=relevance)
        first[relevance] = {ax.get_yticklabels()[0].get_text() for ax in axes}
    assert first == {1.0: {"the"}, 0.3: {"cat", "bond"}}


def test_topics_need_the_names_of_words(counts):
    pandas = pytest.importorskip("pandas")
    lda = lehr.LatentDirichletAllocation(2, random_state=0).fit(counts)
    with pytest.raises(DataError, match="get_feature_names_out"):
        lehr.plot.topics(lda)
    with pytest.raises(DataError, match="feature_names has 3 words, and the model has 10"):
        lehr.plot.topics(lda, feature_names=["a", "b", "c"])
    with pytest.raises(SettingError, match="there are 2 topics; give one for each"):
        lehr.plot.topics(lda, feature_names=list("abcdefghij"), ax=plt.subplots()[1])
    frame = pandas.DataFrame(counts.toarray(), columns=list("abcdefghij"))
    given = plt.subplots(2, 2)[1]
    axes = lehr.plot.topics(lehr.LatentDirichletAllocation(2, random_state=0).fit(frame), ax=given)
    assert list(axes) == [given[0, 0], given[0, 1]]
    assert set(label.get_text() for label in axes[0].get_yticklabels()) <= set("abcdefghij")


def test_clusters_are_points_and_ellipses(mixture, blobs):
    ax = lehr.plot.clusters(mixture, blobs)
    used, sizes = np.unique(mixture.predict(blobs), return_counts=True)
    assert len(ellipses(ax)) == len(ax.collections) == len(used)
    assert sorted(len(points.get_offsets()) for points in ax.collections) == sorted(sizes)
    assert sorted(int(text.get_text()) for text in ax.texts) == sorted(used)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")
    for text, ellipse in zip(ax.texts, ellipses(ax)):
        k = int(text.get_text())
        np.testing.assert_allclose(ellipse.center, mixture.means_[k])
        # Every point of the line is two standard deviations away from the mean.
        line = ellipse.get_patch_transform().transform(matplotlib.path.Path.unit_circle().vertices[:1])
        away = line[0] - mixture.means_[k]
        assert away @ mixture.precisions_[k] @ away == pytest.approx(4.0)


@pytest.mark.parametrize("shape", ["full", "diag"])
def test_more_dimensions_are_projected(blobs, shape):
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(3)
    X = blobs @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(90, 5))
    mixture = lehr.BayesianGaussianMixture(3, covariance_type=shape, random_state=0).fit(X)
    _, ax = plt.subplots()
    assert lehr.plot.clusters(mixture, X, ax=ax) is ax
    pca = PCA(2).fit(X)
    share = round(100 * pca.explained_variance_ratio_[0])
    assert ax.get_xlabel() == f"principal component 1 ({share} % of the variance)"
    drawn = np.vstack([points.get_offsets() for points in ax.collections])
    np.testing.assert_allclose(np.sort(np.abs(drawn[:, 0])), np.sort(np.abs(pca.transform(X)[:, 0])), atol=1e-9)
    k = int(ax.texts[0].get_text())
    spread = mixture.covariances_[k] if shape == "full" else np.diag(mixture.covariances_[k])
    flat = pca.components_ @ spread @ pca.components_.T
    found = ellipses(ax)[0]
    expected = np.sort(4 * np.sqrt(np.linalg.eigvalsh(flat)))
    np.testing.assert_allclose(sorted([found.width, found.height]), expected)


def test_many_items_are_thinned_and_one_column_is_refused(mixture, blobs):
    ax = lehr.plot.clusters(mixture, blobs, max_points=30, s=40)
    assert sum(len(points.get_offsets()) for points in ax.collections) == 30
    assert ax.collections[0].get_sizes()[0] == 40
    thin = blobs[:, :1].copy()
    with pytest.raises(DataError, match="ellipses need two"):
        lehr.plot.clusters(lehr.BayesianGaussianMixture(2, random_state=0).fit(thin), thin)


def test_axes_are_named_by_the_columns(blobs):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs, columns=["height", "weight"])
    ax = lehr.plot.clusters(lehr.BayesianGaussianMixture(3, random_state=0).fit(frame), frame)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "weight")


def test_matplotlib_is_asked_for_when_it_is_missing(mixture, blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (lambda: lehr.plot.bound(mixture), lambda: lehr.plot.clusters(mixture, blobs)):
        with pytest.raises(ImportError, match="pip install matplotlib") as caught:
            draw()
        assert isinstance(caught.value, lehr.LehrError)


def test_matplotlib_is_not_imported_by_the_package(subprocess_python):
    code = "import sys, json, lehr; print(json.dumps('matplotlib' in sys.modules))"
    assert subprocess_python(code) is False
