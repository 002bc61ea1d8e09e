"""Parameters of estimators as the compiled part wants them: checked, plain, named."""

import json
import numbers

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from .errors import SettingError


def whole(name, value, least=0, optional=False):
    """`value` as an int of at least `least`; None stays None if `optional`."""
    if value is None and optional:
        return None
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if is_whole and least <= value < 2**63:
        return int(value)
    most = " and below 2**63" if is_whole and value > least else ""
    raise SettingError(name, repr(value), f"must be a whole number, at least {least}{most}" + _or_none(optional))


def real(name, value, optional=False):
    """`value` as a finite float; None stays None if `optional`."""
    if value is None and optional:
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and np.isfinite(value):
        return float(value)
    raise SettingError(name, repr(value), "must be a finite number" + _or_none(optional))


def flag(name, value):
    """`value` as a bool."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise SettingError(name, repr(value), "must be True or False")


def choice(name, value, allowed):
    """What `allowed`, a dictionary, has for `value`."""
    if isinstance(value, str) and value in allowed:
        return allowed[value]
    raise SettingError(name, repr(value), "must be " + " or ".join(repr(key) for key in allowed))


def number_or_text(name, value):
    """A number as it is, a text for the compiled part to read, and None for what is left out."""
    return value if value is None or isinstance(value, str) else real(name, value)


def _or_none(optional):
    return ", or None" if optional else ""


def as_json(settings):
    """Settings without those that are None, as JSON."""
    return json.dumps({name: value for name, value in settings.items() if value is not None})


def steps_in_a_pass(n_items, batch):
    """How many steps see every item once; a batch of None is everything."""
    return 1 if batch is None else -(-n_items // batch)


def seed_of(random_state):
    """The seed that a `random_state` stands for: an int is the seed itself, as on the command line."""
    if isinstance(random_state, numbers.Integral):
        return whole("random_state", random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads_of(n_jobs):
    """How many threads `n_jobs` stands for. None is all cores, unless joblib is at work already."""
    return effective_n_jobs(-1 if n_jobs is None else n_jobs)
