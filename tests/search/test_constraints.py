"""Constraints: multipliers, invariance, feasibility of the answer, input, resuming and workers."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint

from thalweg import Constraints, Integer, Optimizer, Real, Space, minimize, read_log, resume
from thalweg._common.constrained_objective import split
from thalweg.search.constraints import Kinds, Lagrangian
from thalweg.search.constraints.settled import Settled

D = 3
QUIET = {"method": "cma", "seed": 1}


def pair(x):
    """(x - 2)^2 where x0 + x1 <= 1 and x0 >= 0: the optimum is (0.5, 0.5, 2), the multipliers are 3 and 0."""
    return float((x - 2) @ (x - 2)), [x[0] + x[1] - 1, -x[0]]


@pytest.fixture(scope="module")
def solved():
    return minimize(pair, np.zeros(D), 0.5, **QUIET)


def test_kkt_point_and_multipliers_of_a_quadratic(solved):
    assert solved.success
    assert solved.feasible
    assert solved.violation == 0
    assert np.all(solved.constr <= 0)
    assert solved.x == pytest.approx([0.5, 0.5, 2], abs=1e-5)
    assert solved.multipliers == pytest.approx([3, 0], abs=1e-4)
    assert solved.fun == pytest.approx(4.5, abs=1e-6)


def test_infeasible_start_and_scipys_objects_give_the_same_answer():
    limits = [LinearConstraint([[1, 1, 0]], -np.inf, 1), NonlinearConstraint(lambda x: x[0], 0, np.inf)]
    found = minimize(lambda x: pair(x)[0], np.full(D, 3.0), 0.5, constraints=limits, **QUIET)
    assert found.feasible
    assert found.x == pytest.approx([0.5, 0.5, 2], abs=1e-5)


def test_an_equality_and_a_two_sided_constraint():
    circle = NonlinearConstraint(lambda x: x[:2] @ x[:2], 1, 1)
    slab = LinearConstraint([[0, 0, 1]], 0, 1)
    found = minimize(lambda x: (x - 2) @ (x - 2), [0.0, 0.5, 0.0], 0.5, constraints=[circle, slab], **QUIET)
    assert found.equality.tolist() == [False, False, True]
    assert found.feasible
    assert abs(found.constr[2]) <= 1e-6
    assert found.x == pytest.approx([0.5**0.5, 0.5**0.5, 1], abs=1e-4)
    # grad f = -lambda grad h: 2 (x - 2) = -2 lambda x
    assert found.multipliers == pytest.approx([0, 2, 2 * 2**0.5 - 1], abs=1e-2)


def test_bounds_and_a_constraint_together():
    found = minimize(
        lambda x: (float((x - 2) @ (x - 2)), [x[0] + x[1] - 1]), [0.2, 0.2, 0.5], 0.2, bounds=(0, 1.5), **QUIET, max_evals=2000
    )
    assert found.feasible
    assert found.x == pytest.approx([0.5, 0.5, 1.5], abs=1e-3)


def test_powers_of_two_as_units_of_value_and_constraints_change_nothing():
    """The ranks are those of the same function, to the last bit: all numbers scale exactly."""

    def scaled(x):
        f, (g0, g1) = pair(x)
        return 1024 * f, [4096 * g0, g1 / 64]

    plain, other = (
        minimize(fun, np.zeros(D), 0.5, max_evals=400, options={"tolfun": 0, "tolfunhist": 0}, **QUIET)
        for fun in (pair, scaled)
    )
    assert other.x == pytest.approx(plain.x, abs=1e-9)
    assert other.fun == pytest.approx(1024 * plain.fun, rel=1e-9)
    assert other.multipliers == pytest.approx(plain.multipliers * [1024 / 4096, 1024 * 64], rel=1e-4, abs=1e-4)


def test_an_infeasible_problem_says_so():
    found = minimize(lambda x: (x @ x, [x[0] + 1, 1 - x[0]]), np.zeros(D), 0.5, max_evals=400, ftarget=1e9, **QUIET)
    assert not found.feasible
    assert not found.success
    assert "ftarget" not in found.stop
    assert found.violation >= 1 - 1e-9
    assert "No feasible point was found." in found.message
    assert str(f"{found.violation:g}") in found.message


def test_the_best_point_is_feasible_before_it_is_good():
    es = Optimizer(np.zeros(2), 1.0, popsize=4, **QUIET)
    X = es.ask()
    es.tell(X, [0.0, 1.0, 2.0, 3.0], [[2.0], [1.0], [0.0], [-1.0]])
    assert es.best.f == 2.0
    assert es.best.violation == 0
    X = es.ask()
    es.tell(X, [-9.0, 1.5, None, 9.0], [[1e-9], [-5.0], [-1.0], None])
    assert es.best.f == 1.5
    assert es.failures == 2


def test_points_without_feasible_ones_compare_by_violation():
    es = Optimizer(np.zeros(2), 1.0, popsize=4, **QUIET)
    X = es.ask()
    es.tell(X, [0.0, 1.0, 2.0, 3.0], [[2.0], [0.1], [0.5], [9.0]])
    assert (es.best.f, es.best.violation) == (1.0, 0.1)
    assert not es.result.feasible


def test_portions_in_any_order_give_the_same_as_a_generation_at_once():
    at_once, by_one = (Optimizer(np.zeros(D), 0.5, **QUIET) for _ in range(2))
    for _ in range(5):
        X = at_once.ask()
        F, G = zip(*map(pair, X), strict=True)
        at_once.tell(X, F, G)
        for x in by_one.ask()[::-1]:
            f, g = pair(x)
            by_one.tell([x], [f], [g])
    assert by_one.nit == 5
    assert by_one.best.x.tolist() == at_once.best.x.tolist()
    assert by_one.ask().tolist() == at_once.ask().tolist()


def test_failures_of_constraints_are_failures_of_their_points():
    calls = []

    def fun(x):
        calls.append(1)
        kind = len(calls) % 7
        if kind == 3:
            raise RuntimeError("no")
        f, g = pair(x)
        return (f, [np.nan, 0.0]) if kind == 4 else (f, [1.0]) if kind == 5 else f if kind == 6 else (f, g)

    found = minimize(fun, np.zeros(D), 0.5, max_evals=70, **QUIET)
    assert found.nfev == len(calls) == 70
    assert found.failures == 40
    assert found.feasible
    assert len(found.constr) == 2


@pytest.mark.parametrize("more", [{}, {"asynchronous": True}], ids=["synchronous", "asynchronous"])
def test_resumed_search_has_the_same_bits(tmp_path, death, more):
    path = tmp_path / "run.ckpt"
    whole = minimize(pair, np.zeros(D), 0.5, max_evals=140, checkpoint=tmp_path / "whole", **QUIET, **more)
    calls = []

    def killed(x):
        calls.append(1)
        if len(calls) > 66:
            death.strike()
        return pair(x)

    minimize(killed, np.zeros(D), 0.5, max_evals=140, checkpoint=path, **QUIET, **more)
    death.restore()
    again = resume(path, pair, **more)
    assert len(again.reevaluated) == 1  # another function
    assert again.nfev == whole.nfev
    assert again.x.tolist() == whole.x.tolist()
    assert again.multipliers.tolist() == whole.multipliers.tolist()
    assert again.constr.tolist() == whole.constr.tolist()
    rows = read_log(f"{path}.jsonl")
    assert all(np.array_equal(row.extra["g"], pair(row.x)[1]) for row in rows)


def test_a_log_without_constraints_has_no_further_columns(tmp_path):
    path = tmp_path / "log.jsonl"
    minimize(lambda x: x @ x, np.zeros(D), 0.5, max_evals=7, log=path, **QUIET)
    assert "g" not in json.loads(path.read_text().splitlines()[0])


def test_saved_and_loaded_optimizer_asks_the_same(tmp_path):
    es = Optimizer(np.zeros(D), 0.5, **QUIET)
    for _ in range(4):
        X = es.ask()
        es.tell(X, *zip(*map(pair, X), strict=True))
    X = es.ask(3)
    es.tell(X[:2], *zip(*map(pair, X[:2]), strict=True))
    es.save(tmp_path / "file")
    other = Optimizer.load(tmp_path / "file")
    assert other.best.order == es.best.order
    assert other.result.constr.tolist() == es.result.constr.tolist()
    for each in (es, other):
        rest = np.concatenate([X[2:], each.ask(es.popsize - 3)])
        each.tell(rest, *zip(*map(pair, rest), strict=True))
    assert other.ask().tolist() == es.ask().tolist()


def test_restarts_keep_the_best_feasible_point():
    def fun(x):
        return pair(x)[0] + 3 * float(np.sum(1 - np.cos(9 * x))), pair(x)[1]

    found = minimize(fun, np.zeros(D), 0.5, max_evals=1500, restarts=3, options={"tolfun": 1e-3}, **QUIET)
    assert found.restarts >= 1
    assert found.feasible
    assert found.constr == pytest.approx(fun(found.x)[1])


def test_vectorized_threads_and_maps_give_the_same(solved):
    few = {**QUIET, "max_evals": 70}
    one = minimize(pair, np.zeros(D), 0.5, **few)

    def together(X):
        values = [pair(x) for x in X]
        return np.array([f for f, _ in values]), np.array([g for _, g in values])

    assert minimize(together, np.zeros(D), 0.5, vectorized=True, **few).x.tolist() == one.x.tolist()
    assert minimize(pair, np.zeros(D), 0.5, workers=map, **few).x.tolist() == one.x.tolist()
    with ThreadPoolExecutor(2) as pool:
        assert minimize(pair, np.zeros(D), 0.5, workers=pool, **few).x.tolist() == one.x.tolist()


@pytest.mark.slow
def test_processes_and_functions_of_their_own():
    limits = NonlinearConstraint(lambda x: x[0] + x[1], -np.inf, 1)
    found = [
        minimize(lambda x: float(x @ x) - x[0], np.zeros(D), 0.5, constraints=limits, workers=n, **QUIET, max_evals=70)
        for n in (1, 2)
    ]
    assert found[0].x.tolist() == found[1].x.tolist()


def test_constraints_of_named_variables_take_the_mapping():
    space = Space(a=Real(0, 2), n=Integer(1, 5))
    seen = []
    limits = NonlinearConstraint(lambda point: seen.append(point) or point["a"] * point["n"], -np.inf, 3)
    found = minimize(lambda point: -point["a"] - point["n"], space, constraints=limits, max_evals=300, **QUIET)
    assert set(seen[0]) == {"a", "n"}
    assert isinstance(seen[0]["n"], int)
    assert found.feasible
    assert found.point["a"] * found.point["n"] <= 3


@pytest.mark.parametrize("weight", [1, 3])
def test_real_variables_converge_beside_a_whole_one_in_the_same_constraint(weight):
    """The numbers 5 and 6 are equally good with the weight 1, 6 is best with the weight 3."""
    space = Space(a=Real(0, 5), n=Integer(1, 9))

    def fun(point):
        return (point["a"] - 4) ** 2 + weight * (point["n"] - 7) ** 2, [point["a"] + point["n"] - 8]

    found = minimize(fun, space, max_evals=800, ftarget=4 + weight + 1e-6, **QUIET)
    assert found.success


def test_fits_leave_settled_whole_numbers_out():
    """Of y = A e the coordinates that are left are orthogonal to the change of the settled y_1, and keep lengths."""
    space = Space([Real(-9, 9), Integer(-9, 9), Integer(-9, 9)]).map
    rng = np.random.default_rng(0)
    A, units = rng.normal(size=(3, 3)), np.broadcast_to(space.scale, 3)
    std = np.array([1.0, 0.1, 2.0]) / units
    settled = Settled(space, np.zeros(3), std)
    assert settled.coordinates.tolist() == [False, True, False]
    y = np.array([[1.0, 0.2, 0.3], [-2.0, -0.3, 3.2], [0.4, 1.2, 0.1]]) / units
    reduced, taken = settled.reduce(y, y @ np.linalg.inv(A).T, lambda y: y @ np.linalg.inv(A).T)
    assert taken is not None
    assert taken.tolist() == [True, True, False]
    e = y @ np.linalg.inv(A).T
    normal = A[1] / np.linalg.norm(A[1])
    assert reduced @ reduced.T == pytest.approx(e @ e.T - np.outer(e @ normal, e @ normal))


def test_programs_print_constraints():
    from thalweg.objectives.command import Command

    assert Command(["echo", '{"f": 2, "g": [-1, 0.5], "h": [0]}'])([1.0]) == (2.0, [-1.0, 0.5], [0.0])


@pytest.mark.parametrize("returned", [(1.0, 2.0), (1.0, "no"), (1.0, {"g": 1}), (1.0, None), [1.0], ([1.0, 2.0], [3.0]), "ab"])
def test_other_pairs_are_no_constraints(returned):
    assert split(returned) == (returned, None)


def test_the_model_refuses_constraints():
    with pytest.raises(ValueError, match="model"):
        minimize(lambda x: x[0], np.zeros(D), constraints=LinearConstraint(np.eye(D), 0, 1), model="quadratic")
    es = Optimizer(np.zeros(D), model="quadratic", seed=1)
    X = es.ask()
    with pytest.raises(ValueError, match="model"):
        es.tell(X, [1.0] * len(X), [[1.0]] * len(X))


def test_returned_constraints_that_are_asked_for_and_missing_are_failures():
    with pytest.raises(RuntimeError, match="pair"):
        minimize(lambda x: x @ x, np.zeros(D), constraints="returned", max_evals=20, **QUIET)


WRONG = st.one_of(
    st.integers(),
    st.floats(allow_nan=True),
    st.text(max_size=5).filter(lambda text: text != "returned"),
    st.just(abs),
    st.dictionaries(st.sampled_from(["type", "fun", "low"]), st.sampled_from(["ineq", "eq", 3, abs]), max_size=2).filter(
        lambda each: not (each.get("fun") is abs and each.get("type") in ("ineq", "eq"))
    ),
    st.builds(lambda low: NonlinearConstraint(abs, low, low - 1), st.floats(-1e6, 1e6)),
    st.builds(lambda side: NonlinearConstraint(abs, side, np.inf), st.sampled_from([np.nan, np.inf, -np.inf])),
)


@given(wrong=WRONG, listed=st.booleans())
@settings(max_examples=60, deadline=None)
def test_wrong_descriptions_are_refused_in_one_sentence(wrong, listed):
    with pytest.raises((TypeError, ValueError), match="constraints") as caught:
        Constraints([wrong] if listed else wrong)
    assert "\n" not in str(caught.value)


def test_a_matrix_for_another_dimension_is_refused():
    with pytest.raises(ValueError, match=r"LinearConstraint has 3 columns, but the search has 2 coordinates"):
        minimize(pair, np.zeros(2), constraints=LinearConstraint(np.ones((1, 3)), 0, 1), **QUIET)


@pytest.mark.parametrize("name", ["tolerance", "equality_tolerance"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "a", None])
def test_wrong_tolerances_are_refused(name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        Constraints("returned", **{name: value})


@pytest.mark.parametrize("G", [3.0, np.array(3.0), "ab", [[1.0]], [1.0, 2.0, 3.0, 4.0], [[[1.0]]] * 4])
def test_wrong_constraint_values_are_refused_and_nothing_is_lost(G):
    es = Optimizer(np.zeros(2), 1.0, popsize=4, **QUIET)
    X = es.ask()
    with pytest.raises((TypeError, ValueError), match="G must hold"):
        es.tell(X, [1.0, 2.0, 3.0, 4.0], G)
    es.tell(X, [1.0, 2.0, 3.0, 4.0], [[-1.0]] * 4)
    assert es.nit == 1


def test_the_values_of_the_lagrangian():
    """f + lambda c + mu c^2 / 2 where lambda + mu c > 0, else -lambda^2 / (2 mu); an equality always has the former."""
    start = Lagrangian.start(Kinds(1, 1), 2, 4)
    al = type(start)(**{**vars(start), "multipliers": np.array([2.0, -1.0]), "penalties": np.array([4.0, 2.0])})
    c = np.array([[1.0, 0.0], [-0.5, 0.0], [-7.0, 0.0], [-7.0, -3.0]])
    assert al.values(np.zeros(4), c).tolist() == [4.0, -0.5, -0.5, -0.5 + 3 + 9]


def test_the_fit_finds_linear_constraints_and_the_multiplier_of_a_quadratic():
    """In standard coordinates a sphere with c = e_0 + 1 <= 0: the constrained minimum has the multiplier 1 h."""
    rng = np.random.default_rng(0)
    state = Lagrangian.start(Kinds(1), 4, 8)
    found = []
    for _ in range(60):
        y = rng.normal(size=(8, 4)) - np.eye(4)[0]  # the distribution has its mean at the optimum
        state = state.learn(y, (y**2).sum(1) / 2, y[:, :1] + 1, lambda each: each + np.eye(4)[0])
        found.append(state.multipliers[0])
    assert state.sizes == pytest.approx([1.0])
    assert np.mean(found[10:]) == pytest.approx(1.0, abs=0.15)
    assert 0.4 < state.penalties[0] < 2.5
