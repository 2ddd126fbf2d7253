"""Types of what users pass, where a name says more than a union."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsFloat

from numpy.typing import ArrayLike

__all__ = ["ArrayLike", "Points", "Rows", "Values"]

Points = ArrayLike | Sequence[Mapping[str, Any]]
"""Points (n, d); or mappings of the names of a `Space`."""

Rows = ArrayLike | None
"""Constraint values (n, m), a row for each point; None for none."""

Values = Iterable[SupportsFloat | None]
"""A value for each point; NaN or None marks a failure."""
