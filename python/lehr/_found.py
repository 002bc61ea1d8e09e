"""What a fit has found is not for writing: read-only arrays, and attributes that cannot be set."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

# scikit-learn itself sets these, of whatever X a method is given.
_ITS_OWN = {"n_features_in_", "feature_names_in_"}


def frozen(value):
    """The same, with no array in it that could be written to."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, (tuple, list)):
        for part in value:
            frozen(part)
    elif isinstance(value, dict):
        for part in value.values():
            frozen(part)
    return value


class Found:
    """An attribute that a fit has found; it is looked up in what `_found` of the estimator returns."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, estimator, owner=None):
        if estimator is None:
            return self
        check_is_fitted(estimator, "_core")
        found = estimator._found()
        if self.name not in found:
            raise AttributeError(f"this fit of {type(estimator).__name__} has no {self.name}")
        return found[self.name]

    def __set__(self, estimator, value):
        refuse(estimator, self.name)


def is_found(name):
    """Whether an attribute of this name is what a fit has found."""
    return name.endswith("_") and not name.startswith("_") and name not in _ITS_OWN


def refuse(estimator, name):
    """Refuses to set an attribute that predictions would not follow."""
    kind = type(estimator).__name__
    raise AttributeError(
        f"{name} is what {kind} has found, and cannot be set: the fitted model would not follow. To change it for "
        f"work of your own, take a copy (model.{name}.copy()); to fit from given values, use the parameters of {kind}"
    )
