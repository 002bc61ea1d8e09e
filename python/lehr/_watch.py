"""What happens while a fit runs: a line of progress, and scikit-learn's callbacks."""

import os
import sys

import sklearn

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
    """Hears of a running fit: how long it is, every step or so, every evaluation of the bound.

    Parameters
    ----------
    estimator : object
        The estimator that is being fitted.
    X : object
        Its data, for callbacks.
    every : int
        With `verbose` above 1, a line for every so many evaluations.
    """

    def __init__(self, estimator, X, every=1):
        self.verbose = int(getattr(estimator, "verbose", 0))
        self.estimator, self.X, self.every = estimator, X, every
        self.callbacks = bool(getattr(estimator, "_skl_callbacks", None))
        self.steps, self.n_init, self.seen, self.shown = 0, 1, 0, False
        self.context, self.task = None, None

    @property
    def wanted(self):
        """This, if anybody wants to hear of the fit; else None, and nothing needs to be told."""
        return self if self.verbose or self.callbacks else None

    def __call__(self, what, facts):
        getattr(self, what)(**facts)

    def begins(self, steps, n_init):
        """The fit begins."""
        self.steps, self.n_init = steps, n_init
        if self.callbacks:
            self.context = self.estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)

    def stepped(self, step):
        """An update was made."""
        if self.verbose == 1:
            self._line(step, "")

    def observed(self, restart, step, seconds, bound, heldout):
        """The bound was evaluated."""
        text = f"  bound {bound:.8g}" + ("" if heldout is None else f"  held out {heldout:.6g}") + f"  {seconds:.1f} s"
        if self.n_init > 1:
            text = f"  start {restart + 1}/{self.n_init}" + text
        if self.verbose == 1:
            self._line(step, text)
        elif self.verbose > 1 and self.seen % self.every == 0:
            print(f"lehr: step {step}/{self.steps}{text}", file=sys.stderr)
        self.seen += 1
        if self.callbacks and step > 0:
            task = self.context.subcontext(task_name="step")
            facts = {"restart": restart, "step": step, "seconds": seconds, "bound": bound, "heldout": heldout}
            task.call_on_fit_task_begin(estimator=self.estimator, X=self.X, metadata=facts)
            if task.call_on_fit_task_end(estimator=self.estimator, X=self.X, metadata=facts):
                raise EnoughSteps

    def _line(self, step, text):
        done = min(step / max(self.steps, 1), 1.0)
        bar = "#" * round(20 * done)
        print(f"\r\x1b[Klehr: [{bar:<20}] {step}/{self.steps}{text}", end="", file=sys.stderr, flush=True)
        self.shown = True

    def ends(self):
        """The fit has ended."""
        if self.shown:
            print(file=sys.stderr)
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator, X=self.X, reconstruction_attributes={})
