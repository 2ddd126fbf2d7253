"""Arguments for `fuzz.py`: values that nobody should pass, values that somebody might, and objectives of all manners."""

import datetime
import decimal
import fractions
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from changes import LARGE, NONSENSE


class Odd:
    """An object that is nothing of use."""

    def __repr__(self) -> str:
        return "Odd()"


class Broken:
    """An object whose conversions fail."""

    def __float__(self) -> float:
        raise RuntimeError("no number")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")

    def __repr__(self) -> str:
        return "Broken()"


def values() -> list[Callable[[random.Random], Any]]:
    """Return functions that make values of types that arguments may or may not have."""
    plain: list[Any] = [*NONSENSE, *LARGE, 2, 3, 10, 1e-3, 2.5, -7, 1e16, b"ab", "é", "1", "nan", "1e3", ()]
    plain += [np.float32(0.5), np.int64(3), np.bool_(True), np.float64("nan"), np.str_("cma"), np.datetime64("2020-01-01"), 1j]
    plain += [
        np.array(2.0),
        np.array([]),
        np.array([1.0, 2.0]),
        np.array([[1.0, 2.0]]),
        np.array(["a", "b"]),
        np.array([True, False]),
    ]
    plain += [
        np.array([1.0, None], object),
        np.array([1j, 2.0]),
        np.zeros((2, 0)),
        np.zeros((0, 2)),
        np.zeros((1, 1, 1)),
        np.ma.masked,
    ]
    plain += [
        decimal.Decimal("0.5"),
        fractions.Fraction(1, 2),
        datetime.date(2020, 1, 1),
        range(2),
        {1, 2},
        frozenset(),
        slice(2),
    ]
    plain += [Odd, Odd(), Broken(), len, NotImplemented, ..., object, ValueError("x"), memoryview(b"ab"), bytearray(b"ab")]
    plain += [
        [1.0, "a"],
        [1.0, None],
        [[1.0], [1.0, 2.0]],
        [np.nan, 1.0],
        [np.inf, 1.0],
        [1e308, 1.0],
        [True, False],
        ["0.5", "1"],
    ]
    plain += [(0, 1), (1, 0), (None, None), [(0, 1)] * 2, [(0, 1), None], [(0, 0), (0, 0)], [(np.nan, 1)] * 2, [(0, 1, 2)] * 2]
    plain += [[(-1e308, 1e308)] * 2, [(0, 1e-200)] * 2, [(2, 5), (None, 4)], {"a": (0, 1)}, [0], [0, 0], [1], [2], [-1], [0.5]]
    return [
        lambda choose: choose.choice(plain),
        lambda choose: choose.uniform(-5, 5),
        lambda choose: choose.randrange(-3, 12),
        lambda choose: 10 ** choose.uniform(-320, 308) * choose.choice([1, -1]),
        lambda choose: [choose.uniform(-3, 3) for _ in range(choose.randrange(4))],
        lambda choose: [choose.choice(plain) for _ in range(choose.randrange(4))],
        lambda choose: [[choose.choice(plain) for _ in range(choose.randrange(3))] for _ in range(choose.randrange(4))],
        lambda choose: "".join(chr(choose.randrange(choose.choice([128, 0xD800]))) for _ in range(choose.randrange(12))),
        lambda choose: np.array([choose.choice([0.0, 1.0, -1.0, np.nan, np.inf, 1e300]) for _ in range(choose.randrange(4))]),
        lambda choose: {choose.choice(["a", "b", 1, None, ""]): choose.choice(plain)},
    ]


VALUES = values()


def value(choose: random.Random) -> Any:
    """Return any value."""
    return choose.choice(VALUES)(choose)


def objective(choose: random.Random) -> Callable[[Any], float]:
    """Return an objective: mostly a sphere, at times one that returns or raises anything."""
    if choose.random() < 0.7:
        return sphere
    state = random.Random(choose.random())

    def fun(x: Any, *_: Any) -> Any:
        kind = state.random()
        if kind < 0.5:
            return sphere(x)
        if kind < 0.6:
            raise state.choice([ValueError, RuntimeError, ZeroDivisionError, MemoryError, KeyError, SystemExit])("é\n\ud800")
        return value(state)

    return fun


def sphere(x: Any, *_: Any) -> float:
    x = np.asarray(list(x.values()) if isinstance(x, dict) or hasattr(x, "values") else x, float)
    return float(np.sum((x - 0.3) ** 2))


WORDS = [
    "" if word == "<none>" else word
    for word in [
        "minimize",
        "scipy.optimize:rosen",
        "--x0",
        "1,2",
        "--sigma0",
        "0.5",
        "--seed",
        "1",
        "--quiet",
        "--bounds",
        "0,3",
        "--popsize",
        "4",
        "--max-evals",
        "--method",
        "cma",
        "--var",
        "a=0..1",
        "n=1..9:int",
        "--log-coordinates",
        "--integers",
        "--scale",
        "--restarts",
        "--bipop",
        "--model",
        "quadratic",
        "resume",
        "methods",
        "--help",
        "--version",
        "--x0=",
        "-1,nan",
        "--ftarget",
        "--timeout",
        "--max-iter",
        "--known",
        "--space",
        "x.toml",
        "<none>",
        "-",
        "--",
        "a=",
        "=",
        "é",
        "1e999",
        "0x10",
    ]
]
"""Words for the command line."""
