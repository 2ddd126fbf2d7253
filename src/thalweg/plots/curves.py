"""Curves of runs: thinned, with a gap between two runs, medians of generations, and names at the ends of many curves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.plots.recorded import Evaluations
from thalweg.plots.style import line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 2000
"""Points of a curve that are drawn at most; a page in print cannot show more."""


LARGEST = 1e100
"""Values beyond this one are not drawn; matplotlib fails at some."""
FEW = 30
"""Points of a curve that are drawn as dots, too."""


def thinned(y: np.ndarray, most: int = MOST) -> np.ndarray:
    """Return places of a series that draw it: all of a short one, of a long one the extremes of equal parts.

    >>> thinned(np.array([3.0, 1.0, 2.0])).tolist()
    [0, 1, 2]
    >>> y = np.sin(np.arange(100_000))
    >>> len(thinned(y)) <= MOST, bool(y[thinned(y)].max() == y.max())
    (True, True)
    """
    n = len(y)
    if n <= most:
        return np.arange(n)
    size = -(-n // ((most - 2) // 2))
    parts = np.full(-(-n // size) * size, np.nan)
    parts[:n] = y
    parts = parts.reshape(-1, size)
    ends = [np.argmin(np.where(np.isnan(parts), np.inf, sign * parts), 1) for sign in (1, -1)]
    places = np.concatenate([np.minimum(each + size * np.arange(len(parts)), n - 1) for each in ends])
    return np.unique(np.concatenate([places, [0, n - 1]]))


def medians(table: Evaluations, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each generation its run, its last evaluation (from 0) and the median of its values, of those to keep.

    >>> table = Evaluations(f=np.array([1.0, 5.0, 2.0, 9.0]), run=np.zeros(4, int), generation=np.array([0, 0, 0, 1]))
    >>> [each.tolist() for each in medians(table, np.array([True, True, True, False]))]
    [[0, 0], [2, 3], [2.0, nan]]
    """
    f = np.where(keep, table.f, np.nan)
    order = np.lexsort((f, table.generation, table.run))  # NaN comes last
    run, generation = table.run[order], table.generation[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(run) != 0) | (np.diff(generation) != 0)])
    counts = np.add.reduceat((~np.isnan(f[order])).astype(int), starts)
    low, high = starts + np.maximum(counts - 1, 0) // 2, starts + counts // 2
    middle = np.where(counts > 0, 0.5 * (f[order][low] + f[order][np.minimum(high, len(f) - 1)]), np.nan)
    last = np.maximum.reduceat(order, starts)
    by_time = np.argsort(last, kind="stable")
    return run[starts][by_time], last[by_time], middle[by_time]


def draw_runs(axes: "Axes", x: np.ndarray, y: np.ndarray, run: np.ndarray, i: int, **style: Any) -> None:
    """Draw the i-th curve of a panel, with a gap where another run begins."""
    places = thinned(y)
    x, y, run = np.asarray(x, float)[places], np.asarray(y, float)[places], run[places]
    y = np.where(np.abs(y) <= LARGEST, y, np.nan)
    gaps = np.flatnonzero(np.diff(run)) + 1
    axes.plot(np.insert(x, gaps, np.nan), np.insert(y, gaps, np.nan), **(stroke(i, y) | style))


def stroke(i: int, y: np.ndarray) -> dict[str, Any]:
    """Return the look of the i-th curve of a panel: with dots where it has so few points that they could be overlooked."""
    colour, line = line_style(i)
    return {"color": colour, "linestyle": line, "marker": "." if np.sum(np.isfinite(y)) <= FEW else ""}


def label_ends(axes: "Axes", x: float, ends: Sequence[tuple[float, str, str]], size: float = 7.5) -> None:
    """Write texts beside the right edge at the heights of curves' ends, moved apart where they would overlap.

    Args:
        axes: Axes whose limits do not change any more.
        x: The place in data where all curves end.
        ends: The height in data, the text and the colour of each curve.
        size: Size of the font.
    """
    low, high = axes.get_ylim()
    gap = 1.25 * size / 72 * axes.figure.dpi / axes.bbox.height
    order = np.argsort([end[0] for end in ends], kind="stable")
    wanted = np.array([(ends[i][0] - low) / (high - low) for i in order])
    places = spread(wanted, gap)
    places += max(0.0, -places[0]) if places[-1] - places[0] <= 1 else 0.5 - 0.5 * (places[0] + places[-1])
    places -= max(0.0, places[-1] - 1) if places[-1] - places[0] <= 1 else 0.0
    for i, place in zip(order, places, strict=True):
        value, text, colour = ends[i]
        axes.annotate(
            text,
            xy=(x, value),
            xytext=(1.025, place),
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)},
            color=colour,
            fontsize=size,
            va="center",
            annotation_clip=False,
        )


def spread(places: np.ndarray, gap: float) -> np.ndarray:
    """Return ascending places moved apart, so that neighbours are `gap` apart, around where they were.

    >>> spread(np.array([0.2, 0.2, 0.9]), 0.1).round(3).tolist()
    [0.15, 0.25, 0.9]
    """
    groups: list[tuple[float, int]] = []  # centre and size of what has come to touch
    for place in places:
        groups.append((float(place), 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2:
            (b, m), (a, n) = groups.pop(), groups.pop()
            groups.append(((a * n + b * m) / (n + m), n + m))
    return np.concatenate([centre + gap * (np.arange(n) - (n - 1) / 2) for centre, n in groups]) if groups else places
