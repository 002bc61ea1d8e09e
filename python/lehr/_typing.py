"""Types that annotations share. Only type checkers import this."""

from __future__ import annotations

from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

__all__ = ["Floats", "Random", "Self", "Whole"]

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Random: TypeAlias = Union[int, np.integer[Any], np.random.RandomState, np.random.Generator, None]
