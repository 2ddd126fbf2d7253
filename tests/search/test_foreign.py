"""Foreign points: told without having been asked. Good ones help, any number of bad ones do no harm."""

import numpy as np
import pytest

from thalweg import Optimizer, Real, Space
from thalweg.search.foreign import ForeignPoints
from thalweg.search.injection import place_injected


def f(x):
    return float((x - 1) @ (x - 1))


def optimizer(**more):
    return Optimizer([3.0] * 4, 1.0, **{"method": "cma", "popsize": 8, "seed": 1, **more})


def advance(es, number, beside=None):
    for _ in range(number):
        X = es.ask()
        es.tell(X, [f(x) for x in X])
        if beside is not None:
            Y = beside(es)
            es.tell(Y, [f(y) for y in Y], foreign=True)
    return es


def test_foreign_points_count_and_may_be_the_best():
    es = optimizer()
    es.tell([[1.0] * 4, [9.0] * 4, [2.0] * 4], [0.0, 256.0, None], foreign=True)
    assert (es.nfev, es.nit, es.failures, es.best.f, es.best.nfev) == (3, 0, 1, 0.0, 1)
    assert es.best.x.tolist() == [1.0] * 4


def test_they_move_the_search_on_with_half_a_generation():
    es = optimizer()
    X = es.ask()
    es.tell(np.ones((5, 4)) + 0.01 * np.arange(5)[:, None], np.zeros(5), foreign=True)
    es.tell(X[:3], [f(x) for x in X[:3]])
    assert es.nit == 0
    es.tell(X[3:4], [f(X[3])])
    assert es.nit == 1
    assert len(es.pending.foreign) == 1  # it waits for the next one


def test_the_generation_is_that_of_injection():
    """The draws of foreign points are shortened as those of injected ones, and the strategy learns from exactly these."""
    es, given = optimizer(), np.array([[1.0] * 4, [-40.0] * 4])
    X, before = es.ask(), es.state
    es.tell(given, [0.0, 1.0], foreign=True)
    es.tell(X[:6], [f(x) for x in X[:6]])
    y = np.concatenate([given, X[:6]])
    e, y = place_injected(given, np.zeros((8, 4)), y, np.full(4, 3.0), lambda y: np.asarray(es.run.strategy.invert(before, y)))
    e[2:] = np.asarray(es.run.strategy.invert(before, y[2:]))
    values = np.concatenate([[0.0, 1.0], [f(x) for x in X[:6]]])
    expected, _ = es.run.strategy.tell(before, e, y, values)
    np.testing.assert_allclose(es.state.mean, expected.mean, rtol=1e-9)
    np.testing.assert_allclose(es.state.root, expected.root, rtol=1e-9, atol=1e-12)
    assert np.linalg.norm(e[1]) <= 2 + 8 / 6 + 1e-9


def test_bad_points_leave_no_trace_in_the_search():
    plain = advance(optimizer(), 12)
    es = optimizer()
    far = 1000 + np.random.default_rng(0).standard_normal((1000, 4))
    es.tell(far, [f(x) for x in far], foreign=True)
    advance(es, 12, beside=lambda es: es.mean + 50 + np.arange(12.0).reshape(3, 4))
    assert es.mean.tolist() == plain.mean.tolist()
    assert es.nfev == plain.nfev + 1000 + 36


def test_a_stream_of_good_points_helps():
    rng = np.random.default_rng(0)

    def better(es):  # another search that is twice as close
        return 1 + (es.best.x - 1 + 0.1 * rng.standard_normal((1, 4)) * np.sqrt(es.best.f)) / 2

    es, plain = advance(optimizer(), 15, beside=better), advance(optimizer(), 15)
    assert f(es.mean) < 0.5 * f(plain.mean)


def test_asked_points_are_told_as_ever():
    """A generation of asked points, told with the flag, is learned to the same bits."""
    one, two = optimizer(), optimizer()
    for _ in range(3):
        X = one.ask()
        one.tell(X, [f(x) for x in X])
        X = two.ask()
        two.tell(X, [f(x) for x in X], foreign=True)
    assert one.mean.tolist() == two.mean.tolist()
    assert one.nfev == two.nfev


def test_asked_and_foreign_points_in_one_call():
    es = optimizer()
    X = es.ask()
    both = np.concatenate([X[:4], np.ones((4, 4)) + 0.01 * np.arange(4)[:, None]])
    es.tell(both, [f(x) for x in both], foreign=True)
    assert (es.nfev, es.nit) == (8, 1)
    assert len(es.open_points) == 4


@pytest.mark.parametrize("model", [None, "quadratic"])
def test_a_saved_search_goes_on_to_the_same_bits(tmp_path, model):
    es = advance(optimizer(model=model), 2)
    Y = np.random.default_rng(1).standard_normal((6, 4))
    es.tell(Y, [f(y) for y in Y], foreign=True)
    es.save(tmp_path / "run.ckpt")
    again = Optimizer.load(tmp_path / "run.ckpt")
    assert len(again.pending.foreign) == len(es.pending.foreign) == (0 if model else 6)
    assert advance(again, 4).mean.tolist() == advance(es, 4).mean.tolist()


@pytest.mark.parametrize("asked", [False, True])
def test_a_model_learns_from_them(asked):
    es = optimizer(model="quadratic")
    if asked:
        es.ask()
    Y = np.random.default_rng(1).standard_normal((40, 4))
    es.tell(Y, [f(y) for y in Y], foreign=True)
    es.ask()
    assert len(es.pending.surrogate.archive) == min(40, es.pending.surrogate.capacity)
    done = 0
    while es.best.f > 1e-9 and done < 12:
        X = es.ask()
        es.tell(X, [f(x) for x in X])
        done += len(X)
    assert es.best.f <= 1e-9


def test_points_by_name_and_in_the_bounds():
    es = Optimizer(Space(a=Real(0, 1), b=Real(0, 9)), method="cma", seed=1)
    es.tell([{"a": 0.5, "b": 3}, [0.1, 2.0]], [1.0, 2.0], foreign=True)
    assert es.result.point == {"a": 0.5, "b": 3.0}
    with pytest.raises(ValueError, match=r"X\[0, 1\] = 11 lies outside"):
        es.tell([[0.5, 11.0]], [0.0], foreign=True)
    assert es.nfev == 2


@pytest.mark.parametrize(
    ("X", "F", "error", "words"),
    [
        ([[1.0] * 3], [1.0], ValueError, "X must have shape"),
        ([[np.nan] * 4], [1.0], ValueError, "X must be finite"),
        ([[1.0] * 4], [1.0, 2.0], ValueError, "F must hold one value"),
        ([[1.0] * 4], 3, TypeError, "F must be a sequence"),
        ([{"a": 1}], [1.0], TypeError, "X has mappings"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(X, F, error, words):
    es = optimizer()
    with pytest.raises(error, match=words):
        es.tell(X, F, foreign=True)
    assert es.nfev == 0
    with pytest.raises(TypeError, match="foreign must be True or False"):
        es.tell([[1.0] * 4], [1.0], foreign="yes")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="call ask first"):
        es.tell([[1.0] * 4], [1.0])


def test_a_point_as_far_as_numbers_go_is_bounded():
    es = optimizer()
    X = es.ask()
    es.tell([[1e300] * 4], [-1.0], foreign=True)
    es.tell(X[:7], [f(x) for x in X[:7]])
    assert es.nit == 1
    assert np.abs(es.mean - 3).max() < 5


def test_the_best_wait_in_their_order():
    waiting = ForeignPoints(4)
    waiting.add(np.arange(40.0)[:, None], np.concatenate([np.arange(38.0)[::-1], [np.nan, np.inf]]))
    assert [value for _, value in waiting.points] == list(np.arange(16.0))
    waiting.drop_worse([3.0, 5.0, 9.0, np.nan])
    assert [value for _, value in waiting.points] == [0, 1, 2, 3, 4, 5]
    assert waiting.ready == 2
