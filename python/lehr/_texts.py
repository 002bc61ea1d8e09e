"""Documents that are no counts yet: lists of texts, or of lists of words."""

import numpy as np

from .errors import DataError


def are_documents(X):
    """Whether X holds texts or lists of words, and not numbers."""
    values = _values(X)
    return values is not None and any(isinstance(found, str) for found in _first(values))


def documents(X):
    """X as the compiled part takes it: a text, a list of words or None for each document."""
    return [_document(n, document) for n, document in enumerate(_values(X))]


def _values(X):
    """The documents of a list or of a column of a data frame; None if X is neither."""
    if isinstance(X, (list, tuple)):
        return X
    # An array, or a column of pandas, polars or pyarrow.
    if getattr(X, "ndim", 0) == 1 or type(X).__name__ in ("Series", "ChunkedArray"):
        dtype = getattr(X, "dtype", None)
        if getattr(dtype, "kind", "O") in "OUT":
            return X.to_pylist() if hasattr(X, "to_pylist") else X.tolist() if hasattr(X, "tolist") else X.to_list()
    return None


def _first(values):
    """What the first documents that are not empty begin with: enough to know what they all are."""
    for document in values:
        if isinstance(document, str):
            yield document
            return
        if isinstance(document, (list, tuple, set, frozenset)) or getattr(document, "ndim", 0) == 1:
            word = next(iter(document), None)
            if word is not None:
                yield word
                return
        elif not _is_missing(document):
            return


def _is_missing(document):
    return document is None or (isinstance(document, float) and np.isnan(document))


def _document(n, document):
    if isinstance(document, str):
        return str(document)
    if _is_missing(document):
        return None
    if isinstance(document, (bytes, dict)) or not np.iterable(document):
        raise DataError(f"document {n} is {document!r:.60}; a document is a text, a list of its words, or None")
    words = [*document]
    for word in words:
        if not isinstance(word, str):
            raise DataError(f"document {n} has the word {word!r:.60}; words are strings")
    return [str(word) for word in words]
