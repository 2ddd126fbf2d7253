"""The random parts of a BBOB instance: optimal value, optimum and rotations, all drawn from one small generator.

The generator is that of BBOB 2009, kept by COCO so that an instance number means the same problem everywhere: Hansen, Finck,
Ros and Auger, "Real-parameter black-box optimization benchmarking 2009: noiseless functions definitions" (INRIA RR-6829), and
numbbo/coco, code-experiments/src/suite_bbob_legacy_code.c.
"""

from functools import lru_cache
from math import cos, log, pi, sqrt

import numpy as np

MODULUS = 2**31 - 1
MULTIPLIER = 16807
"""The "minimal standard" generator of Park and Miller: s <- 16807 s mod 2^31 - 1."""

TABLE = 32
WARM_UP = 8
DIVISOR = 67108865
"""Bays and Durham's shuffle: the last number drawn, divided by this, is the index of the next of the 32 entries."""

SMALLEST = 1e-99
"""The number that replaces an exact zero, to keep logarithms finite."""


def uniform(count: int, seed: int) -> np.ndarray:
    """Draw uniform numbers in (0, 1) from the seed; the first ones do not depend on how many are drawn."""
    state = max(abs(seed), 1)
    for _ in range(WARM_UP):
        state = MULTIPLIER * state % MODULUS
    table = [0] * TABLE
    for slot in reversed(range(TABLE)):
        state = MULTIPLIER * state % MODULUS
        table[slot] = state
    drawn, last = [0] * count, table[0]
    for i in range(count):
        state = MULTIPLIER * state % MODULUS
        slot = last // DIVISOR
        last, table[slot] = table[slot], state
        drawn[i] = last
    numbers = np.array(drawn, np.float64) / MODULUS
    return np.where(numbers == 0, SMALLEST, numbers)


def gauss(count: int, seed: int) -> np.ndarray:
    """Draw standard normal numbers by the cosine branch of Box and Muller's transformation.

    This uses the C library's logarithm and cosine, as COCO does: numpy's own differ in the last bit, and Gram and Schmidt's
    method can magnify that a thousandfold (f19, instance 9, d = 40).
    """
    radii, angles = uniform(2 * count, seed).reshape(2, count).tolist()
    numbers = [sqrt(-2 * log(radius)) * cos(2 * pi * angle) for radius, angle in zip(radii, angles, strict=True)]
    return np.array([number or SMALLEST for number in numbers])


@lru_cache(maxsize=512)
def rotation(d: int, seed: int) -> np.ndarray:
    """Draw an orthogonal matrix (d, d) by Gram and Schmidt's method on Gaussian columns, one after the other."""
    basis = gauss(d * d, seed).reshape(d, d).T.copy()
    for i in range(d):
        # Sum in COCO's order, coordinate by coordinate, as numpy does for the rows of a matrix but not for vectors.
        basis[:, i] /= np.sqrt((basis * basis).sum(0)[i])
        overlaps = (basis * basis[:, i : i + 1]).sum(0)
        basis[:, i + 1 :] -= overlaps[i + 1 :] * basis[:, i : i + 1]
    return read_only(basis)


def optimum(d: int, seed: int) -> np.ndarray:
    """Draw a point of [-4, 4]^d on a grid of width 8e-4, with no coordinate that is exactly 0."""
    x = 8 * np.floor(1e4 * uniform(d, seed)) / 1e4 - 4
    return np.where(x == 0, -1e-5, x)


def optimal_value(seed: int) -> float:
    """Draw f_opt from a Cauchy distribution with median 0, rounded to 0.01 and clipped to [-1000, 1000]."""
    ratio = gauss(1, seed)[0] / gauss(1, seed + 1)[0]
    return float(np.clip(np.floor(1e4 * ratio + 0.5) / 100, -1000, 1000))


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the array itself, made read-only, as caches return it to several callers."""
    array.flags.writeable = False
    return array
