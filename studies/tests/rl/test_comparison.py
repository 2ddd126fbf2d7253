"""Comparisons of policy search: resumed to the same bits, kept as files, summarised."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import inf

import numpy as np
import pytest

pytest.importorskip("mujoco")

from thalweg_studies.common.experiment import FIRST_SEED, Case, compute, table_path
from thalweg_studies.common.results import open_results
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR
from thalweg_studies.rl import comparison as module
from thalweg_studies.rl.comparison import PolicyRuns
from thalweg_studies.rl.settings import COMPARISONS, MAIN, PENDULUM, with_nice
from thalweg_studies.rl.summary import head, reach, summarise, table, verdicts

TINY = replace(COMPARISONS["pendulum"].small, algorithms=("CMA-ES",), steps=20, generations={11: 3})


class StoppedError(Exception):
    pass


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    unit = TINY.units(1)[0]
    whole = TINY.run(unit)
    kept = replace(TINY, scratch=tmp_path / "runs")
    calls = []

    def stop_once(search, x0, *more, **options):
        def dying(x):
            calls.append(x)
            if len(calls) == 13:
                raise KeyboardInterrupt
            return search(x)

        found = original(dying, x0, *more, **options)
        if len(calls) == 13:
            raise StoppedError
        return found

    original = module.minimize
    monkeypatch.setattr(module, "minimize", stop_once)
    with pytest.raises(StoppedError):
        kept.run(unit)
    again = kept.run(unit)
    assert len(calls) < 2 * 3 * TINY.popsize  # not everything again
    for a, b in zip(again, whole, strict=True):
        assert a.tolist() == b.tolist()
    assert np.all(whole.best >= whole.mean)


def test_every_run_may_have_a_process_of_its_own():
    comparison = replace(TINY, algorithms=MAIN)
    groups = comparison.groups(comparison.units(2))
    assert [[unit.method for unit in group] for group in groups] == [[method] for method in (*MAIN, *MAIN)]
    assert [group[0].first for group in groups] == [FIRST_SEED] * 4 + [FIRST_SEED + 1] * 4  # seed by seed


def test_how_far_a_run_is(tmp_path, monkeypatch):
    comparison = replace(TINY, scratch=tmp_path / "runs", seconds=1e-3)
    unit, seen = comparison.units(1)[0], []
    assert TINY.begun(unit) is None
    assert comparison.begun(unit) == 0

    def looking(search, x0, *more, **options):
        def looked(x):
            seen.append(comparison.begun(unit))
            return search(x)

        return original(looked, x0, *more, **options)

    original = module.minimize
    monkeypatch.setattr(module, "minimize", looking)
    comparison.run(unit)
    values = 3 * TINY.popsize
    assert len(seen) == values
    assert seen[0] == 0 < seen[values // 2] < seen[-1] < 1 == comparison.begun(unit)
    assert all(a <= b for a, b in pairwise(seen))


def test_files_and_settings(tmp_path):
    results = open_results(tmp_path, TINY)
    unit = TINY.units(1)[0]
    rng = np.random.default_rng(0)
    made = PolicyRuns(*(rng.normal(size=shape) for shape in ((1, 3), (1, 3), (1, 11), (1,))))
    results.write(unit, made)
    again = results.read(unit)
    assert again is not None
    assert [part.tolist() for part in again] == [part.tolist() for part in made]
    compute(tmp_path, TINY, seeds=1)
    assert (
        table_path(tmp_path, TINY).read_text().splitlines()[1].startswith(f'inverted-double-pendulum,"CMA-ES",{FIRST_SEED},8,')
    )
    assert TINY.settings() == replace(TINY, scratch=tmp_path).settings()
    with pytest.raises(ValueError, match="shapes"):
        TINY.encode(unit, made._replace(final=np.ones(2)))


@pytest.mark.parametrize("name", COMPARISONS)
def test_the_number_of_parameters_is_the_environments(name):
    for comparison in vars(COMPARISONS[name]).values():
        assert comparison.search(1).d == comparison.dimension
        assert set(comparison.algorithms) <= set(MAIN)
        assert with_nice(comparison).name != comparison.name


def cases(gain):
    """Five runs that rise by 1,000 a generation, and those of a flow with `gain` more."""
    rise = 1000.0 * np.arange(60) + np.array([[0.0], [100.0], [-100.0], [50.0], [-50.0]])
    rest = partial(PolicyRuns, policy=np.zeros((5, 11)), final=np.arange(5.0))
    case = Case(PENDULUM.functions[0], 11, "xNES")
    return {case: rest(rise, rise), case._replace(method=MAIN[1]): rest(rise + gain, rise + gain)}


def test_summary():
    entries = summarise(PENDULUM, cases(np.array([[510.0], [500.0], [490.0], [505.0], [495.0]])))
    latent, flow = entries
    assert latent.ahead is None
    assert flow.ahead is not None
    gain, (low, high) = flow.ahead
    assert gain == pytest.approx(500)
    assert (
        gain - low
        == pytest.approx(high - gain)
        == pytest.approx(2.776 * np.std([10, 0, -10, 5, -5], ddof=1) / 5**0.5, rel=1e-3)
    )
    assert latent.reaches[0].evaluations == tuple(PENDULUM.popsize * np.array([2, 2, 3, 2, 3]))
    assert (latent.final, latent.best) == (2, 4)
    assert all(len(row) == len(head(PENDULUM)) for row in table(entries))


@pytest.mark.parametrize(("gain", "verdict"), [(300.0, AGREES), (-300.0, DIFFERS), (0.0, UNCLEAR)])
def test_verdicts(gain, verdict):
    found = verdicts(PENDULUM, summarise(PENDULUM, cases(gain + np.array([[9.0], [-9.0], [3.0], [-3.0], [0.0]]))))
    assert [each.verdict for each in found] == [verdict]


def test_what_is_never_reached():
    never = reach(PENDULUM, np.array([[1.0] * 60, [1e4] * 60]), 9000.0)
    assert never.evaluations == (inf, PENDULUM.popsize)
    assert never.reached == 1
    assert never.shown == f"never [{PENDULUM.popsize}, never]; 1 of 2"
    assert reach(PENDULUM, np.ones((2, 60)), 9000.0).shown == "never; 0 of 2"


def test_a_solved_task_ends_a_run(tmp_path):
    comparison = replace(TINY, targets=(-inf,), enough=2, scratch=tmp_path / "runs")
    unit = comparison.units(1)[0]
    found = comparison.run(unit)
    assert found.mean[0, 1] == found.mean[0, 2]  # nothing follows the second generation
    assert found.mean[0, 0] != found.mean[0, 1]
    whole = TINY.run(unit)
    assert found.mean[0, :2].tolist() == whole.mean[0, :2].tolist()
    again = comparison.run(unit)  # as after a kill before the result was written
    assert again.policy.tolist() == found.policy.tolist()


@pytest.mark.parametrize(("means", "end"), [("99199", 5), ("19991", 4), ("99999", 3), ("11999", 5)])
def test_when_a_task_is_solved(means, end):
    values = np.array(list(means), float)
    assert replace(TINY, targets=(5.0, 9.0), enough=3).end(values) == end
    assert replace(TINY, targets=(5.0, 9.0), enough=None).end(values) == 5
