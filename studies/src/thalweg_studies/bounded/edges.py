"""Functions with the minimum on a face, an edge or a corner of the box.

`pressed` makes them of any function g with its minimum 0 at 0: f(x) = g(x - best) + pull' |x - best| over the coordinates
whose bound is active. Inside the box the second term is linear and its slope is the multiplier of that bound; the minimum is 0.
"""

import numpy as np

from thalweg_studies.bounded.bounded_function import BoundedFunction
from thalweg_studies.bounded.multimodal import Fun, ackley, boxed, rastrigin, styblinski_tang
from thalweg_studies.bounded.unimodal import axes, centre, double_sum, make, rosenbrock, rotation, sphere, trid


def pressed(
    name: str, d: int, fun: Fun, active: int, pull: float, width: float = 1.0, *, multimodal: bool = False
) -> BoundedFunction:
    """Return `fun` around a point with this number of active bounds, lower and upper in turn, in a box around 0."""
    low, high = np.full(d, -width), np.full(d, width)
    best = 0.6 * width * centre(d)
    best[:active] = np.where(np.arange(active) % 2, high[:active], low[:active])
    multipliers = pull * (np.arange(d) < active)
    place = "corner" if active == d else f"{active} active"
    slope = f"slope {pull:g}" if pull else "flat"
    return make(
        f"{name}, {place}, {slope}",
        d,
        lambda x: fun(x - best) + np.abs(x - best) @ multipliers,
        low,
        high,
        best,
        multimodal=multimodal,
    )


def ellipsoid(d: int, condition: float, *, turned: bool) -> Fun:
    """Return an ellipsoid around 0."""
    weights, turn = axes(d, condition), rotation(d) if turned else np.eye(d)
    return lambda x: ((x @ turn) ** 2) @ weights


def slope(x: np.ndarray) -> np.ndarray:
    """Return a linear function whose slopes differ by a factor of 10, from 1 to 10."""
    return x @ axes(x.shape[-1], 10.0)


def adjiman(x: np.ndarray) -> np.ndarray:
    """Return Adjiman's function."""
    a, b = x[..., 0], x[..., 1]
    return np.cos(a) * np.sin(b) - a / (b**2 + 1)


def eggholder(x: np.ndarray) -> np.ndarray:
    """Return the eggholder function."""
    a, b = x[..., 0], x[..., 1] + 47
    return -b * np.sin(np.sqrt(np.abs(a / 2 + b))) - a * np.sin(np.sqrt(np.abs(a - b)))


def wolfe(x: np.ndarray) -> np.ndarray:
    """Return Wolfe's function."""
    a, b, c = np.moveaxis(x, -1, 0)
    return 4 / 3 * np.maximum(a**2 + b**2 - a * b, 0.0) ** 0.75 + c


def ursem_waves(x: np.ndarray) -> np.ndarray:
    """Return Ursem's waves."""
    a, b = x[..., 0], x[..., 1]
    return -0.9 * a**2 + (b**2 - 4.5 * b**2) * a * b + 4.7 * np.cos(3 * a - b**2 * (2 + a)) * np.sin(2.5 * PI * a)


PI = np.pi
CUT = np.array([2, 2, 2, 2, 0.3])

EDGES = [
    pressed("sphere", 2, sphere, 1, 1.0),
    pressed("sphere", 2, sphere, 2, 1.0),
    pressed("sphere", 5, sphere, 2, 0.0),
    pressed("sphere", 5, sphere, 5, 0.0),
    pressed("sphere", 10, sphere, 5, 1.0),
    pressed("sphere", 10, sphere, 10, 1.0, 5.0),
    pressed("sphere", 20, sphere, 10, 0.1, 5.0),
    pressed("ellipsoid", 5, ellipsoid(5, 1e4, turned=False), 2, 1.0),
    pressed("ellipsoid", 10, ellipsoid(10, 1e4, turned=False), 5, 1.0, 5.0),
    pressed("ellipsoid, turned", 5, ellipsoid(5, 1e2, turned=True), 2, 1.0),
    pressed("ellipsoid, turned", 5, ellipsoid(5, 1e4, turned=True), 3, 10.0, 5.0),
    pressed("ellipsoid, turned", 10, ellipsoid(10, 1e2, turned=True), 5, 1.0, 5.0),
    pressed("ellipsoid, turned", 10, ellipsoid(10, 1e4, turned=True), 3, 0.0, 5.0),
    pressed("Schwefel 1.2", 5, double_sum, 2, 1.0, 10.0),
    pressed("absolute values", 5, lambda x: np.sum(np.abs(x), -1), 2, 1.0),
    pressed("Rastrigin", 2, rastrigin, 1, 1.0, 5.0, multimodal=True),
    pressed("Rastrigin", 3, rastrigin, 3, 0.0, 5.0, multimodal=True),
    pressed("Ackley", 5, ackley, 2, 0.1, 30.0, multimodal=True),
    make("linear", 2, slope, 0, 1, 0),
    make("linear", 5, slope, -5, 5, -5, None),
    make("linear", 20, slope, 0, 1, 0),
    make("Rosenbrock, one bound cuts the valley", 2, rosenbrock, -2, [0.5, 2], [0.5, 0.25], 0.25),
    make("Rosenbrock, corner at the minimum", 2, rosenbrock, -1, 1, 1),
    make("Rosenbrock, corner at the minimum", 5, rosenbrock, -2, 1, 1),
    make(
        "Rosenbrock, last coordinate bounded",
        5,
        rosenbrock,
        -2,
        CUT,
        [0.92971283, 0.86398793, 0.74546935, 0.55334276, 0.3],
        None,
    ),
    make("Trid, bounded", 5, trid, 0, 4, [3, 4, 4, 4, 3], -21.0),
    make("Wolfe", 3, wolfe, 0, 2, 0),
    boxed("Styblinski-Tang, bounded", 3, styblinski_tang, -2.5, 5, -2.5),
    boxed("Adjiman", 2, adjiman, [-1, -1], [2, 1], [2, 0.10578347]),
    boxed("eggholder", 2, eggholder, -512, 512, [512, 404.23180509]),
    boxed("Ursem's waves", 2, ursem_waves, [-0.9, -1.2], 1.2, 1.2),
]
