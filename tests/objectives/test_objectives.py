"""The test functions against values worked out by hand and against loops that share no code with them."""

import pickle
from collections.abc import Callable
from math import cos, pi, sqrt

import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.objectives import OBJECTIVES, Objective, Transform, banana

BENT_CIGAR = OBJECTIVES["bent-cigar"]
STYBLINSKI_OFFSET = 39.16616570377142
BY_HAND: list[tuple[Objective, list[float], float]] = [
    (OBJECTIVES["sphere"], [1, -2, 3], 14),
    (OBJECTIVES["ellipsoid"], [1, 2, -1], 1 + 4_000 + 1_000_000),
    (OBJECTIVES["ellipsoid"], [3], 9),
    (OBJECTIVES["discus"], [2, 3, -1], 4_000_000 + 9 + 1),
    (OBJECTIVES["cigar"], [2, 1, -1], 4 + 10_000 + 10_000),
    (OBJECTIVES["rosenbrock"], [-1.2, 1], 24.2),
    (OBJECTIVES["rosenbrock"], [2, 1, 3], (900 + 1) + (400 + 0)),
    (banana(1000.0), [2, 3], 1000 + 1),
    (banana(0.5), [0, 2, 0], (2 + 1) + (8 + 1)),
    (BENT_CIGAR, [-1, -2], 1 + 40_000),
    (BENT_CIGAR, [4, 4], 16 + 1e4 * 16**2),  # d = 2: 4^(1 + 0.5 * 2) = 16
    (BENT_CIGAR, [4, 4, 4], 16 + 1e4 * (8**2 + 16**2)),  # the middle coordinate: 4^(1 + 0.25 * 2) = 8
    (BENT_CIGAR, [9, *[0] * 8, 4], 81 + 1e4 * 1024**2),  # d = 10: 4^(1 + 2 * 2) = 1024
    (OBJECTIVES["rastrigin"], [0.5, 1], 20.25 + 1),
    (OBJECTIVES["rastrigin"], [0.25], 10.0625),
    (OBJECTIVES["griewank"], [pi, 0], 2 + pi**2 / 4000),
    (OBJECTIVES["griewank"], [pi, sqrt(2) * pi], 3 * pi**2 / 4000),
    (OBJECTIVES["griewank"], [0, 0, sqrt(3) * pi / 2], 1 + 0.75 * pi**2 / 4000),
    (OBJECTIVES["beale"], [0, 0], 2.25 + 5.0625 + 6.890625),
    (OBJECTIVES["beale"], [1, 2], 6.25 + 27.5625 + 92.640625),
    (OBJECTIVES["beale"], [3, 0.5, 2, -1], 4 + 1),
    (OBJECTIVES["styblinski"], [0, 0], 2 * STYBLINSKI_OFFSET),
    (OBJECTIVES["styblinski"], [2, -2], -19 - 29 + 2 * STYBLINSKI_OFFSET),
]


def bent_loop(x: list[float]) -> float:
    """The bent cigar without a rotation."""
    d, beta = len(x), 2.0 if len(x) == 10 else 0.5
    bent = [v ** (1 + beta * i / (d - 1) * sqrt(v)) if v > 0 else v for i, v in enumerate(x)]
    return bent[0] ** 2 + sum(10_000 * v * v for v in bent[1:])


def rosenbrock_loop(x: list[float]) -> float:
    return sum(100 * (x[i + 1] - x[i] * x[i]) ** 2 + (1 - x[i]) ** 2 for i in range(len(x) - 1))


def griewank_loop(x: list[float]) -> float:
    product = 1.0
    for i, v in enumerate(x, start=1):
        product *= cos(v / sqrt(i))
    return 1 + sum(v * v for v in x) / 4000 - product


def beale_loop(x: list[float]) -> float:
    a, b = x[:2]
    squares = (1.5 - a + a * b) ** 2 + (2.25 - a + a * b * b) ** 2 + (2.625 - a + a * b * b * b) ** 2
    return squares + sum(v * v for v in x[2:])


LOOPS: dict[str, Callable[[list[float]], float]] = {
    "sphere": lambda x: sum(v * v for v in x),
    "ellipsoid": lambda x: sum(10 ** (6 * i / (len(x) - 1)) * v * v for i, v in enumerate(x)),
    "discus": lambda x: 1e6 * x[0] * x[0] + sum(v * v for v in x[1:]),
    "cigar": lambda x: x[0] * x[0] + sum(1e4 * v * v for v in x[1:]),
    "rosenbrock": rosenbrock_loop,
    "bent-cigar": bent_loop,
    "rastrigin": lambda x: 10 * len(x) + sum(v * v - 10 * cos(2 * pi * v) for v in x),
    "griewank": griewank_loop,
    "beale": beale_loop,
    "styblinski": lambda x: sum((v**4 - 16 * v**2 + 5 * v) / 2 + STYBLINSKI_OFFSET for v in x),
}

every = pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)


@pytest.mark.parametrize(("objective", "x", "value"), BY_HAND, ids=lambda v: v.name if isinstance(v, Objective) else "")
def test_value_worked_out_by_hand(objective: Objective, x: list[float], value: float) -> None:
    np.testing.assert_allclose(objective(x), value, rtol=1e-13)


def test_bent_cigar_rotates_twice() -> None:
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    # R (x - t) = R (4, -1) = (1, 4); bent to (1, 16); R once more: (-16, 1)
    value = BENT_CIGAR([5.0, 0.0], Transform(np.array([1.0, 1.0]), quarter))
    np.testing.assert_allclose(value, 16**2 + 1e4 * 1**2, rtol=1e-13)


def test_there_is_a_loop_for_every_objective() -> None:
    assert LOOPS.keys() == OBJECTIVES.keys()


@every
@pytest.mark.parametrize("d", [2, 3, 10])
def test_equals_an_independent_loop(objective: Objective, d: int) -> None:
    x = np.random.default_rng(d).uniform(-4, 4, (20, d))
    expected = [LOOPS[objective.name](row) for row in x.tolist()]
    np.testing.assert_allclose(objective(x), expected, rtol=1e-12, atol=1e-12)


@every
@pytest.mark.parametrize("d", [2, 7, 10])
def test_optimum_is_zero_and_a_strict_minimum(objective: Objective, d: int) -> None:
    optimum = objective.x_opt(d)
    assert objective.f_opt == 0
    assert abs(objective(optimum)) < 1e-12
    directions = np.random.default_rng(1).standard_normal((200, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for radius in (1e-4, 1e-2, 0.1):
        assert objective(optimum + radius * directions).min() > 1e-5 * radius**2


@every
def test_jax_equals_numpy_and_a_batch_equals_its_points(objective: Objective) -> None:
    x = np.random.default_rng(3).uniform(-4, 4, (2, 5, 3))
    values = objective(x)
    assert values.shape == (2, 5)
    jitted = jax.jit(objective)(x)
    assert isinstance(jitted, jax.Array)
    np.testing.assert_allclose(jitted, values, rtol=1e-13, atol=1e-13)
    one_by_one = [[float(objective(point)) for point in row] for row in x]
    np.testing.assert_allclose(values, one_by_one, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(jax.vmap(jax.vmap(objective))(x), values, rtol=1e-13, atol=1e-13)


@every
def test_kind_and_precision_follow_the_points(objective: Objective) -> None:
    point = np.array([0.5, -0.25, 1.0], np.float32)
    assert isinstance(objective(point), np.float32)
    assert jax.eval_shape(objective, jax.ShapeDtypeStruct((4, 3), jnp.float32)) == jax.ShapeDtypeStruct((4,), jnp.float32)
    assert jax.eval_shape(objective, jax.ShapeDtypeStruct((3,), jnp.int32)).dtype == jnp.float64
    assert objective([1, -1, 2]) == objective([1.0, -1.0, 2.0])


def test_rosenbrock_is_a_banana() -> None:
    x = np.random.default_rng(4).standard_normal((6, 4))
    np.testing.assert_array_equal(OBJECTIVES["rosenbrock"](x), banana(100)(x))
    assert banana(1e3) is banana(1e3)  # one objective, one compiled function
    along = np.linspace(-1, 2, 7)
    valley = np.stack([along, along**2], -1)
    np.testing.assert_array_equal(banana(1e8)(valley), (1 - along) ** 2)


def test_styblinski_counts_wrong_coordinates() -> None:
    styblinski = OBJECTIVES["styblinski"]
    x = styblinski.x_opt(4)
    for wrong in range(1, 5):
        x[wrong - 1] = 2.746802770990837
        np.testing.assert_allclose(styblinski(x), wrong * 14.136719048487473, rtol=1e-13)


def test_beale_has_a_valley_that_leads_away() -> None:
    # with x_2 = 1 + s / x_1 the squares tend to (1.5 + s)^2 + (2.25 + 2 s)^2 + (2.625 + 3 s)^2, least at s = -13.875 / 14
    s = -13.875 / 14
    limit = 14.203125 - 13.875**2 / 14
    first = -(10.0 ** np.arange(1, 7))
    values = OBJECTIVES["beale"](np.stack([first, 1 + s / first], -1))
    assert (np.diff(values) < 0).all()
    assert (values > limit).all()
    np.testing.assert_allclose(values[-1], limit, atol=1e-5)
    assert limit == pytest.approx(0.4520089, abs=1e-7)


def test_bent_cigar_has_a_gradient_everywhere() -> None:
    gradient = jax.jit(jax.vmap(jax.grad(BENT_CIGAR)))
    x = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 2.0], [1e-300, 1e-300, -1e-300], [0.5, 1.5, 3.0], [-3.0, -0.1, -1e-8]])
    exact = gradient(x)
    assert np.isfinite(exact).all()
    h = 1e-6
    numeric = [(BENT_CIGAR(x + step) - BENT_CIGAR(x - step)) / (2 * h) for step in h * np.eye(3)]
    np.testing.assert_allclose(exact, np.stack(numeric, -1), rtol=1e-6, atol=0.02)  # atol: the kink of T_asy at 0


@every
@given(
    x=hnp.arrays(float, st.tuples(st.integers(1, 3), st.integers(2, 12)), elements=st.floats(-10, 10)),
)
def test_values_are_finite_and_never_below_the_optimum(objective: Objective, x: np.ndarray) -> None:
    values = objective(x)
    assert np.isfinite(values).all()
    assert (values >= -1e-9).all()


@every
def test_pickled_objectives_are_the_same(objective: Objective) -> None:
    x = np.array([0.3, -0.7])
    assert pickle.loads(pickle.dumps(objective))(x) == objective(x)
    assert hash(objective) == hash(OBJECTIVES[objective.name])


def test_errors_name_the_fix() -> None:
    with pytest.raises(ValueError, match=r"rosenbrock.*dimension"):
        OBJECTIVES["rosenbrock"]([1.0])
    with pytest.raises(ValueError, match=r"shape \(d,\)"):
        OBJECTIVES["sphere"](1.0)
    with pytest.raises(ValueError, match=r"^a must"):
        banana(0.0)
