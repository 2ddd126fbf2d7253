"""A benchmark as a study: its trials, the files of their records, and the trajectories that the logger writes.

    manifest.json                      settings and versions
    parts/<entrant>/f008-d02-i01.json  the record of a run
    coco/<entrant>/f008-d02-i01/       files of COCO's observer (or ioh/..., of IOHexperimenter's Analyzer)
    drafts/                            files of loggers at work

The record is written last, so only a run that was interrupted is repeated.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from thalweg_studies.bbob.batch import run_together
from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.observed import observed_problem
from thalweg_studies.bbob.plan import Settings, Trial
from thalweg_studies.bbob.record import Run, decode, encode
from thalweg_studies.bbob.solve import solve
from thalweg_studies.bbob.starts import problem_seed
from thalweg_studies.common.extras import require
from thalweg_studies.common.machine import versions
from thalweg_studies.common.study import Study

FORMAT = "thalweg bbob results, 1"
PACKAGES = {"coco": ("cocoex", "coco-experiment"), "ioh": ("ioh", "ioh"), "none": ("cma.bbobbenchmarks", "cma")}
"""Module and package that have the functions, by logger."""


@dataclass(frozen=True)
class Benchmark(Study[Trial, Run]):
    """The trials of a benchmark, which share their settings."""

    rules: Settings
    folder: Path
    """The results folder, into which loggers write."""

    name = "bbob"
    format = FORMAT
    tolerant = True

    @property
    def batched(self) -> bool:
        """True for the engine `jax`, which runs all problems of an entrant in one dimension together."""
        return self.rules.engine == "jax"

    def settings(self) -> dict[str, Any]:
        return self.rules.as_json()

    def recorded(self, manifest: dict[str, Any]) -> dict[str, Any]:
        return manifest.setdefault("settings", self.settings())

    def versions(self) -> dict[str, str]:
        """Return the versions of the library, and of the package that has the functions."""
        if self.batched:
            return versions()
        module, package = PACKAGES[self.rules.logger]
        require(module)
        return versions() | {package: metadata.version(package)}

    def part(self, unit: Trial) -> str:
        return f"{unit.entrant.slug}/{unit.stem}.json"

    def encode(self, unit: Trial, result: Run) -> bytes:
        return encode(result).encode()

    def decode(self, unit: Trial, content: bytes) -> Run:
        if not self.batched and not self.trajectory(unit).is_dir():
            raise FileNotFoundError(f"{self.trajectory(unit)} is missing")
        return decode(content.decode())

    def groups(self, units: Sequence[Trial]) -> list[list[Trial]]:
        """Group by entrant and dimension for the engine `jax`; else each trial is a group."""
        groups: dict[tuple[Any, ...], list[Trial]] = {}
        for unit in units:
            groups.setdefault((unit.entrant, unit.dimension) if self.batched else unit, []).append(unit)
        return list(groups.values())

    def cost(self, unit: Trial) -> float:
        """Estimate relative costs: the number of evaluations grows with the dimension, and so does the time of each."""
        return float(unit.dimension**2)

    def run(self, unit: Trial) -> Run:
        """Run an entrant on a problem of coco-experiment or IOHexperimenter, and keep its trajectory."""
        entrant, function, d, instance = unit
        rules, draft = self.rules, self.draft(unit)
        try:
            with observed_problem(function, d, instance, rules.evaluations(d), rules.logger, draft, entrant.slug) as problem:
                seed = problem_seed(rules.seed, function, d, instance)
                run = solve(entrant, problem, seed, bipop=rules.restarts == "bipop")
            trajectory = self.trajectory(unit)
            shutil.rmtree(trajectory, ignore_errors=True)
            trajectory.parent.mkdir(parents=True, exist_ok=True)
            draft.replace(trajectory)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return run

    def run_batch(self, units: Sequence[Trial]) -> list[Run]:
        return run_together(self.rules, units) if self.batched else super().run_batch(units)

    def trajectory(self, unit: Trial) -> Path:
        """Return the folder of the logger's files of a trial."""
        return self.trajectories(unit.entrant) / unit.stem

    def trajectories(self, entrant: Entrant) -> Path:
        """Return the folder of the logger's files of an entrant."""
        return self.folder / self.rules.logger / entrant.slug

    def draft(self, unit: Trial) -> Path:
        """Return a folder for the logger, which must not exist yet; remove what an earlier attempt left."""
        path = self.folder / "drafts" / unit.entrant.slug / unit.stem
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.absolute()

    def clean_up(self) -> None:
        shutil.rmtree(self.folder / "drafts", ignore_errors=True)
