"""The facts of a run that its checkpoint holds, read without starting the search again."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.plots.recorded.tables import Generations
from thalweg.search import checkpoint
from thalweg.search.campaign import Best, Campaign
from thalweg.search.constraints import Kinds
from thalweg.search.described import Described
from thalweg.search.history import History
from thalweg.search.stopping import Budget, verdict


@dataclass(frozen=True, eq=False)
class Saved:
    """A checkpoint, as far as it tells how a run went."""

    names: tuple[str, ...] | None
    logarithmic: np.ndarray
    integers: np.ndarray
    generations: Generations
    best: Best | None
    nfev: int
    failures: int
    method: str | None
    seed: int
    elapsed: float
    message: str | None
    """Why the run has ended; None if it has not."""
    kinds: Kinds | None
    """Its constraints."""


def read_saved(path: Path) -> Saved:
    """Read a checkpoint; raise a ValueError if it is damaged or none."""
    found = checkpoint.read(path)
    contents = found.contents
    problem, run = contents["problem"], contents["run"]
    given: dict[str, Any] = {"log": problem.get("log"), "integers": problem.get("integers")}
    x0: Any = problem["x0"] if "names" not in problem else checkpoint.space_of(problem)
    if "names" in problem:
        described = Described.read(x0, None, None, None, None, None)
    else:
        described = Described.read(x0, problem["sigma0"], problem["bounds"], None, **given)
    d, first = problem["dimension"], np.array(problem["x0"], float)
    space, _ = described.space(d)
    history = History(space, len(space.to_search(first)))
    if "history" in contents:
        prefix = checkpoint.PAST
        arrays = {name.removeprefix(prefix): each for name, each in found.arrays.items() if name.startswith(prefix)}
        try:
            history.unpack(contents["history"], arrays)
        except ValueError as error:
            raise ValueError(f"checkpoint {str(path)!r} is damaged: {error}") from None
    campaign = checkpoint.campaign_of(found, _campaign(contents["settings"], problem["seed"]))
    best = campaign.overall(_best(found))
    nfev, failures = campaign.nfev + run["nfev"], campaign.failures + run["failures"]
    spent = campaign.spent(run["nfev"], run["nit"], best.reached, contents["elapsed"])
    reasons = run["reasons"] | spent
    ended = bool(reasons) and not campaign.follows(reasons, spent)
    names = problem.get("names")
    return Saved(
        names=None if names is None else tuple(names),
        logarithmic=_mask(problem.get("log"), d),
        integers=_mask(problem.get("integers"), d),
        generations=Generations.of_history(history),
        best=best if np.isfinite(best.f) else None,
        nfev=nfev,
        failures=failures,
        method=contents["settings"]["method"],
        seed=problem["seed"],
        elapsed=contents["elapsed"],
        message=verdict(reasons, resolved=run.get("resolved", run["best_f"] < run.get("first", np.inf)))[2] if ended else None,
        kinds=checkpoint.kinds_of(found),
    )


def _best(found: checkpoint.Snapshot) -> Best:
    run = found.contents["run"]
    return Best(found.arrays["best_x"], run["best_f"], run["best_nfev"], run.get("best_violation", 0.0))


def _campaign(settings: Mapping[str, Any], seed: int) -> Campaign:
    """Return a campaign with the limits of the run; what else it holds is overwritten by the checkpoint."""
    budget = Budget.checked(*(settings[name] for name in ("max_evals", "max_iter", "ftarget", "timeout")))
    return Campaign(popsize=2, sigma0=1.0, seed=seed, restarts=settings["restarts"], budget=budget)


def _mask(indices: Any, d: int) -> np.ndarray:
    mask = np.zeros(d, bool)
    mask[list(indices or ())] = True
    return mask
