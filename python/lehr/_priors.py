"""Alpha of each topic and eta of each word: as parameters, and as the compiled part has them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ._data import is_path
from ._settings import real
from .errors import SettingError


def prior_of_topics(name, value):
    """A number, a list of them, or None."""
    if value is None or isinstance(value, numbers.Real):
        return real(name, value, optional=True)
    return _numbers(name, value, "a number, or one for each topic")


def prior_of_words(name, value):
    """The number that all words have, and what some or all have of their own; None is what is left out."""
    if value is None or isinstance(value, numbers.Real):
        return real(name, value, optional=True), None
    if is_path(value):
        if not Path(value).is_file():
            allowed = "must be a number, one for each word, a dict of words and numbers, or the path of a file of them; or None"
            raise SettingError(name, repr(str(value))[:60], allowed)
        return None, str(value)
    if not isinstance(value, Mapping):
        return None, _numbers(name, value, "a number, one for each word, or a dict of words and numbers")
    return None, [[_word(name, word), real(name, x)] for word, x in value.items()]


def _word(name, word):
    number = isinstance(word, numbers.Integral) and not isinstance(word, bool)
    if not (number or isinstance(word, str)):
        raise SettingError(name, repr(word)[:60], "words are strings, or numbers of columns")
    return str(word)


def _numbers(name, value, allowed):
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = None
    if found is None or found.ndim != 1 or isinstance(value, (str, bytes)):
        raise SettingError(name, repr(value)[:60], f"must be {allowed}; or None")
    return [real(name, x) for x in found.tolist()]


def words_of(recorded, eta):
    """`topic_word_prior` as a parameter: what a run has recorded."""
    if recorded is None or isinstance(recorded, str):
        return eta if recorded is None else recorded
    if recorded and isinstance(recorded[0], list):
        return dict(recorded)
    return recorded
