"""Ratings out of whatever holds them: sparse and dense matrices, data frames with three columns, files."""

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from . import _lehr
from ._data import FLOATS, is_arrow, is_path, read_options
from .errors import DataError, SettingError


def has_ids(X, columns):
    """Whether X names its users and items: a file, or a data frame that has the three columns."""
    if is_path(X):
        return True
    there = list(map(str, _column_names(X)))
    missing = [column for column in columns if column not in there]
    # Three columns are hardly a matrix of three items.
    if 0 < len(missing) < len(columns) or (missing and len(there) == len(columns)):
        raise DataError(
            f"the data frame has the columns {', '.join(there[:8])}, and not {' and '.join(missing)}; "
            "say which is what with columns=(user, item, rating)"
        )
    return not missing


def _column_names(X):
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", ()) if names is None else names
    return () if callable(names) else names


def names(values):
    """Ids as the compiled part takes them: an array of int64, or a list of texts."""
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1:
        raise DataError(f"ids are a list, and these have shape {array.shape}")
    if array.dtype.kind == "f" and np.equal(np.mod(array, 1), 0).all():
        array = array.astype(np.int64)  # what pandas makes of integers beside a gap that is gone
    if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
        raise DataError(f"an id is {array.max()}; ids that are integers are below 2**63; make texts of them")
    if array.dtype.kind in "iu":
        return np.ascontiguousarray(array, dtype=np.int64)
    return [_text(value) for value in array.tolist()]


def _text(name):
    """An id among texts, as a text."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    if isinstance(name, (str, int)):
        return str(name)
    raise DataError(f"an id is {name!r}; ids are integers or texts, and none is missing")


def with_ids(X, columns, average, options, known=None):
    """Ratings whose users and items have ids; those that a model knows keep their numbers."""
    if is_path(X):
        return _lehr.Ratings.from_path(X, read_options(options), known)
    if is_arrow(X):
        return _lehr.Ratings.from_arrow(X, tuple(columns), average, known)
    user, item, rating = (np.asarray(X[name]) for name in columns)
    if rating.dtype.kind not in "iufb":
        raise DataError(f"column {columns[2]} holds {rating.dtype}; ratings are numbers")
    return _lehr.Ratings.from_columns(names(user), names(item), rating.astype(np.float32), average, known)


def users_of(X, columns, known):
    """The numbers of a data frame's users as they first come, each once: new ones after the known."""
    if is_path(X):
        raise DataError("the factors of a file's users are not told; read it into a data frame")
    user = names(np.asarray(X[columns[0]]))
    # "7" and 7 are one user, as in the compiled part.
    known = {str(name): number for number, name in enumerate(known)}
    numbers, new = [], len(known)
    for name in dict.fromkeys(map(str, user)):
        numbers.append(known.get(name, new))
        new += name not in known
    return numbers


def as_matrix(estimator, X, *, reset):
    """X as a sparse matrix whose stored entries are the ratings; of a dense one, all that are not NaN."""
    X = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite="allow-nan"
    )
    if not scipy.sparse.issparse(X):
        rated = ~np.isnan(X)
        starts = np.concatenate([[0], np.cumsum(rated.sum(axis=1))])
        return scipy.sparse.csr_array((X[rated], np.nonzero(rated)[1], starts), shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def from_matrix(matrix, first_user=0):
    """Ratings of a sparse matrix, whose rows are users from number `first_user` on."""
    return _lehr.Ratings.from_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.uint32),
        matrix.data.astype(np.float32),
        matrix.shape[1],
        first_user,
    )


def check_columns(columns):
    """The names of the three columns."""
    if isinstance(columns, (tuple, list)) and len(columns) == 3 and all(isinstance(c, str) for c in columns):
        return tuple(columns)
    raise SettingError("columns", repr(columns), "must be the names of the user, item and rating columns")
