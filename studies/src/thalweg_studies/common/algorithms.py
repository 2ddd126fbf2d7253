"""The algorithms of the experiments: those of figure 4 and table 1, the variants of the claims, and those of policy search."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thalweg import Penalised, Strategy, make_strategy

SIGMA0 = 1.0
"""The initial step size of every algorithm, from x0 = 0: it decides table 1, so all must share it."""


@dataclass(frozen=True)
class Algorithm:
    """One of the algorithms that are compared."""

    name: str
    """The name in tables and figures."""
    slug: str
    """The name in file names."""
    method: str
    """The name of the method in the library."""
    against: str
    """The name of the algorithm it is compared with: for a flow, its own latent without one."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The options that the method is made with."""
    literal: bool = False
    """True for the paper's algorithm to the letter, whose L-BFGS makes it the expensive one."""
    most_seeds: int | None = None
    """The largest number of seeds it runs from, if JAX cannot run many at once."""

    @property
    def baseline(self) -> bool:
        """True if others are compared with it."""
        return self.name == self.against

    def strategy(self, d: int) -> Strategy:
        """Make the strategy with the paper's N = 10 d points per generation.

        >>> ALGORITHMS["CMA-ES"].strategy(4).population(4)
        40
        """
        return make_strategy(self.method, popsize=population(d), **self.options)


def population(d: int) -> int:
    """Return N = 10 d, the population of every algorithm."""
    return 10 * d


PAPER_FLOW = {"flow": "nice"}
"""The flow of the paper, whatever the library's default is."""


def _family(latent: str, method: str) -> tuple[Algorithm, Algorithm, Algorithm]:
    """A latent, NICE over it as the library learns it, and as the paper does: x = g(z) in raw coordinates, by Algorithm 2."""
    literal = {**PAPER_FLOW, "frame": "raw", "step": Penalised()}
    return (
        Algorithm(latent, method, method, latent),
        Algorithm(f"GNN-{latent}", f"gnn-{method}", f"gnn-{method}", latent, PAPER_FLOW),
        Algorithm(f"GNN-{latent} (paper)", f"gnn-{method}-paper", f"gnn-{method}", latent, literal, literal=True),
    )


CMA_FAMILY, XNES_FAMILY = _family("CMA-ES", "cma"), _family("xNES", "xnes")


def _plain_gradient(name: str, method: str) -> tuple[Algorithm, ...]:
    """One algorithm for each learning rate."""
    return tuple(
        Algorithm(f"{name}, rate {rate}", f"{method}-rate-{_digits(rate)}", method, "xNES", {"rate": rate}) for rate in RATES
    )


def _variant(of: Algorithm, words: str, slug: str, **options: Any) -> Algorithm:
    """The same algorithm with other options, compared with the original."""
    return replace(of, name=f"{of.name}, {words}", slug=f"{of.slug}-{slug}", against=of.name, options={**of.options, **options})


def _with_flow(latent: str, method: str, most_seeds: int | None = None) -> tuple[Algorithm, Algorithm]:
    """A latent, and NICE over it."""
    return (
        Algorithm(latent, method, method, latent, most_seeds=most_seeds),
        Algorithm(f"GNN-{latent}", f"gnn-{method}", f"gnn-{method}", latent, PAPER_FLOW, most_seeds=most_seeds),
    )


def _digits(value: float) -> str:
    """Format a number for a file name.

    >>> _digits(0.01), _digits(10)
    ('0_01', '10')
    """
    return f"{value:g}".replace(".", "_")


RATES = (0.001, 0.01, 0.1)
"""Learning rates of the plain gradient, a decade apart."""
DAMPINGS = (0.01, 0.1, 1.0, 10.0)
PENALTIES = (0.1, 1.0, 100.0)
"""Values of lambda_0 other than the default of 10."""

PGES, JOINT_PGES = _plain_gradient("PGES", "pges"), _plain_gradient("joint PGES", "joint-pges")
JOINT_NES = tuple(
    Algorithm(f"joint NES, damping {beta:g}", f"joint-nes-damping-{_digits(beta)}", "joint-nes", "xNES", {"damping": beta})
    for beta in DAMPINGS
)
REAL_NVP = tuple(_variant(each, "Real-NVP", "realnvp", flow="realnvp") for each in (*XNES_FAMILY[1:], *CMA_FAMILY[1:]))
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
    Algorithm(f"GNN-{latent}, default flow", f"gnn-{method}-default", f"gnn-{method}", latent)
    for latent, method in (("xNES", "xnes"), ("CMA-ES", "cma"))
)
"""The algorithms with the default flow of `thalweg.minimize`, for policy search."""

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        *CMA_FAMILY, *XNES_FAMILY, *PGES, *JOINT_PGES, *JOINT_NES, *REAL_NVP, *HISTORY, *FIRST_PENALTY, *AFFINE, *OTHER_LATENTS,
        *DEFAULT_FLOW,
    )
}  # fmt: skip
"""All algorithms by the name in tables."""

FIGURE = tuple(algorithm.name for algorithm in (*CMA_FAMILY, *XNES_FAMILY))
"""The names of the algorithms of figure 4 and table 1."""
