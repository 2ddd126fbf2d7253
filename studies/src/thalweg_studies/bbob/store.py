"""A results folder: a manifest, the record of each run, and its course as the observer wrote it.

    manifest.json                      settings and versions
    parts/<entrant>/f008-d02-i01.json  a record, whole or absent
    coco/<entrant>/f008-d02-i01/       what COCO's observer wrote (or ioh/..., IOHexperimenter's Analyzer)
    drafts/                            observers at work

A record is written when everything else of its run is in place, so a run that was cut off is repeated and no other.
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from thalweg_studies.bbob.extras import require
from thalweg_studies.bbob.plan import Settings, Unit
from thalweg_studies.bbob.record import Run, decode, encode
from thalweg_studies.paper.store import machine, versions, write_text

FORMAT = "thalweg bbob results, 1"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Store:
    """The results of a benchmark; made by `open_store`."""

    folder: Path
    settings: Settings

    def path(self, unit: Unit) -> Path:
        """Where the record of a unit is, or will be."""
        return self.folder / "parts" / unit.entrant.slug / f"{unit.stem}.json"

    def course(self, unit: Unit) -> Path:
        """The folder of the observer's files of a unit."""
        return self.courses / unit.entrant.slug / unit.stem

    @property
    def courses(self) -> Path:
        """The folder of all observers' files, in one folder for each entrant."""
        return self.folder / self.settings.logger

    @property
    def drafts(self) -> Path:
        """Where observers are at work."""
        return self.folder / "drafts"

    def draft(self, unit: Unit) -> Path:
        """A folder that is not there yet, for the observer; what an earlier attempt left is removed."""
        path = self.drafts / unit.entrant.slug / unit.stem
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.absolute()

    def write(self, unit: Unit, run: Run, draft: Path | None = None) -> None:
        """Keep a run, and the files of its observer."""
        if draft is not None:
            course = self.course(unit)
            shutil.rmtree(course, ignore_errors=True)
            course.parent.mkdir(parents=True, exist_ok=True)
            draft.replace(course)
        write_text(self.path(unit), encode(run))

    def read(self, unit: Unit) -> Run | None:
        """The record of a unit; None if it, or what the observer wrote, is missing or broken."""
        if self.settings.engine == "coco" and not self.course(unit).is_dir():
            return None
        try:
            return decode(self.path(unit).read_text(encoding="utf-8"))
        except (FileNotFoundError, KeyError, TypeError, ValueError):
            return None

    def pending(self, units: Iterable[Unit]) -> list[Unit]:
        """Those units that are still to be run."""
        return [unit for unit in units if self.read(unit) is None]


def open_store(folder: Path, settings: Settings) -> Store:
    """The store in a folder, which is made if need be; refuses a folder that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; choose another name for the results")
    present: dict[str, Any] = {"format": FORMAT, "settings": settings.as_json(), "versions": all_versions(settings)}
    path = folder / MANIFEST
    if folder.exists() and any(file.suffix != ".tmp" for file in folder.iterdir()):
        known = _manifest(path)
        for part in ("settings", "versions"):
            changed = [
                f"{key} {known[part].get(key)!r} there, {present[part].get(key)!r} now"
                for key in sorted({*known[part], *present[part]})
                if known[part].get(key) != present[part].get(key)
            ]
            if changed:
                raise ValueError(
                    f"{folder} holds results with other {part} ({'; '.join(changed)}); choose another folder, or remove it"
                )
    else:
        write_text(path, json.dumps(present | {"machine": machine()}, indent=1, sort_keys=True) + "\n")
    return Store(folder, settings)


def _manifest(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"{path.parent} holds files but no results of this benchmark; choose an empty or a new folder")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        foreign = manifest["format"] != FORMAT or not all(isinstance(manifest[key], dict) for key in ("settings", "versions"))
    except (ValueError, KeyError, TypeError):
        foreign, manifest = True, {}
    if foreign:
        raise ValueError(f"{path} is broken or not of the format {FORMAT!r}; choose another folder, or remove it")
    return manifest


def all_versions(settings: Settings) -> dict[str, str]:
    """What makes the results: the library, and whose functions they are."""
    if settings.engine == "jax":
        return versions()
    module, package = {"coco": ("cocoex", "coco-experiment"), "ioh": ("ioh", "ioh")}[settings.logger]
    require(module)
    return versions() | {package: metadata.version(package)}
