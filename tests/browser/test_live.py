"""A live page in a real browser, while a real run goes on in another process."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("selenium")

import thalweg
from thalweg.storage.log import Evaluation, open_log

pytestmark = pytest.mark.check

MODEL = """
import time

def loss(x):
    time.sleep(0.004)
    if x[0] > 1.05:
        raise ValueError("<script>document.title = 'run by a text'</script>")
    return float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)
"""
RUN = ("minimize", "model.py:loss", "--x0=-1,1", "--sigma0", "0.5", "--seed", "1", "--live", "--checkpoint", "run.ckpt")


@pytest.fixture
def start(tmp_path):
    """Return a function that starts `thalweg` with arguments, and returns the process and the address of its page."""
    (tmp_path / "model.py").write_text(MODEL)
    source = str(Path(thalweg.__file__).parents[1])
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "thalweg", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": source},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        line = next(line for line in process.stderr if line.startswith("live page: "))
        return process, re.fullmatch(r"live page: (http://127\.0\.0\.1:\d+/[\w-]{22}/)\n", line)[1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def rows(browser):
    return int(browser.js("return document.documentElement.dataset.rows ?? 0"))


def test_the_page_moves_with_the_run_and_keeps_what_was_chosen(browser, start, tmp_path, shots):
    process, url = start(*RUN)
    browser.open(url)
    browser.wait("Number(document.documentElement.dataset.rows) >= 150")
    assert browser.text("#state") == "running"
    assert browser.text("#name") == "model.py:loss, gnn-cma, d = 2"
    browser.set("#query", "x[1] > -100, number > 20")
    browser.js("document.querySelector('#table th[data-key=number] button').click()")
    browser.set("#f-scale", "gap")
    browser.wait("document.getElementById('count').textContent.includes(' of ')")
    browser.js("document.getElementById('table').scrollTop = 28 * 40")
    browser.wait("document.querySelector('#table tr.data[aria-rowindex=\"42\"]')")
    top = browser.table("number")[0]
    before = rows(browser)
    browser.wait(f"Number(document.documentElement.dataset.rows) >= {before + 200}")
    assert browser.table("number")[0] == top  # new rows came above: the ones in view have stayed
    assert browser.js("return document.getElementById('table').scrollTop") > 28 * 40
    assert browser.js("return document.getElementById('query').value") == "x[1] > -100, number > 20"
    assert browser.js("return document.getElementById('f-scale').value") == "gap"
    assert browser.js("return document.querySelector('#table [aria-sort]').getAttribute('aria-sort')") == "descending"
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    browser.wait("document.getElementById('state').textContent === 'ended'")
    assert browser.text("#message") == out.splitlines()[0]
    log = thalweg.read_log(tmp_path / "run.ckpt.jsonl")
    assert rows(browser) == len(log) > before + 200
    failures = sum(row.error is not None for row in log)
    assert failures > 0
    assert (
        browser.text(".failure .text") == "the objective raised ValueError: <script>document.title = 'run by a text'</script>"
    )
    assert browser.js("return document.title") == "model.py:loss, gnn-cma, d = 2 - Thalweg"
    assert browser.errors() == []
    browser.pixels(shots / "live.png")


def test_ctrl_c_ends_run_and_page(browser, start, tmp_path):
    process, url = start(*RUN)
    browser.open(url)
    browser.wait("Number(document.documentElement.dataset.rows) >= 50")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "continue with: thalweg resume run.ckpt model.py:loss" in err
    assert "--live" in err.splitlines()[-1]
    browser.wait("document.getElementById('state').textContent === 'ended'")
    assert rows(browser) == len(thalweg.read_log(tmp_path / "run.ckpt.jsonl"))
    assert browser.errors() == []


def test_a_run_without_a_page_is_shown_live_by_another_command(browser, start, tmp_path):
    run = thalweg.minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=9, popsize=6, log=tmp_path / "run.jsonl")
    process, url = start("show", "run.jsonl", "--live")
    browser.open(url)
    browser.wait("document.getElementById('count').textContent === '54 rows'")
    assert browser.text("#state") == "has not ended"
    with open_log(tmp_path / "run.jsonl", resume=True) as log:
        log.append([Evaluation(0, 9, 0, np.array([0.1, 0.0]), 0.0, None, None, 0.0, 1)])
    browser.wait("document.getElementById('count').textContent === '55 rows'")
    assert run.fun > 0
    assert browser.js("return document.querySelector('#facts .first').title") == "0"
    assert browser.errors() == []
    process.kill()
    browser.wait("document.getElementById('state').textContent.startsWith('connection lost')")
    assert all("ERR_CONNECTION" in error for error in browser.errors())


def test_another_address_shows_nothing(browser, start):
    _, url = start(*RUN)
    wrong = url[:-2] + ("a" if url[-2] != "a" else "b") + "/"
    for address in (wrong, wrong + "data", url.rsplit("/", 2)[0] + "/", url + "other"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address, timeout=10)
    browser.driver.get(wrong)
    assert "there is no such page" in browser.text("body")
    browser.errors()
