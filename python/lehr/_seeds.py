"""Seed words as a dictionary of topics, and as the compiled part has them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping

import numpy as np

from ._data import is_path
from ._settings import real
from .errors import SettingError

_ALLOWED = "must be a dict of names, and for each a list of words or a dict of words and strengths; or None"


def seed_topics(seeds):
    """Topics as the compiled part takes them; a path is one of a file of them."""
    if seeds is None:
        return None
    if is_path(seeds):
        return str(seeds)
    if not isinstance(seeds, Mapping):
        raise SettingError("seed_words", repr(seeds)[:60], _ALLOWED)
    return [{"name": str(name), "words": [*_words(name, words)]} for name, words in seeds.items()]


def _words(name, words):
    if isinstance(words, (str, bytes)) or not np.iterable(words):
        raise SettingError("seed_words", repr({name: words})[:60], _ALLOWED)
    strengths = words if isinstance(words, Mapping) else {}
    for word in words:
        number = isinstance(word, numbers.Integral) and not isinstance(word, bool)
        if not (number or isinstance(word, str)):
            raise SettingError("seed_words", repr({name: word})[:60], "words are strings, or numbers of columns")
        entry = {"word": str(word)}
        if strengths.get(word) is not None:
            entry["strength"] = real("seed_words", strengths[word])
        yield entry


def seeds_of(recorded):
    """The same as a parameter: what a run has recorded."""
    if recorded is None or isinstance(recorded, (str, dict)):
        return recorded if isinstance(recorded, str) else None
    words = {topic["name"]: {word["word"]: word.get("strength") for word in topic["words"]} for topic in recorded}
    plain = all(strength is None for strengths in words.values() for strength in strengths.values())
    return {name: list(strengths) for name, strengths in words.items()} if plain else words
