"""The stop tests of many runs at once are those of one run, on histories that bring about every criterion."""

import numpy as np
import pytest

from thalweg.batch.stop_tests import ChunkSummary, ManyStopTests
from thalweg.search.stopping import Tolerances
from thalweg.search.stopping.stop_tests import Generation, StopTests, flat_rank

D, N, GENERATIONS = 2, 6, 20
NAMES = ("tolx", "tolfun", "tolfunhist", "noeffectcoord", "tolflatfitness", "tolstagnation", "tolconditioncov", "tolfacupx")


def histories(kind, length, rng):
    """Values (length, N), means and standard deviations (length, D), condition numbers and whether all is finite."""
    f = rng.normal(size=(length, N))
    mean, std = np.cumsum(rng.normal(size=(length, D)), 0), rng.uniform(0.5, 1, (length, D))
    condition, finite = rng.uniform(1, 1e6, length), np.ones(length, bool)
    decay = 10.0 ** (-np.arange(length) / rng.uniform(3, 9))[:, None]
    if kind == "tolx":
        mean, std = decay * mean, decay * std
    elif kind == "tolfun":
        f = 5 + decay * np.abs(f)
    elif kind in ("tolfunrel", "penalty"):
        f = 5 + decay * 1e4 * np.abs(f) + rng.uniform(0, 1e-10, f.shape)
        f[: (5 if kind == "penalty" else 0)] = 1e30
    elif kind == "tolfunhist":
        f = 5 + decay * np.abs(f)
        f[:, -1] = 9
    elif kind == "noeffectcoord":
        mean[:, 1], std[:, 1] = 1e3, 10.0 ** (-np.arange(length) / 3)
    elif kind == "tolflatfitness":
        f = np.round(f * rng.uniform(0.3, 1), 0)
    elif kind == "tolstagnation":
        f = np.abs(f) + np.where(np.arange(length) < rng.integers(50, 400), 50 - np.arange(length) / 9, 10)[:, None]
    elif kind == "tolconditioncov":
        condition = 10.0 ** rng.uniform(8, 14.5, length)
    elif kind == "tolfacupx":
        std = std / decay
    elif kind == "failures":
        f[rng.uniform(size=f.shape) < 0.8] = np.inf
        f[rng.integers(100) :] = np.inf
    elif kind == "nonfinite":
        finite[rng.integers(length) :] = False
    elif kind == "infinite":
        f[rng.uniform(size=f.shape) < 0.5] = -np.inf
    return f, mean, std, condition, finite


def one_by_one(history, sigma0, tolerances):
    """Generations made, reasons, best value and when it was found; as `Optimizer` goes about it."""
    tests, best, found, previous = StopTests(D, N, sigma0, tolerances), np.inf, 0, np.zeros(D)
    for g, (f, mean, std, condition, finite) in enumerate(zip(*history, strict=True)):
        if f.min() < best:
            best, found = f.min(), g * N + int(f.argmin()) + 1
        known = condition if g % 10 == 9 else np.nan
        tests.observe(Generation(np.sort(f), mean, std, known, bool(finite), (g + 1) * N, best, found), previous)
        previous = mean
        if tests.reasons:
            break
    return tests.nit, tests.reasons, best, found


def chunks(histories):
    """The same as the device would record it."""
    f, mean, std, condition, finite = (np.stack(part) for part in zip(*histories, strict=True))
    ranked = np.sort(f, -1)
    step = np.maximum(np.abs(np.diff(mean, axis=1, prepend=0.0)), std).max(-1)
    still = mean == mean + 0.2 * std
    known = np.where(np.arange(f.shape[1]) % 10 == 9, condition, np.nan)
    whole = ChunkSummary(
        best=ranked[..., 0],
        place=f.argmin(-1),
        median=(ranked[..., (N - 1) // 2] + ranked[..., N // 2]) / 2,
        high=ranked[..., flat_rank(N)],
        worst=ranked[..., -1],
        largest=std.max(-1),
        step=step,
        still=np.where(still.any(-1), still.argmax(-1), -1),
        condition=known,
        finite=finite,
    )
    for g in range(0, f.shape[1], GENERATIONS):
        yield ChunkSummary(*(part[:, g : g + GENERATIONS] for part in whole))


def side_by_side(histories, sigma0, tolerances, *, longest=10**6, ftarget=np.nan):
    runs = len(histories)
    tests = ManyStopTests(D, N, tolerances, runs)
    tests.begin(np.arange(runs), sigma0)
    outcome = {}
    for chunk in chunks(histories):
        before = tests.nit.copy()
        verdict = tests.observe(chunk, np.full(runs, longest), np.full(runs, ftarget))
        for i in range(runs):
            last = verdict.made[i] - 1
            if i not in outcome and verdict.ended[i]:
                told = verdict.best_f[i, last], verdict.best_nfev[i, last]
                outcome[i] = (int(before[i] + last + 1), verdict.reasons[i], *told)
        if (tests.nit == 300).all():  # lanes change hands and widths
            tests = tests.take(np.arange(runs))
    return outcome


KINDS = (*NAMES, "tolfunrel", "penalty", "failures", "nonfinite", "infinite", "nothing")


@pytest.mark.parametrize("seed", [0, 1])
def test_all_criteria_as_for_one_run(seed):
    rng = np.random.default_rng(seed)
    made = [histories(kind, 900, rng) for kind in KINDS for _ in range(3)]
    sigma0 = 10.0 ** rng.uniform(-1, 1, len(made))
    outcome = side_by_side(made, sigma0, Tolerances())
    met = set()
    for i, history in enumerate(made):
        nit, reasons, best, found = one_by_one(history, sigma0[i], Tolerances())
        if not reasons:
            assert i not in outcome
            continue
        assert outcome[i] == (nit, reasons, best, found)
        met |= reasons.keys()
    assert met >= {*NAMES, "tolfunrel", "failures", "nonfinite"}


def test_a_relative_tolerance_as_for_one_run():
    rng = np.random.default_rng(5)
    made = [histories(kind, 300, rng) for kind in KINDS]
    tolerances = Tolerances(tolfun=0, tolfunhist=0, tolfunrel=1e-3)
    outcome = side_by_side(made, np.ones(len(made)), tolerances)
    found = {i: one_by_one(history, 1.0, tolerances) for i, history in enumerate(made)}
    assert outcome == {i: each for i, each in found.items() if each[1]}
    assert sum("tolfunrel" in reasons for _, reasons, _, _ in outcome.values()) >= 2


def test_tolerances_are_heeded():
    rng = np.random.default_rng(2)
    made = [histories(kind, 100, rng) for kind in NAMES]
    off = Tolerances(**(dict.fromkeys(Tolerances().values, 0) | {"tolflatfitness": np.inf}))
    outcome = side_by_side(made, np.ones(len(made)), off)
    assert all(reasons.keys() == {"noeffectcoord"} for _, reasons, _, _ in outcome.values())


def test_limits_and_targets():
    made = [histories("nothing", 60, np.random.default_rng(3)) for _ in range(2)]
    outcome = side_by_side(made, np.ones(2), Tolerances(), longest=37)
    assert [(nit, reasons) for nit, reasons, _, _ in outcome.values()] == [(37, {}), (37, {})]
    for i, (nit, _, best, found) in side_by_side(made, np.ones(2), Tolerances(), ftarget=-2.0).items():
        values = made[i][0].ravel()
        first = int(np.argmax(values <= -2.0)) + 1
        assert nit == -(-first // N)
        assert best <= -2.0
        assert (nit - 1) * N < found <= nit * N


def test_a_new_run_remembers_nothing():
    rng = np.random.default_rng(4)
    made = [histories("tolfun", 100, rng) for _ in range(2)]
    tests = ManyStopTests(D, N, Tolerances(), 2)
    tests.begin(np.arange(2), np.ones(2))
    fresh = ManyStopTests(D, N, Tolerances(), 2)
    for chunk in chunks(made):
        tests.observe(chunk, np.full(2, 10**6), np.full(2, -np.inf))
    tests.begin(np.array([1]), np.ones(1))
    for name, value in vars(fresh).items():
        mine = getattr(tests, name)
        if isinstance(value, np.ndarray):
            assert np.array_equal(mine[1], value[1], equal_nan=True), name
    assert tests.bests[1] == tests.medians[1] == []
    assert tests.bests[0]
