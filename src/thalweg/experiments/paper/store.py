"""A results folder: a manifest, one file of tidy rows for each unit of work, and one for each whole run set.

A unit's file appears at once and whole, or not at all, so a run that was killed goes on where it stopped.
"""

import csv
import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import thalweg
from thalweg.experiments.paper.experiment import FIRST_SEED, Experiment, Unit

FORMAT = "thalweg paper results, 1"


class Case(NamedTuple):
    """One arm on one function in one dimension."""

    function: str
    dimension: int
    method: str


class Row(NamedTuple):
    """One run at one number of evaluations."""

    function: str
    dimension: int
    method: str
    seed: int
    evaluations: int
    best_f: float


@dataclass(frozen=True)
class Store:
    """The results of one experiment in a folder that several may share; made by `open_store`."""

    folder: Path
    experiment: Experiment

    def path(self, unit: Unit) -> Path:
        """Where the results of a unit are, or will be."""
        return self.folder / "parts" / unit.experiment / unit.filename

    def write(self, unit: Unit, best: np.ndarray) -> None:
        """Keep the best values of a unit, (seeds, grid)."""
        grid = self.experiment.grid(unit.dimension)
        if best.shape != (len(unit.seeds), len(grid)):
            raise ValueError(f"best must have shape {(len(unit.seeds), len(grid))}, seeds and grid, got {best.shape}")
        write_text(self.path(unit), as_csv(_rows(unit, grid, best)))

    def read(self, unit: Unit) -> np.ndarray | None:
        """The best values of a unit, (seeds, grid); None if they are missing or not whole, and so must be computed."""
        grid = self.experiment.grid(unit.dimension)
        try:
            text = self.path(unit).read_text(encoding="utf-8")
            values = [float(line["best_f"]) for line in csv.DictReader(io.StringIO(text))]
            best = np.array(values).reshape(len(unit.seeds), len(grid))
        except (FileNotFoundError, KeyError, TypeError, ValueError):
            return None
        return best if as_csv(_rows(unit, grid, best)) == text else None

    def pending(self, units: Iterable[Unit]) -> list[Unit]:
        """Those units that are still to be computed."""
        return [unit for unit in units if self.read(unit) is None]

    def collect(self, units: Iterable[Unit]) -> dict[Case, np.ndarray]:
        """The best values (seeds, grid) of each arm on each function in each dimension, seeds ascending."""
        parts: dict[Case, list[np.ndarray]] = {}
        for unit in sorted(units):
            best = self.read(unit)
            if best is None:
                raise ValueError(f"{self.path(unit)} is missing or broken; the same command again computes it, and only it")
            parts.setdefault(Case(unit.function, unit.dimension, unit.method), []).append(best)
        return {case: np.concatenate(blocks) for case, blocks in parts.items()}

    def merge(self, units: Iterable[Unit]) -> Path:
        """Write one tidy file of all the units, sorted, and return its path."""
        rows: list[Row] = []
        for case, best in self.collect(units).items():
            whole = Unit(self.experiment.name, *case, FIRST_SEED, FIRST_SEED + len(best))
            rows += _rows(whole, self.experiment.grid(case.dimension), best)
        path = self.folder / f"{self.experiment.name}.csv"
        write_text(path, as_csv(rows))
        return path


def open_store(folder: Path, experiment: Experiment) -> Store:
    """The store of an experiment in a folder, which is made if need be; refuses a folder that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; choose another name for the results")
    path = folder / "manifest.json"
    if not folder.exists() or not any(file.suffix != ".tmp" for file in folder.iterdir()):
        manifest: dict[str, Any] = {"format": FORMAT, "versions": versions(), "experiments": {}}
    else:
        manifest = _manifest(path)
    known, settings = manifest["experiments"].setdefault(experiment.name, experiment.settings()), experiment.settings()
    if known != settings:
        changed = ", ".join(sorted(key for key in {*known, *settings} if known.get(key) != settings.get(key)))
        raise ValueError(
            f"{folder} holds results of {experiment.name} with other settings ({changed}); choose another folder, or remove it"
        )
    text = json.dumps(manifest, indent=1, sort_keys=True) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)
    return Store(folder, experiment)


def _manifest(path: Path) -> dict[str, Any]:
    """The manifest of a folder that is not empty."""
    folder = path.parent
    if not path.is_file():
        raise ValueError(f"{folder} holds files but no results of the paper's experiments; choose an empty or a new folder")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        strange = manifest["format"] != FORMAT or not all(isinstance(e, dict) for e in manifest["experiments"].values())
        made_with = manifest["versions"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is broken or foreign; choose another folder, or remove it") from None
    if strange:
        raise ValueError(f"{path} is not of the format {FORMAT!r}; choose another folder, or remove it")
    if made_with != versions():
        raise ValueError(f"{folder} was made with {made_with}, this is {versions()}; choose another folder, or remove it")
    return manifest


def versions() -> dict[str, str]:
    """What made the results: others may give other digits."""
    return {name: metadata.version(name) for name in ("jax", "jaxlib", "numpy")} | {"thalweg": thalweg.__version__}


def as_csv(rows: Iterable[Row]) -> str:
    """Tidy rows as text, numbers to the last digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows((*row[:-1], repr(row.best_f)) for row in rows)
    return out.getvalue()


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole: whoever looks, and whatever happens, sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _rows(unit: Unit, grid: np.ndarray, best: np.ndarray) -> list[Row]:
    """Run by run, evaluations ascending."""
    return [
        Row(unit.function, unit.dimension, unit.method, seed, evaluations, value)
        for seed, values in zip(unit.seeds, best.tolist(), strict=True)
        for evaluations, value in zip(grid.tolist(), values, strict=True)
    ]
