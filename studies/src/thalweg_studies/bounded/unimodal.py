"""Functions with one minimum, or one that matters, inside their usual boxes: bowls, ridges and curved valleys."""

import numpy as np

from thalweg_studies.bounded.bounded_function import BoundedFunction

make = BoundedFunction.make


def axes(d: int, condition: float) -> np.ndarray:
    """Return d numbers from 1 to the condition number in equal ratios."""
    return condition ** (np.arange(d) / (d - 1))


def centre(d: int) -> np.ndarray:
    """Return a point in the cube from -1 to 1 that is no point of symmetry: the golden ratio's multiples modulo 1."""
    return 2 * np.mod(np.arange(1, d + 1) * (np.sqrt(5) - 1) / 2, 1) - 1


def rotation(d: int) -> np.ndarray:
    """Return a rotation that mixes all coordinates."""
    return np.linalg.qr(np.random.default_rng(d).normal(size=(d, d)))[0]


def sphere(x: np.ndarray) -> np.ndarray:
    """Return the sum of squares."""
    return np.sum(x**2, -1)


def rosenbrock(x: np.ndarray) -> np.ndarray:
    """Return Rosenbrock's curved valley."""
    return np.sum(100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2, -1)


def booth(x: np.ndarray) -> np.ndarray:
    """Return Booth's function."""
    a, b = x[..., 0], x[..., 1]
    return (a + 2 * b - 7) ** 2 + (2 * a + b - 5) ** 2


def matyas(x: np.ndarray) -> np.ndarray:
    """Return Matyas's function."""
    return 0.26 * sphere(x) - 0.48 * x[..., 0] * x[..., 1]


def beale(x: np.ndarray) -> np.ndarray:
    """Return Beale's function."""
    a, b = x[..., 0], x[..., 1]
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2


def zakharov(x: np.ndarray) -> np.ndarray:
    """Return Zakharov's function."""
    slope = x @ np.arange(1, x.shape[-1] + 1) / 2
    return sphere(x) + slope**2 + slope**4


def trid(x: np.ndarray) -> np.ndarray:
    """Return the tridiagonal quadratic function."""
    return np.sum((x - 1) ** 2, -1) - np.sum(x[..., 1:] * x[..., :-1], -1)


def powell(x: np.ndarray) -> np.ndarray:
    """Return Powell's singular function."""
    a, b, c, d = np.moveaxis(x, -1, 0)
    return (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4


def different_powers(x: np.ndarray) -> np.ndarray:
    """Return the sum of powers 2 to d + 1."""
    return np.sum(np.abs(x) ** np.arange(2, x.shape[-1] + 2), -1)


def double_sum(x: np.ndarray) -> np.ndarray:
    """Return Schwefel's function 1.2."""
    return np.sum(np.cumsum(x, -1) ** 2, -1)


def brown(x: np.ndarray) -> np.ndarray:
    """Return Brown's function."""
    a, b = x[..., :-1] ** 2, x[..., 1:] ** 2
    return np.sum(a ** (b + 1) + b ** (a + 1), -1)


def colville(x: np.ndarray) -> np.ndarray:
    """Return Colville's function."""
    a, b, c, d = np.moveaxis(x, -1, 0)
    valleys = 100 * (a**2 - b) ** 2 + (a - 1) ** 2 + (c - 1) ** 2 + 90 * (c**2 - d) ** 2
    return valleys + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1)


def cube(x: np.ndarray) -> np.ndarray:
    """Return the cubic valley."""
    a, b = x[..., 0], x[..., 1]
    return 100 * (b - a**3) ** 2 + (1 - a) ** 2


def mccormick(x: np.ndarray) -> np.ndarray:
    """Return McCormick's function."""
    a, b = x[..., 0], x[..., 1]
    return np.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1


def helical_valley(x: np.ndarray) -> np.ndarray:
    """Return the helical valley."""
    a, b, c = np.moveaxis(x, -1, 0)
    turn = np.arctan2(b, a) / (2 * np.pi)
    return 100 * ((c - 10 * turn) ** 2 + (np.hypot(a, b) - 1) ** 2) + c**2


def sum_and_product(x: np.ndarray) -> np.ndarray:
    """Return Schwefel's function 2.22."""
    return np.sum(np.abs(x), -1) + np.prod(np.abs(x), -1)


def paviani(x: np.ndarray) -> np.ndarray:
    """Return Paviani's function."""
    return np.sum(np.log(x - 2) ** 2 + np.log(10 - x) ** 2, -1) - np.prod(x, -1) ** 0.2


def bowl(d: int, condition: float, where: float = 1.0, *, turned: bool = False, size: float = 1.0) -> BoundedFunction:
    """Return an ellipsoid with its minimum off the middle of the cube from -5 to 5, times `size`."""
    best, weights = where * centre(d), axes(d, condition)
    turn = rotation(d) if turned else np.eye(d)
    name = ("ellipsoid" if condition > 1 else "sphere") + (", turned" if turned else "")
    name = f"{name} in a box of width {10 * size:g}"
    fun = lambda x: (((x / size - best) @ turn) ** 2) @ weights  # noqa: E731
    return make(name, d, fun, -5 * size, 5 * size, best * size, everywhere=True)


WIDTHS = np.array([1e-3, 1.0, 1e3])
TRID = {d: np.arange(1, d + 1) * (d - np.arange(d)) for d in (6, 10)}

UNIMODAL = [
    bowl(2, 1.0, size=0.1),
    bowl(2, 1.0, 4.0, size=1e-4),
    bowl(5, 1.0, 4.0),
    bowl(20, 1.0),
    bowl(5, 1e6, 2.0),
    bowl(10, 1e6),
    bowl(10, 1e4, 3.0, turned=True),
    bowl(5, 1e2, 4.5, turned=True),
    make("widths of six decades", 3, lambda x: sphere(x / WIDTHS - 0.37), 0, WIDTHS, 0.37 * WIDTHS, everywhere=True),
    make("cigar", 10, lambda x: x[..., 0] ** 2 + 1e4 * sphere(x[..., 1:]), -5, 4, 0, everywhere=True),
    make("discus", 5, lambda x: 1e4 * x[..., 0] ** 2 + sphere(x[..., 1:]), -5, 4, 0, everywhere=True),
    make("Rosenbrock", 2, rosenbrock, -2.048, 2.048, 1, everywhere=True),
    make("Rosenbrock", 5, rosenbrock, -5, 10, 1, everywhere=True),
    make("Rosenbrock", 10, rosenbrock, -2.048, 2.048, 1, everywhere=True),
    make("Booth", 2, booth, -10, 10, [1, 3], everywhere=True),
    make("Matyas", 2, matyas, -10, 10, 0, everywhere=True),
    make("Beale", 2, beale, -4.5, 4.5, [3, 0.5], everywhere=True),
    make("Zakharov", 5, zakharov, -5, 10, 0, everywhere=True),
    make("Zakharov", 10, zakharov, -5, 10, 0, everywhere=True),
    make("Trid", 6, trid, -36, 36, TRID[6], -50.0, everywhere=True),
    make("Trid", 10, trid, -100, 100, TRID[10], -210.0, everywhere=True),
    make("Powell", 4, powell, -4, 5, 0, everywhere=True),
    make("different powers", 5, different_powers, -1, 1, 0, everywhere=True),
    make("Schwefel 1.2", 5, double_sum, -65.536, 65.536, 0, everywhere=True),
    make("Schwefel 2.21", 5, lambda x: np.max(np.abs(x), -1), -100, 100, 0, everywhere=True),
    make("Schwefel 2.22", 5, sum_and_product, -10, 10, 0, everywhere=True),
    make("Brown", 4, brown, -1, 4, 0, everywhere=True),
    make("exponential", 5, lambda x: -np.exp(-sphere(x) / 2), -1, 1, 0, -1.0, everywhere=True),
    make("Colville", 4, colville, -10, 10, 1, everywhere=True),
    make("cube", 2, cube, -10, 10, 1, everywhere=True),
    make("helical valley", 3, helical_valley, -10, 10, [1, 0, 0], everywhere=True),
    make("McCormick", 2, mccormick, [-1.5, -3], [4, 4], [0.5 - np.pi / 3, -0.5 - np.pi / 3], None),
    make("Paviani", 10, paviani, 2.001, 9.999, 9.350265833069052, None),
]
