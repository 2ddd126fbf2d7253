"""The objective of a run that continues: whether it still has the values that the checkpoint holds.

If its fingerprint is another one, or on request, the best point is evaluated again. A deterministic objective must have the
value of before. A noisy one is evaluated up to `MANY` times, and may be as far from it as its own values are from each other:
the value of before is the luckiest one of a run, so that the limit is wide.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np

from thalweg._common.checks import as_flag, shortened
from thalweg.evaluate import Evaluator
from thalweg.search.campaign import Best
from thalweg.search.constraints.told import Told
from thalweg.search.continuing import Origin, notices
from thalweg.search.optimizer import Optimizer
from thalweg.search.synchronous import columns
from thalweg.storage.log import Evaluation

ROUNDING = 1e-9
"""Relative difference of values that counts as none."""
SOME, MANY = 3, 10
"""Numbers of evaluations after which values that differ among themselves are judged."""


def check_trust(trust: Any, checkpoint: str | os.PathLike[str] | None) -> bool | None:
    """Return a user's argument `trust`."""
    if trust is not None and checkpoint is None:
        raise ValueError(f"trust={shortened(trust)} is about the values of a checkpoint; pass checkpoint too, or leave it out")
    return None if trust is None else as_flag(trust, "trust")


def check_objective(
    es: Optimizer,
    evaluate: Evaluator,
    origin: Origin,
    saved: Mapping[str, Any],
    past: Sequence[Evaluation],
    trust: bool | None,
    checkpoint: str | os.PathLike[str],
) -> Origin:
    """Return the origin of a checkpoint's values, or raise a ValueError if the objective, that of `origin`, has others.

    `saved` is what the checkpoint keeps besides the search, `past` are the rows of the log, which count as long as the
    checkpoint has no value. The evaluations count in no budget and are not logged.
    """
    trusted, known, name = saved.get("trusted"), saved.get("objectives"), os.fspath(checkpoint)
    trusted, known = trusted if type(trusted) is int else 0, known if isinstance(known, list) else []
    best = best_of(es, past)
    if best is None:
        return origin
    if origin.objectives[-1] in known and trust is not False:
        return replace(origin, objectives=(str(known[0]), origin.objectives[-1]), trusted=trusted)
    if trust:
        notices.warning("trusting the values of %s, though the objective may have changed", name)
        return replace(origin, trusted=max(es.nfev, len(past)))
    began = time.monotonic()
    with evaluate.set_aside():
        values = _values(es, evaluate, best, name)
    es.started += time.monotonic() - began
    notices.info("the best point of %s has the same value, %.10g, when it is evaluated again", name, best.f)
    return replace(origin, again=tuple(values.tolist()))


def best_of(es: Optimizer, past: Sequence[Evaluation]) -> Best | None:
    """Return the best point that was evaluated; known points that users have passed were not."""
    runs = [es.run.best] if es.campaign.best is None else [es.run.best, es.campaign.best]
    found = [best for best in runs if best.nfev > 0]
    if not found and not es.nfev:
        found = [Best(row.x, row.f, 1, rows=_rows(row)) for row in past if row.error is None and len(row.x) == es.d]
    return min((best for best in found if best.f < np.inf), key=lambda best: best.order, default=None)


def _values(es: Optimizer, evaluate: Evaluator, best: Best, name: str) -> np.ndarray:
    """Return new values of the best point, or raise a ValueError that says how they differ from the one of before."""
    before = np.append(best.f, [] if best.rows is None else best.rows)
    seen = np.empty((0, len(before)))
    for number in (1, SOME, MANY):
        seen = np.concatenate([seen, _evaluated(es, evaluate, best, number - len(seen), len(before))])
        came = seen[~np.isnan(seen[:, 0])]
        noisy = len(came) > 1 and not np.all(_near(came, came[0]))
        fits = _within_noise(came, before, max(2, es.nfev)) if noisy else _near(came, before).any(axis=0)
        if np.all(fits) or np.any(np.all(_near(came, before), axis=1)):
            return seen[:, 0]
        if number > 1 and not noisy:
            break
    here = f"checkpoint {name!r} is of another objective: at its best point it has the"
    advice = "go on by trust=True (--trust) if you want these values kept, or pass another file to begin anew"
    if not len(came):
        raise ValueError(f"{here} value {best.f:.10g}, and fun fails there ({evaluate.first_failure or 'NaN'}); {advice}")
    wrong = int(np.argmin(fits))
    what = "value" if wrong == 0 else "constraint value"
    low, high = came[:, wrong].min(), came[:, wrong].max()
    now = f"{low:.10g}" if _near(low, high) else f"values between {low:.10g} and {high:.10g}"
    raise ValueError(f"{here} {what} {before[wrong]:.10g}, and fun has {now} there; {advice}")


def _evaluated(es: Optimizer, evaluate: Evaluator, best: Best, number: int, width: int) -> np.ndarray:
    """Return values and constraint values of the point, (number, width), NaN for failures."""
    F = evaluate(np.tile(best.x, (number, 1)))
    G, H = columns(evaluate.rows) or (None, None)
    told = Told.read(F, G, H, es.kinds)
    rows = np.empty((number, 0)) if told.rows is None else told.rows
    found = np.column_stack([told.f, rows])
    if found.shape[1] == width:
        return found
    if es.kinds is None:
        raise ValueError(f"fun has {rows.shape[1]} constraint values, and those of the checkpoint had none; pass another file")
    return np.column_stack([told.f, np.full((number, width - 1), np.nan)])


def _near(values: Any, other: Any) -> np.ndarray:
    """Return where values are equal up to rounding; infinity equals itself."""
    return np.isclose(values, other, rtol=ROUNDING, atol=0.0)


def _within_noise(values: np.ndarray, before: np.ndarray, number: int) -> np.ndarray:
    """Return where the luckiest of a number of earlier values may come from where these few values come from.

    The lowest of n normal values is sqrt(2 ln n) standard deviations below the mean; the standard deviation of a few values
    may be half the true one.
    """
    limit = 2 * (1 + sqrt(2 * log(number)))
    with np.errstate(invalid="ignore"):  # infinity - infinity
        mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1)
        return _near(mean, before) | (np.abs(before - mean) <= limit * spread)


def _rows(row: Evaluation) -> np.ndarray | None:
    g, h = row.extra.get("g"), row.extra.get("h")
    parts = [part for part in (g, h) if part is not None]
    return np.concatenate(parts) if parts else None
