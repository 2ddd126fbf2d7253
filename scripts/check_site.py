"""Check the built site: links and anchors lead somewhere, nothing is loaded from elsewhere, public names are in the reference.

Usage: python scripts/check_site.py site
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import thalweg
from thalweg import plots

LOADED = re.compile(r"url\([\"']?(\w+://[^)]*)")
"""Addresses elsewhere in a style sheet."""


class Found(HTMLParser):
    """The links, the anchors and the addresses that a page loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag != "a":
            self.loads += [given[name] for name in ("src", "href", "data") if name in given]


def wrong(site: Path) -> list[str]:
    """Return what is wrong, a sentence each."""
    pages = {page: Found(page) for page in sorted(site.rglob("*.html"))}
    found: list[str] = []
    for page, parts in pages.items():
        where = page.relative_to(site)
        found += [f"{where} loads {load}" for load in parts.loads if urlsplit(load).netloc]
        if where.name == "404.html":
            continue  # its addresses are those of a server's root
        for link in parts.links + parts.loads:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            if not target.is_file():
                found.append(f"{where} links to {link}, which is not there")
            elif target in pages and address.fragment and unquote(address.fragment) not in pages[target].anchors:
                found.append(f"{where} links to {link}, which has no such anchor")
    for style in site.rglob("*.css"):
        found += [
            f"{style.relative_to(site)} loads {url}" for url in re.findall(r"url\([\"']?(\w+://[^)]*)", style.read_text())
        ]
    anchors = set().union(*(parts.anchors for parts in pages.values()))
    names = {f"thalweg.{name}" for name in dir(thalweg) if name != "__version__"} | {
        f"thalweg.plots.{name}" for name in plots.__all__
    }
    return found + [f"the reference has no {name}" for name in sorted(names - anchors)]


def main(folder: str) -> None:
    """Print what is wrong with the site in a folder, and exit with status 1 if anything is."""
    site = Path(folder).resolve()
    problems = wrong(site)
    for line in problems:
        print(line)
    pages = len(list(site.rglob("*.html")))
    if problems or not pages:
        sys.exit(f"{len(problems)} problems on {pages} pages in {folder}")
    print(f"{pages} pages in {folder}: all links and anchors lead somewhere, nothing is loaded from elsewhere")


if __name__ == "__main__":
    main(*sys.argv[1:])
