"""Chromium without a window, and runs to look at. `make browser` installs Chromium from Debian's packages."""

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from thalweg.plots.html import page
from thalweg.storage.log import Evaluation, open_log

SWITCHES = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Browser:
    """A browser of one page, which fails a test that leaves an error in its console."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, url, *, width=1400, height=1000, dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.size(width, height)
        self.errors()
        began = time.monotonic()
        self.driver.get(url)
        self.wait("document.documentElement.dataset.ready === 'yes'")
        return time.monotonic() - began

    def size(self, width, height):
        given = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", given)

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def wait(self, condition, *, seconds=20):
        end = time.monotonic() + seconds
        while not self.js(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"not within {seconds} s: {condition}"
            time.sleep(0.02)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def table(self, column):
        """Return the texts of a column in the rows that there are, from the first visible one."""
        return self.js(
            """
            const heads = [...document.querySelectorAll("#table thead th")];
            const place = heads.findIndex((each) => each.dataset.key === arguments[0]);
            const top = document.querySelector("#table thead").getBoundingClientRect().bottom - 14;
            return [...document.querySelectorAll("#table tr.data")]
              .filter((row) => row.getBoundingClientRect().top >= top).map((row) => row.cells[place].textContent);
            """,
            column,
        )

    def set(self, selector, value):
        """Type a value, or choose one, as a user does."""
        self.js(
            """
            const element = document.querySelector(arguments[0]);
            element.value = arguments[1];
            element.dispatchEvent(new Event("input", {bubbles: true}));
            element.dispatchEvent(new Event("change", {bubbles: true}));
            """,
            selector,
            value,
        )

    def errors(self):
        """Return what the console has, and forget it."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def pixels(self, path):
        """Save a picture of the whole page."""
        height = self.js("return document.documentElement.scrollHeight")
        width = self.js("return window.innerWidth")
        self.size(width, min(height, 6000))
        time.sleep(0.2)
        self.driver.save_screenshot(str(path))


@pytest.fixture(scope="session")
def browser():
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.fail("chromium or chromedriver is missing: run scripts/install_chromium.sh")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for switch in SWITCHES + (("--no-sandbox",) if os.geteuid() == 0 else ()):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield Browser(found)
    finally:
        found.quit()


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """The page of a log of 100,000 evaluations of 10 variables, and the values in it."""
    path, n, d = tmp_path_factory.mktemp("large") / "large.jsonl", 100_000, 10
    rng = np.random.default_rng(1)
    x = 1 + rng.standard_normal((n, d)) * (10.0 ** (-4 * np.arange(n) / n))[:, None]
    f = np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)
    failed = rng.random(n) < 0.003
    f[failed] = np.nan
    seconds, workers = rng.gamma(2.0, 0.1, n), rng.integers(0, 4, n)
    with open_log(path, resume=False) as log:
        for i in range(0, n, 1000):
            rows = [
                Evaluation(0, k // 10, k % 10, x[k], f[k], "no value" if failed[k] else None, f"w:{workers[k]}", seconds[k], 1)
                for k in range(i, i + 1000)
            ]
            log.append(rows)
    text = page(path)
    out = path.with_suffix(".html")
    out.write_text(text)
    return out, f


@pytest.fixture(scope="session")
def shots():
    """Return the folder for pictures of pages, which are for people to look at."""
    folder = Path(__file__).parents[2] / ".cache" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
