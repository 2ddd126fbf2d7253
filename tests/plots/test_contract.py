"""The contract of every plot in `PLOTS`, checked on the example of its docstring."""

import doctest
import io
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from thalweg import plots

matplotlib = pytest.importorskip("matplotlib")
figures = pytest.importorskip("matplotlib.figure")


def example(plot: Callable[..., Any]) -> Any:
    """Run the example in the docstring of a plot and return what it calls `figure`."""
    (test,) = doctest.DocTestFinder(recurse=False).find(plot, plot.__name__)
    assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
    return test.globs["figure"]


def global_state() -> dict[str, Any]:
    """What a plot must leave alone: matplotlib's settings and windows, numpy's random numbers, JAX's flags."""
    return {
        "settings": dict.copy(matplotlib.rcParams),  # a lookup of "backend" would choose one
        "pyplot": "matplotlib.pyplot" in sys.modules,
        "random": np.random.get_state()[1].tolist(),  # noqa: NPY002
        "flags": dict(jax.config.values),
    }


@pytest.mark.parametrize("name", plots.PLOTS)
def test_a_plot_returns_a_labelled_figure_and_changes_no_global_state(name: str):
    assert getattr(plots, name) is plots.PLOTS[name]
    before = global_state()
    figure = example(plots.PLOTS[name])
    file = io.BytesIO()
    figure.savefig(file)
    assert global_state() == before
    assert type(figure) is figures.Figure
    assert file.getvalue().startswith(b"\x89PNG")
    assert all(axes.get_xlabel() for axes in figure.axes)
    assert figure.axes[0].get_ylabel()
    assert figure.axes[0].get_legend() or figure.legends, "curves and marks are explained"
