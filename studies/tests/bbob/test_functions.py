"""BBOB's functions against COCO's own, and the instances against what the definitions promise."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg_studies.bbob.functions import BBOBProblem, make_problem, make_problems, names, value, value_of
from thalweg_studies.bbob.functions.instances import gauss, rotation, uniform
from thalweg_studies.bbob.functions.transforms import asymmetric, oscillate

FUNCTIONS = range(1, 25)
INSTANCES = range(1, 16)

QUICK = 3

mapped = jax.jit(jax.vmap(jax.vmap(value, in_axes=(0, None))))
"""One program for each dimension, for all problems and points."""


class Evaluated(NamedTuple):
    """All problems of one dimension with some points each, and the values there."""

    d: int
    problems: BBOBProblem
    x: np.ndarray
    values: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """f - f_opt."""
        return self.values - self.problems.f_opt[:, None]


@cache
def evaluated(d: int) -> Evaluated:
    """Evaluate 21 points for each problem, in this order.

    The optimum, steps away from it of lengths 1e-4 to 1 in pairs, four closer ones at random, three points in the box and three
    in and around it.
    """
    problems = make_problems(FUNCTIONS, INSTANCES, d)
    rng, count, optimum = np.random.default_rng(d), len(problems.function), problems.x_opt[:, None]
    steps = rng.standard_normal((count, 10, d)) * 10.0 ** np.arange(-4, 1).repeat(2)[:, None]
    close = 10.0 ** rng.uniform(-6, -1, (count, 4, 1)) * rng.standard_normal((count, 4, d))
    inside, around = rng.uniform(-5, 5, (count, 3, d)), rng.uniform(-8, 8, (count, 3, d))
    x = np.concatenate((optimum, optimum + steps, optimum + close, inside, around), axis=1)
    return Evaluated(d, problems, x, np.asarray(mapped(x, problems)))


dimensions = pytest.mark.parametrize("d", [QUICK, 10, *(pytest.param(d, marks=pytest.mark.check) for d in (2, 5, 20, 40))])


@dimensions
def test_values_equal_those_of_coco(d: int) -> None:
    cocoex = pytest.importorskip("cocoex")
    ours = evaluated(d)
    suite = cocoex.Suite("bbob", "instances: 1-15", f"dimensions: {d}")
    pairs = [(function, instance) for function in FUNCTIONS for instance in INSTANCES]
    theirs = [suite.get_problem_by_function_dimension_instance(function, d, instance) for function, instance in pairs]
    expected = np.array([[problem(point) for point in group] for problem, group in zip(theirs, ours.x, strict=True)])
    np.testing.assert_allclose(ours.values, expected, rtol=1e-9)
    # The distance to the minimum as well, as far as it can be told from f_opt, up to 1000, and from what COCO itself cancels.
    np.testing.assert_allclose(ours.error, expected - ours.problems.f_opt[:, None], rtol=1e-8, atol=1e-12)


@dimensions
def test_x_opt_and_f_opt_are_the_minimum(d: int) -> None:
    ours = evaluated(d)
    assert (np.abs(ours.problems.x_opt) <= 5).all()
    np.testing.assert_allclose(ours.values[:, 0], ours.problems.f_opt, rtol=1e-14, atol=1e-13)
    assert (ours.error > -1e-12).all()
    constant = (ours.problems.function == 5)[:, None]  # the slope is constant beyond its corner
    assert (ours.error[:, 9:11] > 0).all(where=~constant)
    assert (ours.error[:, 1:3] < 100).all()  # a step of 1e-4 leads nowhere else


def test_one_function_by_itself_equals_the_switch() -> None:
    ours = evaluated(QUICK)
    chosen = slice(3, None, len(INSTANCES))  # instance 4 of each function
    problems: BBOBProblem = jax.tree.map(lambda part: part[chosen], ours.problems)

    @jax.jit
    def alone(x: jax.Array, problems: BBOBProblem) -> list[jax.Array]:
        return [value_of(i + 1)(x[i], jax.tree.map(lambda part, i=i: part[i], problems)) for i in range(24)]

    np.testing.assert_allclose(alone(ours.x[chosen, -1], problems), ours.values[chosen, -1], rtol=1e-11)
    assert value_of(9) is value_of(np.int64(9))


def test_values_follow_the_type_of_the_point() -> None:
    ours = evaluated(QUICK)
    single = np.asarray(mapped(jnp.asarray(ours.x[:, -6:-3], jnp.float32), ours.problems))
    assert ours.values.dtype == np.float64
    assert single.dtype == np.float32
    smooth = ~np.isin(ours.problems.function, [16, 19, 23])  # these oscillate faster than single precision can tell
    np.testing.assert_allclose(single[smooth], ours.values[smooth, -6:-3], rtol=1e-4)
    assert value_of(1)([1, 2, 3, 4, 5], make_problem(1, 1, 5)).dtype == np.float64


def test_problems_are_stacked_function_by_function() -> None:
    stacked = make_problems([21, 3], [2, 5], d=4)
    assert stacked.function.tolist() == [21, 21, 3, 3]
    for i, (function, instance) in enumerate([(21, 2), (21, 5), (3, 2), (3, 5)]):
        jax.tree.map(
            np.testing.assert_array_equal, jax.tree.map(lambda part, i=i: part[i], stacked), make_problem(function, instance, 4)
        )
    shapes = {tuple(np.shape(part) for part in make_problem(function, 1, 4)) for function in FUNCTIONS}
    assert len(shapes) == 1
    assert sorted(names) == list(FUNCTIONS)


def test_the_generator_is_that_of_2009() -> None:
    # Park and Miller's own check of s <- 16807 s mod 2^31 - 1: from 1, the 10000th state is 1043618065. The shuffle keeps
    # what it is fed, so all but 32 of the states after the 40 of the warm-up come out, in another order.
    drawn = np.round(uniform(10_000, 1) * (2**31 - 1)).astype(np.int64)
    assert 1043618065 in drawn
    np.testing.assert_array_equal(uniform(5, 7), uniform(50, 7)[:5])
    np.testing.assert_array_equal(uniform(3, 0), uniform(3, 1))
    assert abs(uniform(10_000, 3).mean() - 0.5) < 0.01
    assert abs(gauss(10_000, 3).std() - 1) < 0.02


def test_rotations_are_orthogonal_and_kept_safe() -> None:
    for d in (2, 7, 40):
        np.testing.assert_allclose(rotation(d, 11) @ rotation(d, 11).T, np.eye(d), atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        rotation(2, 11)[0, 0] = 1


def test_the_transformations_by_hand() -> None:
    # log 1 = 0, so 1 and -1 stay; e^(0.1 pi) has the logarithm 0.1 pi, where sin(10 * 0.1 pi) vanishes.
    grown = np.exp(0.1 * np.pi)
    expected = grown * np.exp(0.049 * np.sin(0.79 * np.pi))
    np.testing.assert_allclose(oscillate(jnp.array([0.0, 1.0, -1.0, grown])), [0, 1, -1, expected], rtol=1e-12)
    # d = 3, beta = 0.5: powers 1, 1 + 0.25 sqrt(4) and, for what is negative, 1
    np.testing.assert_allclose(asymmetric(jnp.array([4.0, 4.0, -4.0]), 0.5), [4, 4**1.5, -4], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 1, 2), ValueError, "function.*got 0"),
        ((25, 1, 2), ValueError, "function.*got 25"),
        ((1, 0, 2), ValueError, "instance.*got 0"),
        ((1, 1, 1), ValueError, "d must.*got 1"),
        ((1.0, 1, 2), TypeError, "function.*got 1.0"),
        ((True, 1, 2), TypeError, "function.*got True"),
        ((1, "2", 2), TypeError, "instance.*got '2'"),
        ((1, 1, np.float64(3)), TypeError, "d must"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_problem(*arguments)


def test_other_mistakes_are_named() -> None:
    p = make_problem(np.int64(1), 1, 2)
    with pytest.raises(ValueError, match="functions and instances"):
        make_problems([], [1], 2)
    with pytest.raises(TypeError, match="function"):
        value_of(True)
    with pytest.raises(ValueError, match=r"^x must.*jax\.vmap"):
        value(np.zeros((3, 2)), p)
    with pytest.raises(ValueError, match=r"^x must"):
        value(np.zeros(3), p)
