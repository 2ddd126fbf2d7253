"""The joint baselines of the paper's section 4.1, on which GNN-ES improves: latent and flow trained together."""

from thalweg.strategies.joint.nes import JointNES
from thalweg.strategies.joint.pges import JointPGES

JOINTS: dict[str, type[JointPGES]] = {"joint-pges": JointPGES, "joint-nes": JointNES}
"""Joint baselines by name."""
