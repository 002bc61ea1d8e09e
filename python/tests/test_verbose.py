"""What `verbose` prints: scikit-learn's lines on stdout, or a line of progress on stderr."""

import re

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.mixture

from lehr import BayesianGaussianMixture, LatentDirichletAllocation, ProbabilisticMatrixFactorization


def shape_of(text):
    """Lines without their numbers."""
    return [re.sub(r"-?(inf|nan|\d[\d.e+-]*)", "#", line).rstrip(".") for line in text.splitlines()]


@pytest.mark.parametrize("method", ["batch", "online"])
@pytest.mark.parametrize("every", [-1, 0, 1, 2, 3])
def test_verbose_prints_scikit_learns_lines(counts, method, every, capsys):
    settings = {"n_components": 2, "max_iter": 5, "learning_method": method, "batch_size": 20, "perp_tol": 0}
    settings |= {"evaluate_every": every, "verbose": 1, "random_state": 0}
    sklearn.decomposition.LatentDirichletAllocation(**{**settings, "perp_tol": 1e-300}).fit(counts)
    theirs = capsys.readouterr().out
    LatentDirichletAllocation(**settings).fit(counts)
    ours = capsys.readouterr()
    assert shape_of(ours.out) == shape_of(theirs) and ours.err == ""
    iterations = [line.split(",")[0] for line in ours.out.splitlines()]
    assert iterations == [line.split(",")[0] for line in theirs.splitlines()]


def test_the_last_perplexity_is_near_the_exact_one(counts, capsys):
    lda = LatentDirichletAllocation(2, max_iter=4, evaluate_every=1, perp_tol=0, verbose=1, random_state=0).fit(counts)
    last = float(capsys.readouterr().out.splitlines()[-1].split(": ")[-1])
    assert last == pytest.approx(lda.perplexity(counts), rel=1e-3)


def test_partial_fits_print_nothing(counts, blobs, capsys):
    LatentDirichletAllocation(2, verbose=1, random_state=0).partial_fit(counts)
    BayesianGaussianMixture(2, verbose=1, random_state=0).partial_fit(blobs)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [1, 2])
@pytest.mark.parametrize("tol", [1e-3, 1e-300])
def test_mixtures_print_scikit_learns_lines(blobs, verbose, tol, capsys):
    settings = {"n_components": 3, "max_iter": 6, "n_init": 2, "verbose": verbose, "verbose_interval": 2, "tol": tol}
    settings |= {"random_state": 0, "init_params": "random"}
    sklearn.mixture.BayesianGaussianMixture(**settings).fit(blobs)
    theirs = capsys.readouterr().out
    mixture = BayesianGaussianMixture(**settings).fit(blobs)
    ours = capsys.readouterr()
    assert ours.err == ""
    assert shape_of(ours.out) == shape_of(theirs)
    if verbose == 2:
        assert f"lower bound {mixture.lower_bound_:.5f}." in ours.out


def test_a_fit_that_converges_says_so(blobs, capsys):
    mixture = BayesianGaussianMixture(3, max_iter=500, verbose=1, verbose_interval=1000, random_state=0).fit(blobs)
    assert mixture.converged_
    assert capsys.readouterr().out == "Initialization 0\nInitialization converged.\n"
    BayesianGaussianMixture(3, max_iter=10**6, tol=0, time_limit=0.2, verbose=1, verbose_interval=10**9).fit(blobs)
    assert capsys.readouterr().out.endswith("Initialization did not converge.\n")


def test_searches_tell_of_their_fits(counts, blobs, capsys):
    LatentDirichletAllocation(2, max_iter=2, search=3, verbose=1, random_state=0).fit(counts)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("search: fit")] == [
        "search: fit 2/3, 0 of 0 won", next(line for line in lines if line.startswith("search: fit 3/3"))
    ]
    assert lines.count("iteration: 1 of max_iter: 2") == lines.count("iteration: 2 of max_iter: 2") == 3
    BayesianGaussianMixture(3, search=2, verbose=1, random_state=0).fit(blobs)
    assert re.search(r"^search \d+ %: \d+ tries", capsys.readouterr().out, re.M)


def test_ratings_draw_a_line_on_stderr(ratings, capsys):
    ProbabilisticMatrixFactorization(1, max_iter=4, tol=0, verbose=1, random_state=0).fit(ratings)
    shown = capsys.readouterr()
    assert "bound" in shown.err and "4/4" in shown.err and shown.out == ""
    ProbabilisticMatrixFactorization(1, max_iter=4, tol=0, verbose=2, random_state=0).fit(ratings)
    assert capsys.readouterr().err.count("lehr: step") == 5


def test_verbose_does_not_change_a_fit(counts):
    loud = LatentDirichletAllocation(2, verbose=1, random_state=0).fit(counts)
    np.testing.assert_array_equal(loud.components_, LatentDirichletAllocation(2, random_state=0).fit(counts).components_)
