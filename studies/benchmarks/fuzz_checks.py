"""What the trials of fuzz.py share: arguments to begin with, their change, and what is checked afterwards."""

import random
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from fuzz_values import value
from supervised import FaultError

from thalweg import Integer, Real, Space

Arguments = dict[str, Any]
ENDS = ("max_evals", "max_iter", "timeout", "callback", "restarts", "ftarget")
"""Arguments that end a search; one of them is changed at most."""


def checked(call: Callable[[], Any], names: Iterable[str]) -> Any:
    """Return what a call returns, or "refused" if its error is one line that has one of the names in it."""
    try:
        return call()
    except (ValueError, TypeError) as error:
        message = str(error)
        if "\n" in message or len(message) > 1000 or not any(re.search(rf"\b{re.escape(name)}", message) for name in names):
            raise FaultError(f"{type(error).__name__} of {sorted(names)}: {message[:300]!r}") from error
        return "refused"


def change(given: Arguments, choose: random.Random, without: Iterable[str] = ()) -> tuple[Arguments, list[str]]:
    """Return the arguments with other values in the place of some, and the names of these."""
    allowed = [name for name in given if name not in without]
    names = choose.sample(allowed, min(choose.choice([0, 1, 1, 1, 2]), len(allowed)))
    if sum(name in ENDS for name in names) > 1:
        names = names[:1]
    changed = given | {name: value(choose) for name in names}
    own = [""] if "x0" in names and callable(changed["x0"]) else []  # what it raises is its own
    own += ["method"] if "strategy" in names else []  # a text names a method
    return changed, [*names, *own, *DESCRIPTION] if any(name in DESCRIPTION for name in names) else names + own


DESCRIPTION = ("x0", "bounds", "scale", "log", "integers", "sigma0")
"""Arguments that describe the variables: if one is changed, another may no longer fit to it."""


def large(number: Any) -> bool:
    """Return whether a number is so large that an array of that length may take more memory than there is."""
    try:
        return 1000 < float(number) <= 2**31
    except Exception:
        return False


def inside(x: Any, space: Any) -> None:
    """Raise a FaultError unless the points are finite and inside the bounds."""
    x = np.asarray(x, float)
    pairs = [[None, None]] * x.shape[-1] if space.pairs is None else space.pairs
    low, high = (np.array([pair[i] for pair in pairs], float) for i in (0, 1))  # None becomes NaN
    if not (np.all(np.isfinite(x)) and not np.any(low > x) and not np.any(high < x)):
        raise FaultError(f"points {x.tolist()} outside of the bounds {pairs}")


def start(choose: random.Random) -> Arguments:
    """Return arguments that describe a search of two variables, and are right."""
    shape: Arguments = choose.choice(
        [
            {"x0": [1.0, 2.0], "sigma0": 0.5},
            {"x0": np.array([1.0, 0.5]), "sigma0": [0.5, 2.0], "bounds": [(-3, 3), (0, None)]},
            {"x0": None, "sigma0": None, "bounds": [(-3, 3), (0, 4)], "integers": [1]},
            {"x0": [1.0, 2.0], "sigma0": 1.0, "scale": [1.0, 10.0], "log": [1], "bounds": [(None, None), (0.1, 10)]},
            {"x0": Space(a=Real(-1, 1), n=Integer(0, 9))},
        ]
    )
    more: Arguments = {"method": choose.choice(["cma", "cma", "sep-cma", "gnn-cma", "xnes"]), "popsize": 4, "seed": 1}
    return shape | more | {"max_evals": 12, "max_iter": None, "ftarget": None, "timeout": 5.0, "options": {}, "known": None}
