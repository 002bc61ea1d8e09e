"""Parameters of estimators as the compiled part wants them: checked, plain, named."""

import json
import numbers
import sys

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from . import _lehr
from .errors import SettingError

# The settings of each model, by section: its own, those of its fits, and how its data are read.
TABLES = json.loads(_lehr.tables())
# Names that parameters had, and those that they have.
RENAMED = {old: row["python"] for rows in TABLES.values() for row in rows["fit"] + rows["own"] for old in row["old"]}


def checked(row, value, optional, choices=None):
    """The value of the parameter that a `row` of a table describes, as the compiled part wants it.

    `choices` are the names that Python has for those of the table, if it has others.
    """
    name = row["python"]
    if value is None and optional:
        return None
    if row["kind"] == "whole":
        return whole(name, value, optional=optional)
    if row["kind"] == "number":
        return real(name, value, optional)
    if row["kind"] == "toggle":
        return flag(name, value)
    if row["kind"] == "choice":
        return choice(name, value, choices or {key: key for key in row["choices"]})
    return number_or_text(name, value)


def documented(text, model):
    """A docstring in which the names that a setting can have stand for ``<law>`` and the like."""
    for row in TABLES[model]["fit"] + TABLES[model]["own"]:
        names = ", ".join(repr(name) for name in row["known"])
        text = text.replace(f"<{row['name']}>", f"{{{names}}}")
    return text


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
    is_real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if is_real and abs(value) <= sys.float_info.max:
        return float(value)
    raise SettingError(name, repr(value), "must be a finite number" + _or_none(optional))


def flag(name, value):
    """`value` as a bool."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise SettingError(name, repr(value), "must be True or False")


def either(words):
    """'a', 'b' or 'c'."""
    *most, last = [repr(word) for word in words]
    return f"{', '.join(most)} or {last}" if most else last


def choice(name, value, allowed):
    """What `allowed`, a dictionary, has for `value`."""
    if isinstance(value, str) and value in allowed:
        return allowed[value]
    raise SettingError(name, repr(value), f"must be {either(allowed)}")


def number_or_text(name, value):
    """A number as it is, a text for the compiled part to read, and None for what is left out."""
    return value if value is None or isinstance(value, str) else real(name, value)


def _or_none(optional):
    return ", or None" if optional else ""


def as_json(settings):
    """Settings without those that are None, as JSON."""
    return json.dumps({name: value for name, value in settings.items() if value is not None})


def plain_json(parameters):
    """Parameters as JSON, without those that are more than numbers, strings or a few of them: arrays, generators."""
    plain = {}
    for name, value in parameters.items():
        value = value.item() if isinstance(value, np.generic) else value
        values = value if isinstance(value, (tuple, list)) else [value]
        if all(x is None or isinstance(x, (bool, int, float, str)) for x in values):
            plain[name] = value
    return json.dumps(plain, indent=1)


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


def jobs_of(n_jobs):
    """`n_jobs` as a number, -1 for None."""
    if n_jobs is None:
        return -1
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, (bool, np.bool_)) or n_jobs == 0:
        raise SettingError("n_jobs", repr(n_jobs), "must be a whole number but 0 (-1 is all cores), or None")
    return int(n_jobs)


def threads_of(n_jobs):
    """How many threads `n_jobs` stands for. None is all cores, unless joblib is at work already."""
    # The compiled part has its own limit, near the number of cores.
    return min(int(effective_n_jobs(jobs_of(n_jobs))), 2**31)
