"""What a benchmark consists of: settings, and the units of work that they make."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from thalweg._common.checks import as_positive, as_seed, listed
from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.starts import SIGMA0, SPREAD

FUNCTIONS = tuple(range(1, 25))
DIMENSIONS = (2, 3, 5, 10, 20, 40)
"""Those that the suite has."""

INSTANCES = range(1, 1001)
ENGINES = ("coco", "jax")
LOGGERS = ("coco", "ioh")
"""Who writes the course of a run: COCO's observer, for `cocopp`, or IOHexperimenter's Analyzer, for IOHanalyzer."""

RESTARTS = ("ipop", "bipop")


class Unit(NamedTuple):
    """The smallest piece of work: an entrant on one problem."""

    entrant: Entrant
    function: int
    dimension: int
    instance: int

    @property
    def stem(self) -> str:
        """The name of its files."""
        return f"f{self.function:03d}-d{self.dimension:02d}-i{self.instance:02d}"

    def __str__(self) -> str:
        return f"{self.entrant.label} on f{self.function}, instance {self.instance}, d = {self.dimension}"


@dataclass(frozen=True)
class Settings:
    """What must be the same for results to belong together."""

    budget: float = 1e4
    """Evaluations of a run, restarts included, as a multiple of the dimension."""
    seed: int = 1
    restarts: str = "ipop"
    engine: str = "coco"
    """Whose functions: coco-experiment's with an observer, or ours in JAX, all problems in one program."""
    logger: str = "coco"
    """Who writes the course of runs, if the engine is coco."""

    def __post_init__(self) -> None:
        as_positive(self.budget, "budget")
        as_seed(self.seed)
        for name, known in (("restarts", RESTARTS), ("engine", ENGINES), ("logger", LOGGERS)):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"{name} must be one of {listed(known)}, got {value!r}")

    def evaluations(self, d: int) -> int:
        """The budget in dimension d."""
        return max(1, round(self.budget * d))

    def as_json(self) -> dict[str, Any]:
        """With what is fixed for all benchmarks."""
        return asdict(self) | {"sigma0": SIGMA0, "start": f"uniform in [-{SPREAD:g}, {SPREAD:g}]^d"}


def units(
    entrants: Sequence[Entrant], functions: Sequence[int], dimensions: Sequence[int], instances: Sequence[int]
) -> list[Unit]:
    """All the work, small dimensions first, and of each dimension one entrant after another: it keeps its programs."""
    return [
        Unit(entrant, function, d, instance)
        for d in sorted(dimensions)
        for entrant in entrants
        for function in functions
        for instance in instances
    ]


def whole_numbers(text: str, name: str, known: Sequence[int] | range) -> list[int]:
    """Numbers and ranges with commas, each once, in ascending order.

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
