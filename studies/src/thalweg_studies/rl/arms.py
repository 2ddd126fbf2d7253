"""The algorithms that are compared in policy search."""

from thalweg_studies.paper.arms import DEFAULT_FLOW

MAIN = ("xNES", DEFAULT_FLOW[0].name, "CMA-ES", DEFAULT_FLOW[1].name)
NICE = ("GNN-xNES", "GNN-CMA-ES")
"""With the paper's flow, learned by the trust-region step."""
