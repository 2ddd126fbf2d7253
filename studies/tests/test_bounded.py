"""Bounded test functions: their minima are where and what they say, and no descent finds a lower value."""

import numpy as np
import pytest
from scipy.optimize import minimize

from thalweg_studies.bounded.functions import FUNCTIONS


def test_there_are_enough_functions_of_every_kind():
    kinds = [(each.place, each.multimodal) for each in FUNCTIONS.values()]
    assert len(kinds) == 98
    assert {kind: kinds.count(kind) for kind in sorted(set(kinds))} == {
        ("corner", False): 9,
        ("corner", True): 3,
        ("face", False): 15,
        ("face", True): 4,
        ("inside", False): 33,
        ("inside", True): 34,
    }


@pytest.mark.parametrize("problem", FUNCTIONS.values(), ids=lambda each: each.name)
def test_the_minimum(problem):
    low, width = problem.low, problem.high - problem.low
    assert np.all((low <= problem.minimiser) & (problem.minimiser <= problem.high))
    assert float(problem.fun(problem.minimiser)) <= problem.minimum + 0.1 * (problem.target - problem.minimum)
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        fun = lambda z: float(problem.fun(low + z * width))  # noqa: E731
        best = (problem.minimiser - low) / width
        starts = [best, *np.clip(best + 1e-3 * rng.normal(size=(2, problem.d)), 0, 1), *rng.uniform(size=(2, problem.d))]
        for z in starts:
            found = minimize(fun, z, bounds=[(0, 1)] * problem.d, method="L-BFGS-B", options={"maxfun": 2000})
            assert found.fun >= problem.minimum - 0.1 * (problem.target - problem.minimum)
    assert problem.fun(np.stack([problem.minimiser] * 3)[None]).shape == (1, 3)
