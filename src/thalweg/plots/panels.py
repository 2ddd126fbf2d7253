"""Panels of a run's figure: each looks at what was recorded and returns a function that draws it, or None without data."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.plots.curves import LARGEST, draw_runs, label_ends, medians, stroke, thinned
from thalweg.plots.recorded import Recorded
from thalweg.plots.style import line_style, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[["Axes"], None]
DECADE = 30.0
"""Ratio of the largest to the smallest value from which on an axis is logarithmic."""
SHOWN = 20
"""Coordinates that are shown at most."""
WINDOWS = 40
"""Medians of durations that are shown at most."""
REASONS = 4
"""Reasons of failures that have a curve of their own."""


def convergence(run: Recorded) -> Draw | None:
    """Draw the best value so far and the median of each generation."""
    table, numbers = run.evaluations, run.generations
    x, best = (run.number, run.best_so_far) if len(table) and not run.before else (numbers.nfev, numbers.fun)
    if not np.any(np.isfinite(best)):
        return None

    def draw(axes: "Axes") -> None:
        base, logarithmic = ground(best[np.isfinite(best)])
        changes = np.union1d(np.flatnonzero(best != np.r_[np.nan, best[:-1]]), [len(best) - 1])
        y = shown(best[changes], base, logarithmic=logarithmic)
        (curve,) = axes.plot(x[changes], y, **stroke(0, y), drawstyle="steps-post", linewidth=1.8)
        curve.set_label(f"best so far, in the end {best[-1]:.7g}")
        if len(table):
            of, last, middle = medians(table, ~table.failed & (run.violation <= 0))
            middle = shown(middle, base, logarithmic=logarithmic)
            label = "median of a generation" + (", feasible" if run.constrained else "")
            draw_runs(axes, run.before + last + 1, middle, of, 1, linewidth=1.0, label=label)
        if logarithmic:
            axes.set_yscale("log")
            bottom = axes.get_ylim()[0]
            axes.set_ylim(bottom=bottom)
            curve.set_ydata(np.where(best[changes] == base, 1e-3 * bottom, y))  # it leaves the panel where it reaches the best
        axes.set_ylabel("f" if base == 0 else f"f {'-' if base > 0 else '+'} {abs(base):.7g}")

    return draw


def ground(best: np.ndarray) -> tuple[float, bool]:
    """Return what to subtract from values, and whether their axis is logarithmic.

    >>> ground(np.array([100.0, 1.0, 1e-6])), ground(np.array([105.0, 101.0, 100.01, 100.0])), ground(np.array([2.0, 1.0]))
    ((0.0, True), (100.0, True), (0.0, False))
    """
    low, above = float(np.min(best)), best[best > np.min(best)] - np.min(best)
    ratio = float(np.max(best)) / low if low > 0 else 0.0
    further = float(np.max(above) / np.min(above)) if len(above) else 0.0
    if ratio >= DECADE and ratio >= np.sqrt(further):
        return 0.0, True
    return (low, True) if further >= DECADE else (0.0, False)


def shown(y: np.ndarray, base: float, *, logarithmic: bool) -> np.ndarray:
    """Return values above a base, NaN where the axis cannot show them."""
    y = y - base
    return np.where((np.abs(y) < LARGEST) & ((y > 0) | (not logarithmic)), y, np.nan)


def feasibility(run: Recorded) -> Draw | None:
    """Draw the share of feasible points, in windows."""
    table = run.evaluations
    if not len(table) or not run.constrained:
        return None

    def draw(axes: "Axes") -> None:
        sums = np.r_[0, np.cumsum(~table.failed & (run.violation <= 0))]
        width = min(max(10, min(len(table) // 60, 1000)), len(table))
        share = (sums[width:] - sums[:-width]) / width
        x, label = run.number[width - 1 :], f"feasible points among the last {width}"
        draw_runs(axes, x, share, np.zeros(len(x)), 2, label=label)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set(ylim=(-0.03, 1.03), ylabel="share")

    return draw


def _curves(run: Recorded, curves: Mapping[str, np.ndarray | None], **further: Any) -> Draw | None:
    """Draw numbers of the search by name, and set `further` properties of the axes."""
    found = {name: y for name, y in curves.items() if y is not None and np.any(np.isfinite(y))}

    def draw(axes: "Axes") -> None:
        for i, (name, y) in enumerate(found.items()):
            known = np.isfinite(y)
            draw_runs(axes, run.generations.nfev[known], y[known], run.generations.run[known], i, label=name)
        axes.set(**further)

    return draw if found else None


def sizes(run: Recorded) -> Draw | None:
    """Draw the step-size and the standard deviations along the longest and the shortest axis."""
    names, numbers = ("sigma", "longest axis", "shortest axis"), run.generations
    columns = np.column_stack([numbers.sigma, numbers.axes])
    same = np.r_[np.zeros((1, 3), bool), columns[1:] == columns[:-1]][: len(columns)]
    same[-1:] = False  # the axes are those of every tenth generation: what lies between is not drawn
    columns = np.where(same | ~(columns > 0), np.nan, columns)
    return _curves(run, dict(zip(names, columns.T, strict=True)), yscale="log", ylabel="standard deviation")


def bend(run: Recorded) -> Draw | None:
    """Draw the strength of the flow."""
    label = "bend of the search distribution"
    return _curves(run, {label: run.generations.bend}, ylim=(0, None), ylabel="standard deviations")


def model(run: Recorded) -> Draw | None:
    """Draw the model's rank correlation and the part of a generation that was evaluated."""
    curves = {"rank correlation of the model": run.generations.tau, "evaluated part of a generation": run.generations.evaluated}
    return _curves(run, curves, ylim=(None, 1.03), ylabel="model")


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
        heights = np.clip((flat - flat[-1]) / unit if scaled else mean, -LARGEST, LARGEST)
        ends: list[tuple[float, str, str]] = []
        for k, i in enumerate(chosen):
            draw_runs(axes, x, heights[:, i], of, k, linewidth=1.2)
            ends.append((float(heights[-1, i]), f"{plain(names[i], 40)} = {mean[-1, i]:.4g}", line_style(k)[0]))
        which = "" if len(chosen) == len(names) else f": the {len(chosen)} of {len(names)} coordinates that moved most"
        how = ", less its last value, in units of the first standard deviations" if scaled else ""
        axes.set_title(f"mean of the search distribution{how}{which}", loc="left", fontsize=8)
        axes.set(ylabel="scaled mean" if scaled else "mean", ylim=axes.get_ylim())
        label_ends(axes, float(x[-1]), ends)

    return draw


def failures(run: Recorded) -> Draw | None:
    """Draw the number of failed evaluations so far, by reason where the evaluations are known."""
    table, numbers = run.evaluations, run.generations
    if not len(table) and np.any(numbers.failures):
        return _curves(run, {"all reasons": numbers.failures}, ylim=(0, None), ylabel="failed evaluations")
    if not np.any(table.failed):
        return None

    def draw(axes: "Axes") -> None:
        labels = np.array([plain(text, 60) for text in (*table.errors, "no number")])[table.error]  # the last one for -1
        reasons, counts = np.unique(labels[table.failed], return_counts=True)
        common = reasons[np.argsort(-counts, kind="stable")][:REASONS]
        groups = {str(reason): table.failed & (labels == reason) for reason in common}
        if len(reasons) > len(common):
            groups[f"{len(reasons) - len(common)} other reasons"] = table.failed & ~np.isin(labels, common)
        for i, (reason, failed) in enumerate(groups.items()):
            x = np.r_[run.before + 1, run.number[failed], run.number[-1]]
            y = np.r_[0, np.arange(1, np.sum(failed) + 1), np.sum(failed)]
            draw_runs(axes, x, y, np.zeros(len(x)), i, drawstyle="steps-post", label=reason)
        axes.set(ylim=(0, None), ylabel="failed evaluations")

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
        for i, (chosen, marker, label) in enumerate(((known & failed, "x", "failed"), (known & ~failed, ".", "evaluation"))):
            places = np.flatnonzero(chosen)
            places = places[thinned(y[places])]
            if len(places):
                style: dict[str, Any] = {"markersize": 3, "alpha": 0.5, "label": label, "rasterized": True}
                axes.plot(run.number[places], y[places], marker, color=line_style(i)[0], **style)
        parts = np.array_split(np.flatnonzero(known), max(1, min(WINDOWS, int(np.sum(known)) // 10)))
        if len(parts) > 1:
            ends, middles = [run.number[part[-1]] for part in parts], [np.median(y[part]) for part in parts]
            axes.plot(ends, middles, color="black", linewidth=1.2, label=f"median of {len(parts[0])}")
        low, high = float(np.min(y[known])), float(np.max(y[known]))
        if low > 0 and high > DECADE * factor * middle:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_ylabel(f"{unit} per evaluation")

    return draw


SMALL = (feasibility, sizes, bend, model, failures, durations)
"""Panels of half the figure's width, in their order."""
