"""Functions with several minima, the lowest inside their usual boxes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg_studies.bounded.bounded_function import BoundedFunction
from thalweg_studies.bounded.unimodal import make, sphere

Fun = Callable[[np.ndarray], np.ndarray]


def rastrigin(x: np.ndarray) -> np.ndarray:
    """Return Rastrigin's function."""
    return np.sum(10 + x**2 - 10 * np.cos(2 * np.pi * x), -1)


def ackley(x: np.ndarray) -> np.ndarray:
    """Return Ackley's function."""
    far, waves = np.sqrt(np.mean(x**2, -1)), np.mean(np.cos(2 * np.pi * x), -1)
    return -20 * np.expm1(-0.2 * far) - (np.exp(waves) - np.e)


def griewank(x: np.ndarray) -> np.ndarray:
    """Return Griewank's function."""
    return 1 + sphere(x) / 4000 - np.prod(np.cos(x / np.sqrt(np.arange(1, x.shape[-1] + 1))), -1)


def levy(x: np.ndarray) -> np.ndarray:
    """Return Levy's function."""
    w = 1 + (x - 1) / 4
    first, last = np.sin(np.pi * w[..., 0]) ** 2, (w[..., -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[..., -1]) ** 2)
    return first + last + np.sum((w[..., :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[..., :-1] + 1) ** 2), -1)


def styblinski_tang(x: np.ndarray) -> np.ndarray:
    """Return the function of Styblinski and Tang."""
    return np.sum(x**4 - 16 * x**2 + 5 * x, -1) / 2


def branin(x: np.ndarray) -> np.ndarray:
    """Return Branin's function."""
    a, b = x[..., 0], x[..., 1]
    return (b - 5.1 * (a / (2 * np.pi)) ** 2 + 5 * a / np.pi - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def six_hump_camel(x: np.ndarray) -> np.ndarray:
    """Return the six-hump camel."""
    a, b = x[..., 0], x[..., 1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def three_hump_camel(x: np.ndarray) -> np.ndarray:
    """Return the three-hump camel."""
    a, b = x[..., 0], x[..., 1]
    return 2 * a**2 - 1.05 * a**4 + a**6 / 6 + a * b + b**2


def goldstein_price(x: np.ndarray) -> np.ndarray:
    """Return the function of Goldstein and Price."""
    a, b = x[..., 0], x[..., 1]
    one = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    return one * (30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2))


HARTMANN = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_3 = (
    np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]),
    np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]) / 1e4,
)
HARTMANN_6 = (
    np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]),
    np.array(
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    )
    / 1e4,
)


def hartmann(x: np.ndarray) -> np.ndarray:
    """Return Hartmann's function."""
    rates, centres = HARTMANN_3 if x.shape[-1] == 3 else HARTMANN_6
    return -np.exp(-np.sum(rates * (x[..., None, :] - centres) ** 2, -1)) @ HARTMANN


SHEKEL_DEPTH = np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5]) / 10
SHEKEL = np.array(
    [
        [4, 4, 4, 4],
        [1, 1, 1, 1],
        [8, 8, 8, 8],
        [6, 6, 6, 6],
        [3, 7, 3, 7],
        [2, 9, 2, 9],
        [5, 5, 3, 3],
        [8, 1, 8, 1],
        [6, 2, 6, 2],
        [7, 3.6, 7, 3.6],
    ]
)


def shekel(x: np.ndarray, m: int) -> np.ndarray:
    """Return Shekel's function of m wells."""
    return -np.sum(1 / (SHEKEL_DEPTH[:m] + np.sum((x[..., None, :] - SHEKEL[:m]) ** 2, -1)), -1)


def easom(x: np.ndarray) -> np.ndarray:
    """Return Easom's function."""
    return -np.prod(np.cos(x), -1) * np.exp(-sphere(x - np.pi))


def bohachevsky(x: np.ndarray) -> np.ndarray:
    """Return Bohachevsky's function."""
    a, b = x[..., 0], x[..., 1]
    return a**2 + 2 * b**2 - 0.3 * np.cos(3 * np.pi * a) - 0.4 * np.cos(4 * np.pi * b) + 0.7


def drop_wave(x: np.ndarray) -> np.ndarray:
    """Return the drop wave."""
    far = sphere(x)
    return -(1 + np.cos(12 * np.sqrt(far))) / (far / 2 + 2)


def himmelblau(x: np.ndarray) -> np.ndarray:
    """Return Himmelblau's function."""
    a, b = x[..., 0], x[..., 1]
    return (a**2 + b - 11) ** 2 + (a + b**2 - 7) ** 2


def cosine_mixture(x: np.ndarray) -> np.ndarray:
    """Return the cosine mixture."""
    return sphere(x) - 0.1 * np.sum(np.cos(5 * np.pi * x), -1)


def alpine(x: np.ndarray) -> np.ndarray:
    """Return Alpine's function, number 1."""
    return np.sum(np.abs(x * np.sin(x) + 0.1 * x), -1)


def michalewicz(x: np.ndarray) -> np.ndarray:
    """Return Michalewicz's function."""
    return -np.sum(np.sin(x) * np.sin(np.arange(1, x.shape[-1] + 1) * x**2 / np.pi) ** 20, -1)


def schwefel(x: np.ndarray) -> np.ndarray:
    """Return Schwefel's function 2.26."""
    return -np.sum(x * np.sin(np.sqrt(np.abs(x))), -1)


def bird(x: np.ndarray) -> np.ndarray:
    """Return the bird."""
    a, b = x[..., 0], x[..., 1]
    return np.sin(a) * np.exp((1 - np.cos(b)) ** 2) + np.cos(b) * np.exp((1 - np.sin(a)) ** 2) + (a - b) ** 2


def cross_in_tray(x: np.ndarray) -> np.ndarray:
    """Return the cross in tray."""
    ridge = np.exp(np.abs(100 - np.sqrt(sphere(x)) / np.pi))
    return -1e-4 * (np.abs(np.prod(np.sin(x), -1) * ridge) + 1) ** 0.1


def holder_table(x: np.ndarray) -> np.ndarray:
    """Return Hoelder's table."""
    wave = np.sin(x[..., 0]) * np.cos(x[..., 1])
    return -np.abs(wave * np.exp(np.abs(1 - np.sqrt(sphere(x)) / np.pi)))


def hosaki(x: np.ndarray) -> np.ndarray:
    """Return Hosaki's function."""
    a, b = x[..., 0], x[..., 1]
    return (1 - 8 * a + 7 * a**2 - 7 * a**3 / 3 + a**4 / 4) * b**2 * np.exp(-b)


def giunta(x: np.ndarray) -> np.ndarray:
    """Return Giunta's function."""
    w = 16 * x / 15 - 1
    return 0.6 + np.sum(np.sin(w) + np.sin(w) ** 2 + np.sin(4 * w) / 50, -1)


def egg_crate(x: np.ndarray) -> np.ndarray:
    """Return the egg crate."""
    return sphere(x) + 25 * np.sum(np.sin(x) ** 2, -1)


def dixon_price(x: np.ndarray) -> np.ndarray:
    """Return the function of Dixon and Price."""
    return (x[..., 0] - 1) ** 2 + (2 * x[..., 1:] ** 2 - x[..., :-1]) ** 2 @ np.arange(2, x.shape[-1] + 1)


PI = np.pi
SCHWEFEL = 420.968746359982


def several(name: str, d: int, fun: Fun, low: Any, high: Any, best: Any, minimum: float | None = 0.0) -> BoundedFunction:
    """Return a function with several minima."""
    return make(name, d, fun, low, high, best, minimum, multimodal=True, everywhere=True)


def boxed(name: str, d: int, fun: Fun, low: Any, high: Any, best: Any, minimum: float | None = None) -> BoundedFunction:
    """Return a function with several minima, which has others or none without its box."""
    return make(name, d, fun, low, high, best, minimum, multimodal=True)


MULTIMODAL = [
    several("Rastrigin", 2, rastrigin, -5.12, 5.12, 0),
    several("Rastrigin", 3, rastrigin, -5.12, 5.12, 0),
    several("Ackley", 3, ackley, -32.768, 32.768, 0),
    several("Ackley", 10, ackley, -30, 30, 0),
    several("Griewank", 5, griewank, -600, 600, 0),
    several("Levy", 5, levy, -10, 10, 1),
    several("Levy", 10, levy, -10, 10, 1),
    several("Styblinski-Tang", 2, styblinski_tang, -5, 5, -2.903534027771177, None),
    several("Styblinski-Tang", 4, styblinski_tang, -5, 5, -2.903534027771177, None),
    several("six-hump camel", 2, six_hump_camel, [-3, -2], [3, 2], [0.08984201, -0.71265640], None),
    several("three-hump camel", 2, three_hump_camel, -5, 5, 0),
    several("Goldstein-Price", 2, goldstein_price, -2, 2, [0, -1], 3.0),
    several("Hartmann", 3, hartmann, 0, 1, [0.11458889, 0.55564889, 0.85254698], None),
    several("Hartmann", 6, hartmann, 0, 1, [0.20168951, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730053], None),
    several("Shekel 5", 4, lambda x: shekel(x, 5), 0, 10, [4.00003715, 4.00013328, 4.00003713, 4.00013323], None),
    several("Shekel 10", 4, lambda x: shekel(x, 10), 0, 10, [4.00074653, 4.00059293, 3.99966339, 3.99950981], None),
    several("Bohachevsky", 2, bohachevsky, -100, 100, 0),
    several("drop wave", 2, drop_wave, -5.12, 5.12, 0, -1.0),
    several("Himmelblau", 2, himmelblau, -5, 5, [3, 2]),
    several("cosine mixture", 4, cosine_mixture, -1, 1, 0, -0.4),
    several("Alpine", 2, alpine, -10, 10, 0),
    several("egg crate", 2, egg_crate, -5, 5, 0),
    several("Dixon-Price", 5, dixon_price, -10, 10, 2.0 ** -(1 - 2.0 ** -np.arange(5))),
    boxed("Branin", 2, branin, [-5, 0], [10, 15], [PI, 2.275]),
    boxed("Easom", 2, easom, -10, 10, PI, -1.0),
    boxed("Michalewicz", 2, michalewicz, 0, PI, [2.20290552, 1.57079633]),
    boxed("Michalewicz", 5, michalewicz, 0, PI, [2.20290552, 1.57079633, 1.28499157, 1.92305847, 1.72046977]),
    boxed("Schwefel", 2, schwefel, -500, 500, SCHWEFEL),
    boxed("Schwefel", 3, schwefel, -500, 500, SCHWEFEL),
    boxed("bird", 2, bird, -2 * PI, 2 * PI, [4.70104313, 3.15293848]),
    boxed("cross in tray", 2, cross_in_tray, -10, 10, 1.34940661),
    boxed("Hoelder table", 2, holder_table, -10, 10, [8.05502347, 9.66459002]),
    boxed("Hosaki", 2, hosaki, 0, [5, 6], [4, 2]),
    boxed("Giunta", 2, giunta, -1, 1, 0.46732003),
]
