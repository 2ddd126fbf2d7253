"""Descriptions of variables: each either works, with its start inside and its map invertible, or is refused by name."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg
from thalweg.space import Fixed, Integer, Real, Space, make_scaled_space, middle

numbers = st.floats(allow_subnormal=False)
anything = st.one_of(
    st.none(), numbers, st.integers(-100, 100), st.integers(), st.booleans(), st.text(max_size=3), st.lists(numbers, max_size=2)
)
positive = st.floats(1e-300, 1e300) | st.integers(1, 2**53)
kinds_of_range = st.sampled_from([Real, Integer])
variables = st.one_of(anything, st.builds(Real, st.just(0), st.integers(1, 9)), st.just(Integer(-3, 3)), st.just(Fixed(2)))


def tried(make):
    """Return what `make` does; None if it refuses in one sentence."""
    try:
        return make()
    except (TypeError, ValueError) as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert len(refusal) > 20
    return None


def check(space):
    """Hold a space to its contract: start and images inside the ranges, whole numbers whole, the map invertible."""
    x0, inverse = space.x0, space.map.to_search
    space.map.check(x0, "x0")
    far = np.array([[-1e3], [-3.0], [0.0], [0.4], [3.0], [1e3]]) * np.ones(len(inverse(x0)))
    for x in (x0, *space.map.to_objective(inverse(x0) + far)):
        point = space.point(x)
        for variable, value in zip(space.variables, point.values(), strict=True):
            if isinstance(variable, Fixed):
                assert (type(value), value) == (type(variable.value), variable.value)
                continue
            assert type(value) is (int if isinstance(variable, Integer) else float)
            assert variable.low is None or variable.low <= value
            assert variable.high is None or value <= variable.high
            assert value > 0 or not variable.log
        assert space.vector_of(point).tolist() == x.tolist()
        again = space.map.to_objective(inverse(x))
        size = np.maximum(np.abs(x), np.max(np.abs([x, *np.where(np.isfinite(space.map.sides), space.map.sides, 0.0)]), axis=0))
        assert np.all(np.abs(again - x) <= 1e-9 * size + 1e-300)
        assert np.array_equal(again[space.integers], x[space.integers])
    assert all(step > 0 for step in space.sigma0)


@given(kinds_of_range, anything, anything, anything, anything, anything)
def test_any_range_works_or_is_refused(kind, low, high, log, x0, sigma0):
    variable = tried(lambda: kind(low, high, log, x0, sigma0))
    if variable is not None:
        check(Space(a=variable))
        assert eval(repr(variable)) == variable


@given(kinds_of_range, positive, positive, st.booleans(), st.data())
def test_any_closed_range_works_or_is_refused(kind, one, other, log, data):
    variable = tried(lambda: kind(min(one, other), max(one, other), log))
    if variable is not None:
        start = data.draw(st.sampled_from([variable.low, variable.high, None]))
        check(Space({"a": kind(variable.low, variable.high, log, start)}))


@given(st.lists(variables))
def test_any_list_of_variables_works_or_is_refused(described):
    if (space := tried(lambda: Space(described))) is not None:
        check(space)
    if (named := tried(lambda: Space({f"x{i}": each for i, each in enumerate(described)}))) is not None:
        assert named.as_vector().x0.tolist() == space.x0.tolist()


@given(anything)
def test_any_fixed_value_works_or_is_refused(value):
    if (fixed := tried(lambda: Fixed(value))) is not None:
        check(Space(a=fixed, b=Real()))


masks = st.one_of(st.none(), st.lists(st.integers(-1, 3), max_size=3), st.lists(st.booleans(), max_size=3), anything)


@given(
    st.lists(st.tuples(anything, anything), max_size=3) | st.tuples(anything, anything) | anything,
    st.lists(anything, max_size=3) | anything,
    st.lists(st.floats(0.1, 9), max_size=3) | anything,
    masks,
    masks,
)
def test_any_arrays_work_or_are_refused(bounds, sigma0, scale, log, integers):
    kinds = {"scale": scale, "log": log, "integers": integers}
    made = tried(lambda: (middle(bounds, sigma0, **kinds), make_scaled_space(bounds, len(bounds), sigma0, **kinds)))
    if made is not None:
        x0, (space, step) = made
        space.check(x0, "x0")
        assert step > 0
        again = space.to_objective(space.to_search(x0))
        np.testing.assert_allclose(again, x0, rtol=1e-9, atol=1e-9 * np.max(np.abs(x0)) + 1e-300)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Real(1, 0), "low of Real must be below high, got 1.0 and 0.0; use Fixed"),
        (lambda: Real(0, 1, log=True), "low of Real must be above 0 with log=True, got 0.0"),
        (lambda: Real(0, 1, x0=2), "x0 of Real must lie in its range, got 2.0"),
        (lambda: Real(0, float("inf")), "high of Real must be finite, got inf; use None for an open side"),
        (lambda: Real(1, 1 + 1e-15), "low and high of Real are closer together"),
        (lambda: Real(-1e200, 1e200), "low and high of Real are too far apart"),
        (lambda: Integer(0.5, 2), "low of Integer must be a whole number of at most 2^53, got 0.5"),
        (lambda: Integer(0, 2**60), "high of Integer must be a whole number of at most 2^53"),
        (lambda: Fixed(float("inf")), "value of Fixed must be finite, got inf"),
        (Space, "a Space needs variables"),
        (lambda: Space(a=Fixed(1)), "all variables of the Space are Fixed"),
        (lambda: Space({"a": Real()}, a=Real()), "each name once, got 'a' twice"),
        (lambda: Space(a=Real()).vector_of({"b": 1}), "point has 'b', but the variables are 'a'"),
        (lambda: Space(a=Real()).vector_of({}), "point must have a value of 'a'"),
        (lambda: Space(a=Integer()).point([0.5]), "a whole number for 'a', got 0.5"),
        (lambda: Space(a=Real()).point([1, 2]), "each of the 1 variables, got shape (2,)"),
    ],
)
def test_wrong_values_are_named(make, words):
    with pytest.raises(ValueError, match=" ") as error:
        make()
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Real("a"), "low of Real must be a number, got 'a'"),
        (lambda: Real(0, True), "high of Real must be a number, got True"),
        (lambda: Real(1, 2, log=1), "log of Real must be True or False, got 1"),
        (lambda: Fixed("adam"), "value of Fixed must be a number, got 'adam'"),
        (lambda: Space(a=(0, 1)), "got (0, 1); write Real(0, 1)"),
        (lambda: Space(a=0.5), "got 0.5; write Fixed(0.5)"),
        (lambda: Space(a=None), "a must be a Real, an Integer or a Fixed, got None"),
        (lambda: Space(Real(0, 1)), "variables must come by keyword"),
        (lambda: Space([Real()], a=Real()), "variables must come by keyword"),
        (lambda: Space({1: Real()}), "names of variables must be words, got 1"),
        (lambda: Space(a=Real()).vector_of(3), "point must be a mapping"),
    ],
)
def test_wrong_types_are_named(make, words):
    with pytest.raises(TypeError, match=" ") as error:
        make()
    assert words in str(error.value)


class CategoricalDistribution:
    """Stands for those of Optuna and others."""

    def __repr__(self):
        return "CategoricalDistribution()"  # without an address, which differs between test processes


@pytest.mark.parametrize(
    "choice", ["adam", True, ["a", "b"], ("a", "b"), (1, 2, 3), {"a"}, (True, False), CategoricalDistribution()], ids=repr
)
def test_categories_are_refused_with_a_way_round(choice):
    with pytest.raises(TypeError, match=r"optimiser = .* is a choice among categories.* Optuna's suggest_categorical"):
        Space(rate=Real(0, 1), optimiser=choice)


def test_there_is_no_class_of_categories():
    with pytest.raises(AttributeError, match=r"a Categorical is a choice among categories.* Optuna's suggest_categorical"):
        thalweg.Categorical(["a", "b"])
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        thalweg.Nothing()


SPACE = Space(rate=Real(1e-5, 1e-1, log=True), width=Integer(8, 512, log=True), drop=Real(0, 1), n=Integer(0, 3), g=Fixed(0.99))


def test_a_space_is_a_pytree():
    y = np.random.default_rng(1).normal(0, 2, (50, 4))
    expected = SPACE.map.to_objective(y)
    mapped = jax.jit(lambda space, points: space.map.to_objective(points, jnp))
    with jax.enable_x64(True):
        np.testing.assert_allclose(mapped(SPACE, y), expected, rtol=1e-14)
        each = jax.jit(jax.vmap(lambda space, point: space.map.to_objective(point, jnp), (None, 0)))
        np.testing.assert_allclose(each(SPACE, y), expected, rtol=1e-14)
    leaves, tree = jax.tree.flatten(SPACE)
    assert jax.tree.unflatten(tree, leaves) == SPACE
    assert all(isinstance(leaf, np.ndarray) for leaf in leaves)


def test_a_traced_objective_gets_whole_numbers():
    seen = {}

    def fun(point):
        seen.update({name: value.dtype for name, value in point.items()})
        return point["rate"] * point["width"]

    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(SPACE.objective(fun, "traced")))(jnp.asarray([[0.5, 8.0, 0.1, 2.0, 0.99]]))
    assert found.tolist() == [4.0]
    assert [name for name, kind in seen.items() if jnp.issubdtype(kind, jnp.integer)] == ["width", "n"]


def test_copies_are_equal_and_kinds_of_fixed_values_differ():
    assert pickle.loads(pickle.dumps(SPACE)) == SPACE
    assert hash(pickle.loads(pickle.dumps(SPACE))) == hash(SPACE)
    assert eval(repr(SPACE)) == SPACE
    assert eval(repr(Space({"a b": Real()}))) == Space({"a b": Real()})
    assert SPACE.as_vector() != SPACE
    assert Space(a=Real(), b=Fixed(1)) != Space(a=Real(), b=Fixed(1.0))


def test_a_diverging_logarithm_stays_finite():
    space = Space(a=Real(log=True)).map
    y = np.array([[-1e9], [-800.0], [800.0], [1e9]])
    assert np.all(np.isfinite(space.to_objective(y)) & (space.to_objective(y) > 0))


def test_starts_and_first_steps():
    own = {
        "b": Real(1e-4, 1, log=True, x0=0.5, sigma0=2),
        "c": Integer(0, 9),
        "d": Real(0),
        "e": Fixed(3),
        "f": Real(0, 1, x0=0),
    }
    space = Space({"a": Real(0, 1), **own})
    assert space.x0.tolist() == [0.5, 0.5, 4.0, 1.0, 3.0, 0.0]
    assert space.sigma0 == [0.3, 2.0, 3.0, 1.0, 1.0, 0.3]
    assert space.steps == space.sigma0
    assert Space(a=Real(0, 1), b=Fixed(3), c=Real(2, 3)).steps == 0.3
