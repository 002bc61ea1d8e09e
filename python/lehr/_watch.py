"""Reports a running fit to what shows its progress and to scikit-learn's callbacks."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import sklearn

if TYPE_CHECKING:
    Method = TypeVar("Method")

    class CallbackSupportMixin:
        """What scikit-learn's has."""

        def set_callbacks(self, *callbacks: Any) -> Any: ...

    def with_callbacks(method: Method) -> Method: ...

else:
    try:  # since scikit-learn 1.9
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:

        class CallbackSupportMixin:
            """Stands in for scikit-learn's, which has no callbacks before 1.9."""

        def with_callbacks(method):
            """Leaves a method as it is."""
            return method


_WITHIN = tuple(os.path.dirname(module.__file__) + os.sep for module in (sklearn, sys.modules[__package__]))


def level_of_caller():
    """The `stacklevel` that makes a warning point at the line that has called us, or scikit-learn with us in it."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_WITHIN):
        level, frame = level + 1, frame.f_back
    return level


class EnoughSteps(Exception):
    """A callback asks for the end of the fit."""


class Watch:
    """Is notified of a running fit: how long it is, every step or so, every evaluation of the bound.

    Parameters
    ----------
    estimator : object
        The estimator that is being fitted.
    X : object
        Its data, for callbacks.
    printer : object or None
        What shows the progress of it, if that is wanted.
    """

    def __init__(self, estimator, X, printer):
        self.estimator, self.X, self.printer = estimator, X, printer
        self.callbacks = bool(getattr(estimator, "_skl_callbacks", None))
        self.context = None

    @property
    def wanted(self):
        """This, if the fit is to be reported; else None."""
        return self if self.printer or self.callbacks else None

    def __call__(self, what, facts):
        if self.printer:
            getattr(self.printer, what)(**facts)
        if self.callbacks and what == "begins":
            self.context = self.estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)
        elif self.callbacks and what == "observed" and facts["step"] > 0:
            self._call(facts)

    def _call(self, facts):
        """Reports an evaluation of the bound to callbacks."""
        task = self.context.subcontext(task_name="step")
        task.call_on_fit_task_begin(estimator=self.estimator, X=self.X, metadata=facts)
        if task.call_on_fit_task_end(estimator=self.estimator, X=self.X, metadata=facts):
            raise EnoughSteps

    def ends(self, stop):
        """The fit has ended, and why, if there is a model."""
        if self.printer:
            self.printer.ends(stop)
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator, X=self.X, reconstruction_attributes={})
