"""Objectives that return or raise objects which misbehave: each costs its own point, with a text that can be written."""

import sys

import numpy as np
import pytest

from thalweg import Optimizer, minimize
from thalweg.evaluate import Evaluator
from thalweg.storage.log import read_log


def misbehaving():
    """An objective that does what the second coordinate says; by value, as a test's module cannot be imported elsewhere."""

    def fun(x):
        what = int(x[1])

        class Shy:
            def __repr__(self):
                raise LookupError("no text")

            @property
            def shape(self):
                raise LookupError("no shape")

        class Mute(Exception):  # noqa: N818 - as users name them
            def __str__(self):
                raise SystemExit("no text")

        class Impostor(Exception):  # noqa: N818
            def __reduce__(self):
                return int, ()

        class Quitter(Exception):  # noqa: N818
            def __reduce__(self):
                return sys.exit, ("unpickled",)

        class Last(BaseException):
            pass

        if what == 0:
            return float(x[0])
        if what <= 4:
            return [10**5000, Shy(), np.ma.masked, np.ma.array([3.0], mask=[True])][what - 1]
        raise [Mute(), Impostor("one"), Quitter("two"), Last("three"), SystemExit(4), ValueError("a \udcff b")][what - 5]

    return fun


POINTS = np.array([[10.0 * i, what] for i, what in enumerate([0, 1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 0])])


@pytest.mark.parametrize("workers", ["serial", "map", "processes", "threads", "pool"], indirect=True)
def test_each_costs_its_own_point(workers, caplog):
    seen = {}
    with Evaluator(misbehaving(), (), workers) as evaluate:
        F = evaluate(POINTS, record=lambda i, outcome: seen.update({i: outcome}))
    assert np.flatnonzero(~np.isnan(F)).tolist() == [0, 3, 12]
    assert F[[0, 3, 12]].tolist() == [0.0, 30.0, 120.0]
    texts = [seen[i].error for i in (1, 2, 4, 5, 6, 7, 8, 9, 10, 11)]
    assert [text.encode().decode() for text in texts] == texts
    assert texts[0] == "the objective returned <int that cannot be shown>"
    assert texts[1] == "the objective returned <Shy that cannot be shown>"
    assert texts[2] == "the objective returned masked"
    assert texts[3].startswith("the objective returned masked_array(")
    assert texts[4:] == [
        "the objective raised Mute: <Mute that cannot be shown>",
        "the objective raised Impostor: one",
        "the objective raised Quitter: two",
        "the objective raised Last: three",
        "the objective raised SystemExit: 4",
        "the objective raised ValueError: a \\udcff b",
    ]
    caplog.text.encode()


@pytest.mark.parametrize("log", ["run.jsonl", "run.parquet"])
def test_of_a_text_of_a_megabyte_the_ends_are_kept(tmp_path, log):
    if log.endswith("parquet"):
        pytest.importorskip("pyarrow")

    def fun(x):
        if x[0] > 1:
            raise ValueError("begin" + 2**20 * "x" + "end")  # lines of more than 64 MiB would not be read again
        return float(x @ x)

    files = {"checkpoint": tmp_path / "run.ckpt", "log": tmp_path / log}
    result = minimize(fun, [1.0, 1.0], method="cma", popsize=6, seed=1, max_evals=12, **files)
    assert result.failures == 1
    assert result.first_failure.startswith("the objective raised ValueError: beginxxx")
    assert result.first_failure.endswith("xxxend")
    rows = read_log(files["log"])
    assert len(rows) == 12
    assert sum(row.error == result.first_failure for row in rows) == 1
    assert files["checkpoint"].stat().st_size < 10**5


def test_masked_values_of_a_generation_are_failures():
    evaluate = Evaluator(lambda X: np.ma.array(X[:, 0], mask=X[:, 0] > 25), vectorized=True)
    F = evaluate(POINTS[:5])
    assert np.array_equal(F, [0.0, 10.0, 20.0, np.nan, np.nan], equal_nan=True)
    assert evaluate.failures == 2
    es = Optimizer([1.0, 2.0], method="cma", popsize=4, seed=1)
    es.tell(es.ask(), np.ma.array([3.0, 2.0, 1.0, 0.0], mask=[False, False, False, True]))
    assert (es.best.f, es.failures) == (1.0, 1)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_texts_that_are_not_utf_8_are_logged_and_the_run_continues(tmp_path, kind, caplog):
    def fun(x):
        if x[0] < 0.7:
            raise ValueError("a \udcff b")
        return float(x @ x)

    settings = {"method": "cma", "seed": 1, "checkpoint": tmp_path / "run.ckpt", "log": tmp_path / f"run.{kind}"}
    first = minimize(fun, [1.0, 2.0], max_evals=20, **settings)
    again = minimize(fun, [1.0, 2.0], max_evals=30, **settings)
    assert (first.nfev, again.nfev) == (20, 30)
    errors = {row.error for row in read_log(settings["log"])}
    assert errors == {None, "the objective raised ValueError: a \\udcff b"}
    caplog.text.encode()
    first.first_failure.encode()
