"""Every model of the compiled part has an estimator, which `load` finds by the names of its runs."""

import lehr
from lehr._base import ESTIMATORS, Fitting
from lehr._settings import TABLES


def test_every_model_has_an_estimator_that_is_exported():
    assert ESTIMATORS.keys() == TABLES.keys()
    for name, estimator in ESTIMATORS.items():
        assert issubclass(estimator, Fitting)
        assert name in estimator._core_class.names
        assert getattr(lehr, estimator.__name__) is estimator
        assert estimator.__name__ in lehr.__all__


def test_a_class_derived_from_an_estimator_takes_no_runs_from_it(blobs, tmp_path):
    class Own(lehr.BayesianGaussianMixture):
        pass

    assert Own not in ESTIMATORS.values()
    Own(2, random_state=0).fit(blobs).save(tmp_path / "run")
    assert type(lehr.load(tmp_path / "run")) is lehr.BayesianGaussianMixture
    assert type(Own.load(tmp_path / "run")) is Own
