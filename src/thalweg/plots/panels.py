"""Panels of a run's figure: each looks at what was recorded and returns a function that draws it, or None without data."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from thalweg.plots.curves import draw_runs, label_ends, medians, thinned
from thalweg.plots.recorded import Recorded
from thalweg.plots.style import line_style, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[["Axes"], None]
DECADE = 30.0
"""Ratio of the largest to the smallest value from which on an axis is logarithmic."""
SHOWN = 20
"""Coordinates that are shown at most."""
REASONS = 4
"""Reasons of failures that have a curve of their own."""


def convergence(run: Recorded) -> Draw | None:
    """Draw the best value so far and the median of each generation."""
    table, numbers = run.evaluations, run.generations
    if len(table) and not run.before:
        x, best = run.number, run.best_so_far
    else:
        x, best = numbers.nfev, numbers.fun
    if not np.any(np.isfinite(best)):
        return None

    def draw(axes: "Axes") -> None:
        base, logarithmic = ground(best[np.isfinite(best)])
        changes = np.flatnonzero(np.r_[True, np.diff(best) != 0]) if len(best) else np.array([], int)  # inf - inf is NaN
        changes = np.union1d(changes, [len(best) - 1])
        y = shown(best[changes], base, logarithmic=logarithmic)
        colour, line = line_style(0)
        label = f"best so far, in the end {best[-1]:.7g}"
        axes.plot(x[changes], y, color=colour, linestyle=line, drawstyle="steps-post", linewidth=1.8, label=label)
        if len(table):
            feasible = ~table.failed & (run.violation <= 0)
            of, last, middle = medians(table, feasible)
            colour, line = line_style(1)
            label = "median of the feasible points of a generation" if run.constrained else "median of a generation"
            y = shown(middle, base, logarithmic=logarithmic)
            draw_runs(axes, run.before + last + 1, y, of, color=colour, linestyle=line, linewidth=1.0, label=label)
        if logarithmic:
            axes.set_yscale("log")
        axes.set_ylabel("f" if base == 0 else f"f {'-' if base > 0 else '+'} {abs(base):.7g}")

    return draw


def ground(best: np.ndarray) -> tuple[float, bool]:
    """Return what to subtract from values, and whether their axis is logarithmic.

    >>> ground(np.array([100.0, 1.0, 1e-6])), ground(np.array([105.0, 101.0, 100.01, 100.0])), ground(np.array([2.0, 1.0]))
    ((0.0, True), (100.0, True), (0.0, False))
    """
    low, high = float(np.min(best)), float(np.max(best))
    if low > 0 and high >= DECADE * low:
        return 0.0, True
    above = best[best > low] - low
    return (low, True) if len(above) and np.max(above) >= DECADE * np.min(above) else (0.0, False)


def shown(y: np.ndarray, base: float, *, logarithmic: bool) -> np.ndarray:
    """Return values above a base, NaN where the axis cannot show them."""
    with np.errstate(invalid="ignore"):
        y = y - base
        return np.where(np.isfinite(y) & ((y > 0) | (not logarithmic)), y, np.nan)


def feasibility(run: Recorded) -> Draw | None:
    """Draw the share of feasible points, in windows."""
    table = run.evaluations
    if not len(table) or not run.constrained:
        return None

    def draw(axes: "Axes") -> None:
        feasible = ~table.failed & (run.violation <= 0)
        width = min(max(10, min(len(feasible) // 60, 1000)), len(feasible))
        sums = np.r_[0, np.cumsum(feasible)]
        share = (sums[width:] - sums[:-width]) / width
        places = thinned(share)
        colour, line = line_style(2)
        label = f"feasible points among the last {width}"
        axes.plot(run.number[width - 1 :][places], share[places], color=colour, linestyle=line, label=label)
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_ylabel("share")

    return draw


def sizes(run: Recorded) -> Draw | None:
    """Draw the step-size and the standard deviations along the longest and the shortest axis."""
    numbers = run.generations
    curves = {"sigma": numbers.sigma, "longest axis": numbers.axes[:, 0], "shortest axis": numbers.axes[:, 1]}
    curves = {name: y for name, y in curves.items() if np.any(np.isfinite(y) & (y > 0))}
    if not curves:
        return None

    def draw(axes: "Axes") -> None:
        for i, (name, y) in enumerate(curves.items()):
            colour, line = line_style(i)
            new = np.r_[True, (y[1:] != y[:-1])]  # the axes are those of every tenth generation
            new[-1] = True
            y = shown(y[new], 0.0, logarithmic=True)
            draw_runs(axes, numbers.nfev[new], y, numbers.run[new], color=colour, linestyle=line, label=name)
        axes.set_yscale("log")
        axes.set_ylabel("standard deviation")

    return draw


def coordinates(run: Recorded) -> Draw | None:
    """Draw the coordinates of the mean that moved most."""
    numbers = run.generations
    known = np.all(np.isfinite(numbers.mean), axis=1) if len(numbers) else np.zeros(0, bool)
    if np.sum(known) < 2:
        return None
    mean, std = numbers.mean[known], numbers.std[known]
    x, of, names = numbers.nfev[known], numbers.run[known], run.names

    def draw(axes: "Axes") -> None:
        flat = mean.copy()
        unit = np.where(np.isfinite(std[0]), std[0], 0.0)
        logarithmic = run.logarithmic & np.all(mean > 0, axis=0)
        unit[logarithmic] /= mean[0, logarithmic]
        flat[:, logarithmic] = np.log(flat[:, logarithmic])
        moved = np.ptp(flat, axis=0)
        unit = np.where(unit > 0, unit, np.where(moved > 0, moved, 1.0))
        chosen = np.sort(np.argsort(-moved / unit, kind="stable")[:SHOWN])
        comparable = np.ptp(mean[:, chosen]) <= DECADE * np.median(moved[chosen])
        scaled = bool(np.any(logarithmic[chosen])) or not comparable
        heights = (flat - flat[-1]) / unit if scaled else mean
        ends: list[tuple[float, str, str]] = []
        for k, i in enumerate(chosen):
            colour, line = line_style(k)
            draw_runs(axes, x, heights[:, i], of, color=colour, linestyle=line, linewidth=1.2)
            ends.append((float(heights[-1, i]), f"{plain(names[i], 40)} = {mean[-1, i]:.4g}", colour))
        what = "coordinates" if len(chosen) == len(names) else f"{len(chosen)} of {len(names)} coordinates"
        axes.set_ylabel(f"{what}: (mean - last mean)\n/ first standard deviation" if scaled else f"{what} of the mean")
        axes.set_ylim(axes.get_ylim())
        label_ends(axes, ends)

    return draw


def bend(run: Recorded) -> Draw | None:
    """Draw the strength of the flow."""
    numbers, y = run.generations, run.generations.bend
    if y is None or not np.any(np.isfinite(y)):
        return None

    def draw(axes: "Axes") -> None:
        colour, line = line_style(0)
        draw_runs(axes, numbers.nfev, y, numbers.run, color=colour, linestyle=line, label="bend of the search distribution")
        axes.set_ylim(bottom=0)
        axes.set_ylabel("standard deviations")

    return draw


def model(run: Recorded) -> Draw | None:
    """Draw the model's rank correlation and the part of a generation that was evaluated."""
    numbers = run.generations
    curves = {"rank correlation of the model": numbers.tau, "evaluated part of a generation": numbers.evaluated}
    curves = {name: y for name, y in curves.items() if y is not None and np.any(np.isfinite(y))}
    if not curves:
        return None

    def draw(axes: "Axes") -> None:
        for i, (name, y) in enumerate(curves.items()):
            colour, line = line_style(i)
            draw_runs(axes, numbers.nfev, y, numbers.run, color=colour, linestyle=line, label=name)
        axes.set_ylim(top=1.03)
        axes.set_ylabel("model")

    return draw


def failures(run: Recorded) -> Draw | None:
    """Draw the number of failed evaluations so far, by reason."""
    table = run.evaluations
    if not np.any(table.failed):
        return None

    def draw(axes: "Axes") -> None:
        reasons, counts = np.unique(table.error[table.failed], return_counts=True)
        common = reasons[np.argsort(-counts, kind="stable")][:REASONS]
        groups = {plain(table.errors[i]) if i >= 0 else "no number": table.failed & (table.error == i) for i in common}
        if len(reasons) > len(common):
            groups[f"{len(reasons) - len(common)} other reasons"] = table.failed & ~np.isin(table.error, common)
        for i, (reason, failed) in enumerate(groups.items()):
            colour, line = line_style(i)
            x = np.r_[run.before + 1, run.number[failed], run.number[-1]]
            y = np.r_[0, np.arange(1, np.sum(failed) + 1), np.sum(failed)]
            places = thinned(y)
            axes.plot(x[places], y[places], color=colour, linestyle=line, drawstyle="steps-post", label=reason)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("failed evaluations")

    return draw


def durations(run: Recorded) -> Draw | None:
    """Draw the time that each evaluation took."""
    seconds, failed = run.evaluations.seconds, run.evaluations.failed
    known = np.isfinite(seconds)
    if not np.any(known):
        return None

    def draw(axes: "Axes") -> None:
        middle = float(np.median(seconds[known]))
        factor, unit = next(((k, u) for k, u in ((1.0, "s"), (1e3, "ms")) if middle * k >= 0.5), (1e6, "µs"))
        y = factor * seconds
        for chosen, marker, label in ((known & ~failed, ".", "evaluation"), (known & failed, "x", "failed evaluation")):
            places = np.flatnonzero(chosen)
            places = places[thinned(y[places])]
            if len(places):
                colour, _ = line_style(1 if marker == "." else 0)
                axes.plot(
                    run.number[places], y[places], marker, color=colour, markersize=3, alpha=0.6, label=label, rasterized=True
                )
        low, high = np.quantile(y[known], [0.02, 0.98])
        if low > 0 and high > DECADE * low:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_ylabel(f"{unit} per evaluation")

    return draw


SMALL = (feasibility, sizes, bend, model, failures, durations)
"""Panels of half the figure's width, in their order."""
