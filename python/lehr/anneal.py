"""Annealing weights for the stochastic gradients of any program.

SVI+ gives the examples of a batch random weights with mean 1, so that their weighted sum is as noisy as that of
a smaller batch. Nothing in that is about variational inference: the weights of this module can be multiplied
with the losses of the examples of any mini-batch, in PyTorch, JAX or numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _lehr
from ._settings import flag, real, seed_of, whole
from .errors import SettingError

if TYPE_CHECKING:
    from ._typing import Floats, Random

__all__ = ["LAWS", "LossWeights", "weights"]

#: The distributions that weights can have.
LAWS = tuple(_lehr.LAWS)


@overload
def weights(
    n: int, effective: float, rng: Random = None, law: str = "gaussian", *, corrected: bool = True, like: None = None
) -> Floats: ...
@overload
def weights(
    n: int, effective: float, rng: Random = None, law: str = "gaussian", *, corrected: bool = True, like: Any
) -> Any: ...
def weights(
    n: int, effective: float, rng: Random = None, law: str = "gaussian", *, corrected: bool = True, like: Any = None
) -> Any:
    """Draw annealing weights for the examples of a batch.

    Parameters
    ----------
    n : int
        How many examples the batch has.
    effective : float
        M: the weighted sum is as noisy as that of a batch of M. `n` or more is no noise.
    rng : int, numpy.random.Generator, RandomState or None, default=None
        Where randomness comes from; an int is the seed of one draw.
    law : str, default='gaussian'
        The distribution, one of `LAWS`: 'gaussian' weights can be negative, those of 'gamma' and 'subsample' cannot.
    corrected : bool, default=True
        Whether the variance has the factor n / (n - 1); False is the paper's form.
    like : array, default=None
        An array of PyTorch, JAX, CuPy or any other library that has the array API. The weights are an array of the
        same library, of the same type and on the same device. None is numpy and float64.

    Returns
    -------
    weights : ndarray of shape (n,), or an array of the library of `like`
        Weights whose mean is 1.

    Examples
    --------
    >>> from lehr.anneal import weights
    >>> w = weights(100, 25, rng=0)
    >>> bool(abs(w.mean() - 1) < 1e-12), bool(2 < w.var() < 4)
    (True, True)
    >>> weights(3, 3, rng=0)
    array([1., 1., 1.])
    """
    if not isinstance(law, str):
        raise SettingError("law", repr(law), "must be one of " + ", ".join(map(repr, LAWS)))
    n, effective, seed = whole("n", n, least=1), real("effective", effective), seed_of(rng)
    drawn = _lehr.weights(n, effective, law, flag("corrected", corrected), seed, 0)
    return drawn if like is None else _like(like, drawn)


class LossWeights:
    """Per-example loss weights for PyTorch, JAX and the like, a new draw for every step.

    Parameters
    ----------
    effective : float or callable
        M, or a function of the step (from 1) that returns it.
    law : str, default='gaussian'
        The distribution, one of `LAWS`.
    seed : int, default=0
        Two runs with the same seed have the same weights.
    corrected : bool, default=True
        See `weights`.

    Examples
    --------
    Multiply the losses of a batch, which must not be averaged yet, and average then:

    >>> import numpy as np
    >>> from lehr.anneal import LossWeights
    >>> anneal = LossWeights(effective=8, seed=1)
    >>> losses = np.ones(32)
    >>> bool(np.isclose((anneal(losses) * losses).mean(), 1.0))
    True

    With PyTorch, ``loss = (anneal(losses) * losses).mean()`` where ``losses = criterion(output, target)`` has
    ``reduction="none"``; with JAX the same, outside of what is compiled. The weights come as the same kind of
    array, of the same type and on the same device, as the losses.
    """

    def __init__(
        self, effective: float | Callable[[int], float], law: str = "gaussian", seed: int = 0, *, corrected: bool = True
    ) -> None:
        self.effective, self.law, self.seed, self.corrected = effective, law, seed, corrected
        self.step = 0

    def __call__(self, losses: Any) -> Any:
        """Weights for the examples of `losses`, an array with one dimension."""
        self.step += 1
        m = self.effective(self.step) if callable(self.effective) else self.effective
        n = int(losses.shape[0])
        drawn = _lehr.weights(
            n, real("effective", m), self.law, flag("corrected", self.corrected), whole("seed", self.seed), self.step
        )
        return _like(losses, drawn)


def _like(losses, drawn):
    """`drawn` as the same kind of array as `losses`, of its type and on its device."""
    if type(losses).__module__.split(".")[0] == "torch":
        import torch  # its tensors have no __array_namespace__

        dtype = losses.dtype if losses.dtype.is_floating_point else torch.get_default_dtype()
        return torch.as_tensor(drawn, dtype=dtype, device=losses.device)
    if hasattr(losses, "__array_namespace__"):
        library = losses.__array_namespace__()
        # Integers cannot hold weights.
        dtype = losses.dtype if library.isdtype(losses.dtype, "real floating") else None
        return library.asarray(drawn, dtype=dtype, device=losses.device)
    dtype = getattr(losses, "dtype", None)
    return np.asarray(drawn, dtype=dtype if getattr(dtype, "kind", "f") == "f" else None)
