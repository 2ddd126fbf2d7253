"""A callback ends the run by returning True or by StopIteration; anything else goes on."""

import pickle

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from thalweg import Optimizer
from thalweg.search.minimize import minimize


def ended_after(answer):
    calls = []

    def callback(intermediate_result):
        calls.append(intermediate_result.nit)
        if isinstance(answer, type):
            raise answer
        return answer

    result = minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=5, callback=callback)
    assert len(calls) == result.nit
    return result


@pytest.mark.parametrize("answer", [True, np.True_, StopIteration])
def test_reasons_to_stop(answer):
    result = ended_after(answer)
    assert result.nit == 1
    assert "callback" in result.stop


@pytest.mark.parametrize("answer", [None, False, np.False_, 1, "stop", np.ones(2)])
def test_other_answers_go_on(answer):
    assert ended_after(answer).nit == 5


def test_a_result_can_be_printed_before_the_end(capsys):
    es = Optimizer([1.0, 2.0], method="cma", seed=1)
    assert "stop: {}" in repr(es.result)
    result = minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=2, callback=print)
    shown = capsys.readouterr().out
    assert shown.count("message: ") == 2
    assert str(result) in shown
    assert type(pickle.loads(pickle.dumps(result))) is type(result)
    assert isinstance(result, OptimizeResult)
