"""Pages of runs in HTML."""

from thalweg.plots.html.document import page

__all__ = ["page"]
