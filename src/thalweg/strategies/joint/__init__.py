"""The joint baselines of the paper's section 4.1, on which GNN-ES improves: latent and flow trained together."""

from thalweg.strategies.joint.base import Joint
from thalweg.strategies.joint.nes import JointNES
from thalweg.strategies.joint.pges import JointPGES

JOINTS: dict[str, type[Joint]] = {"joint-pges": JointPGES, "joint-nes": JointNES}
"""Joint baselines by name."""

__all__ = ["JOINTS", "Joint", "JointNES", "JointPGES"]
