"""What `verbose` shows while a fit runs: scikit-learn's lines on stdout, or a line of progress on stderr."""

import sys

from ._topics import perplexity_of

class Passes:
    """The lines of scikit-learn's LDA: one for each pass over the documents, with the perplexity if it is evaluated.

    Parameters
    ----------
    max_iter : int
        How many passes there are.
    in_a_pass : int
        Steps of a pass.
    every : int
        Passes between evaluations; 0 if there are none.
    words : float
        The words that a perplexity is per.
    """

    def __init__(self, max_iter, in_a_pass, every, words):
        self.max_iter, self.in_a_pass, self.every, self.words = max_iter, in_a_pass, every, words
        self.last = 0

    def begins(self, steps, n_init):
        """The fit starts."""

    def stage(self, line):
        """Another start, or a search."""
        print(line)

    def stepped(self, step, pass_ends):
        """An update was made."""
        n_passes = step // self.in_a_pass
        evaluated = self.every and n_passes % self.every == 0
        # A search reports its best state again after each of its fits.
        if pass_ends and not evaluated and step != self.last:
            print(f"iteration: {n_passes} of max_iter: {self.max_iter}")
            self.last = step

    def observed(self, step, bound, closing, **_):
        """The bound was evaluated."""
        n_passes, rest = divmod(step, self.in_a_pass)
        if step and self.every and not (closing or rest or n_passes % self.every):
            perplexity = perplexity_of(bound, self.words)
            print(f"iteration: {n_passes} of max_iter: {self.max_iter}, perplexity: {perplexity:.4f}")

    def ends(self, stop):
        """The fit has ended."""


class Starts:
    """The lines of scikit-learn's mixtures: each start, every N passes, and whether it converged.

    Parameters
    ----------
    verbose : int
        1, or more for times and bounds as well.
    interval : int
        Passes between lines.
    in_a_pass : int
        Steps of a pass.
    tol : float
        The change at which a fit has converged; None if that is not decided by the last one alone.
    """

    def __init__(self, verbose, interval, in_a_pass, tol):
        self.more, self.interval, self.in_a_pass, self.tol = verbose > 1, interval, in_a_pass, tol
        self.start, self.step, self.steps = None, 0, 0

    def begins(self, steps, n_init):
        """The fit starts."""
        self.steps = steps

    def stage(self, line):
        """Another start, which is reported below, or a search."""
        if line.startswith("search"):
            print(line)

    def stepped(self, step, pass_ends):
        """An update was made."""

    def observed(self, restart, step, seconds, bound, **_):
        """The bound was evaluated."""
        if restart != self.start:
            if self.start is not None:
                self._over(self._has_converged())
            print(f"Initialization {restart}")
            self.start, self.began, self.line, self.bound, self.change = restart, seconds, seconds, bound, float("inf")
        n_passes, rest = divmod(step, self.in_a_pass)
        if step and step != self.step:
            self.change = bound - self.bound
            if not rest and n_passes % self.interval == 0:
                lapse, self.line = seconds - self.line, seconds
                more = f"\t time lapse {lapse:.5f}s\t ll change {self.change:.5f}" if self.more else ""
                print(f"  Iteration {n_passes}{more}")
        self.step, self.bound, self.seconds = step, bound, seconds

    def _has_converged(self):
        return self.step < self.steps if self.tol is None else abs(self.change) <= self.tol

    def _over(self, converged):
        if not self.steps:
            return
        told = f"Initialization {'converged' if converged else 'did not converge'}."
        more = f" time lapse {self.seconds - self.began:.5f}s\t lower bound {self.bound:.5f}." if self.more else ""
        print(told + more)

    def ends(self, stop):
        """The fit has ended."""
        if self.start is not None:
            self._over(stop not in ("time", "interrupted") and self._has_converged())


class Bar:
    """One line of progress on stderr; with `verbose` above 1, a line for every evaluation of the bound."""

    def __init__(self, verbose):
        self.lines, self.shown, self.steps, self.n_init = verbose > 1, False, 0, 1

    def begins(self, steps, n_init):
        """The fit starts."""
        self.steps, self.n_init = steps, n_init

    def stage(self, line):
        """Another start, which every line has."""

    def stepped(self, step, pass_ends):
        """An update was made."""
        if not self.lines:
            self._show(step, "")

    def observed(self, restart, step, seconds, bound, heldout, **_):
        """The bound was evaluated."""
        text = f"  bound {bound:.8g}" + ("" if heldout is None else f"  held out {heldout:.6g}") + f"  {seconds:.1f} s"
        if self.n_init > 1:
            text = f"  start {restart + 1}/{self.n_init}" + text
        if self.lines:
            print(f"lehr: step {step}/{self.steps}{text}", file=sys.stderr)
        else:
            self._show(step, text)

    def _show(self, step, text):
        done = min(step / max(self.steps, 1), 1.0)
        bar = "#" * round(20 * done)
        print(f"\r\x1b[Klehr: [{bar:<20}] {step}/{self.steps}{text}", end="", file=sys.stderr, flush=True)
        self.shown = True

    def ends(self, stop):
        """The fit has ended."""
        if self.shown:
            print(file=sys.stderr)
