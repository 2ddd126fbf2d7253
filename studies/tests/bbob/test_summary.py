"""From records to tables, on made-up runs whose ratios are known."""

import csv
import io
import json
from math import inf

import pytest

from thalweg_studies.bbob.entrant import entrants
from thalweg_studies.bbob.plan import Settings, trials
from thalweg_studies.bbob.record import LADDER, Run, rung
from thalweg_studies.bbob.report import page
from thalweg_studies.bbob.summary import ALL, AT_ALL, FIXED, SHARES, alone, as_csv, as_json, compared, gather
from thalweg_studies.report.page import as_markdown

METHOD, BASELINE = entrants("gnn-cma,cma")
MANIFEST = {"settings": Settings().as_json(), "versions": {"jax": "0.9.2"}, "machine": "an abacus"}
HARDEST = next(iter(SHARES))


def run(pace, rungs=51, end=2000):
    """Reaches so many targets, one each `pace` evaluations."""
    hits = tuple(float(pace * (i + 1)) if i < rungs else inf for i in range(len(LADDER)))
    solved = rungs == len(LADDER)
    return Run(int(hits[-1]) if solved else end, 0.0 if solved else LADDER[rungs], 0, hits)


@pytest.fixture
def results():
    """On f1 the method takes half as long; on f8 twice as long; on f3 it solves one instance of three, the baseline two."""
    made = {
        (METHOD, 1): [run(5)] * 3,
        (BASELINE, 1): [run(10)] * 3,
        (METHOD, 8): [run(20)] * 3,
        (BASELINE, 8): [run(10)] * 3,
        (METHOD, 3): [run(10), run(10, 20), run(10, 15)],
        (BASELINE, 3): [run(10), run(10), run(10, 15)],
    }
    todo = trials([METHOD, BASELINE], [1, 3, 8], [2], [1, 2, 3])
    return gather(todo, [made[unit.entrant, unit.function][unit.instance - 1] for unit in todo])


def chosen(rows, **wanted):
    (row,) = [row for row in rows if all(getattr(row, key) == value for key, value in wanted.items())]
    return row


def test_ratios(results):
    rows = compared(results, METHOD, BASELINE)
    for function, ratio in ((1, 0.5), (8, 2.0)):
        for wanted in ({"rule": HARDEST}, {"rule": FIXED, "target": LADDER[rung(1e-7)]}):
            row = chosen(rows, function=function, **wanted)
            assert (row.ratio, row.low, row.high) == pytest.approx((ratio, ratio, ratio))
    hard = chosen(rows, function=3, rule=HARDEST)
    assert (hard.target, hard.ratio, hard.reached, hard.runs) == (LADDER[14], pytest.approx(1.0), 3, 3)
    last = chosen(rows, function=3, rule=FIXED, target=1e-8)
    assert (last.reached, last.baseline_reached) == (1, 2)
    assert last.ratio == pytest.approx((510 + 2000 + 2000) / ((510 + 510 + 2000) / 2))
    mean = chosen(rows, function=ALL, rule=HARDEST)
    assert (mean.ratio, mean.runs) == (pytest.approx(1.0), 3)


def test_only_shared_instances_are_compared(results):
    del results[METHOD, 2, 1][2]
    row = chosen(compared(results, METHOD, BASELINE), function=1, rule=HARDEST)
    assert row.runs == 2
    assert chosen(alone(results), function=1, method="cma", target=1e-8).runs == 3


def test_a_function_that_one_of_them_never_gets_anywhere_on(results):
    results[METHOD, 2, 3] = {1: run(10, 5), 2: run(10, 0), 3: run(10, 0)}
    rows = compared(results, METHOD, BASELINE)
    marked = [row for row in rows if row.function == 3 and row.rule == AT_ALL]
    assert {row.target for row in marked} == {LADDER[4]}
    assert chosen(rows, function=3, rule=FIXED, target=1e-8).ratio == inf
    assert chosen(rows, function=ALL, rule=FIXED, target=1e-8).runs == 2
    assert "inf" in as_csv(rows)
    assert "*" in as_markdown(page(rows + alone(results), MANIFEST, []))


def test_tidy_rows(results):
    rows = alone(results) + compared(results, METHOD, BASELINE)
    table = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert len(table) == len(rows)
    plain = next(line for line in table if line["method"] == "cma" and line["function"] == "1" and line["target"] == "1e-07")
    assert (float(plain["art"]), plain["baseline"], plain["ratio"]) == (460.0, "", "")


def test_all_runs_can_be_read_back(results):
    content = json.loads(as_json(results, MANIFEST["settings"]))
    assert content["targets"] == list(LADDER)
    assert len(content["runs"]) == 18
    failed = next(run for run in content["runs"] if run["hits"][-1] is None)
    assert failed["function"] == 3


def test_the_page(results):
    text = as_markdown(page(alone(results) + compared(results, METHOD, BASELINE), MANIFEST, ["cma on f1 failed"]))
    assert "- cma on f1 failed" in text
    assert "### `gnn-cma` / `cma`" in text
    assert "| f1 | sphere | 0.50 [0.50, 0.50] |" in text
    assert "| 3 / 3 of 3 | 3 / 3 of 3 |" in text
    assert "1.00 [" in next(line for line in text.splitlines() if line.startswith("| all | geometric mean"))
    assert "7 / 8 of 9" in text
    assert "| f8 | 320 / 520 / 720 / 920 (3) | 160 / 260 / 360 / 460 (3) |" in text
