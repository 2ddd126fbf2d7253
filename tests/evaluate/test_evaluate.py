"""`Evaluator`: maps, vectorized objectives, the count of failures."""

from multiprocessing import get_context

import numpy as np
import pytest

from thalweg._common.outcome import Outcome
from thalweg.evaluate import Evaluator

POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [-1.0, 5.0]])


def test_map():
    with Evaluator(lambda x, k: k / x[0], (6.0,), workers=map) as evaluate, np.errstate(divide="ignore"):
        assert evaluate(POINTS).tolist() == [np.inf, 3.0, -6.0]
        with pytest.raises(ValueError, match="workers"):
            evaluate.start(0, POINTS[0])
    with pytest.raises(ValueError, match=r"workers .* got 2 for 3 points"):
        Evaluator(np.sum, workers=lambda fun, points: [1.0, 2.0])(POINTS)
    with pytest.raises(ValueError, match=r"workers .* got 4 for 3 points"):
        Evaluator(np.sum, workers=lambda fun, points: [1.0, 2.0, 3.0, 4.0])(POINTS)


def test_a_map_over_processes_takes_lambdas_and_odd_exceptions():
    class Odd(Exception):  # noqa: N818 - as users name them
        def __init__(self, a, b):  # does not survive pickling
            super().__init__("odd")

    def raising(x):
        if x[0] < 0:
            raise Odd(1, 2)
        return float(x.sum())

    with get_context("spawn").Pool(1) as pool, Evaluator(raising, workers=pool.map) as evaluate:
        assert np.array_equal(evaluate(POINTS), [1.0, 5.0, np.nan], equal_nan=True)
    assert evaluate.first_failure == "the objective raised Odd: odd"


@pytest.mark.parametrize("vectorized", [False, True])
def test_failures_are_counted_and_the_first_is_told(vectorized):
    returns = iter([1.0, 2.0, None, None, "x", 5.0] if not vectorized else [[1.0, 2.0, None], None])
    evaluate = Evaluator(lambda x: next(returns), vectorized=vectorized)
    evaluate(POINTS)
    assert evaluate.failures == 1
    evaluate(POINTS)
    assert evaluate.failures == (3 if not vectorized else 4)
    assert evaluate.first_failure == "the objective returned None"


def test_what_is_known_or_has_failed_leaves_smaller_batches():
    shapes, seen = [], {}

    def fun(X):
        shapes.append(X.shape)
        return [None if x[0] == 2 and len(shapes) < 2 else x[0] for x in X]

    evaluate = Evaluator(fun, vectorized=True, retries=1)
    found = evaluate(POINTS, known={0: Outcome(7.0)}, record=lambda i, outcome: seen.update({i: outcome.attempts}))
    assert found.tolist() == [7.0, 2.0, -1.0]
    assert shapes == [(2, 2), (1, 2)]
    assert seen == {2: 1, 1: 2}


def test_nothing_to_do():
    evaluate = Evaluator(lambda x: 1 / 0)
    assert evaluate(POINTS, known={i: Outcome(float(i)) for i in range(3)}).tolist() == [0, 1, 2]


def test_an_identifier_belongs_to_one_pending_point():
    evaluate = Evaluator(np.sum)
    evaluate.start("a", POINTS[0])
    with pytest.raises(ValueError, match="point_id 'a'"):
        evaluate.start("a", POINTS[1])
