"""What of a class the reference shows: methods of lehr's own, not those that it has from other packages."""

import inspect


def skipped(app, what, name, found, skip, options):
    """Whether a member is left out; None leaves it to Sphinx."""
    if name.startswith("_"):
        return True
    function = inspect.unwrap(found.fget if isinstance(found, property) else found) if callable(found) or isinstance(found, property) else None
    home = getattr(getattr(function, "__func__", function), "__module__", None)
    if home is not None and not home.startswith("lehr"):
        return True
    return None


def setup(app):
    """Connect it."""
    app.connect("autodoc-skip-member", skipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
