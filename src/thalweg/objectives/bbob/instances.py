"""What makes one BBOB instance differ from another: its offset, its optimum, its rotations, all from one small generator.

The generator is BBOB's own of 2009, kept by COCO so that an instance number means the same problem everywhere: Hansen, Finck,
Ros and Auger, "Real-parameter black-box optimization benchmarking 2009: noiseless functions definitions" (INRIA RR-6829), and
numbbo/coco, code-experiments/src/suite_bbob_legacy_code.c. Instances are read-only numpy arrays in float64.
"""

from functools import lru_cache

import numpy as np

MODULUS = 2**31 - 1
MULTIPLIER = 16807
"""The "minimal standard" generator of Park and Miller: s <- 16807 s mod 2^31 - 1."""

TABLE = 32
WARM_UP = 8
SLOT = 67108865
"""Bays and Durham's shuffle: the last number drawn, divided by this, says which of 32 entries comes next."""

SMALLEST = 1e-99
"""Stands for an exact zero, of which no logarithm can be taken."""


def uniform(count: int, seed: int) -> np.ndarray:
    """Numbers in (0, 1) that depend on the seed alone; the first ones do not depend on how many are drawn."""
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
        slot = last // SLOT
        last, table[slot] = table[slot], state
        drawn[i] = last
    numbers = np.array(drawn, np.float64) / MODULUS
    return np.where(numbers == 0, SMALLEST, numbers)


def gauss(count: int, seed: int) -> np.ndarray:
    """Normally distributed numbers by Box and Muller's transformation, the cosine's half of it."""
    radii, angles = uniform(2 * count, seed).reshape(2, count)
    numbers = np.sqrt(-2 * np.log(radii)) * np.cos(2 * np.pi * angles)
    return np.where(numbers == 0, SMALLEST, numbers)


@lru_cache(maxsize=4096)
def rotation(d: int, seed: int) -> np.ndarray:
    """A random orthogonal matrix (d, d): Gram and Schmidt's method on Gaussian columns, one after the other."""
    vectors = gauss(d * d, seed).reshape(d, d)
    for i in range(d):
        vectors[i] /= np.sqrt(vectors[i] @ vectors[i])
        vectors[i + 1 :] -= np.outer(vectors[i + 1 :] @ vectors[i], vectors[i])
    return frozen(vectors.T)


@lru_cache(maxsize=4096)
def optimum(d: int, seed: int) -> np.ndarray:
    """A point of [-4, 4]^d on a grid of width 8e-4, with no coordinate that is exactly 0."""
    x = 8 * np.floor(1e4 * uniform(d, seed)) / 1e4 - 4
    return frozen(np.where(x == 0, -1e-5, x))


def offset(seed: int) -> float:
    """The optimal value: Cauchy distributed with median 0, in steps of 0.01, within [-1000, 1000]."""
    ratio = gauss(1, seed)[0] / gauss(1, seed + 1)[0]
    return float(np.clip(np.floor(1e4 * ratio + 0.5) / 100, -1000, 1000))


def frozen(array: np.ndarray) -> np.ndarray:
    """The same numbers, safe to hand to several callers."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
