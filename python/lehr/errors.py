"""What can go wrong: one base class, and a class for each kind of mistake that is a built-in error as well."""

from . import _lehr

# What can be in `data_options`.
_OPTIONS = (
    *("columns", "drop", "weight_column", "header"),
    *("user", "item", "rating", "duplicates"),
    *("vocab", "format", "one_based", "transpose", "field"),
    *("stop_words", "min_length", "min_docs", "max_docs", "max_words"),
)


def _option(name, value, of_file):
    """What a setting that says how to read a file is called here; None for others.

    Where it is not known to be `of_file`, an array or a data frame may be meant, of which nothing is read.
    """
    if name not in _OPTIONS:
        return None
    if name == "duplicates" and not of_file:
        return _parameter(name, value)  # of a data frame
    if value is None:
        return f"data_options[{name!r}]"
    value = value.split(",") if name == "columns" else [value] if name == "drop" else _plain(value)
    return ("" if of_file else "of a file: ") + f"data_options={{{name!r}: {value!r}}}"


def _parameter(name, value):
    return name if value is None else f"{name}={_plain(value)!r}"


def _plain(value):
    """What a text stands for: True, False, a number or itself."""
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value


def _renamed(text, names, values):
    """A message of the compiled part with the names of an estimator's parameters, and of their values."""
    return _lehr.rename_settings(text, lambda name, value: _parameter(names.get(name, name), values.get(value, value)))


class LehrError(Exception):
    """The base of all errors of lehr."""

    def renamed(self, names, values):
        """The same error with the names that settings and their values have in Python."""
        self.args = (_renamed(self.args[0], names, values), *self.args[1:])
        return self


class SettingError(LehrError, ValueError):
    """A setting has a value that cannot work.

    Attributes
    ----------
    field : str
        The setting.
    value : str
        The value found.
    allowed : str
        What is allowed, and what to try.
    """

    def __init__(self, field, value, allowed):
        super().__init__(field, value, allowed)
        self.field, self.value, self.allowed = field, value, allowed

    def __str__(self):
        return f"{self.field} = {self.value}: {self.allowed}"

    def renamed(self, names, values):
        allowed = _renamed(self.allowed, names, values)
        return SettingError(names.get(self.field, self.field), self.value, allowed)


class DataError(LehrError, ValueError):
    """The data do not fit the model, or cannot be fitted at all."""


class FormatError(LehrError, ValueError):
    """A file does not hold what its format promises."""


class DivergedError(LehrError, ArithmeticError):
    """The bound is no number any more; the data are too extreme."""


class RunError(LehrError, RuntimeError):
    """A run directory cannot be used."""


class MissingRunError(RunError, FileNotFoundError):
    """There is no run in this place."""

    def __init__(self, message):
        super().__init__(message)


class FileError(LehrError, OSError):
    """The operating system refused to read or write a file."""

    def __init__(self, message, path=None):
        super().__init__(message)
        self.filename = path

    def __str__(self):
        # OSError would write what it has been given the name of, and no message.
        return self.args[0]


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class ForbiddenFileError(FileError, PermissionError):
    """The file may not be read or written."""


class MissingPackageError(LehrError, ImportError):
    """A package that is needed for this, and for nothing else, is not installed."""


class BrokenError(LehrError, RuntimeError):
    """A mistake in lehr itself."""
