"""`minimize`: the loop, the callback, interrupts, failures, budgets; scipy's result."""

import itertools
import logging
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from thalweg.search import loop
from thalweg.search.minimize import minimize, resume
from thalweg.search.optimizer import Optimizer
from thalweg.storage.log import read_log


def sphere(x, shift=0.0):
    return float(np.sum((x - shift) ** 2))


def small(fun, x0=(1.0, -2.0), sigma0=1.0, **more):
    return minimize(fun, x0, sigma0, **{"method": "cma", "popsize": 6, "seed": 2, **more})


def test_equals_the_loop_by_hand():
    es = Optimizer([1.0, -2.0], method="cma", popsize=6, seed=2, max_iter=30)
    while not es.stop():
        X = es.ask()
        es.tell(X, [sphere(x) for x in X])
    by_hand, result = es.result, small(sphere, max_iter=30)
    assert isinstance(result, OptimizeResult)
    for name in ("fun", "nfev", "nit", "success", "status", "message", "stop", "sigma", "method", "seed", "failures"):
        assert result[name] == by_hand[name]
    assert np.array_equal(result.x, by_hand.x)


def test_args_bounds_and_convergence():
    result = small(sphere, (0.5, 0.5), 0.3, args=(2.0,), bounds=(0, 1))
    np.testing.assert_allclose(result.x, [1.0, 1.0], atol=1e-6)
    assert result.success


def test_vectorized_equals_one_by_one():
    shapes = []

    def batch(X):
        shapes.append(X.shape)
        return np.sum(X**2, 1)

    one, many = small(lambda x: np.sum(x[None] ** 2, 1)[0], max_iter=9), small(batch, vectorized=True, max_iter=9)
    assert set(shapes) == {(6, 2)}
    assert np.array_equal(one.x, many.x)


@pytest.mark.parametrize("returned", [np.zeros(5), np.zeros((6, 2)), 0.0, [[1], [1, 2]]])
def test_vectorized_with_a_wrong_length(returned):
    with pytest.raises(ValueError, match=r"vectorized=True"):
        small(lambda X: returned, vectorized=True)


def test_callback_sees_the_course_and_may_end_it():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)
        if len(seen) == 3:
            raise StopIteration

    result = small(sphere, callback=callback)
    assert [step.nfev for step in seen] == [6, 12, 18]
    assert all(step.fun >= later.fun for step, later in itertools.pairwise(seen))
    assert not result.success
    assert result.nit == 3
    assert "The callback ended the run in generation 3." in result.message


def test_interrupt_keeps_what_was_evaluated():
    calls = []

    def fun(x):
        calls.append(x.copy())
        if len(calls) == 16:
            raise KeyboardInterrupt
        return -float(len(calls))

    result = small(fun)
    assert not result.success
    assert "Interrupted from the keyboard" in result.message
    assert result.nit == 2
    assert result.nfev == 15
    assert result.fun == -15
    assert np.array_equal(result.x, calls[14])


def test_interrupt_in_the_callback():
    def callback(_):
        raise KeyboardInterrupt

    assert small(sphere, callback=callback).stop.keys() == {"interrupt"}


def test_an_objective_that_sometimes_fails(caplog):
    calls = []

    def fun(x):
        calls.append(0)
        kind = (0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0)[len(calls) % 11]
        if kind == 1:
            raise ZeroDivisionError("broken here")
        return {0: sphere(x), 2: np.nan, 3: None, 4: np.inf}[kind]

    result = small(fun, popsize=10, max_evals=1500)
    assert result.fun < 1e-6
    assert result.failures == sum(i % 11 in (3, 7) for i in range(1, result.nfev + 1))
    assert result.first_failure == "the objective raised ZeroDivisionError: broken here"
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "Traceback" in caplog.text
    assert warnings[0].name == "thalweg"


def test_an_objective_that_only_raises():
    def fun(x):
        raise KeyError("no such thing")

    with pytest.raises(RuntimeError, match="all 6 evaluations so far have failed, the first one with KeyError") as error:
        small(fun)
    assert isinstance(error.value.__cause__, KeyError)


def test_raising_after_a_success_is_survived():
    calls = []

    def fun(x):
        calls.append(0)
        if len(calls) > 3:
            raise OSError("disk full")
        return sphere(x)

    result = small(fun)
    assert result.stop.keys() == {"failures"}
    assert np.isfinite(result.fun)
    assert result.failures == result.nfev - 3


def test_an_objective_that_writes_into_its_argument():
    def fun(x):
        value = sphere(x)
        x[:] = 99.0
        return value

    assert small(fun, max_iter=5).fun == small(sphere, max_iter=5).fun


def test_the_objective_runs_under_the_users_flags():
    seen = []

    def fun(x):
        seen.append(jnp.asarray(x).dtype)
        return sphere(x)

    with jax.enable_x64(False):
        small(fun, max_iter=1)
    assert set(seen) == {jnp.dtype("float32")}


def test_timeout():
    started = time.monotonic()
    result = small(lambda x: time.sleep(0.01) or sphere(x), timeout=0.3)
    assert result.stop == {"timeout": 0.3}
    assert time.monotonic() - started < 5


def test_timeout_gives_up_evaluations_that_hang():
    with ThreadPoolExecutor(6) as executor:
        result = small(lambda x: time.sleep(1.5 if x[0] > 1 else 0) or sphere(x), workers=executor, timeout=0.5)
        assert "timeout" in result.stop
        assert result.first_failure == "the evaluation did not finish"
        assert np.isfinite(result.fun)


def test_nothing_is_printed(capfd):
    small(sphere, max_iter=3)
    assert capfd.readouterr() == ("", "")


def test_a_budget_of_one_evaluation_makes_one():
    assert small(sphere, max_evals=1).nfev == 1


def test_default_method_with_a_flow():
    result = minimize(lambda x: (x[0] - 1) ** 2 + 50 * (x[1] - x[0] ** 2) ** 2, [0.0, 0.0], seed=1, ftarget=1e-10)
    assert result.method == "gnn-cma"
    assert result.success


def test_retries_and_timeouts_of_single_evaluations(tmp_path):
    """The result is that of a run without trouble."""

    def fun(x):
        with (tmp_path / x.tobytes().hex()).open("ab") as calls:
            calls.write(b".")
            first = calls.tell() == 1
        if first and x[0] > 2:
            raise OSError("the first time only")
        if first and x[0] < -1:
            time.sleep(60)
        return float(x @ x)

    result = small(fun, max_iter=4, workers=2, retries=1, eval_timeout=1.0)
    assert result.fun == small(lambda x: float(x @ x), max_iter=4).fun
    assert (result.failures, result.nfev) == (0, 24)
    assert any(path.stat().st_size > 1 for path in tmp_path.iterdir())


def test_every_evaluation_is_in_the_log(tmp_path):
    def fun(x):
        if x[0] > 2:
            raise OSError("out of range")
        return sphere(x)

    result = small(fun, max_iter=4, retries=1, log=tmp_path / "run.jsonl")
    rows = read_log(tmp_path / "run.jsonl")
    assert [(row.run, row.generation, row.index) for row in rows] == [(0, g, i) for g in range(4) for i in range(6)]
    assert min(row.f for row in rows) == result.fun
    failed = [row for row in rows if row.error is not None]
    assert len(failed) == result.failures > 0
    assert {(row.error, row.attempts) for row in failed} == {("the objective raised OSError: out of range", 2)}
    assert all(sphere(row.x) == row.f and row.attempts == 1 for row in rows if row.error is None)


def test_where_the_log_is(tmp_path):
    for more in ({}, {"log": False}, {"vectorized": True}, {"vectorized": True, "log": True}):
        folder = tmp_path / str(more)
        folder.mkdir()
        fun = (lambda X: np.sum(X**2, 1)) if "vectorized" in more else sphere
        small(fun, max_iter=2, checkpoint=folder / "run.ckpt", **more)
        assert (folder / "run.ckpt.jsonl").exists() == (more in ({}, {"vectorized": True, "log": True}))
    with pytest.raises(ValueError, match="holds 12 evaluations of another run"):
        small(sphere, log=tmp_path / "{}" / "run.ckpt.jsonl")


@pytest.mark.parametrize("log", [None, False])
@pytest.mark.parametrize("cut", ["Ctrl-C", "callback"])
def test_a_run_that_was_cut_off_goes_on_to_the_same_bits(tmp_path, cut, log):
    """With a log no evaluation is repeated: none of the open generation, and none of those after the last checkpoint."""
    paid, settings = [], {"restarts": 1, "max_evals": 400, "options": {"tolfun": 1e-3}}

    def fun(x):
        paid.append(x.tobytes())
        return sphere(x)

    def interrupted(x):
        if len(paid) == 99:
            raise KeyboardInterrupt
        return fun(x)

    def callback(intermediate_result):
        if intermediate_result.nit == 16:
            raise SystemError("in the callback")

    whole, needed = small(fun, **settings), paid.copy()
    assert whole.restarts == 1
    paid.clear()
    path = tmp_path / "run.ckpt"
    if cut == "Ctrl-C":
        assert small(interrupted, checkpoint=path, log=log, **settings).nfev == 99
    else:
        with pytest.raises(SystemError):
            small(fun, callback=callback, checkpoint=path, log=log, **settings)
    result = resume(path, fun, log=log, trust=True)
    for name in ("fun", "nfev", "nit", "success", "message", "restarts", "failures", "sigma"):
        assert result[name] == whole[name]
    if log is None or cut == "callback":
        assert paid == needed


def test_resume_takes_new_budgets_and_what_a_file_cannot_hold(tmp_path):
    path = tmp_path / "run.ckpt"
    first = small(sphere, max_evals=60, checkpoint=path)
    assert (first.nfev, resume(path, sphere, max_evals=120).nfev) == (60, 120)
    with pytest.raises(TypeError, match="resume takes no 'popsize'; beside budgets it takes 'args'"):
        resume(path, sphere, popsize=3)
    with pytest.raises(FileNotFoundError, match="there is no checkpoint"):
        resume(tmp_path / "none", sphere)
    minimize(sphere, lambda rng: rng.normal(size=2), method="cma", max_iter=2, checkpoint=tmp_path / "drawn")
    with pytest.raises(ValueError, match="x0"):
        resume(tmp_path / "drawn", sphere)


def test_the_seed_is_known_before_the_first_evaluation_and_a_mended_objective_begins_anew(tmp_path):
    path = tmp_path / "run.ckpt"

    def broken(x):
        assert path.exists()
        raise KeyError("no such thing")

    with pytest.raises(RuntimeError, match="all 6 evaluations so far have failed"):
        minimize(broken, [1.0, -2.0], method="cma", popsize=6, checkpoint=path)
    result = resume(path, sphere, max_iter=3)
    assert (result.failures, result.nfev) == (0, 18)
    assert result.fun == small(sphere, seed=result.seed, max_iter=3).fun


def test_checkpoints_take_a_tenth_of_the_time_at_most(tmp_path, monkeypatch):
    written = []
    save = Optimizer.save

    def slow(es, path, extra):
        written.append(es.nit)
        time.sleep(0.02)
        save(es, path, extra)

    monkeypatch.setattr(Optimizer, "save", slow)
    small(sphere, max_iter=40, checkpoint=tmp_path / "run.ckpt")
    assert written[0] == 0
    assert written[-1] == 40
    assert len(written) < 20
    written.clear()
    monkeypatch.setattr(loop, "CHECKPOINT_SHARE", 1.0)
    small(sphere, max_iter=4, checkpoint=tmp_path / "often.ckpt")
    assert written == [0, 1, 2, 3, 4]


def test_a_wrong_rng_is_named():
    with pytest.raises(ValueError, match=r"^rng must be 0 or above, got -2$"):
        minimize(sphere, [1.0], method="cma", rng=-2)
