"""The site in Chromium, from a folder: nothing fails, pages fit narrow and wide windows, and the search finds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

ROOT = Path(__file__).parents[2]
PAGES = ("index", "math", "results", "translate", "notebook", "api/minimising")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    return folder


def show(browser, page, width=1400):
    browser.size(width, 1000)
    browser.errors()
    browser.driver.get(page.as_uri())
    browser.wait("document.readyState === 'complete'")


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_window_without_errors(browser, site, shots, name, width):
    show(browser, site / f"{name}.html", width)
    browser.driver.save_screenshot(str(shots / f"site-{name.replace('/', '-')}-{width}.png"))
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert browser.js("return [...document.images].filter((each) => each.complete && !each.naturalWidth).length") == 0
    assert browser.errors() == []


def test_equations_are_drawn_and_none_is_left_as_text(browser, site):
    show(browser, site / "math.html")
    assert browser.js("return document.querySelectorAll('math').length") > 250
    assert browser.js("return document.querySelectorAll('.arithmatex, merror').length") == 0
    assert browser.js("return [...document.querySelectorAll('math')].every((each) => each.getBoundingClientRect().width > 0)")
    assert "\\" not in browser.js("return [...document.querySelectorAll('math')].map((each) => each.textContent).join('')")


def test_the_search_works_from_a_folder(browser, site):
    show(browser, site / "index.html")
    browser.js("document.querySelector('.md-search__input').focus()")
    browser.set(".md-search__input", "reevaluate")
    browser.driver.switch_to.active_element.send_keys(" ")
    browser.wait("document.querySelector('.md-search-result__item a')")
    links = browser.js("return [...document.querySelectorAll('.md-search-result__item a')].map((each) => each.href)")
    assert any("noise.html" in link for link in links), links
    assert browser.errors() == []
