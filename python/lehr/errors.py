"""What can go wrong: one base class, and a class for each kind of mistake that is a built-in error as well."""

# What to do with a run, in the words of Python.
_ACTIONS = {
    "resume": "'lehr resume{run}' on the command line",
    "more steps": "'lehr resume{run} --steps 500' on the command line",
    "partial": "partial_fit",
    "transform": "transform or partial_fit",
}

__all__ = [
    "BrokenError",
    "DataError",
    "DivergedError",
    "FileError",
    "ForbiddenFileError",
    "FormatError",
    "LehrError",
    "MissingFileError",
    "MissingPackageError",
    "MissingRunError",
    "OutOfMemoryError",
    "RunError",
    "SettingError",
    "WorkerError",
]


def _made(name, parts, of_file, rest):
    """The error of the class `name` with a message in `parts`; the compiled part calls this."""
    kind = globals()[name]
    message = told(parts, of_file, {}, {})
    error = SettingError(*rest, message) if kind is SettingError else kind(message, *rest)
    error._parts, error._of_file = parts, of_file
    return error


def told(parts, of_file, names, values):
    """A message in which settings, and their values, are called as an estimator calls them."""
    return "".join(part if isinstance(part, str) else _part(part, of_file, names, values) for part in parts)


def _part(part, of_file, names, values):
    if part[0] == "index":
        return str(part[1] + of_file)  # rows of a file count from 1, those of an array from 0
    if part[0] not in ("setting", "option"):
        action, run = part
        return _ACTIONS[action].format(run=f" {run}" if run else "")
    kind, name, value = part
    # What data frames have as well is a parameter.
    of_frame = name in ("user", "item", "rating", "matrix") or (name == "duplicates" and not of_file)
    if kind == "option" and not of_frame:
        return _option(name, value, of_file)
    return _parameter(names.get(name, name), values.get(value, value))


def _option(name, value, of_file):
    """What a setting that says how to read a file is called here.

    Where it is not known to be `of_file`, an array or a data frame may be meant, of which nothing is read.
    """
    if value is None:
        return f"data_options[{name!r}]"
    value = value.split(",") if name in ("columns", "drop") else _plain(value)
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


class LehrError(Exception):
    """The base of all errors of lehr."""

    _parts, _of_file = None, False

    def renamed(self, names, values):
        """The same error with the names that settings and their values have in Python."""
        if self._parts is not None:
            self.args = (told(self._parts, self._of_file, names, values), *self.args[1:])
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
        known = self._parts is not None
        allowed = told(self._parts, self._of_file, names, values) if known else self.allowed
        return SettingError(names.get(self.field, self.field), self.value, allowed)


class DataError(LehrError, ValueError):
    """The data do not fit the model, or cannot be fitted at all."""


class OutOfMemoryError(LehrError, MemoryError):
    """It needs more memory than there is; nothing was started."""


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


class WorkerError(LehrError, RuntimeError):
    """Workers cannot be started or reached, or too many of them were lost."""


class BrokenError(LehrError, RuntimeError):
    """An internal error in lehr; please report it."""
