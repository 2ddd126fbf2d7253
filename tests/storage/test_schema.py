"""Checks of JSON against types."""

from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import pytest

from thalweg.storage.schema import BigCount, misfit


class Best(TypedDict):
    f: float
    x: list[float] | None
    note: NotRequired[str]


@dataclass
class Run:
    nfev: int
    seed: BigCount
    name: str
    best: Best
    flags: dict[str, bool]
    rest: Any


FITTING = {"nfev": 3, "seed": 2**200, "name": "a", "best": {"f": -2, "x": [0.5]}, "flags": {"b": True}, "rest": [None, {}]}


def test_what_fits():
    assert misfit(FITTING, Run, "run") is None
    assert misfit(FITTING | {"best": {"f": 0.5, "x": None}}, Run, "run") is None
    assert misfit(FITTING | {"best": {"f": 0.5, "x": None, "note": "a"}}, Run, "run") is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nfev": -1}, "run.nfev is -1"),
        ({"nfev": 2**63}, "run.nfev is 9223372036854775808"),
        ({"nfev": True}, "run.nfev is True"),
        ({"nfev": 1.0}, "run.nfev is 1.0"),
        ({"seed": -1}, "run.seed is -1"),
        ({"seed": None}, "run.seed is None"),
        ({"name": 3}, "run.name is 3"),
        ({"best": []}, "run.best is []"),
        ({"best": {"f": 1.0}}, "run.best has no 'x'"),
        ({"best": {"f": "1", "x": None}}, "run.best.f is '1'"),
        ({"best": {"f": 2**70, "x": None}}, f"run.best.f is {2**70}"),
        ({"best": {"f": 1.0, "x": [1.0, "2"]}}, "run.best.x is [1.0, '2']"),
        ({"best": {"f": 1.0, "x": None, "note": 3}}, "run.best.note is 3"),
        ({"flags": {"b": 1}}, "run.flags.'b' is 1"),
        ({"more": 1}, "run has an unknown 'more'"),
    ],
)
def test_the_first_misfit_is_named(change, words):
    assert misfit(FITTING | change, Run, "run") == words
