"""Flow steps, which train the flow. A flow step joins the registry by one line here."""

from collections.abc import Callable

from thalweg.strategies.flowsteps.base import Batch, FlowStep
from thalweg.strategies.flowsteps.penalised import Penalised
from thalweg.strategies.flowsteps.trust_region import TrustRegion
from thalweg.strategies.flowsteps.valley import Valley

FLOW_STEPS: dict[str, Callable[[], FlowStep]] = {"trust-region": TrustRegion, "penalised": Penalised}
"""Flow steps by name."""

__all__ = ["FLOW_STEPS", "Batch", "FlowStep", "Penalised", "TrustRegion", "Valley"]
