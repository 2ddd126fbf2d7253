"""Cells of whole numbers: their borders are where the objective's argument changes."""

import numpy as np
import pytest

from thalweg.space import Scaled, make_scaled_space

CASES = {
    "box": ([(0, 1), (-3, 12), (0, 1000), (-1, 1)], {}),
    "units": ([(0, 1), (-3, 12), (0, 1000), (-1, 1)], {"sigma0": [0.5, 2.0, 300.0, 0.1]}),
    "logarithms": ([(1, 9), (8, 512), (1, None), (0.1, 1)], {"log": [0, 1, 2]}),
    "open sides": ([(None, None), (0, None), (None, 7), (None, None)], {}),
    "fixed": ([(0, 1), (-3, 12), (0, 1000), (-1, 1), (4, 4)], {}),
}


@pytest.fixture(params=CASES, ids=str)
def space(request):
    bounds, more = CASES[request.param]
    return make_scaled_space(bounds, len(bounds), more.get("sigma0"), log=more.get("log"), integers=[0, 1, 2])[0]


def test_borders_are_where_the_number_changes(space):
    rng = np.random.default_rng(1)
    low, high = (np.broadcast_to(side, max(4, np.size(side)))[:4] for side in space.sides)
    low, high = np.where(np.isfinite(low), low, 1.0), np.where(np.isfinite(high), high, 900.0)
    for _ in range(50):
        x = rng.uniform(low, np.maximum(high, low + 1))
        x[:3] = np.clip(np.round(x[:3]), low[:3], high[:3])
        full = np.append(x, 4.0) if np.size(space.whole_numbers) == 5 else x
        y = space.to_search(full)
        cells = space.cells(y)
        assert cells.whole.tolist() == [True, True, True, False]
        np.testing.assert_allclose(cells.number[:3], x[:3])
        np.testing.assert_allclose(cells.centre[:3], y[:3], rtol=1e-12, atol=1e-12)
        assert cells.inside[3] == y[3]
        for side, border in ((-1, cells.below), (1, cells.above)):
            for i in range(3):
                if not np.isfinite(border[i]):
                    assert x[i] == (low, high)[side > 0][i]
                    continue
                near, beyond = y.copy(), y.copy()
                near[i] = y[i] + (1 - 1e-6) * (border[i] - y[i])
                beyond[i] = y[i] + (1 + 1e-6) * (border[i] - y[i])
                assert space.to_objective(near)[i] == x[i]
                assert space.to_objective(beyond)[i] == x[i] + side


def test_images_beyond_the_bounds_are_folded():
    space = make_scaled_space([(0, 3), (-1, 1)], 2, None, integers=[0])[0]
    y = np.random.default_rng(2).uniform(-20, 20, (200, 2))
    cells = space.cells(y)
    assert np.array_equal(space.to_objective(cells.inside)[:, 0], space.to_objective(y)[:, 0])
    assert np.array_equal(cells.inside[:, 1], y[:, 1])
    assert np.all(np.abs(space.to_search(np.array([1.5, 0.0]))[0] - cells.inside[:, 0]) <= 2.3 / np.max(space.scale))


def test_spaces_without_whole_numbers_have_no_cells():
    assert make_scaled_space([(0, 1)], 1, None)[0].cells(np.zeros(1)) is None
    assert isinstance(space := make_scaled_space(None, 2, [1.0, 2.0])[0], Scaled)
    assert space.cells(np.zeros(2)) is None
