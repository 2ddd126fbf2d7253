"""A run to look at."""

import numpy as np
import pytest

import thalweg


def fun(point):
    if point["width"] > 75:
        raise ValueError("too wide")
    return (np.log10(point["rate"]) + 3) ** 2 + (point["width"] - 64) ** 2


SPACE = thalweg.Space(rate=thalweg.Real(1e-5, 1e-1, log=True), width=thalweg.Integer(8, 120))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the result of a run with names, whole numbers and failures, and the path of its checkpoint."""
    path = tmp_path_factory.mktemp("run") / "run.ckpt"
    result = thalweg.minimize(fun, SPACE, method="cma", seed=1, max_iter=9, popsize=6, checkpoint=path)
    return result, path
