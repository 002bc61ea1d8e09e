"""Pages of fitted models, and the cards that notebooks show."""

import numpy as np
import pandas as pd
import pytest

import lehr

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def topics():
    rng = np.random.default_rng(0)
    counts = np.vstack([rng.poisson(np.roll([5, 5, 5, 0.2, 0.2, 0.2], 3 * (n % 2))) for n in range(40)])
    return lehr.LatentDirichletAllocation(2, max_iter=5, random_state=0).fit(counts), counts


@pytest.fixture(scope="module")
def clusters():
    X = np.vstack([np.random.default_rng(k).normal(6 * k, 1, (40, 3)) for k in range(2)])
    return lehr.BayesianGaussianMixture(2, weight_concentration_prior_type="dirichlet_distribution", random_state=0).fit(X), X


def read(path):
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<script") == 2
    return page


def test_topics_with_texts_and_words(topics, tmp_path):
    model, counts = topics
    texts = [f"{EVIL} text {n}" for n in range(len(counts))]
    words = [f"word{w}{EVIL}" for w in range(6)]
    model.report(tmp_path / "t.html", counts, texts=texts, feature_names=words)
    page = read(tmp_path / "t.html")
    assert "word0" in page and "&lt;&#x2f;script&gt;" in page and "<blockquote" in page
    model.report(tmp_path / "alone.html")
    assert "<blockquote" not in read(tmp_path / "alone.html")
    with pytest.raises(ValueError, match="texts are those of X"):
        model.report(tmp_path / "x.html", texts=texts)
    with pytest.raises(ValueError, match="3 texts for 40 documents"):
        model.report(tmp_path / "x.html", counts, texts=texts[:3])


def test_topics_by_month_and_by_group(topics, tmp_path):
    model, counts = topics
    days = pd.Series(pd.to_datetime(["2026-01-03", "2026-01-30", "2026-03-01", None]), name="printed").repeat(10)
    for by in (days, list(days.dt.date), days.dt.strftime("%Y/%m/%d")):
        model.report(tmp_path / "t.html", counts, by=by)
        page = read(tmp_path / "t.html")
        assert ">2026-01<br>" in page and ">2026-03<br>" in page and "Left out: 10 documents without one" in page
    assert "Topics by printed" in page
    years = np.where(np.arange(40) % 4 == 0, np.nan, 2001 + np.arange(40) % 2)
    model.report(tmp_path / "t.html", counts, by=years)
    page = read(tmp_path / "t.html")
    assert ">2001<br>" in page and ">2002<br>" in page and "Left out: 10 documents" in page
    model.report(tmp_path / "t.html", counts, by=np.full(40, ""))
    assert "no document has one" in read(tmp_path / "t.html")
    with pytest.raises(ValueError, match="39 values of by for 40 documents"):
        model.report(tmp_path / "x.html", counts, by=days[1:])
    with pytest.raises(ValueError, match="by says what the rows of X belong to"):
        model.report(tmp_path / "x.html", by=days)


def test_clusters_with_names(clusters, tmp_path):
    model, X = clusters
    model.report(tmp_path / "c.html", X, texts=[f"{EVIL}{n}" for n in range(len(X))])
    page = read(tmp_path / "c.html")
    assert "80 of 80 items are drawn" in page
    model.report(tmp_path / "c.html", X)
    first = (tmp_path / "c.html").read_bytes()
    model.report(tmp_path / "c.html", X)
    assert (tmp_path / "c.html").read_bytes() == first
    with pytest.raises(ValueError, match="names of the rows of X"):
        model.report(tmp_path / "x.html", X, texts=["one"])


def test_ratings_with_titles(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": rng.integers(0, 20, 300), "item": rng.integers(0, 15, 300)}).drop_duplicates()
    frame["rating"] = 3 + (frame["user"] % 2 == frame["item"] % 2) + 0.1 * rng.normal(size=len(frame))
    model = lehr.ProbabilisticMatrixFactorization(2, max_iter=5, random_state=0).fit(frame[:120])
    model.report(tmp_path / "r.html", frame, texts={item: f"Film {item} {EVIL}" for item in range(15)}, users=[3])
    page = read(tmp_path / "r.html")
    assert "Film 1" in page and "User 3, who has rated" in page
    assert f"the given ratings: {len(frame) - 120} ratings" in page


def test_notebooks_show_a_card(clusters):
    model, _ = clusters
    card = model._repr_html_()
    assert "Gaussian mixture with 2 components" in card and "clusters in use" in card
    assert model._repr_mimebundle_()["text/html"] == card
    assert "BayesianGaussianMixture" in lehr.BayesianGaussianMixture(2)._repr_html_()
