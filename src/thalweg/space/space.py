"""`Space`: the variables of an objective, by name."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import jax
import numpy as np

from thalweg._common.checks import as_array, listed, shortened
from thalweg._common.mapping_objective import Form, MappingObjective, as_plain
from thalweg._common.types import ArrayLike
from thalweg.space.space_map import SpaceMap
from thalweg.space.start import first_steps, make_scaled_space, middle
from thalweg.space.variables import CATEGORICAL, Fixed, Integer, Real, Variable


class Space:
    """The variables of an objective. `minimize(fun, space)` calls fun with a mapping of their names to plain values.

    >>> space = Space(rate=Real(1e-5, 1e-1, log=True), width=Integer(8, 512, log=True), gamma=Fixed(0.99))
    >>> space.point(space.x0)
    {'rate': 0.001, 'width': 62, 'gamma': 0.99}

    Variables come by keyword, as a mapping, or without names as a sequence; then fun gets the vector of their values, as it
    does with `space.as_vector()`. Ranges give the start (their middle) and the first standard deviations (0.3 times their
    width); a variable can have its own `x0` and `sigma0`. A space is a pytree: `map` has its arrays and the map from R^d.
    """

    def __init__(self, variables: Mapping[str, Variable] | Sequence[Variable] | None = None, /, **named: Variable) -> None:
        if variables is None or isinstance(variables, Mapping):
            both = (variables or {}).keys() & named.keys()
            if both:
                raise ValueError(f"variables have each name once, got {listed(sorted(both))} twice")
            described: dict[Any, Any] = {**(variables or {}), **named}
            self.names: tuple[str, ...] | None = tuple(_as_name(name) for name in described)
            given = tuple(described.values())
        else:
            if named or isinstance(variables, str | bytes) or not isinstance(cast("Any", variables), Sequence):
                ways = "by keyword, as a mapping of names or as a list without names"
                raise TypeError(f"variables must come {ways}, got {shortened(variables)}")
            self.names, given = None, tuple(variables)
        if not given:
            raise ValueError("a Space needs variables, such as Space(rate=Real(1e-5, 1e-1, log=True))")
        labels = self.names or tuple(f"variable {i}" for i in range(len(given)))
        self.variables: tuple[Variable, ...] = tuple(_as_variable(each, name) for each, name in zip(given, labels, strict=True))
        if all(isinstance(each, Fixed) for each in self.variables):
            raise ValueError("all variables of the Space are Fixed, so that nothing is left to search")
        self.vector = self.names is None
        """True if the objective takes the vector of values instead of a mapping."""

    def as_vector(self) -> "Space":
        """Return the same space for an objective that takes the vector of values."""
        return Space._made(self.variables, self.names, vector=True)

    @classmethod
    def of_arrays(
        cls,
        names: Sequence[str] | None,
        x0: Sequence[float],
        sigma0: Sequence[float],
        bounds: Sequence[Sequence[float | None]],
        log: Sequence[int],
        integers: Sequence[int],
        *,
        vector: bool,
    ) -> "Space":
        """Return a space from a number for each variable; equal bounds are a fixed value."""
        variables: list[Variable] = []
        for i, (low, high) in enumerate(bounds):
            if low is not None and low == high:
                variables.append(Fixed(int(low) if i in integers else low))
                continue
            kind: Any = Integer if i in integers else Real
            variables.append(kind(low, high, i in log, x0[i], sigma0[i]))
        return cls._made(tuple(variables), None if names is None else tuple(names), vector=vector)

    def objective(self, fun: Callable[..., Any], form: Form = "plain") -> Callable[..., Any]:
        """Return a function of a vector that calls `fun` as this space says: with a mapping, or as it is.

        The mapping has Python's numbers; with `form="columns"` the function takes a generation, and the mapping has columns of
        it; with `form="traced"` JAX may trace the function.
        """
        if self.vector or self.names is None or not callable(fun):
            return fun
        return MappingObjective(fun, self.names, tuple(self.integers), form)

    def point(self, x: ArrayLike) -> dict[str, Any]:
        """Return a vector as a mapping of names to Python's floats and ints; without names these are x0, x1, ..."""
        values = as_array(x, "x")
        if values.shape != (self.d,):
            raise ValueError(f"x must have one number for each of the {self.d} variables, got shape {values.shape}")
        names = self.names or tuple(f"x{i}" for i in range(self.d))
        for name, value, whole in zip(names, values.tolist(), self.integers, strict=True):
            if not np.isfinite(value) or (whole and value != round(value)):
                raise ValueError(f"x must have a {'whole' if whole else 'finite'} number for {name!r}, got {value!r}")
        return dict(zip(names, as_plain(values, self.integers), strict=True))

    def vector_of(self, point: Mapping[str, Any]) -> np.ndarray:
        """Return a mapping of names to values as a vector; fixed variables may be missing."""
        names = self.names or tuple(f"x{i}" for i in range(self.d))
        if not isinstance(cast("Any", point), Mapping):
            raise TypeError(f"point must be a mapping of names to values, got {shortened(point)}")
        if strange := point.keys() - set(names):
            raise ValueError(f"point has {listed(sorted(map(str, strange)))}, but the variables are {listed(names)}")
        values: list[Any] = []
        for name, each in zip(names, self.variables, strict=True):
            if name not in point and not isinstance(each, Fixed):
                raise ValueError(f"point must have a value of {name!r}")
            values.append(each.value if isinstance(each, Fixed) and name not in point else point[name])
        return as_array(values, "point")

    @property
    def d(self) -> int:
        """The number of variables, with those that are fixed."""
        return len(self.variables)

    @property
    def bounds(self) -> list[tuple[float | None, float | None]]:
        """A pair (low, high) for each variable; equal for a fixed one."""
        return [(v.value, v.value) if isinstance(v, Fixed) else (v.low, v.high) for v in self.variables]

    @property
    def log(self) -> list[bool]:
        """True for each variable that is searched by its logarithm."""
        return [not isinstance(each, Fixed) and each.log for each in self.variables]

    @property
    def integers(self) -> list[bool]:
        """True for each variable that takes whole numbers alone."""
        return [
            isinstance(each, Integer) or (isinstance(each, Fixed) and isinstance(each.value, int)) for each in self.variables
        ]

    @property
    def x0(self) -> np.ndarray:
        """The start, as a vector."""
        start = middle(self.bounds, self.sigma0, log=self.log, integers=self.integers)
        own = [None if isinstance(each, Fixed) else each.x0 for each in self.variables]
        return np.array([value if given is None else given for value, given in zip(start.tolist(), own, strict=True)], float)

    @property
    def sigma0(self) -> list[float]:
        """The first standard deviation of each variable, of a fixed one 1."""
        own = [None if isinstance(each, Fixed) else each.sigma0 for each in self.variables]
        found = iter(first_steps(self.bounds, own, log=self.log, integers=self.integers).tolist())
        return [1.0 if isinstance(each, Fixed) else next(found) for each in self.variables]

    @property
    def steps(self) -> float | list[float]:
        """The argument `sigma0` of a search: one number if all variables have the same, as then none needs a unit."""
        different = {step for step, each in zip(self.sigma0, self.variables, strict=True) if not isinstance(each, Fixed)}
        return different.pop() if len(different) == 1 else self.sigma0

    @cached_property
    def map(self) -> SpaceMap:
        """The map between R^d and the vector of values."""
        return make_scaled_space(self.bounds, self.d, self.steps, log=self.log, integers=self.integers)[0]

    def __repr__(self) -> str:
        if self.names is None:
            return f"Space({list(self.variables)})"
        named = dict(zip(self.names, self.variables, strict=True))
        words = all(name.isidentifier() for name in self.names)
        text = ", ".join(f"{name}={each!r}" for name, each in named.items()) if words else repr(named)
        return f"Space({text})" + (".as_vector()" if self.vector else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._description == other._description

    def __hash__(self) -> int:
        return hash(self._description)

    @property
    def _description(self) -> tuple[Any, ...]:
        return self.variables, self.names, self.vector, tuple(self.integers)  # Fixed(1) and Fixed(1.0) are equal, but differ

    @classmethod
    def _made(cls, variables: tuple[Variable, ...], names: tuple[str, ...] | None, *, vector: bool) -> "Space":
        made = cls(dict(zip(names, variables, strict=True)) if names else list(variables))
        made.vector = vector
        return made


def _flatten(space: Space) -> tuple[tuple[SpaceMap], tuple[Any, ...]]:
    return (space.map,), space._description  # pyright: ignore[reportPrivateUsage]


def _unflatten(description: tuple[Any, ...], children: tuple[SpaceMap]) -> Space:
    space = object.__new__(Space)  # children may be tracers, and need no checks
    space.variables, space.names, space.vector, _ = description
    space.__dict__["map"] = children[0]
    return space


jax.tree_util.register_pytree_node(Space, _flatten, _unflatten)


def _as_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"names of variables must be words, got {shortened(name)}")
    return name


def _as_variable(given: Any, name: str) -> Variable:
    if isinstance(given, Real | Integer | Fixed):
        return given
    parts: list[Any] = list(cast("tuple[Any, ...]", given)) if isinstance(given, tuple) else []
    pair = len(parts) == 2 and all(_is_number(part) for part in parts)
    choices = isinstance(given, str | bytes | bool | np.bool_ | list | set | frozenset | tuple) and not pair
    # Optuna's CategoricalDistribution, scikit-optimize's Categorical, nevergrad's Choice
    if choices or any(word in type(given).__name__ for word in ("Categorical", "Choice")):
        raise TypeError(f"{name} = {shortened(given)} {CATEGORICAL}")
    fix = f"Real({parts[0]}, {parts[1]})" if pair else f"Fixed({given})" if _is_number(given) else "Real(0, 1), for example"
    raise TypeError(f"{name} must be a Real, an Integer or a Fixed, got {shortened(given)}; write {fix}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
