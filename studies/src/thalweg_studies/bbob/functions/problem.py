"""BBOB problems as arrays of the same shapes for all 24 functions."""

from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import Any, NamedTuple

import jax
import numpy as np

from thalweg._common.checks import shortened
from thalweg_studies.bbob.functions import instances, peaks
from thalweg_studies.bbob.functions.transforms import rosenbrock_scale

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
"""The names of the functions by number."""

SHARED_SEEDS = {4: 3, 18: 17}
"""Functions that draw their instances with another function's seed."""

LARGEST_INSTANCE = 200_000
"""The limit for instance numbers: larger ones would exceed the generator's largest seed, 2^31 - 2."""

SCHWEFEL_ARGMIN = 4.2096874637
"""The maximiser of x sin(sqrt |x|) on [-500, 500], divided by 100, with COCO's digits; the exact value is 4.209687463600."""

LUNACEK_ARGMIN = 2.5


class BBOBProblem(NamedTuple):
    """One problem of the suite, or several of one dimension stacked along a leading axis for `jax.vmap`."""

    function: Any
    """The number of the function, 1 to 24."""

    x_opt: Any
    """The minimiser (d,)."""

    f_opt: Any
    """The minimal value."""

    R: Any
    """The first rotation (d, d), drawn with the problem's seed + 10^6; the identity where unused."""

    Q: Any
    """The second rotation (d, d), drawn with the problem's seed; the identity where unused."""

    peaks: Any
    """The local minima (101, d) of f21 and f22 in rotated coordinates; zeros for other functions."""

    peak_scales: Any
    """The diagonals (101, d) of the inverse covariance matrices of the peaks."""

    peak_heights: Any
    """The heights (101,) of the peaks; 0 for padding."""


def make_problem(function: int, instance: int, d: int) -> BBOBProblem:
    """Return an instance of one of the 24 functions in d dimensions, numbered as in COCO's `bbob` suite.

    >>> problem = make_problem(function=8, instance=1, d=5)
    >>> problem.x_opt.shape, float(problem.f_opt)
    ((5,), 149.15)
    """
    function = as_integer(function, "function", 1, 24)
    instance = as_integer(instance, "instance", 1, LARGEST_INSTANCE)
    d = as_integer(d, "d", 2)
    seed = SHARED_SEEDS.get(function, function) + 10_000 * instance
    gallagher = peaks.draw_peaks(function, d, seed) if function in peaks.LAYOUTS else peaks.no_peaks(d)
    return BBOBProblem(
        np.array(function, np.int32),
        OPTIMA.get(function, instances.optimum)(d, seed),
        np.array(instances.optimal_value(seed)),
        instances.rotation(d, seed + 1_000_000) if function in USING_R else np.eye(d),
        instances.rotation(d, seed) if function in USING_Q else np.eye(d),
        gallagher.centres,
        gallagher.scales,
        gallagher.heights,
    )


def make_problems(functions: Iterable[int], instances: Iterable[int], d: int) -> BBOBProblem:
    """Return all instances of the first function, then all of the second and so on, stacked along a leading axis.

    >>> problems = make_problems(functions=[1, 8], instances=[1, 2, 3], d=5)
    >>> problems.function.tolist(), problems.x_opt.shape
    ([1, 1, 1, 8, 8, 8], (6, 5))
    """
    wanted = list(instances)
    made = [make_problem(function, instance, d) for function in functions for instance in wanted]
    if not made:
        raise ValueError("functions and instances must not be empty; pass functions=[1], instances=[1], for example")
    return jax.tree.map(lambda *parts: np.stack(parts), *made)


def as_integer(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return an int within the limits; floats such as 1.0 are refused as well, as they tend to be a mistake here."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {shortened(value)}; pass {least}, for example") from None
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limits}, got {number}")
    return number


def rotated_rosenbrock_optimum(d: int, seed: int) -> np.ndarray:
    """Return the x with z = c Q x + 1/2 = (1, ..., 1), Rosenbrock's minimiser; c is `rosenbrock_scale`."""
    return instances.rotation(d, seed).sum(0) / (2 * rosenbrock_scale(d))


OPTIMA: Mapping[int, Callable[[int, int], np.ndarray]] = {
    4: lambda d, seed: np.where(np.arange(d) % 2 == 0, np.abs(instances.optimum(d, seed)), instances.optimum(d, seed)),
    5: lambda d, seed: 5 * np.sign(instances.optimum(d, seed)),
    8: lambda d, seed: 0.75 * instances.optimum(d, seed),
    9: rotated_rosenbrock_optimum,
    12: lambda d, seed: instances.optimum(d, seed + 1_000_000),
    19: rotated_rosenbrock_optimum,
    20: lambda d, seed: np.where(instances.uniform(d, seed) < 0.5, -0.5, 0.5) * SCHWEFEL_ARGMIN,
    21: lambda d, seed: peaks.global_peak(21, d, seed),
    22: lambda d, seed: peaks.global_peak(22, d, seed),
    24: lambda d, seed: np.where(instances.gauss(d, seed) < 0, -0.5, 0.5) * LUNACEK_ARGMIN,
}
"""Functions of d and seed that return the optimum, by number; all others use `instances.optimum`."""

USING_R = frozenset({6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 23, 24})
USING_Q = frozenset({6, 7, 9, 13, 15, 16, 17, 18, 19, 21, 22, 23, 24})
"""The functions that use the rotations R and Q."""
