"""Pages of runs: the data in them to the last bit, in parts too, and nothing that leaves the page or runs in it."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import thalweg
from thalweg.plots.html import page
from thalweg.plots.html.contents import Seen, column, contents, stride
from thalweg.plots.html.document import live_page, policy
from thalweg.plots.recorded import Generations, Recorded, read
from thalweg.plots.recorded.tables import Evaluations

EVIL = "</script><script>document.title='run by a text'</script><!--"


def fun(point):
    if point["width"] > 75:
        raise ValueError(EVIL)
    return np.log(point["rate"]) ** 2 + (point["width"] - 64) ** 2


SPACE = thalweg.Space(rate=thalweg.Real(1e-5, 1e-1, log=True), width=thalweg.Integer(8, 120))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.ckpt"
    thalweg.minimize(fun, SPACE, method="cma", seed=1, max_iter=9, popsize=6, checkpoint=path)
    return read(path)


def decoded(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["type"])


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', text, re.DOTALL)[1])


def large(n=100_000, d=10):
    rng = np.random.default_rng(1)
    error = np.where(rng.random(n) < 0.01, 0, -1)
    table = Evaluations(
        x=rng.standard_normal((n, d)),
        f=np.where(error < 0, rng.random(n), np.nan),
        run=np.zeros(n, int),
        generation=np.arange(n) // 10,
        index=np.arange(n) % 10,
        seconds=rng.random(n),
        attempts=np.ones(n, int),
        worker=rng.integers(0, 4, n),
        error=error,
        g=np.empty((n, 0)),
        h=np.empty((n, 0)),
        workers=tuple("abcd"),
        errors=("no value",),
        tracebacks={777: "first"},
    )
    names = tuple(f"x[{i}]" for i in range(d))
    no = np.zeros(d, bool)
    return Recorded("large", table, Generations(), names, no, no, best=None, nfev=n, failures=int(np.sum(error == 0)))


def test_the_page_has_the_run_to_the_last_bit(run):
    data = data_of(page(run))
    rows, table = data["rows"], run.evaluations
    assert data["nfev"] == rows["n"] == len(table) == 54
    assert np.array_equal(np.stack([decoded(each) for each in rows["x"]], 1), table.x)
    assert np.array_equal(decoded(rows["f"]), table.f, equal_nan=True)
    assert decoded(rows["number"]).tolist() == list(range(1, 55))
    assert [data["errors"][code - 1] if code else None for code in decoded(rows["error"])] == [
        table.errors[code] if code >= 0 else None for code in table.error
    ]
    assert data["names"] == ["rate", "width"]
    assert data["logarithmic"] == [True, False]
    assert data["best"]["f"] == run.best.f == decoded(data["curve"]["f"])[-1]
    assert data["best"]["nfev"] == run.best.nfev == decoded(data["curve"]["nfev"])[-1]
    assert EVIL in data["tracebacks"][0]["text"]
    assert np.array_equal(decoded(data["generations"]["sigma"]), run.generations.sigma)
    assert np.allclose([decoded(each) for each in data["generations"]["places"]["mean"]], run.generations.mean.T, rtol=1e-6)


def test_the_page_loads_nothing_and_runs_its_own_script_alone(run):
    text = page(replace(run, name=EVIL))
    assert EVIL in run.evaluations.errors[0]
    assert EVIL not in text
    assert text.count("</script>") == 2
    assert text.count("<script") == 2
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not re.findall(r"\bsrc\s*=|srcset|@import|\burl\(", text)
    for kind, tag in (("style", "style"), ("script", "script")):
        inline = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy(live=False)
    rules = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#x27;", "'")
    assert rules == policy(live=False)
    assert "default-src 'none'" in rules
    assert "connect-src 'none'" in rules
    assert "connect-src 'self'" in policy(live=True)
    assert data_of(live_page(EVIL)) == {"live": True}


def test_a_result_without_evaluations_has_a_page():
    result = thalweg.minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=9, popsize=6)
    data = data_of(page(result))
    assert data["rows"]["n"] == 0
    assert decoded(data["curve"]["f"]).tolist() == result.history.fun.tolist()


@pytest.mark.parametrize("most", [1, 7, 20])
def test_a_page_that_asks_for_what_is_new_gets_all_once(run, most):
    whole, seen, f, texts, number = contents(run), Seen(), [], [], []
    while True:
        news = contents(run, seen, most=most)
        f += decoded(news["rows"]["f"]).tolist()
        texts += news["errors"]
        number += [each["number"] for each in news["tracebacks"]]
        seen = Seen(news["series"], news["end"], news["count"], len(texts), seen.workers + len(news["workers"]))
        if not news["more"]:
            break
    assert np.array_equal(f, decoded(whole["rows"]["f"]), equal_nan=True)
    assert texts == whole["errors"]
    assert number == [each["number"] for each in whole["tracebacks"]]
    assert contents(run, seen)["generations"] is None
    assert contents(run, seen)["rows"]["n"] == 0
    assert contents(run, seen, epoch=1)["rows"]["n"] == 54


def test_a_hundred_thousand_evaluations_fit_into_a_page():
    assert len(page(large())) < 15e6


def test_a_longer_run_is_thinned_but_for_what_matters(monkeypatch):
    monkeypatch.setattr("thalweg.plots.html.contents.ROWS", 300)
    found = large(1000, 2)
    assert stride(1000, 2) == 4
    data = contents(found)
    number = decoded(data["rows"]["number"]).tolist()
    best = found.best_so_far
    better = {i + 1 for i in range(1000) if best[i] < (best[i - 1] if i else np.inf)}
    assert set(number) == set(range(1, 1001, 4)) | better | {778}
    assert number == sorted(number)
    assert decoded(data["curve"]["nfev"]).tolist() == sorted(better)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 255], "u1"),
        ([0.0, 256.0], "u2"),
        ([70_000], "u4"),
        ([2.0**33], "f8"),
        ([-1.0], "f8"),
        ([-0.0], "f8"),
        ([np.nan, 1.0], "f8"),
        ([np.inf], "f8"),
        ([0.1], "f8"),
        ([], "u1"),
    ],
)
def test_columns_keep_every_number(values, kind):
    packed = column(np.array(values))
    assert packed["type"] == kind
    found = decoded(packed)
    assert np.array_equal(found, values, equal_nan=True)
    assert np.array_equal(np.signbit(found.astype(float)), np.signbit(np.array(values, float)))
