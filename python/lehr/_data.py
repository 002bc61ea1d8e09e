"""Whatever Python keeps numbers in, as the compiled part's data; copied only where its layout asks for it."""

import os
import warnings

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_non_negative, validate_data

from . import _lehr, _texts
from ._settings import TABLES, as_json, either
from .errors import DataError, SettingError, told

FLOATS = [np.float64, np.float32]
_BY_ROWS = (scipy.sparse.csr_array, scipy.sparse.csr_matrix)


def is_path(X):
    """Whether X names a file."""
    return isinstance(X, (str, os.PathLike))


def is_read(X):
    """Whether X is read as data_options say: a file, or documents."""
    return is_path(X) or _texts.are_documents(X)


def collected(X):
    """X, with the rows of a lazy frame of polars computed: there is no other way to look at them."""
    is_lazy = type(X).__name__ == "LazyFrame" and type(X).__module__.startswith("polars")
    return X.collect() if is_lazy else X


def is_arrow(X):
    """Whether X is a data frame to be taken through Arrow (pandas would need pyarrow for it)."""
    return hasattr(X, "__arrow_c_stream__") and not type(X).__module__.startswith("pandas")


def read_options(options):
    """The options of a reader, by the names that the configuration file's ``[data]`` table has."""
    return as_json(options or {})


def check_options(options, model):
    """Refuses options that no reader of this model's files has, whether there is a file or not."""
    known = [row["name"] for row in TABLES[model]["data"]]
    if options is None:
        return
    if not isinstance(options, dict):
        raise SettingError("data_options", repr(options), "must be a dict of options, or None")
    for name in options:
        if name not in known:
            raise SettingError("data_options", repr({name: options[name]}), f"there is no {name!r}; known are {either(known)}")


def _file_shape(estimator, shape, reset):
    """Takes note of the width of a file's data, or checks it."""
    if reset:
        estimator.n_features_in_ = shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
    elif shape[1] != estimator.n_features_in_:
        raise DataError(
            f"the file has {shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


def _fits(estimator, X, numbers):
    """Whether X, with these `numbers`, has the rows, the columns and the type that the fitted estimator reads.

    Then `validate_data` would give X back as it is; but that takes longer than a prediction.
    """
    return (
        X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and numbers.dtype.char in "df"
        and numbers.dtype.isnative
        and numbers.flags.c_contiguous
        and numbers.flags.aligned
        and "feature_names_in_" not in estimator.__dict__
    )


def points(estimator, X, *, reset, sample_weight=None, least=1):
    """Rows of numbers, NaN where one is missing.

    Arrays of float64 and float32 in C order are read where they are, memory-mapped and read-only ones too.
    """
    if not reset and sample_weight is None and least == 1 and type(X) is np.ndarray and _fits(estimator, X, X):
        return _lehr.Points.from_array(X, missing=True)
    if is_path(X):
        if sample_weight is not None:
            raise SettingError("sample_weight", "an array", "name the weight_column in data_options instead")
        known = None if reset else getattr(estimator, "_core", None)
        found = _lehr.Points.from_path(X, read_options(estimator.data_options), known)
        _file_shape(estimator, found.shape, reset)
        return found
    X = collected(X)
    if is_arrow(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        weights = _weights(sample_weight, X.shape[0])
        return _lehr.Points.from_arrow(X, weights, missing=True)
    # What is infinite is found below, in the one pass that is made over the numbers; NaN is a missing value.
    X = validate_data(
        estimator, X, reset=reset, dtype=FLOATS, order="C", ensure_all_finite=False, ensure_min_samples=least
    )
    if not X.flags.aligned:
        X = X.copy()
    return _lehr.Points.from_array(X, _weights(sample_weight, X.shape[0]), _names(estimator), missing=True)


def _names(estimator):
    """The names of the columns, if a data frame had any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _weights(sample_weight, n):
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape == ():
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise DataError(f"sample_weight has shape {weights.shape}; one number for each of {n} rows is needed")
    if not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number.")
    return np.ascontiguousarray(weights)


def texts(name, values):
    """`values` as a list of strings: names for columns."""
    found = [value for value in np.asarray(values, dtype=object).ravel().tolist() if isinstance(value, str)]
    if len(found) != np.size(values) or isinstance(values, str):
        raise SettingError(name, repr(values)[:60], "must be a list of strings, one for each column")
    return found


def groups(by):
    """What documents belong to, as text: dates as days, and "" for what is missing."""
    values = np.asarray(by)
    if values.ndim != 1:
        raise SettingError("by", f"shape {values.shape}", "must be a list with one value for each document")
    if values.dtype.kind == "M":
        values = values.astype("datetime64[D]")
    return [_group(value) for value in values.tolist()]


def _group(value):
    if value is None or type(value).__name__ == "NAType" or value != value:
        return ""
    # pandas has whole numbers next to missing ones as fractions.
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def docs(estimator, X, *, reset, whom, known=None, names=None):
    """Documents: a sparse or dense matrix of counts, one row a document; `names` are those of the columns.

    Or a file, or a list of texts or of lists of words.
    """
    if not reset and names is None and type(X) in _BY_ROWS and _fits(estimator, X, X.data) and _are_counts(X.data):
        return _from_rows(X, None)
    if is_path(X) or _texts.are_documents(X):
        if names is not None:
            allowed = "the documents have their words; name others with vocab in data_options"
            raise SettingError("feature_names", "a list", allowed)
        options = read_options(estimator.data_options)
        if is_path(X):
            found = _lehr.Docs.from_path(X, options, known)
        else:
            found = _lehr.Docs.from_documents(_texts.documents(X), options, known)
        for note in found.notes():
            warnings.warn(told(note, True, {}, {}), UserWarning, stacklevel=2)
        _file_shape(estimator, found.shape, reset)
        return found
    X = collected(X)
    if is_arrow(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        X = np.column_stack([np.asarray(X[name], dtype=np.float64) for name in _columns(X)])
    else:
        X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=FLOATS)
    check_non_negative(X, whom)
    X = X if scipy.sparse.issparse(X) else scipy.sparse.csr_array(X)
    return _from_rows(X, _names(estimator) if names is None else texts("feature_names", names))


def _are_counts(numbers):
    """Whether all numbers are finite, and none is negative."""
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < np.inf)


def _from_rows(X, names):
    """Documents of a sparse matrix by rows."""
    return _lehr.Docs.from_csr(
        X.indptr.astype(np.int64, copy=False),
        np.ascontiguousarray(X.indices),
        np.ascontiguousarray(X.data),
        X.shape[1],
        names,
    )


def _columns(frame):
    return frame.column_names if hasattr(frame, "column_names") else frame.columns
