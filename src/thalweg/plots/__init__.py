"""Figures (extra `plots`): runs, their convergence, and distributions and models in two dimensions.

Every plot returns a matplotlib `Figure` and changes no global state: it sets no backend and no style, and shows nothing. A plot
is one file with one function, whose docstring draws an example named `figure`, and its name in `PLOTS`.
"""

from collections.abc import Callable
from typing import Any

from thalweg.plots.convergence_curves import convergence
from thalweg.plots.density import density_2d
from thalweg.plots.html import page
from thalweg.plots.model_lines import model_2d
from thalweg.plots.run_figure import run
from thalweg.plots.style import COLOURS, LINES, require

PLOTS: dict[str, Callable[..., Any]] = {plot.__name__: plot for plot in (convergence, density_2d, model_2d, run)}
"""All plots by name."""

__all__ = ["COLOURS", "LINES", "PLOTS", "convergence", "density_2d", "model_2d", "page", "require", "run"]
