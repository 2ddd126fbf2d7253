"""The plan of a benchmark: its settings, and its trials."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from thalweg._common.checks import as_positive, as_seed, listed
from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.starts import SIGMA0, SPREAD

FUNCTIONS = tuple(range(1, 25))
DIMENSIONS = (2, 3, 5, 10, 20, 40)
"""The dimensions of the suite."""

INSTANCES = range(1, 1001)
ENGINES = ("coco", "jax")
LOGGERS = ("coco", "ioh", "none")
"""Loggers of a run's trajectory: COCO's observer, for `cocopp`; IOHexperimenter's Analyzer, for IOHanalyzer; or none, with
the functions as pycma has them, for machines without either."""

RESTARTS = ("ipop", "bipop")


class Trial(NamedTuple):
    """The unit of work: an entrant on one instance of a function."""

    entrant: Entrant
    function: int
    dimension: int
    instance: int

    @property
    def stem(self) -> str:
        """The name of its files without the ending."""
        return f"f{self.function:03d}-d{self.dimension:02d}-i{self.instance:02d}"

    def __str__(self) -> str:
        return f"{self.entrant.label} on f{self.function}, instance {self.instance}, d = {self.dimension}"


@dataclass(frozen=True)
class Settings:
    """The settings that all results in a folder share."""

    budget: float = 1e4
    """The evaluations of a run, restarts included, as a multiple of the dimension."""
    seed: int = 1
    restarts: str = "ipop"
    engine: str = "coco"
    """The source of the functions: coco-experiment with an observer, or JAX with all problems in one program."""
    logger: str = "coco"
    """The logger of trajectories, if the engine is coco."""

    def __post_init__(self) -> None:
        as_positive(self.budget, "budget")
        as_seed(self.seed)
        for name, known in (("restarts", RESTARTS), ("engine", ENGINES), ("logger", LOGGERS)):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"{name} must be one of {listed(known)}, got {value!r}")

    def evaluations(self, d: int) -> int:
        """Return the budget in dimension d."""
        return max(1, round(self.budget * d))

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON values, with those that all benchmarks share."""
        return asdict(self) | {"sigma0": SIGMA0, "start": f"uniform in [-{SPREAD:g}, {SPREAD:g}]^d"}


def trials(
    entrants: Sequence[Entrant], functions: Sequence[int], dimensions: Sequence[int], instances: Sequence[int]
) -> list[Trial]:
    """Return all trials, small dimensions first, then entrant by entrant, which reuses compiled programs."""
    return [
        Trial(entrant, function, d, instance)
        for d in sorted(dimensions)
        for entrant in entrants
        for function in functions
        for instance in instances
    ]


def whole_numbers(text: str, name: str, known: Sequence[int] | range) -> list[int]:
    """Read numbers and ranges with commas; each number once, ascending.

    >>> whole_numbers("1-3,8", "functions", FUNCTIONS)
    [1, 2, 3, 8]
    """
    numbers: set[int] = set()
    for word in text.split(","):
        first, dash, last = word.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise ValueError(f"{name} must be numbers or ranges such as 1-5,8, got {text!r}")
        numbers.update(range(int(first), int(last or first) + 1))
    for number in sorted(numbers):
        if number not in known:
            listing = f"{known[0]} to {known[-1]}" if len(known) > 10 else ", ".join(map(str, known))
            raise ValueError(f"{name} must be among {listing}, got {number}")
    if not numbers:
        raise ValueError(f"{name} must name at least one, got {text!r}")
    return sorted(numbers)
