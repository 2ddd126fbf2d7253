"""The algorithms that are compared: those of figure 4 and table 1, and the variants that the claims of the text are about."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thalweg.strategies.flowsteps.penalised import Penalised
from thalweg.strategies.registry import make_strategy
from thalweg.strategies.strategy import Strategy

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
    most_seeds: int | None = None
    """How many seeds at most it runs from, where JAX cannot run many at once."""

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


PAPER_FLOW = {"flow": "nice"}
"""The paper is about NICE, whatever the library's default flow is."""


def _family(latent: str, method: str) -> tuple[Arm, Arm, Arm]:
    """A latent, NICE over it as the library learns it, and as the paper does: x = g(z) in raw coordinates, by Algorithm 2."""
    literal = {**PAPER_FLOW, "frame": "raw", "step": Penalised()}
    return (
        Arm(latent, method, method, latent),
        Arm(f"GNN-{latent}", f"gnn-{method}", f"gnn-{method}", latent, PAPER_FLOW),
        Arm(f"GNN-{latent} (paper)", f"gnn-{method}-paper", f"gnn-{method}", latent, literal, literal=True),
    )


CMA_FAMILY, XNES_FAMILY = _family("CMA-ES", "cma"), _family("xNES", "xnes")


def _plain_gradient(name: str, method: str) -> tuple[Arm, ...]:
    """With learning rates a decade apart."""
    return tuple(
        Arm(f"{name}, rate {rate}", f"{method}-rate-{_digits(rate)}", method, "xNES", {"rate": rate}) for rate in RATES
    )


def _variant(of: Arm, words: str, slug: str, **options: Any) -> Arm:
    """The same arm but for some options; measured against it."""
    return replace(of, name=f"{of.name}, {words}", slug=f"{of.slug}-{slug}", against=of.name, options={**of.options, **options})


def _with_flow(latent: str, method: str, most_seeds: int | None = None) -> tuple[Arm, Arm]:
    """A latent, and NICE over it."""
    return (
        Arm(latent, method, method, latent, most_seeds=most_seeds),
        Arm(f"GNN-{latent}", f"gnn-{method}", f"gnn-{method}", latent, PAPER_FLOW, most_seeds=most_seeds),
    )


def _digits(value: float) -> str:
    """A number in the name of a file.

    >>> _digits(0.01), _digits(10)
    ('0_01', '10')
    """
    return f"{value:g}".replace(".", "_")


RATES = (0.001, 0.01, 0.1)
DAMPINGS = (0.01, 0.1, 1.0, 10.0)
PENALTIES = (0.1, 1.0, 100.0)
"""lambda_0, beside the default of 10."""

PGES, JOINT_PGES = _plain_gradient("PGES", "pges"), _plain_gradient("joint PGES", "joint-pges")
JOINT_NES = tuple(
    Arm(f"joint NES, damping {beta:g}", f"joint-nes-damping-{_digits(beta)}", "joint-nes", "xNES", {"damping": beta})
    for beta in DAMPINGS
)
REAL_NVP = tuple(_variant(arm, "Real-NVP", "realnvp", flow="realnvp") for arm in (*XNES_FAMILY[1:], *CMA_FAMILY[1:]))
HISTORY = tuple(
    _variant(family[2], "5 generations", "history", step=Penalised(generations=5)) for family in (XNES_FAMILY, CMA_FAMILY)
)
FIRST_PENALTY = tuple(
    _variant(XNES_FAMILY[2], f"lambda0 = {value:g}", f"lambda-{_digits(value)}", step=Penalised(penalty=value))
    for value in PENALTIES
)
AFFINE = tuple(_variant(family[1], "affine", "affine", flow="affine") for family in (XNES_FAMILY, CMA_FAMILY))
OTHER_LATENTS = (
    *_with_flow("SNES", "snes"),
    *_with_flow("sep-CMA-ES", "sep-cma"),
    *_with_flow("Cauchy NES", "cauchy"),
    *_with_flow("pycma", "pycma", most_seeds=20),
)
DEFAULT_FLOW = tuple(
    Arm(f"GNN-{latent}, default flow", f"gnn-{method}-default", f"gnn-{method}", latent)
    for latent, method in (("xNES", "xnes"), ("CMA-ES", "cma"))
)
"""With the flow that `thalweg.minimize` takes if none is named; for policy search."""

ARMS: dict[str, Arm] = {
    arm.name: arm
    for arm in (
        *CMA_FAMILY, *XNES_FAMILY, *PGES, *JOINT_PGES, *JOINT_NES, *REAL_NVP, *HISTORY, *FIRST_PENALTY, *AFFINE, *OTHER_LATENTS,
        *DEFAULT_FLOW,
    )
}  # fmt: skip
"""All arms by the name that readers see."""

FIGURE = tuple(arm.name for arm in (*CMA_FAMILY, *XNES_FAMILY))
"""Those of figure 4 and table 1."""
