"""Random transforms of objectives: shift, rotation, and their dependence on the seed."""

import pickle

import jax
import numpy as np
import pytest

from thalweg.objectives import OBJECTIVES, Transform, make_problems, rotated, translated
from thalweg.objectives.problems import random_rotation

QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])


def test_transform_shifts_first_and_rotates_second() -> None:
    transform = Transform(np.array([1.0, 2.0]), QUARTER)
    # x - t = (2, 1); R (2, 1) = (-1, 2)
    np.testing.assert_allclose(transform.forward(np.array([3.0, 3.0])), [-1.0, 2.0])
    np.testing.assert_allclose(transform.inverse(np.array([-1.0, 2.0])), [3.0, 3.0])
    value = OBJECTIVES["rosenbrock"](np.array([3.0, 3.0]), transform)
    assert value == pytest.approx(100 * (2 - 1) ** 2 + (1 + 1) ** 2)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("make", [translated, rotated])
def test_the_optimum_moves_along(name: str, make) -> None:
    for seed in range(5):
        problem = make(name, 4, seed)
        assert abs(problem(problem.x_opt)) < 1e-12
        around = problem.x_opt + 0.01 * np.random.default_rng(seed).standard_normal((50, 4))
        assert (problem(around) > problem(problem.x_opt)).all()
        assert pickle.loads(pickle.dumps(problem))(around[0]) == problem(around[0])


def test_vmapped_transforms_equal_single_problems() -> None:
    seeds = [5, 0, 11]
    x = np.random.default_rng(0).uniform(-2, 2, (3, 7, 4))
    for name, rotate, make in [
        ("rosenbrock", False, translated),
        ("ellipsoid", True, rotated),
        ("bent-cigar", False, translated),
    ]:
        fun, transforms = make_problems(name, 4, seeds, rotate=rotate)
        mapped = jax.jit(jax.vmap(fun))(x, transforms)
        expected = [make(name, 4, seed)(points) for seed, points in zip(seeds, x, strict=True)]
        np.testing.assert_allclose(mapped, expected, rtol=1e-11)


def test_a_transform_depends_only_on_its_own_seed() -> None:
    _, several = make_problems("sphere", 6, [3, 5, 8], rotate=True)
    _, alone = make_problems("rastrigin", 6, [5], rotate=True)
    np.testing.assert_array_equal(several.shift[1], alone.shift[0])
    np.testing.assert_array_equal(several.rotation[1], alone.rotation[0])
    assert np.unique(several.shift).size == 18
    assert np.unique(several.rotation.round(12)).size > 100


def test_rotating_leaves_the_shift_alone() -> None:
    _, plain = make_problems("cigar", 3, range(4))
    _, turned = make_problems("cigar", 3, range(4), rotate=True)
    np.testing.assert_array_equal(plain.shift, turned.shift)
    assert plain.rotation is None
    assert turned.rotation.shape == (4, 3, 3)


def test_bent_cigar_is_always_rotated() -> None:
    _, asked = make_problems("bent-cigar", 3, range(2), rotate=True)
    _, unasked = make_problems("bent-cigar", 3, range(2))
    np.testing.assert_array_equal(asked.rotation, unasked.rotation)


def test_shifts_fill_the_box() -> None:
    _, transforms = make_problems("sphere", 10, range(100))
    assert np.abs(transforms.shift).max() <= 2
    # 1000 draws from U[-2, 2]: standard errors 0.0365 of the mean and 0.0377 of the mean square; 4 of them fail at 6e-5 each
    assert abs(transforms.shift.mean()) < 0.146
    assert abs((transforms.shift**2).mean() - 4 / 3) < 0.151


@pytest.mark.parametrize("d", [1, 2, 10])
def test_rotations_are_orthogonal(d: int) -> None:
    rotation = random_rotation(np.random.default_rng(d), d)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(d), atol=1e-14)
    assert abs(abs(np.linalg.det(rotation)) - 1) < 1e-12


def test_rotations_are_uniform() -> None:
    # The trace of a Haar matrix in O(3) has mean 0 and variance 1: 4 standard errors of 400 draws, false alarm 6e-5.
    # Without the signs of QR's diagonal the mean is clearly off, and the determinant has one sign only.
    rotations = [random_rotation(np.random.default_rng(seed), 3) for seed in range(400)]
    assert abs(np.mean([np.trace(rotation) for rotation in rotations])) < 0.2
    assert {round(np.linalg.det(rotation)) for rotation in rotations} == {-1, 1}


def test_errors_name_the_fix() -> None:
    with pytest.raises(ValueError, match=r"objective 'spere'.*sphere"):
        make_problems("spere", 2, [0])
    with pytest.raises(ValueError, match="seeds"):
        make_problems("sphere", 2, [])
    with pytest.raises(ValueError, match=r"seed.*-1"):
        translated("sphere", 2, -1)
    with pytest.raises(ValueError, match=r"beale.*dimension"):
        translated("beale", 1, 0)
