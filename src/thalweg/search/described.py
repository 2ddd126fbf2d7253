"""The variables of a search as a user describes them: by arrays, or by a `Space`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg._common.checks import as_point, shortened
from thalweg.search.known import Known
from thalweg.space import Fixed, Integer, Real, Space, SpaceMap, make_scaled_space, middle
from thalweg.space.bounds import count_coordinates


@dataclass(frozen=True)
class Described:
    """Start, first standard deviations and kinds of variables."""

    x0: np.ndarray | Callable[[np.random.Generator], Any]
    sigma0: Any
    bounds: Any
    kinds: dict[str, Any]
    """Arguments of `make_scaled_space`: scale, log, integers."""
    variables: Space | None

    @classmethod
    def read(
        cls, x0: Any, sigma0: Any, bounds: Any, scale: Any, log: Any, integers: Any, known: Known | None = None
    ) -> "Described":
        """Read the arguments of `minimize`; `x0` may be a `Space`, which has all the others.

        Without a start and bounds for each coordinate it is the best of the known points.
        """
        if x0 is None and known is not None and count_coordinates(bounds) is None:
            table = known.table()
            d = table[0].shape[1]
            x0 = known.points(table, make_scaled_space(bounds, d, sigma0, scale=scale, log=log, integers=integers)[0], d).x[0]
        check_start(x0)
        if not isinstance(x0, Space):
            kinds = {"scale": scale, "log": log, "integers": integers}
            start = middle(bounds, sigma0, **kinds) if x0 is None else x0 if callable(x0) else as_point(x0)
            return cls(start, sigma0, bounds, kinds, None)
        given = {"sigma0": sigma0, "bounds": bounds, "scale": scale, "log": log, "integers": integers}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} is part of the Space; describe it there, as in Real(0, 1, sigma0=0.1)")
        return cls(x0.x0, x0.steps, x0.bounds, {"log": x0.log, "integers": x0.integers}, x0)

    def space(self, d: int) -> tuple[SpaceMap, float]:
        """Return the map of the search in d coordinates, and the first standard deviation in it."""
        return make_scaled_space(self.bounds, d, self.sigma0, **self.kinds)


def check_start(x0: Any) -> None:
    """Raise a TypeError if x0 describes variables without a `Space` around them."""
    described = isinstance(x0, Real | Integer | Fixed | Mapping)
    if described or (isinstance(x0, list | tuple) and any(isinstance(each, Real | Integer | Fixed) for each in x0)):
        raise TypeError(f"x0 describes variables, {shortened(x0)}; make it a Space, as in thalweg.Space(rate=Real(0, 1))")
