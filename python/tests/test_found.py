"""What a fit has found: which components are in use, and that it cannot be changed by hand."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import lehr
from lehr import BayesianGaussianMixture, LatentDirichletAllocation, ProbabilisticMatrixFactorization


@pytest.fixture
def fitted(blobs, counts, ratings):
    return [
        BayesianGaussianMixture(4, random_state=0).fit(blobs),
        LatentDirichletAllocation(3, max_iter=3, random_state=0).fit(counts),
        ProbabilisticMatrixFactorization(2, max_iter=3, random_state=0).fit(ratings),
    ]


def arrays(model):
    """All arrays among the attributes that a fit has found, by name."""
    found = {}
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_") and not name.endswith("_in_"):
            value = getattr(model, name, None)
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            found.update({(name, i): part for i, part in enumerate(parts) if isinstance(part, np.ndarray)})
    return found


def test_arrays_are_read_only_also_in_copies(fitted, tmp_path):
    for number, model in enumerate(fitted):
        model.save(tmp_path / str(number))
        again = lehr.load(tmp_path / str(number))
        for same in (model, again, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            found = arrays(same)
            assert len(found) > 5
            assert [name for name, array in found.items() if array.flags.writeable] == []


def test_writing_into_an_attribute_or_setting_it_is_an_error_and_changes_nothing(fitted):
    for model, name in zip(fitted, ["means_", "components_", "user_factors_"]):
        before = getattr(model, name).copy()
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 7.0
        with pytest.raises(ValueError, match="read-only"):
            exec(f"model.{name} /= 2.0", {"model": model})
        with pytest.raises(AttributeError, match=rf"{name} is what {type(model).__name__} has found.*take a copy"):
            setattr(model, name, before + 1.0)
        with pytest.raises(AttributeError, match="cannot be set"):
            model.n_iter_ = 3
        with pytest.raises(AttributeError):
            delattr(model, "trace_")
        assert (getattr(model, name) == before).all()


def test_estimators_are_cloned_set_and_fitted_again_all_the_same(fitted, blobs):
    for model in fitted:
        fresh = clone(model)
        assert not hasattr(fresh, "n_iter_") and not hasattr(fresh, "_core")
        fresh.set_params(max_iter=2)
        assert fresh.max_iter == 2
    mixture = fitted[0]
    first = mixture.means_
    mixture.set_params(n_components=2).fit(blobs)
    assert mixture.means_.shape == (2, 2) and first.shape == (4, 2)
    for name in ("means_", "weights_", "mean_precision_"):
        assert not hasattr(BayesianGaussianMixture(), name)


def test_components_in_use_are_numbered_as_predict_does(blobs):
    mixture = BayesianGaussianMixture(12, random_state=0, max_iter=300).fit(blobs)
    sizes = mixture.predict_proba(blobs).sum(axis=0)
    in_use = mixture.components_in_use_
    assert mixture.n_components_in_use_ == len(in_use) < 12
    assert set(mixture.predict(blobs)) <= set(in_use)
    assert sizes[in_use].min() > 0.9 and np.delete(sizes, in_use).max() < 1.1
    shares = sizes / sizes.sum()
    entropy = -sum(share * np.log(share) for share in shares if share > 0)
    assert mixture.effective_n_components_ == pytest.approx(np.exp(entropy), rel=0.02)
