"""Compiled steps are kept for the latest strategies, and let go for others."""

import gc
import weakref

from thalweg.compiled import steps
from thalweg.strategies.latents.cmaes import CMAES


def test_a_long_campaign_keeps_the_latest_programs_alone(monkeypatch):
    monkeypatch.setattr(steps, "_steps", {})
    monkeypatch.setattr(steps, "KEPT", 2)
    made = [weakref.ref(steps.steps_of(CMAES(popsize=n), 2)) for n in (4, 5)]
    assert steps.steps_of(CMAES(popsize=4), 2) is made[0]()  # used again, and so the newest
    made.append(weakref.ref(steps.steps_of(CMAES(popsize=6), 2)))
    gc.collect()
    assert [each() is None for each in made] == [False, True, False]
