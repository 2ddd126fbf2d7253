"""One BBOB problem as plain data: a function's number and what its instance decides, the same shapes for all 24 functions."""

from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import Any, NamedTuple

import jax
import numpy as np

from thalweg._common.checks import shortened
from thalweg.objectives.bbob import instances, peaks
from thalweg.objectives.bbob.transforms import rosenbrock_scale

names: Mapping[int, str] = {
    1: "sphere",
    2: "separable ellipsoid",
    3: "separable Rastrigin",
    4: "Büche-Rastrigin",
    5: "linear slope",
    6: "attractive sector",
    7: "step ellipsoid",
    8: "Rosenbrock",
    9: "rotated Rosenbrock",
    10: "ellipsoid",
    11: "discus",
    12: "bent cigar",
    13: "sharp ridge",
    14: "different powers",
    15: "Rastrigin",
    16: "Weierstrass",
    17: "Schaffer F7, condition 10",
    18: "Schaffer F7, condition 1000",
    19: "Griewank-Rosenbrock",
    20: "Schwefel",
    21: "Gallagher, 101 peaks",
    22: "Gallagher, 21 peaks",
    23: "Katsuura",
    24: "Lunacek bi-Rastrigin",
}
"""The functions by number."""

SHARED_SEEDS = {4: 3, 18: 17}
"""Functions that take another function's instances."""

LARGEST_INSTANCE = 200_000
"""Seeds beyond 2^31 - 2, the generator's largest, would repeat smaller ones."""

SCHWEFEL_ARGMIN = 4.2096874637
"""Where x sin(sqrt |x|) is largest on [-500, 500], divided by 100; 4.209687463600 in truth, but these are COCO's digits."""

LUNACEK_ARGMIN = 2.5


class Problem(NamedTuple):
    """A problem of the suite, or several of the same dimension stacked along a leading axis, ready for `jax.vmap`."""

    which: Any
    """The function's number, 1 to 24."""

    x_opt: Any
    """(d,): where the minimum is."""

    f_opt: Any
    """The minimum."""

    rotation: Any
    """(d, d), orthogonal: COCO's first rotation, drawn with the problem's seed + 10^6; the identity where unused."""

    other_rotation: Any
    """(d, d), orthogonal: COCO's second rotation, drawn with the problem's seed; the identity where unused."""

    peaks: Any
    """(101, d): f21's and f22's local minima in rotated coordinates, zeros elsewhere."""

    peak_scales: Any
    """(101, d): the diagonals of their inverse covariance matrices."""

    peak_heights: Any
    """(101,): 0 for a peak that is not there."""


def make_problem(function: int, instance: int, d: int) -> Problem:
    """An instance of one of the 24 functions in d dimensions, as COCO's `bbob` suite numbers them.

    >>> problem = make_problem(function=8, instance=1, d=5)
    >>> problem.x_opt.shape, float(problem.f_opt)
    ((5,), 149.15)
    """
    function = as_whole(function, "function", 1, 24)
    instance = as_whole(instance, "instance", 1, LARGEST_INSTANCE)
    d = as_whole(d, "d", 2)
    seed = SHARED_SEEDS.get(function, function) + 10_000 * instance
    bumps = peaks.peaks(function, d, seed) if function in peaks.KINDS else peaks.none(d)
    return Problem(
        np.array(function, np.int32),
        OPTIMA.get(function, instances.optimum)(d, seed),
        np.array(instances.offset(seed)),
        instances.rotation(d, seed + 1_000_000) if function in ROTATED else np.eye(d),
        instances.rotation(d, seed) if function in ROTATED_OTHERWISE else np.eye(d),
        bumps.centres,
        bumps.scales,
        bumps.heights,
    )


def make_problems(functions: Iterable[int], instances: Iterable[int], d: int) -> Problem:
    """All instances of the first function, then all of the second and so on, stacked along a leading axis.

    >>> problems = make_problems(functions=[1, 8], instances=[1, 2, 3], d=5)
    >>> problems.which.tolist(), problems.x_opt.shape
    ([1, 1, 1, 8, 8, 8], (6, 5))
    """
    wanted = list(instances)
    made = [make_problem(function, instance, d) for function in functions for instance in wanted]
    if not made:
        raise ValueError("functions and instances must each name at least one, got none; try functions=[1], instances=[1]")
    return jax.tree.map(lambda *parts: np.stack(parts), *made)


def as_whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    """An int within its limits; complain about anything else, whole floats too, as they tend to be a mistake here."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {shortened(value)}; pass {least}, say") from None
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limits}, got {number}")
    return number


def half_diagonal(d: int, seed: int) -> np.ndarray:
    """Where z = c Q x + 1/2 is (1, ..., 1), Rosenbrock's minimum; c is `rosenbrock_scale`."""
    return instances.rotation(d, seed).sum(0) / (2 * rosenbrock_scale(d))


OPTIMA: Mapping[int, Callable[[int, int], np.ndarray]] = {
    4: lambda d, seed: np.where(np.arange(d) % 2 == 0, np.abs(instances.optimum(d, seed)), instances.optimum(d, seed)),
    5: lambda d, seed: 5 * np.sign(instances.optimum(d, seed)),
    8: lambda d, seed: 0.75 * instances.optimum(d, seed),
    9: half_diagonal,
    12: lambda d, seed: instances.optimum(d, seed + 1_000_000),
    19: half_diagonal,
    20: lambda d, seed: np.where(instances.uniform(d, seed) < 0.5, -0.5, 0.5) * SCHWEFEL_ARGMIN,
    21: lambda d, seed: peaks.global_peak(21, d, seed),
    22: lambda d, seed: peaks.global_peak(22, d, seed),
    24: lambda d, seed: np.where(instances.gauss(d, seed) < 0, -0.5, 0.5) * LUNACEK_ARGMIN,
}
"""Where the functions with an optimum of their own have it; the others take `instances.optimum`."""

ROTATED = frozenset({6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 23, 24})
ROTATED_OTHERWISE = frozenset({6, 7, 9, 13, 15, 16, 17, 18, 19, 21, 22, 23, 24})
"""Which functions use which rotation."""
