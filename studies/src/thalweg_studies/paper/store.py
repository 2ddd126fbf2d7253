"""A results folder: a manifest, one file for each unit of work, and one of tidy rows for each whole run set.

A unit's file appears at once and whole, or not at all, so a run that was killed goes on where it stopped.
"""

import json
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Generic

import thalweg
from thalweg_studies.paper.experiment import Case, Experiment, Result, Unit

FORMAT = "thalweg paper results, 2"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Store(Generic[Result]):
    """The results of one experiment in a folder that several may share; made by `open_store`."""

    folder: Path
    experiment: Experiment[Result]

    def path(self, unit: Unit) -> Path:
        """Where the results of a unit are, or will be."""
        return self.folder / "parts" / unit.experiment / f"{unit.stem}{self.experiment.suffix}"

    def write(self, unit: Unit, result: Result) -> None:
        """Keep what a unit yielded."""
        write_bytes(self.path(unit), self.experiment.encode(unit, result))

    def read(self, unit: Unit) -> Result | None:
        """What a unit yielded; None if it is missing or not whole, and so must be computed."""
        try:
            content = self.path(unit).read_bytes()
            result = self.experiment.decode(unit, content)
        except (FileNotFoundError, KeyError, TypeError, ValueError):
            return None
        return result if self.experiment.encode(unit, result) == content else None

    def pending(self, units: Iterable[Unit]) -> list[Unit]:
        """Those units that are still to be computed."""
        return [unit for unit in units if self.read(unit) is None]

    def collect(self, units: Iterable[Unit]) -> dict[Case, Result]:
        """The results of each arm on each function in each dimension, seeds ascending."""
        parts: dict[Case, list[Result]] = {}
        for unit in sorted(units):
            result = self.read(unit)
            if result is None:
                raise ValueError(f"{self.path(unit)} is missing or broken; the same command again computes it, and only it")
            parts.setdefault(unit.case, []).append(result)
        return {case: self.experiment.join(blocks) for case, blocks in parts.items()}

    def sign(self) -> None:
        """Keep in the manifest that work is done here, where results of several machines may belong together."""
        manifest = read_manifest(self.folder, exact=self.experiment.exact)
        if here() not in makers(manifest):
            manifest.setdefault("continued", []).append(here())
            write_text(self.folder / MANIFEST, _as_text(manifest))

    def merge(self, units: Iterable[Unit]) -> Path:
        """Write one tidy file of all the units, sorted, and return its path."""
        path = self.folder / f"{self.experiment.name}.csv"
        write_text(path, self.experiment.tidy(self.collect(units)))
        return path


def open_store(folder: Path, experiment: Experiment[Result]) -> Store[Result]:
    """The store of an experiment in a folder, which is made if need be; refuses a folder that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; choose another name for the results")
    path = folder / MANIFEST
    if not folder.exists() or not any(file.suffix != ".tmp" for file in folder.iterdir()):
        manifest: dict[str, Any] = {"format": FORMAT, **here(), "experiments": {}}
    else:
        manifest = read_manifest(folder, exact=experiment.exact)
    known, settings = manifest["experiments"].setdefault(experiment.name, experiment.settings()), experiment.settings()
    if known != settings:
        changed = ", ".join(sorted(key for key in {*known, *settings} if known.get(key) != settings.get(key)))
        raise ValueError(
            f"{folder} holds results of {experiment.name} with other settings ({changed}); choose another folder, or remove it"
        )
    text = _as_text(manifest)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)
    return Store(folder, experiment)


def read_manifest(folder: Path, *, exact: bool = True) -> dict[str, Any]:
    """The manifest of a folder that is not empty; with `exact` of one that was made with these versions."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ValueError(f"{folder} holds files but no results of the paper's experiments; choose an empty or a new folder")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        strange = manifest["format"] != FORMAT or not all(isinstance(e, dict) for e in manifest["experiments"].values())
        made_with, _ = manifest["versions"], manifest["machine"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is broken or foreign; choose another folder, or remove it") from None
    if strange:
        raise ValueError(f"{path} is not of the format {FORMAT!r}; choose another folder, or remove it")
    if exact and made_with != versions():
        raise ValueError(f"{folder} was made with {made_with}, this is {versions()}; choose another folder, or remove it")
    return manifest


def makers(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The versions and the machines that the results come from, the first one first."""
    return [{"versions": manifest["versions"], "machine": manifest["machine"]}, *manifest.get("continued", [])]


def here() -> dict[str, Any]:
    """This machine and its versions."""
    return {"versions": versions(), "machine": machine()}


def versions() -> dict[str, str]:
    """What made the results: others may give other digits."""
    return {name: metadata.version(name) for name in ("jax", "jaxlib", "numpy")} | {"thalweg": thalweg.__version__}


def machine() -> str:
    """What the results are first computed on, for people."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def _as_text(manifest: Mapping[str, Any]) -> str:
    return json.dumps(manifest, indent=1, sort_keys=True) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file as a whole: whoever looks, and whatever happens, sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
