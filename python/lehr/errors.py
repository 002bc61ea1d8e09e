"""What can go wrong: one base class, and a class for each kind of mistake that is a built-in error as well."""


class LehrError(Exception):
    """The base of all errors of lehr."""


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

    def renamed(self, names):
        """The same error with the setting's name in Python."""
        return SettingError(names.get(self.field, self.field), self.value, self.allowed)


class DataError(LehrError, ValueError):
    """The data do not fit the model, or cannot be fitted at all."""


class FormatError(LehrError, ValueError):
    """A file does not hold what its format promises."""


class DivergedError(LehrError, ArithmeticError):
    """The bound is no number any more; the data are too extreme."""


class RunError(LehrError, RuntimeError):
    """A run directory cannot be used."""


class MissingRunError(RunError, FileNotFoundError):
    """There is no such run directory."""

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
