"""A checkpoint whose objective has changed: its best point is evaluated again, and another value is refused."""

import logging
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thalweg import Integer, Optimizer, Real, Space, minimize, resume
from thalweg.storage import archive
from thalweg.storage.log import Evaluation, open_log, read_log

SETTINGS = {"x0": [1.0, 2.0], "method": "cma", "popsize": 6, "seed": 1}


def sphere(x):
    return float(x @ x)


class Shifted:
    """A callable object."""

    def __init__(self, offset):
        self.offset = offset

    def __call__(self, x):
        return sphere(x) + self.offset


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


@pytest.fixture
def counted(monkeypatch):
    """A list of the points that were evaluated, which objectives reach through an object that has no inside."""
    seen = []
    monkeypatch.setattr(Optimizer, "seen", staticmethod(seen.append), raising=False)
    return seen


def counting(offset=0.0, factor=1.0):
    def fun(x, *args):
        Optimizer.seen(x)
        return factor * sphere(x) + offset + sum(args)

    return fun


def without_fingerprint(path):
    """Rewrite a checkpoint as versions before the fingerprint did."""
    contents, arrays = archive.read(path)
    contents = {name: value for name, value in contents.items() if name not in ("format", "version")}
    contents["extra"] = {"first_failure": None}
    archive.write(path, arrays, contents)


@pytest.mark.parametrize("more", [0, 30])
def test_another_value_is_refused_in_one_sentence_and_nothing_is_touched(path, counted, more):
    first = minimize(counting(), **SETTINGS, max_evals=60, checkpoint=path)
    before, log = path.read_bytes(), read_log(f"{path}.jsonl")
    counted.clear()
    for call in (minimize, resume):
        given = {**SETTINGS, "checkpoint": path} if call is minimize else {"checkpoint": path}
        with pytest.raises(ValueError, match=r"trust=True \(--trust\)") as error:
            call(fun=counting(offset=1.0), max_evals=60 + more, **given)
        old, new = map(float, re.search(r"value (\S+), and fun has (\S+) there", str(error.value)).groups())
        assert (old, new) == pytest.approx((first.fun, first.fun + 1))
        assert "\n" not in str(error.value)
    assert [x.tolist() for x in counted] == [first.x.tolist()] * 6  # three in each call: it repeats itself
    assert (path.read_bytes(), len(read_log(f"{path}.jsonl"))) == (before, len(log))


def test_the_same_objective_is_not_evaluated_again(path, counted):
    one = minimize(counting(), **SETTINGS, max_evals=30, checkpoint=path)
    two = resume(path, counting(), max_evals=60)
    assert (one.reevaluated.size, two.reevaluated.size, len(counted)) == (0, 0, 60)
    assert minimize(counting(), **SETTINGS, max_evals=60, checkpoint=path).nfev == len(counted) == 60


def test_an_objective_that_keeps_an_account_is_still_the_same(path):
    seen = []

    def fun(x):
        seen.append(x)
        return sphere(x)

    for budget in (30, 60, 60):
        minimize(fun, **SETTINGS, max_evals=budget, checkpoint=path)
    assert len(seen) == 60
    seen.clear()  # as in a new process
    resume(path, fun, max_evals=66)
    assert len(seen) == 6


def test_an_edit_that_changes_no_value_costs_one_evaluation_once_and_no_budget(path, counted, caplog):
    minimize(counting(), **SETTINGS, max_evals=30, checkpoint=path)

    def edited(x):
        Optimizer.seen(x)
        return float(np.sum(x**2))

    with caplog.at_level(logging.INFO, logger="thalweg"):
        result = resume(path, edited, max_evals=60)
    assert "has the same value" in caplog.text
    assert (result.nfev, len(counted), len(read_log(f"{path}.jsonl"))) == (60, 61, 60)
    assert result.reevaluated.tolist() == [pytest.approx(sphere(counted[30]))]
    assert np.array_equal(result.x, minimize(sphere, **SETTINGS, max_evals=60).x)
    assert resume(path, edited, max_evals=60).reevaluated.size == 0
    assert len(counted) == 61


@pytest.mark.parametrize("change", ["args", "closure", "default", "callable"])
def test_what_belongs_to_the_objective_counts(path, change):
    def made(number):
        def default(x, offset=number):
            return sphere(x) + offset

        return {
            "args": (lambda x, a: sphere(x) + a, (number,)),
            "closure": (lambda x: sphere(x) + number, ()),
            "default": (default, ()),
            "callable": (Shifted(number), ()),
        }[change]

    fun, args = made(1.0)
    minimize(fun, args=args, **SETTINGS, max_evals=12, checkpoint=path)
    assert resume(path, made(1.0)[0], args=args).reevaluated.size == 0
    fun, args = made(2.0)
    with pytest.raises(ValueError, match="of another objective"):
        resume(path, fun, args=args)


def test_trusted_values_are_kept_and_the_message_says_so(path, counted, caplog):
    first = minimize(counting(), **SETTINGS, max_evals=30, checkpoint=path)
    more = resume(path, counting(offset=9.0), max_evals=36, trust=True)
    assert (more.fun, more.nfev, len(counted)) == (first.fun, 36, 36)
    assert "trusting the values" in caplog.text
    told = "The best value is from the first 30 evaluations, which were trusted: the objective may have changed since."
    assert told in more.message
    again = resume(path, counting(offset=9.0))  # now it is that of the checkpoint
    assert (told in again.message, len(counted)) == (True, 36)
    with pytest.raises(ValueError, match="of another objective"):
        resume(path, counting(offset=9.0), trust=False)
    better = resume(path, counting(offset=-9.0), trust=True, max_evals=60)
    assert (better.fun < 0, "trusted" in better.message) == (True, False)


def test_a_test_on_request_finds_what_the_fingerprint_does_not_see(path, tmp_path, counted):
    data = tmp_path / "offset.txt"

    def fun(x):
        Optimizer.seen(x)
        return sphere(x) + float(data.read_text())

    data.write_text("0")
    minimize(fun, **SETTINGS, max_evals=12, checkpoint=path)
    assert resume(path, fun, trust=False).reevaluated.size == 1
    data.write_text("1")
    assert resume(path, fun).nfev == len(counted) - 1 == 12
    with pytest.raises(ValueError, match="of another objective"):
        resume(path, fun, trust=False)


@pytest.mark.parametrize("number", [30, 600])
def test_noise_is_no_reason_to_refuse_and_a_shift_beyond_it_is(path, number):
    rng = np.random.default_rng(7)

    def noisy(x, shift=0.0):
        return sphere(x) + rng.normal() + shift

    minimize(noisy, **SETTINGS, max_evals=number, checkpoint=path, options={"tolstagnation": 0})
    for _ in range(20):  # each test fails with a probability below 0.001
        assert resume(path, noisy, trust=False).nfev == number
    with pytest.raises(ValueError, match=r"and fun has values between \S+ and \S+ there"):
        resume(path, noisy, args=(50.0,))


def test_a_best_point_that_fails_now_is_another_objective(path):
    minimize(sphere, **SETTINGS, max_evals=12, checkpoint=path)
    with pytest.raises(ValueError, match=r"fun fails there \(the objective raised ZeroDivisionError: .*\); go on by trust"):
        resume(path, lambda x: 1 / 0)
    flaky = iter([None, None])
    assert resume(path, lambda x: next(flaky, sphere(x))).reevaluated.tolist()[:2] == [pytest.approx(np.nan, nan_ok=True)] * 2


def test_a_checkpoint_of_a_version_without_fingerprints_is_tested(path):
    minimize(sphere, **SETTINGS, max_evals=12, checkpoint=path)
    without_fingerprint(path)
    with pytest.raises(ValueError, match="of another objective"):
        resume(path, lambda x: sphere(x) + 1)
    assert resume(path, sphere).reevaluated.size == 1
    assert resume(path, sphere).reevaluated.size == 0


def batch(X, offset):
    return (X**2).sum(1) + offset


def by_name(point, offset):
    return point["a"] ** 2 + point["n"] ** 2 + offset


def limited(x, offset):
    return sphere(x), [1.0 - x[0] + offset]


SPACE = Space(a=Real(-3.0, 3.0), n=Integer(-3, 3))
POOL = ThreadPoolExecutor(2)
WAYS = {
    "vectorized": (batch, {"vectorized": True}),
    "map": (lambda x, offset: sphere(x) + offset, {"workers": map}),
    "threads": (lambda x, offset: sphere(x) + offset, {"workers": POOL}),
    "asynchronous": (lambda x, offset: sphere(x) + offset, {"workers": POOL, "asynchronous": True}),
    "names": (by_name, {"x0": SPACE}),
    "named columns": (by_name, {"x0": SPACE, "vectorized": True}),
    "constraints": (limited, {"constraints": "returned"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_to_evaluate(path, way):
    fun, given = WAYS[way]
    settings = {**SETTINGS, **given, "max_evals": 18, "checkpoint": path}
    first = minimize(fun, args=(0.0,), **settings)
    assert minimize(fun, args=(0.0,), **settings).reevaluated.size == 0
    tested = minimize(fun, args=(0.0,), trust=False, **settings)
    assert (tested.reevaluated.tolist(), tested.nfev) == ([pytest.approx(first.fun)], 18)
    name = "constraint value" if way == "constraints" else "value"
    with pytest.raises(ValueError, match=rf"it has the {name} \S+, and fun has \S+ there"):
        minimize(fun, args=(2.0,), **settings)


def test_constraints_that_come_or_change_are_other_objectives(path):
    minimize(sphere, **SETTINGS, max_evals=12, checkpoint=path)
    with pytest.raises(ValueError, match="fun has 1 constraint values"):
        resume(path, lambda x: limited(x, 0.0))
    minimize(lambda x: limited(x, 0.0), **SETTINGS, max_evals=12, checkpoint=f"{path}2")
    with pytest.raises(ValueError, match="fun fails there"):
        resume(f"{path}2", lambda x: (sphere(x), [0.0, 1.0]))


def test_values_that_only_the_log_has_are_tested(path):
    es = Optimizer(**SETTINGS, max_evals=12)
    X = es.ask()
    es.save(path)
    with open_log(f"{path}.jsonl", resume=False) as log:
        log.append([Evaluation(0, 0, i, X[i], sphere(X[i]) + 1, None, None, 0.1, 1) for i in range(3)])
    with pytest.raises(ValueError, match="of another objective"):
        resume(path, sphere)
    assert resume(path, lambda x: sphere(x) + 1).nfev == 12


def test_known_values_are_the_users(path):
    settings = {**SETTINGS, "known": ([[0.0, 0.0], [3.0, 0.0]], [-1.0, 2.0]), "max_evals": 6, "checkpoint": path}
    assert minimize(sphere, **settings).fun == -1
    tested = minimize(sphere, **settings, trust=False)
    assert tested.reevaluated.size == 1


def test_trust_needs_a_checkpoint():
    with pytest.raises(ValueError, match="trust=True is about the values of a checkpoint"):
        minimize(sphere, **SETTINGS, trust=True)


@pytest.mark.check
@pytest.mark.parametrize("workers", ["ray", "dask"])
def test_on_a_cluster(tmp_path, workers):
    pytest.importorskip("distributed" if workers == "dask" else workers)
    given = {"checkpoint": tmp_path / "run.ckpt", "workers": workers, "method": "cma", "seed": 1, "popsize": 6}
    first = minimize(lambda x: float(x @ x), [1.0, 2.0], max_evals=12, **given)
    again = minimize(lambda x: float(x @ x), [1.0, 2.0], max_evals=12, trust=False, **given)
    assert again.reevaluated.tolist() == [first.fun]
    with pytest.raises(ValueError, match="of another objective"):
        minimize(lambda x: float(x @ x) + 1, [1.0, 2.0], max_evals=24, **given)
    with pytest.raises(TypeError, match="`return` is missing"):
        minimize(lambda x: None, [1.0, 2.0], **{**given, "checkpoint": None})
