"""Signatures and docstrings of estimators agree with the table of settings, and old names say the new ones."""

import inspect
import json
import re

import pytest
from sklearn.base import clone

import lehr
from lehr._settings import RENAMED, TABLES, documented

ESTIMATORS = sorted(set(lehr._base.ESTIMATORS.values()), key=lambda estimator: estimator.__name__)
# What scikit-learn has, or what only makes sense in Python.
OURS = {"verbose", "verbose_interval", "warm_start", "data_options", "learning_method", "learning_decay",
        "learning_offset", "init_components", "user", "item", "rating", "weight", "matrix", "duplicates"}
# scikit-learn's defaults, or those of `fit` in passes over the data.
THEIRS = {"max_iter", "tol", "perp_tol", "evaluate_every", "batch_size", "total_samples", "random_state", "n_jobs",
          "topic_word_prior", "init_params", "init_units", "priors", "reg_covar", "sort_components", "holdout",
          "weight_concentration_prior_type", "mean_precision_prior", "degrees_of_freedom_prior"}


def rows(estimator):
    sections = TABLES[estimator._model]
    return [row for row in sections["own"] + sections["fit"] if row["python"]]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_are_those_of_the_table(estimator):
    parameters = inspect.signature(estimator).parameters
    assert {row["python"] for row in rows(estimator)} == parameters.keys() - OURS


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_defaults_are_those_of_the_table(estimator):
    parameters = inspect.signature(estimator).parameters
    for row in rows(estimator):
        default = parameters[row["python"]].default
        if row["python"] in THEIRS or default is None:
            continue
        if row["kind"] == "toggle":
            assert isinstance(default, bool), row
        elif row["kind"] == "choice":
            assert default == row["default"].split(";")[0], row
        elif row["default"]:
            assert default == float(row["default"]), row


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_documented_choices_and_defaults_are_those_of_the_code(estimator):
    assert "<" not in estimator.__doc__.split("Attributes\n")[0]
    parameters = inspect.signature(estimator).parameters
    for row in rows(estimator):
        name = row["python"]
        line = re.search(rf"\n    {name} : (.*?)default=(\S+)\n", estimator.__doc__.replace("\\\n", ""), re.S)
        default = parameters[name].default
        written = line[2].strip()
        assert float(written) == default if isinstance(default, (int, float)) and not isinstance(default, bool) \
            else written == repr(default), name
        listed = re.findall(r"'([^']*)'", line[1])
        if row["kind"] == "choice":
            names = estimator._choices.get(row["name"], {known: known for known in row["known"]})
            assert sorted(listed) == sorted(names), name


def test_a_choice_that_is_added_is_documented():
    assert documented("x : <law>", "pmf") == "x : {'gaussian', 'gamma', 'subsample'}"
    assert "'lagged'" in documented("x : <law>", "lda")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_old_name_says_the_new_one(estimator):
    assert RENAMED == {"quench": "noise_end"}
    with pytest.raises(TypeError, match="'quench' is called 'noise_end' now; noise_end = 1 - quench"):
        estimator(quench=0.25)
    with pytest.raises(TypeError, match="'quench' is called 'noise_end' now"):
        estimator().set_params(quench=0.25)
    with pytest.raises(TypeError, match="no_such"):
        estimator(no_such=1)
    assert clone(estimator(noise_end=0.5)).noise_end == 0.5


def test_parameters_that_were_saved_under_an_old_name_are_read(blobs, tmp_path):
    mixture = lehr.BayesianGaussianMixture(2, random_state=0, noise_end=0.9).fit(blobs)
    mixture.save(tmp_path / "run")
    file = tmp_path / "run" / "estimator.json"
    saved = json.loads(file.read_text())
    del saved["noise_end"]
    file.write_text(json.dumps({**saved, "quench": 0.1}))
    assert lehr.load(tmp_path / "run").noise_end == pytest.approx(0.9)


def test_the_defaults_of_a_model_are_its_own(ratings):
    noisy = lehr.ProbabilisticMatrixFactorization(2, max_iter=10, effective_batch_size=3, random_state=0).fit(ratings)
    fit = noisy._record["fit"]
    assert (fit["step_size"], fit["eval_every"]) == ("0.85,1", 5)
