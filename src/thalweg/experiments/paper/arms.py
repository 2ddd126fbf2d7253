"""The algorithms of figure 4 and table 1: the two latents, each plain, with the library's flow, and with the paper's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.flowsteps.penalised import Penalised
from thalweg.methods import make_strategy
from thalweg.types import Strategy

SIGMA0 = 1.0
"""Every arm starts at x0 = 0 with this step-size: it decides table 1, so all must share it."""


@dataclass(frozen=True)
class Arm:
    """One of the algorithms that are compared."""

    name: str
    """How readers see it."""
    slug: str
    """How file names show it."""
    method: str
    against: str
    """The name of the arm it is measured against: for a flow, its own latent without one."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    literal: bool = False
    """Whether it is the paper's algorithm to the letter, whose L-BFGS makes it the expensive one."""

    @property
    def baseline(self) -> bool:
        """Whether others are measured against it."""
        return self.name == self.against

    def strategy(self, d: int) -> Strategy:
        """With the paper's N = 10 d points per generation.

        >>> ARMS["CMA-ES"].strategy(4).population(4)
        40
        """
        return make_strategy(self.method, popsize=population(d), **self.options)


def population(d: int) -> int:
    """N = 10 d, for every arm."""
    return 10 * d


def _family(latent: str, method: str) -> tuple[Arm, Arm, Arm]:
    """A latent, the library's default flow over it, and the paper's: x = g(z) in raw coordinates, learned as in Algorithm 2."""
    literal = {"frame": "raw", "step": Penalised()}
    return (
        Arm(latent, method, method, latent),
        Arm(f"GNN-{latent}", f"gnn-{method}", f"gnn-{method}", latent),
        Arm(f"GNN-{latent} (paper)", f"gnn-{method}-paper", f"gnn-{method}", latent, literal, literal=True),
    )


CMA_FAMILY, XNES_FAMILY = _family("CMA-ES", "cma"), _family("xNES", "xnes")

ARMS: dict[str, Arm] = {arm.name: arm for arm in (*CMA_FAMILY, *XNES_FAMILY)}
"""All arms by the name that readers see."""

FIGURE = tuple(arm.name for arm in (*CMA_FAMILY, *XNES_FAMILY))
"""Those of figure 4 and table 1."""
