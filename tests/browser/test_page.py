"""The page of a run in a real browser, from a file: what it shows, how fast, and that no text in it runs."""

import re
import shutil
import struct
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import thalweg
from thalweg.plots.html import page

pytestmark = pytest.mark.check

EVIL = "</script><script>document.title = 'run by a text'</script><img src=x onerror=\"document.title = 'run by an image'\">"
READY, SORTED = 8.0, 1.5
"""Seconds within which a page of 100,000 evaluations is ready, and sorted by another column, on two busy cores."""


def fun(point):
    if point["width"] > 80:
        raise ValueError(EVIL)
    if point["rate"] > 0.01:
        raise RuntimeError("diverged")
    rest = sum((point[f"w{i}"] - 0.3 * i) ** 2 for i in range(8))
    return (np.log(point["rate"]) + 7) ** 2 + (point["width"] - 64) ** 2 / 100 + rest


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """The page of a run with failures, and its evaluations."""
    path = tmp_path_factory.mktemp("failing") / "run.ckpt"
    others = {f"w{i}": thalweg.Real(-3, 3) for i in range(8)}
    space = thalweg.Space(rate=thalweg.Real(1e-5, 1e-1, log=True), width=thalweg.Integer(8, 120), **others)
    thalweg.minimize(fun, space, seed=1, max_evals=400, checkpoint=path)
    out = path.with_name("run.html")
    out.write_text(page(path))
    return out, thalweg.read_log(f"{path}.jsonl")


def shown(browser, rows):
    browser.wait(f"document.getElementById('count').textContent.startsWith('{rows} ')", seconds=5)


def test_the_page_shows_the_run(browser, failing, shots):
    path, rows = failing
    browser.open(path.as_uri())
    values = [row.f for row in rows if row.error is None]
    facts = dict(
        zip(
            *(
                browser.js(f"return [...document.querySelectorAll('#facts {tag}')].map(e => e.textContent)")
                for tag in ("dt", "dd")
            ),
            strict=True,
        )
    )
    assert facts["evaluations"] == "400"
    assert facts["failures"] == str(sum(row.error is not None for row in rows))
    assert browser.js("return document.querySelector('#facts .first').title") == repr(min(values)).replace("e-0", "e-")
    assert browser.text("#state") == "ended"
    assert browser.text("#message") == "The budget of max_evals = 400 evaluations is used up."
    names = browser.js("return [...document.querySelectorAll('#point dt')].map(e => e.textContent)")
    assert names == ["rate", "width", *(f"w{i}" for i in range(8))]
    assert browser.table("number")[:3] == ["1", "2", "3"]
    visible = browser.js("return [...document.querySelectorAll('main > section')].filter(e => !e.hidden).map(e => e.id)")
    assert visible == ["convergence", "parallel", "evaluations", "search", "variable", "bend", "times", "workers", "failures"]
    painted = """
      const data = (c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      const colours = (c) => new Set(new Uint32Array(data(c).buffer)).size;
      return [...document.querySelectorAll("canvas")].filter((c) => c.offsetParent).map(colours);
    """
    assert min(browser.js(painted)) > 5  # colours of each picture
    assert browser.errors() == []


def test_failures_have_tracebacks_and_no_text_runs(browser, failing):
    path, rows = failing
    browser.open(path.as_uri())
    kinds = {row.error for row in rows if row.error is not None}
    texts = browser.js("return [...document.querySelectorAll('.failure .text')].map(e => e.textContent)")
    assert set(texts) == kinds
    assert any(EVIL in text for text in texts)
    traces = browser.js("return [...document.querySelectorAll('.failure pre')].map(e => e.textContent)")
    assert any(EVIL in text and "in fun" in text for text in traces)
    place = next(i for i, text in enumerate(texts) if EVIL in text)
    browser.driver.find_elements(By.CSS_SELECTOR, ".failure button")[place].click()
    shown(browser, sum(EVIL in (row.error or "") for row in rows))
    assert all(EVIL in text for text in browser.table("error"))
    browser.driver.find_element(By.CSS_SELECTOR, "#table tr.data td").click()
    assert EVIL in browser.text("#row pre")
    time.sleep(0.2)
    assert browser.js("return document.title") == "run.ckpt - Thalweg"
    assert browser.js("return document.images.length + document.scripts.length") == 2
    assert browser.errors() == []


def test_what_a_text_would_do_is_refused(browser, failing):
    """The policy holds even if markup did get into the page: a script or a request that is not the page's own does not run."""
    path, _ = failing
    browser.open(path.as_uri())
    browser.js(
        "const s = document.createElement('script'); s.textContent = \"document.title = 'run'\"; document.body.append(s)"
    )
    browser.js("document.body.insertAdjacentHTML('beforeend', '<img src=http://127.0.0.1:9/x onerror=\"document.title = 1\">')")
    assert browser.js("return document.title") == "run.ckpt - Thalweg"
    sent = browser.driver.execute_async_script(
        "fetch('http://127.0.0.1:9/').then(() => arguments[0]('sent'), (e) => arguments[0]('refused'))"
    )
    assert sent == "refused"
    refused = browser.errors()
    assert len(refused) >= 4
    assert all("Content Security Policy" in text for text in refused)


def test_the_filter_and_ranges_of_axes(browser, failing):
    path, rows = failing
    browser.open(path.as_uri())
    good = [row for row in rows if row.error is None]
    browser.set("#query", "f < 20, width >= 60")
    shown(browser, sum(row.f < 20 and row.x[1] >= 60 for row in good))
    browser.set("#query", "nothing < 3")
    browser.wait("!document.getElementById('query-error').hidden")
    assert "no column “nothing”" in browser.text("#query-error")
    browser.set("#query", "diverged")
    shown(browser, sum("diverged" in (row.error or "") for row in rows))
    browser.set("#query", "")
    browser.set("#rows-kind", "failed")
    shown(browser, len(rows) - len(good))
    browser.set("#rows-kind", "improved")
    best = np.minimum.accumulate([np.inf if row.error else row.f for row in rows])
    shown(browser, int(np.sum(best < np.concatenate([[np.inf], best[:-1]]))))
    browser.set("#rows-kind", "all")
    shown(browser, 400)
    # drag along the second axis, over its lower half
    canvas = browser.driver.find_element(By.CSS_SELECTOR, "#parallel .scroll canvas")
    browser.js("arguments[0].scrollIntoView({block: 'center'})", canvas)
    low, high = min(row.x[1] for row in rows), max(row.x[1] for row in rows)
    left, top, width = browser.js("const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.width]", canvas)
    x = left + 46 + (width - 46 - 64) / 10
    for kind, y in (("mousePressed", 161), ("mouseMoved", 250), ("mouseMoved", 299), ("mouseReleased", 299)):
        given = {"type": kind, "x": x, "y": top + y, "button": "left", "buttons": 1, "clickCount": 1}
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", given)
    browser.wait("!document.getElementById('ranges').hidden")
    end = float(re.fullmatch(r"width: \d+ to ([\d.]+) ✕", browser.text("#ranges"))[1])
    assert abs(end - (low + high) / 2) < 2
    shown(browser, sum(row.x[1] <= end for row in rows))
    browser.driver.find_element(By.CSS_SELECTOR, "#ranges button").click()
    shown(browser, 400)
    assert browser.errors() == []


def test_a_hundred_thousand_evaluations(browser, large, shots):
    path, f = large
    took = browser.open(path.as_uri())
    assert took < READY
    assert browser.text("#count") == "100,000 rows"
    assert browser.js("return document.querySelectorAll('#table tr').length") < 60
    for key, expected in (("f", np.sort(f[~np.isnan(f)])), ("x3", None), ("seconds", None), ("f", None)):
        seconds = browser.js(
            """
            const button = document.querySelector(`#table th[data-key="${arguments[0]}"] button`), began = performance.now();
            button.click();
            document.getElementById("table").getBoundingClientRect();
            return (performance.now() - began) / 1000;
            """,
            key,
        )
        assert seconds < SORTED, key
        if expected is not None:
            seen = [float(text.replace("−", "-")) for text in browser.table("f")[:5]]
            assert np.allclose(seen, expected[:5], rtol=1e-6)
    table = browser.driver.find_element(By.ID, "table")
    frames = browser.driver.execute_async_script(
        """
        const done = arguments[0], table = document.getElementById("table"), times = [];
        let before = performance.now(), k = 0;
        const step = (now) => {
          times.push(now - before); before = now;
          table.scrollTop = (++k * 93_000) % table.scrollHeight;
          if (k < 60) requestAnimationFrame(step); else done(times.slice(5));
        };
        requestAnimationFrame(step);
        """
    )
    assert np.median(frames) < 50
    table.send_keys(Keys.END)
    assert browser.js(
        "return Math.round(arguments[0].scrollTop + arguments[0].clientHeight) >= arguments[0].scrollHeight - 1", table
    )
    assert browser.table("f")[-1] == "–"  # those without a value come last
    began = time.monotonic()
    browser.set("#query", "f < 1e-3")
    shown(browser, f"{int(np.sum(f < 1e-3)):,}")
    assert time.monotonic() - began < 2 * SORTED
    assert browser.errors() == []
    browser.set("#query", "")
    browser.pixels(shots / "large.png")


def test_keys_reach_all(browser, failing):
    path, _ = failing
    browser.open(path.as_uri())
    reached = []
    for _ in range(40):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(
            browser.js(
                "const e = document.activeElement; return e.id || e.className || e.parentElement.dataset.key || e.tagName"
            )
        )
    for name in ("f-scale", "n-scale", "frame", "scroll", "rows-kind", "query", "save", "f", "x0", "table", "variable-name"):
        assert name in reached, name
    table = browser.driver.find_element(By.ID, "table")
    browser.js("arguments[0].focus()", table)
    table.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert browser.text("#row h3") == "Evaluation 2"
    table.send_keys(Keys.END)
    assert browser.text("#row h3") == "Evaluation 400"
    frame = browser.driver.find_element(By.CSS_SELECTOR, "#convergence .frame")
    browser.js("arguments[0].focus()", frame)
    frame.send_keys(Keys.END)
    assert "best value" in browser.text("#convergence .chart p")
    assert browser.errors() == []


@pytest.mark.parametrize(("name", "width", "dark"), [("wide", 1400, False), ("dark", 1400, True), ("narrow", 390, False)])
def test_every_width_and_both_schemes(browser, failing, shots, name, width, dark):
    path, _ = failing
    browser.open(path.as_uri(), width=width, height=900, dark=dark)
    assert browser.js("return document.documentElement.scrollWidth") <= width
    small = """
      return [...document.querySelectorAll("main > section")].filter((e) => !e.hidden)
        .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1).map((e) => e.id)
    """
    assert browser.js(small) == []
    back = browser.js("return getComputedStyle(document.body).backgroundColor")
    assert (sum(int(each) for each in back[4:-1].split(",")) < 200) is dark
    browser.pixels(shots / f"{name}.png")
    with (shots / f"{name}.png").open("rb") as file:
        assert struct.unpack(">I", file.read(20)[16:])[0] == width
    assert browser.errors() == []


def test_the_page_of_a_copied_file_is_the_same(browser, failing, tmp_path):
    """A page is handed over by mail: its name and place do not matter."""
    path, _ = failing
    copy = Path(shutil.copy(path, tmp_path / "a page #1?.html"))
    browser.open(copy.as_uri())
    assert browser.text("#name") == "run.ckpt"
    assert browser.errors() == []
