"""The interface of a study: units of work, each of which yields one result that is kept in a file."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from thalweg_studies.common.machine import versions

Unit = TypeVar("Unit", bound=Hashable)
"""The smallest piece of work; `str(unit)` names it in messages."""

Result = TypeVar("Result")
"""The result of one unit."""


class Study(ABC, Generic[Unit, Result]):
    """Units of work and the format of their results; `open_results` opens a folder for it, `execute` does the work."""

    name: str
    """The name of the study in messages."""
    format = ""
    """The format that the manifest of a results folder names."""
    exact = True
    """True if the same unit must give the same digits: results of other versions are then refused."""
    tolerant = False
    """True if a unit that raises is reported and the others go on; else the first error ends the work."""

    @property
    def batched(self) -> bool:
        """True if all units of a group are run by one call, in this process."""
        return False

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return what must be equal for results to belong together, as JSON values."""

    @abstractmethod
    def recorded(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Return the settings of this study in a manifest; enter those of `settings` first if it has none."""

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages that the digits of the results depend on."""
        return versions()

    @abstractmethod
    def part(self, unit: Unit) -> str:
        """Return the path of a unit's file, relative to the folder `parts`."""

    @abstractmethod
    def encode(self, unit: Unit, result: Result) -> bytes:
        """Return the content of a unit's file; equal results give equal bytes."""

    @abstractmethod
    def decode(self, unit: Unit, content: bytes) -> Result:
        """Return the result in a unit's file; raise FileNotFoundError, ValueError, KeyError or TypeError if damaged."""

    @abstractmethod
    def run(self, unit: Unit) -> Result:
        """Do the work of a unit."""

    def run_batch(self, units: Sequence[Unit]) -> list[Result]:
        """Do the work of several units of one group."""
        return [self.run(unit) for unit in units]

    def groups(self, units: Sequence[Unit]) -> list[list[Unit]]:
        """Split the work into groups, each of which one process does; the first groups are started first."""
        return [[unit] for unit in units]

    @abstractmethod
    def cost(self, unit: Unit) -> float:
        """Estimate how long a unit takes, relative to the others."""

    def begun(self, unit: Unit) -> float | None:
        """Return the part of a unit's cost that is spent, from 0 to 1; None if that is unknown until the unit is finished."""
        return None

    def clean_up(self) -> None:
        """Remove temporary files; called when the work ends, for whatever reason."""
