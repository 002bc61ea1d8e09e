"""Ratings out of whatever holds them: sparse and dense matrices, data frames, files."""

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from . import _lehr
from ._data import FLOATS, is_arrow, read_options
from .errors import DataError, SettingError


ROLES = ("user", "item", "rating")


def columns_of(X, wanted, matrix, roles=ROLES):
    """The columns of a data frame that have these roles: those that are `wanted`, or by their usual names.

    None if X is no data frame, or if it is a `matrix`. What is neither is refused: a matrix that was not meant as one
    gives a model of nothing.
    """
    there = [] if matrix else list(_column_names(X))
    if not there:
        return None
    texts = [str(name) for name in there]
    shown = ", ".join(texts[:8]) + (f" and {len(texts) - 8} more" if len(texts) > 8 else "")
    found = dict(zip(ROLES, _lehr.usual_columns(texts), strict=True))
    for role, name in zip(ROLES, wanted, strict=True):
        if name is not None and role in roles:
            if name not in texts:
                raise DataError(f"the data frame has the columns {shown}, and no {name!r}, which {role}={name!r} asks for")
            found[role] = texts.index(name)
    unknown = [role for role in roles if found[role] is None]
    if unknown:
        raise DataError(
            f"the data frame has the columns {shown}, and none of them is known to be the {' or the '.join(unknown)}; say "
            "which is what with user=, item= and rating=, or give matrix=True if its rows are users and its columns items"
        )
    columns = [found[role] for role in roles]
    if len(set(columns)) < len(columns):
        raise DataError(f"{', '.join(f'{role}={texts[found[role]]!r}' for role in roles)}: give each its own column")
    return tuple(there[at] for at in columns)


def _column_names(X):
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", ()) if names is None else names
    return () if callable(names) else names


def names(values):
    """Ids as the compiled part takes them: an array of int64, or a list of strings."""
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1:
        raise DataError(f"ids are a list, and these have shape {array.shape}")
    if array.dtype.kind == "f" and np.equal(np.mod(array, 1), 0).all():
        array = array.astype(np.int64)  # what pandas makes of integers next to a gap that is gone
    if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
        raise DataError(f"an id is {array.max()}; ids that are integers are below 2**63; make strings of them")
    if array.dtype.kind in "iu":
        return np.ascontiguousarray(array, dtype=np.int64)
    return [_text(value) for value in array.tolist()]


def pairs(users, items):
    """Ids of users and items in pairs; one that stands alone, with no list around it, goes with all of the others."""
    alone = [np.ndim(ids) == 0 for ids in (users, items)]
    users, items = names(users), names(items)
    if alone[0] and len(items) != 1:
        users = np.repeat(users, len(items)) if isinstance(users, np.ndarray) else users * len(items)
    elif alone[1] and len(users) != 1:
        items = np.repeat(items, len(users)) if isinstance(items, np.ndarray) else items * len(users)
    return users, items


def _text(name):
    """An id among strings, as a string."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    if isinstance(name, (str, int)):
        return str(name)
    raise DataError(f"an id is {name!r}; ids are integers or strings, and none is missing")


def of_file(path, wanted, matrix, options, known=None):
    """The ratings in a file, where `options` say what the estimator's parameters do not."""
    if options is None or isinstance(options, dict):
        given = {role: name for role, name in zip((*ROLES, "weight"), wanted, strict=True) if name is not None}
        options = {**given, **({"matrix": True} if matrix else {}), **(options or {})}
    return _lehr.Ratings.from_path(path, read_options(options), known)


def of_frame(X, columns, average, known=None, weight=None):
    """Ratings whose users and items have ids; those that a model knows keep their numbers. `weight` is a column or None."""
    if is_arrow(X):
        return _lehr.Ratings.from_arrow(X, columns, average, known, weight)
    user, item, rating = (np.asarray(X[name]) for name in columns)
    if rating.dtype.kind not in "iufb":
        raise DataError(f"column {columns[2]} holds {rating.dtype}; ratings are numbers")
    weights = None if weight is None else np.asarray(X[weight])
    if weights is not None and weights.dtype.kind not in "iufb":
        raise DataError(f"column {weight} holds {weights.dtype}; weights are numbers")
    weights = None if weights is None else weights.astype(np.float32)
    values = rating.astype(np.float32)
    return _lehr.Ratings.from_columns(names(user), names(item), values, average, known, weights)


def weight_column(X, name, known):
    """The column with the weights of a data frame's ratings, if there is to be one; new ratings may lack it."""
    if name is None:
        return None
    there = list(_column_names(X))
    found = next((column for column in there if str(column) == name), None)
    if found is None and known is None:
        shown = ", ".join(str(column) for column in there[:8])
        raise DataError(f"the data frame has the columns {shown}, and no {name!r}, which weight={name!r} asks for")
    return found


def weights_of(matrix, weights):
    """A number for each rating of a sparse matrix, out of a matrix of the same shape."""
    if weights is None:
        return None
    if np.shape(weights) != matrix.shape:
        raise DataError(f"weights have shape {np.shape(weights)}, and the ratings {matrix.shape}; make them equal")
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    if scipy.sparse.issparse(weights):
        found = scipy.sparse.csr_array(weights)[rows, matrix.indices]
        found = found.toarray() if scipy.sparse.issparse(found) else found
    else:
        found = np.asarray(weights)[rows, matrix.indices]
    return np.ravel(np.asarray(found)).astype(np.float32)


def ids_in(X, column):
    """The ids in a column of a data frame."""
    values = X[column]
    return names(values.to_pylist() if hasattr(values, "to_pylist") else np.asarray(values))


def users_of(X, column, known):
    """The numbers of a data frame's users as they first come, each once: new ones after the known."""
    user = ids_in(X, column)
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


def every_other(matrix):
    """The second, fourth, ... rating of each row of a sparse matrix, and the first, third, ..., as two matrices."""
    place = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], np.diff(matrix.indptr))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    parts = (place % 2 == 1, place % 2 == 0)
    triples = ((matrix.data[part], (rows[part], matrix.indices[part])) for part in parts)
    return [scipy.sparse.csr_array(triple, shape=matrix.shape) for triple in triples]


def from_matrix(matrix, first_user=0, weights=None):
    """Ratings of a sparse matrix, whose rows are users from number `first_user` on, and their weights, if any."""
    return _lehr.Ratings.from_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.uint32),
        matrix.data.astype(np.float32),
        matrix.shape[1],
        first_user,
        weights,
    )


def check_names(*wanted):
    """The names of the columns, None where one is to be found."""
    for role, name in zip((*ROLES, "weight"), wanted, strict=False):
        if not (name is None or isinstance(name, str)):
            raise SettingError(role, repr(name), f"must be the name of the column with the {role}s, or None")
    return wanted
