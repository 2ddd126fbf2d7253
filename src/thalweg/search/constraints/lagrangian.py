"""Augmented Lagrangian: the strategy learns from it instead of the objective, docs/math.md (51) to (55).

All that it needs is fitted to recent evaluations in the standard coordinates of the search distribution: values and gradients
of the constraints, the gradient of the objective and the curvature of the Lagrangian. No point is evaluated for that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg.search.constraints.kinds import Kinds
from thalweg.search.constraints.local_fit import Design
from thalweg.search.constraints.settled import Settled

Array = np.ndarray

CLOSE = 3.0
"""Standard deviations within which a constraint counts as near; only those get a multiplier, (53)."""
HOLD = 2.0
"""Factor up to which a penalty may differ from its target without moving: the strategy has to follow each change, (54)."""
CHANGE = 0.3
"""Largest change of the logarithm of a penalty in a generation, (54)."""
FORGET = 0.8
"""Factor of the multipliers of constraints that are not near, (53)."""
WANTED = 0.3
"""Share of feasible points in a generation that the shift aims at, (55)."""
RATE = 0.3
"""Change of the shift for each unit of the share, (55)."""
FARTHEST = 3.0
"""Largest shift, (55)."""
UNEVEN = 0.3
"""Curvature for each standard deviation of the residuals, times the root of d: the fit sees but one curvature, (51)."""
NOISE = 1e3
"""Curvature below which it is taken for rounding, in units of the spacing of the values, (54)."""
LONGEST = 200
"""Largest number of evaluations that the fits take, unless two generations have more: they cost its cube."""

STATE = ("multipliers", "penalties", "sizes", "shift", "y", "f", "c")
"""Arrays of the state, which checkpoints hold."""


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """The state: multipliers, penalties and shift, and the last evaluations. `learn` returns the next state."""

    kinds: Kinds
    capacity: int
    """Number of evaluations that are remembered."""
    multipliers: Array
    penalties: Array
    """0 until a constraint has been near."""
    sizes: Array
    """Standard deviation of each constraint over the search distribution."""
    shift: Array
    """Number of standard deviations by which inequalities are tightened, ()."""
    y: Array
    """The last points, (k, d), in R^d."""
    f: Array
    c: Array
    """Their constraint values, (k, m)."""

    @classmethod
    def start(cls, kinds: Kinds, d: int, popsize: int) -> "Lagrangian":
        """Return the state before the first generation."""
        capacity = max(2 * popsize, min(3 * d + popsize, LONGEST))
        zeros = np.zeros(kinds.number)
        return cls(
            kinds, capacity, zeros, zeros, zeros, np.zeros(()), np.empty((0, d)), np.empty(0), np.empty((0, kinds.number))
        )

    def values(self, f: Array, c: Array) -> Array:
        """Return the values of the Lagrangian, (52), for points with values f and constraint values c."""
        c = c + self.margins
        slope = self.multipliers + self.penalties * c
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(self.penalties > 0, -(self.multipliers**2) / (2 * self.penalties), 0.0)
        curved = self.multipliers * c + self.penalties * c**2 / 2
        terms = np.where(self.kinds.equal | (slope > 0), curved, rest)
        return f + np.where(np.isnan(c), np.nan, terms).sum(axis=1)

    @property
    def margins(self) -> Array:
        """The amounts by which the rows are tightened, (55)."""
        return np.where(self.kinds.equal, 0.0, self.shift * self.sizes)

    def learn(
        self, y: Array, f: Array, c: Array, invert: Callable[[Array], Array], settled: Settled | None = None
    ) -> "Lagrangian":
        """Return the state after a generation; `invert` maps `capacity` points of R^d to their standard coordinates."""
        known = np.isfinite(f) & np.isfinite(c).all(axis=1)
        if not np.any(known):
            return self
        remembered = self._remember(y[known], f[known], c[known])

        def standard(y: Array) -> Array:
            padding = np.tile(y[-1:], (max(self.capacity - len(y), 0), 1))
            return np.asarray(invert(np.concatenate([y, padding])))[: len(y)]

        e, taken = standard(remembered.y), None
        if settled is not None:
            e, taken = settled.reduce(remembered.y, e, standard)
        design = Design(e, taken)
        enough = taken is None or design.shape[0] > design.shape[1] + 1
        adapted = remembered._adapted(design) if enough else remembered
        inside = self.kinds.violation(np.where(self.kinds.equal, 0.0, c[known])) == 0
        return adapted._shifted(float(np.mean(inside)))

    def _remember(self, y: Array, f: Array, c: Array) -> "Lagrangian":
        old, n = (self.y, self.f, self.c), self.capacity
        y, f, c = (np.concatenate(pair)[-n:] for pair in zip(old, (y, f, c), strict=True))
        return replace(self, y=y, f=f, c=c)

    def _adapted(self, design: Design) -> "Lagrangian":
        """Return the state with multipliers and penalties that fit the last evaluations."""
        middle, gradients = design.planes(self.c)
        sizes = np.linalg.norm(gradients, axis=1)
        now = replace(self, sizes=sizes)
        middle = middle + now.margins
        values = now.values(self.f, self.c)
        bowl = design.bowl(values)
        k, d = design.shape
        floor = NOISE * np.finfo(float).eps * float(np.abs(self.f).max())
        if k < 2 * d + 4:  # the fit passes through all points
            floor = max(floor, float(values.std()) / d)
        curvature = max(bowl.curvature, UNEVEN * bowl.residual / np.sqrt(d), floor)
        near = (sizes > 0) & (self.kinds.equal | (middle > -CLOSE * sizes)) & np.isfinite(middle)
        if not np.any(near) or not np.isfinite(curvature):
            return replace(now, multipliers=np.where(near, self.multipliers, FORGET * self.multipliers))
        steepest = bowl.gradient - self._slopes(middle, sizes) @ gradients
        multipliers = FORGET * self.multipliers
        multipliers[near] = _balanced(
            steepest, gradients[near] / sizes[near, None], self.multipliers[near] * sizes[near], self.kinds.equal[near]
        )
        multipliers[near] /= sizes[near]
        return replace(now, multipliers=multipliers, penalties=self._penalised(curvature, middle, sizes, near))

    def _slopes(self, middle: Array, sizes: Array) -> Array:
        """Return the mean derivative of each constraint's term over the search distribution, (53)."""
        from scipy.special import ndtr

        straight, width = self.multipliers + self.penalties * middle, self.penalties * sizes
        z = np.clip(straight / np.where(width > 0, width, 1.0), -30.0, 30.0)
        bent = width * (z * ndtr(z) + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
        bent = np.where((width > 0) & (np.abs(z) < 30), bent, np.maximum(straight, 0.0))
        return np.where(self.kinds.equal, straight, bent)

    def _penalised(self, curvature: float, middle: Array, sizes: Array, near: Array) -> Array:
        """Return penalties a step closer to those with which constraints are as curved as the Lagrangian, (54)."""
        size = np.where(near, sizes, 1.0)
        outside = np.where(self.kinds.equal, np.abs(middle), middle) / size
        target = curvature / size**2 * np.maximum(1.0, outside) ** 2
        old = self.penalties
        ratio = np.log(target / np.where(old > 0, old, 1.0))
        step = np.where(np.abs(ratio) > np.log(HOLD), np.clip(ratio, -CHANGE, CHANGE), 0.0)
        return np.where(near, np.where(old > 0, old * np.exp(step), target), old)

    def _shifted(self, feasible: float) -> "Lagrangian":
        """Return the state with a shift that depends on the share of feasible points, (55)."""
        shift = np.clip(self.shift + RATE * (WANTED - feasible), 0.0, FARTHEST)
        return replace(self, shift=np.asarray(shift))

    def arrays(self) -> dict[str, Array]:
        """Return the state as arrays, by name."""
        return {name: np.asarray(getattr(self, name)) for name in STATE}

    def restored(self, arrays: Mapping[str, Any]) -> "Lagrangian":
        """Return the state that `arrays` has returned; raise a ValueError if it does not fit."""
        ours = self.arrays()
        if arrays.keys() != ours.keys():
            raise ValueError(f"its constraints have the arrays {sorted(arrays)}, here {sorted(ours)}")
        k = len(arrays["f"]) if np.ndim(arrays["f"]) == 1 else -1
        for name, array in arrays.items():
            wanted = (k, *ours[name].shape[1:]) if name in ("y", "f", "c") else ours[name].shape
            if array.dtype != ours[name].dtype or array.shape != wanted or k > self.capacity:
                raise ValueError(f"{name} of its constraints has shape {array.shape}, here {wanted}")
        return replace(self, **arrays)


def _balanced(gradient: Array, normals: Array, present: Array, equal: Array) -> Array:
    """Return the multipliers that balance the gradient, those of inequalities not negative, and stay near the present, (53)."""
    from scipy.optimize import nnls

    signed = np.concatenate([normals, -normals[equal]])
    start = np.concatenate([np.where(equal, np.maximum(present, 0.0), present), np.maximum(-present[equal], 0.0)])
    system = np.concatenate([signed.T, np.eye(len(signed))])
    try:
        found = nnls(system, np.concatenate([-gradient, start]))[0]
    except RuntimeError:  # too many iterations
        return present
    both = found[: len(normals)]
    both[equal] -= found[len(normals) :]
    return both
