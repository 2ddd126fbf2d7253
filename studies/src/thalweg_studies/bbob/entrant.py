"""Entrants of a benchmark: a method or a peer with its options, as written on the command line.

gnn-cma                            a registered method with its defaults
cma:popsize=10d                    a population of ten times the dimension in the first run
gnn-cma:flow=affine,popsize=10d    options of the method or stop tolerances, by name
gnn-cma+quadratic                  the method with a model of the objective, as in minimize(..., model="quadratic")
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from thalweg import METHODS, Tolerances, make_strategy
from thalweg._common.checks import listed
from thalweg.strategies.registry import PREFIX
from thalweg_studies.bbob.peers import PEERS

MODELS = ("quadratic",)
"""The values of `minimize`'s argument `model`."""


@dataclass(frozen=True)
class Entrant:
    """A method with its options; made by `entrants`."""

    name: str
    """The name of the method or the peer; `pycma` and `cmaes` are the libraries themselves, not our adapters."""
    popsize: str = ""
    """The population of the first run: a number, or a multiple of the dimension such as 10d; empty for the default."""
    options: tuple[tuple[str, Any], ...] = ()
    """Options as (name, value), in alphabetical order."""
    model: str = ""
    """The model of the objective, one of `MODELS`; empty without one."""

    @property
    def label(self) -> str:
        """The entrant as written on the command line.

        >>> entrants("gnn-cma:popsize=10d,flow=affine")[0].label
        'gnn-cma:flow=affine,popsize=10d'
        """
        options = [f"{key}={value}" for key, value in self.options] + [f"popsize={self.popsize}"] * bool(self.popsize)
        name = f"{self.name}+{self.model}" if self.model else self.name
        return ":".join([name, *([",".join(options)] if options else [])])

    @property
    def slug(self) -> str:
        """The label in a form that can name a folder."""
        return re.sub(r"[^\w.+-]+", "_", self.label)

    def population(self, d: int) -> int | None:
        """Return the population of the first run in dimension d; None for the default.

        >>> entrants("cma:popsize=10d")[0].population(5)
        50
        """
        if not self.popsize:
            return None
        return int(self.popsize[:-1] or 1) * d if self.popsize.endswith("d") else int(self.popsize)

    @property
    def is_peer(self) -> bool:
        """True if it is another library."""
        return self.name in PEERS


def entrants(text: str, popsize: str | None = None, model: str | None = None) -> list[Entrant]:
    """Read entrants from a list with commas; an option without a name before it belongs to the entrant before.

    Population and model are for the methods that do not name their own; peers have no model.

    >>> [entrant.label for entrant in entrants("gnn-cma:flow=affine,popsize=10d,cma,pycma", popsize="20")]
    ['gnn-cma:flow=affine,popsize=10d', 'cma:popsize=20', 'pycma:popsize=20']
    """
    words: list[str] = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        if "=" in word and ":" not in word.partition("=")[0]:
            if not words:
                raise ValueError(f"methods must begin with a name, got {text!r}; write it as in 'gnn-cma:flow=affine'")
            words[-1] += f"{',' if ':' in words[-1] else ':'}{word}"
        else:
            words.append(word)
    found = [_entrant(word, popsize, model) for word in words]
    if not found:
        raise ValueError("methods must name at least one; `thalweg methods` lists ours, the peers are " + listed(list(PEERS)))
    if len({entrant.slug for entrant in found}) < len(found):
        raise ValueError(f"methods must differ, got {text!r}; name each once")
    return found


def _entrant(word: str, popsize: str | None, model: str | None) -> Entrant:
    title, _, rest = word.partition(":")
    name, plus, own = title.partition("+")
    if name not in PEERS and name not in METHODS:
        raise ValueError(
            f"method {name!r} is unknown; the names are {listed([*METHODS, *(p for p in PEERS if p not in METHODS)])}"
        )
    if plus and (own not in MODELS or name in PEERS):
        raise ValueError(f"a method with a model is written 'gnn-cma+quadratic', got {word!r}; models are {listed(MODELS)}")
    options: dict[str, Any] = {}
    for option in filter(None, rest.split(",")):
        key, equals, value = option.partition("=")
        if not (key and equals and value) or key in options:
            raise ValueError(f"options must be 'name=value', each once, got {option!r} in {word!r}")
        options[key] = value if key == "popsize" else _value(value)
    size = options.pop("popsize", popsize) or ""
    if size and (not re.fullmatch(r"[1-9]\d*|([1-9]\d*)?d", size) or size == "1"):
        raise ValueError(f"popsize must be a whole number above 1 or a multiple of the dimension such as 10d, got {size!r}")
    entrant = Entrant(name, size, tuple(sorted(options.items())), own or ("" if name in PEERS else model or ""))
    if not entrant.is_peer:
        make_strategy(name, entrant.population(2), **Tolerances.pick(options)[1])  # raises at once if an option is wrong
    elif options:
        raise ValueError(f"{name} takes no options but popsize here, got {word!r}")
    return entrant


def _value(text: str) -> Any:
    """Read a number, True, False or None; else return the text itself."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def baseline_of(entrant: Entrant, others: Sequence[Entrant], chosen: Entrant | None = None) -> Entrant | None:
    """Return the entrant to compare with: the chosen one, else the method without its model, its latent, or `cma`.

    The last three have the same population and no model.

    >>> who = entrants("gnn-xnes,xnes,cma,pycma,gnn-cma:popsize=10d")
    >>> [getattr(baseline_of(one, who), "name", None) for one in who]
    ['xnes', 'cma', None, 'cma', None]
    """
    relatives = [Entrant(name, entrant.popsize) for name in _relatives(entrant.name)]
    candidates = [chosen] if chosen is not None else [replace(entrant, model=""), *relatives]
    return next((one for one in candidates if one in others and one != entrant), None)


def _relatives(name: str) -> list[str]:
    return [*([name.removeprefix(PREFIX)] if name.startswith(PREFIX) else []), "cma"]
