"""The results folder of a study.

    manifest.json   format, settings, versions, machine
    parts/          one file for each finished unit of work

A part is written atomically, so work that was killed continues after its last finished unit.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from thalweg.storage.atomic import write_bytes, write_text
from thalweg_studies.common.machine import machine
from thalweg_studies.common.study import Result, Study, Unit

MANIFEST = "manifest.json"
UNFINISHED = (".new", ".tmp")
"""Endings of the files that a killed writer may leave: a folder with nothing else counts as empty."""
SHORT = 40
"""Settings with more characters are named in errors, but not shown."""


@dataclass(frozen=True)
class ResultsFolder(Generic[Unit, Result]):
    """The results of one study; made by `open_results`. Experiments may share a folder."""

    folder: Path
    study: Study[Unit, Result]

    def path(self, unit: Unit) -> Path:
        """Return the path of a unit's file, which need not exist yet."""
        return self.folder / "parts" / self.study.part(unit)

    def write(self, unit: Unit, result: Result) -> None:
        """Write the result of a unit."""
        write_bytes(self.path(unit), self.study.encode(unit, result))

    def read(self, unit: Unit) -> Result | None:
        """Return the result of a unit; None if its file is missing or damaged, so that it must be computed."""
        try:
            content = self.path(unit).read_bytes()
            result = self.study.decode(unit, content)
        except (FileNotFoundError, KeyError, TypeError, ValueError):
            return None
        return result if self.study.encode(unit, result) == content else None

    def pending(self, units: Iterable[Unit]) -> list[Unit]:
        """Return the units without a result."""
        return [unit for unit in units if self.read(unit) is None]

    def sign(self) -> None:
        """Add this machine and its versions to the manifest, unless they are there already."""
        manifest, here = read_manifest(self.folder, self.study.format), origin(self.study)
        if here not in origins(manifest):
            manifest.setdefault("continued", []).append(here)
            write_text(self.folder / MANIFEST, _as_text(manifest))


def open_results(folder: Path, study: Study[Unit, Result]) -> ResultsFolder[Unit, Result]:
    """Open the results folder of a study, and create it if it does not exist.

    Raises:
        ValueError: The folder is a file, holds other files, or holds results with other settings or versions.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; choose another name for the results")
    path = folder / MANIFEST
    if not folder.exists() or all(file.suffix in UNFINISHED for file in folder.iterdir()):
        manifest: dict[str, Any] = {"format": study.format, **origin(study)}
    else:
        manifest = read_manifest(folder, study.format)
    try:
        known, settings = dict(study.recorded(manifest)), study.settings()
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"{path} is broken; choose another folder, or remove it") from None
    changed = {"settings": _changes(known, settings)}
    if study.exact:
        changed["versions"] = _changes(manifest["versions"], study.versions())
    for kind, changes in changed.items():
        if changes:
            raise ValueError(
                f"{folder} holds results of {study.name} with other {kind} ({changes}); choose another, or remove it"
            )
    text = _as_text(manifest)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)
    return ResultsFolder(folder, study)


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """Return the manifest of a folder that is not empty, if it is of that format."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ValueError(f"{folder} holds files but no {MANIFEST}, so no results; choose an empty or a new folder")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        valid = manifest["format"] == kind and isinstance(manifest["versions"], dict) and "machine" in manifest
    except (ValueError, KeyError, TypeError):
        valid, manifest = False, {}
    if not valid:
        raise ValueError(f"{path} is broken or not of the format {kind!r}; choose another folder, or remove it")
    return manifest


def origin(study: Study[Any, Any]) -> dict[str, Any]:
    """Return this machine and its versions, as a manifest has them."""
    return {"versions": study.versions(), "machine": machine()}


def origins(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the versions and machines that the results come from, in the order of time."""
    return [{"versions": manifest["versions"], "machine": manifest["machine"]}, *manifest.get("continued", [])]


def _changes(known: Mapping[str, Any], present: Mapping[str, Any]) -> str:
    """List the keys whose values differ, with the values if they are short."""
    changes: list[str] = []
    for key in sorted({*known, *present}):
        there, now = repr(known.get(key)), repr(present.get(key))
        if known.get(key) != present.get(key):
            changes.append(f"{key} {there} there, {now} now" if max(len(there), len(now)) <= SHORT else key)
    return "; ".join(changes)


def _as_text(manifest: Mapping[str, Any]) -> str:
    return json.dumps(manifest, indent=1, sort_keys=True) + "\n"
