"""The algorithms that are compared in policy search."""

from thalweg.experiments.paper.arms import ARMS, Arm

XNES, CMA = "xNES", "CMA-ES"
BENT_XNES, BENT_CMA = (
    Arm(f"GNN-{latent}, default flow", f"gnn-{method}-default", f"gnn-{method}", latent)
    for latent, method in ((XNES, "xnes"), (CMA, "cma"))
)
"""With the flow that `thalweg.minimize` takes if none is named."""

ARMS.update({arm.name: arm for arm in (BENT_XNES, BENT_CMA)})  # where units of work look their arms up by name

MAIN = (XNES, BENT_XNES.name, CMA, BENT_CMA.name)
NICE = ("GNN-xNES", "GNN-CMA-ES")
"""With the paper's flow, learned by the trust-region step."""
