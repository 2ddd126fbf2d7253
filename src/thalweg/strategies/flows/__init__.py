"""Flows: bijections that bend the search distribution. A flow joins the registry and the contract tests by one line here."""

from collections.abc import Callable

from thalweg.strategies.flows.affine import Affine
from thalweg.strategies.flows.base import Flow
from thalweg.strategies.flows.flowjax_adapter import FlowjaxFlow
from thalweg.strategies.flows.identity import Identity
from thalweg.strategies.flows.nice import NICE
from thalweg.strategies.flows.realnvp import RealNVP
from thalweg.strategies.flows.shear import Shear

FLOWS: dict[str, Callable[[], Flow]] = {
    "nice": NICE,
    "realnvp": RealNVP,
    "affine": Affine,
    "identity": Identity,
    "shear": Shear,
    "shear-affine": lambda: Shear(Affine()),
    "shear-nice": lambda: Shear(NICE()),
}
"""Flows by name. `FlowjaxFlow` is not among them: it needs a bijection as its argument."""

__all__ = ["FLOWS", "NICE", "Affine", "Flow", "FlowjaxFlow", "Identity", "RealNVP", "Shear"]
