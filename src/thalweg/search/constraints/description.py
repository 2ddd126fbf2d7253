"""The argument `constraints`: scipy's objects, or the word that the objective returns constraint values itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np

from thalweg._common.checks import as_number, listed, shortened
from thalweg._common.constrained_objective import ConstrainedObjective, Limited, Product
from thalweg.models import Quadratic
from thalweg.search.constraints.kinds import Kinds
from thalweg.space import Space

RETURNED = "returned"
FORMS = "scipy's NonlinearConstraint or LinearConstraint, a list of them, 'returned' or a Constraints"
TYPES = {"ineq": (0.0, np.inf), "eq": (0.0, 0.0)}
"""Types of the constraints that scipy takes as dictionaries, with their sides."""


class FunctionLimits(Protocol):
    """scipy's `NonlinearConstraint`."""

    @property
    def fun(self) -> Any: ...

    @property
    def lb(self) -> Any: ...

    @property
    def ub(self) -> Any: ...


class MatrixLimits(Protocol):
    """scipy's `LinearConstraint`."""

    @property
    def A(self) -> Any: ...

    @property
    def lb(self) -> Any: ...

    @property
    def ub(self) -> Any: ...


Constraint: TypeAlias = FunctionLimits | MatrixLimits | Mapping[str, Any] | Literal["returned"]
"""One constraint; or the word that says that the objective returns constraint values."""


@dataclass(frozen=True, init=False, eq=False)
class Constraints:
    """Constraints with tolerances: scipy's objects, or "returned" if the objective returns pairs (f, g) or triples (f, g, h).

    A point is feasible if no inequality is violated by more than `tolerance`, and no equality by more than
    `equality_tolerance`.

    >>> Constraints("returned", tolerance=1e-9).returned
    True
    """

    limited: tuple[Limited, ...]
    by_vector: tuple[bool, ...]
    """True for each function that takes the vector, also where names describe the variables."""
    returned: bool
    """True if the objective must return constraint values."""
    tolerance: float
    equality_tolerance: float

    def __init__(
        self, *constraints: Constraint | Sequence[Constraint], tolerance: float = 0.0, equality_tolerance: float = 1e-6
    ) -> None:
        parts = [part for each in constraints for part in _flat(each)]
        own = [part for part in parts if not (isinstance(part, str) and part == RETURNED)]
        read = [_limited(part, i, len(own)) for i, part in enumerate(own)]
        fields = {
            "limited": tuple(limited for limited, _ in read),
            "by_vector": tuple(by_vector for _, by_vector in read),
            "returned": len(own) < len(parts),
            "tolerance": _tolerance(tolerance, "tolerance"),
            "equality_tolerance": _tolerance(equality_tolerance, "equality_tolerance"),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(cls, given: Any) -> "Constraints":
        """Return the constraints of a user's argument; None has none beyond those that the objective returns."""
        if isinstance(given, Constraints):
            return given
        return cls() if given is None else cls(given)

    def check(self, model: Quadratic | None, d: int) -> None:
        """Raise a ValueError if there is a model, or a matrix for another number of coordinates than d."""
        self.check_model(model)
        for each in self.limited:
            if isinstance(each.fun, Product) and each.fun.A.shape[1] != d:
                columns = each.fun.A.shape[1]
                raise ValueError(f"constraints: a LinearConstraint has {columns} columns, but the search has {d} coordinates")

    def check_model(self, model: Quadratic | None, kinds: Kinds | None = None) -> None:
        """Raise a ValueError if there are constraints, here or of these kinds told, and a model."""
        if model is not None and (self.limited or self.returned or kinds is not None):
            raise ValueError("model does not know constraints yet; leave model or constraints out")

    def made(self, kinds: Kinds, model: Quadratic | None) -> Kinds:
        """Return the kinds that were told, with the tolerances; raise a ValueError if there is a model."""
        self.check_model(model, kinds)
        return replace(kinds, tolerance=self.tolerance, equality_tolerance=self.equality_tolerance)

    def around(self, fun: Callable[..., Any], variables: Space | None, *, vectorized: bool) -> Callable[..., Any]:
        """Return the objective with these constraints; without any, the objective itself."""
        if not self.limited and not self.returned:
            return fun
        limited = tuple(
            each if variables is None or by_vector else each._replace(fun=variables.objective(each.fun, "plain"))
            for each, by_vector in zip(self.limited, self.by_vector, strict=True)
        )
        return ConstrainedObjective(fun, limited, vectorized, self.returned)


ConstraintsLike: TypeAlias = Constraints | Constraint | Sequence[Constraint] | None
"""Type of the argument `constraints`."""


def _flat(given: Any) -> list[Any]:
    if isinstance(given, list | tuple):
        return list(cast("Iterable[Any]", given))
    return [given]


def _limited(given: Any, index: int, number: int) -> tuple[Limited, bool]:
    """Return a constraint as a function with sides, and True if it takes the vector in any case."""
    name = "constraints" if number == 1 else f"constraints[{index}]"
    if isinstance(given, Mapping):
        return _of_dictionary(cast("Mapping[str, Any]", given), name), False
    if hasattr(given, "A") and hasattr(given, "lb") and hasattr(given, "ub"):
        A = given.A.toarray() if hasattr(given.A, "toarray") else given.A
        matrix = np.atleast_2d(np.asarray(A, float))
        if not np.all(np.isfinite(matrix)):
            raise ValueError(f"{name}: the matrix of a LinearConstraint must be finite, got {shortened(matrix.tolist())}")
        return Limited(Product(matrix), *_sides(given.lb, given.ub, name)), True
    if callable(getattr(given, "fun", None)) and hasattr(given, "lb") and hasattr(given, "ub"):
        return Limited(given.fun, *_sides(given.lb, given.ub, name)), False
    fix = "; write NonlinearConstraint(g, -inf, 0)" if callable(given) else ""
    raise TypeError(f"{name} must be {FORMS}, got {shortened(given)}{fix}")


def _of_dictionary(given: Mapping[str, Any], name: str) -> Limited:
    """Return one of the dictionaries that scipy's COBYLA and SLSQP take: `fun` at or above 0, or equal to it."""
    unknown = given.keys() - {"type", "fun", "jac", "args"}
    if unknown or given.get("type") not in TYPES or not callable(given.get("fun")):
        keys = f"'type' out of {listed(list(TYPES))}, a function 'fun', and 'args'"
        raise TypeError(f"{name} as a dictionary has {keys}, got {shortened(dict(given))}")
    fun, args = given["fun"], tuple(given.get("args", ()))
    low, high = TYPES[given["type"]]
    return Limited((lambda x: fun(x, *args)) if args else fun, np.array(low), np.array(high))


def _sides(lb: Any, ub: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        low, high = np.asarray(lb, float), np.asarray(ub, float)
        np.broadcast_shapes(low.shape, high.shape)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: lb and ub must be numbers of one shape, got {shortened(lb)} and {shortened(ub)}") from None
    if (
        np.any(np.isnan(low))
        or np.any(np.isnan(high))
        or np.any(low > high)
        or np.any(low == np.inf)
        or np.any(high == -np.inf)
    ):
        raise ValueError(f"{name}: lb must not be above ub, nor either NaN, got {shortened(lb)} and {shortened(ub)}")
    if not np.any(np.isfinite(low)) and not np.any(np.isfinite(high)):
        raise ValueError(f"{name}: lb and ub are both infinite, so that nothing is constrained; leave the constraint out")
    return low, high


def _tolerance(value: Any, name: str) -> float:
    number = as_number(value, name)
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be 0 or above and finite, got {number:g}")
    return number
