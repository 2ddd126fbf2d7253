"""The page of a BBOB benchmark: ratios to the baseline, and average runtimes."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, isnan
from typing import Any

from thalweg_studies.bbob.functions import names
from thalweg_studies.bbob.record import SOLVED
from thalweg_studies.bbob.summary import ALL, AT_ALL, FIXED, SHARES, TARGETS, Row
from thalweg_studies.report.page import Block, Bullets, Heading, Paragraph, Table

READING = (
    "The average runtime (aRT) to a target is the number of evaluations of all runs until f - f_opt is at or below it, or "
    "until their end, divided by the number of runs that reached it.",
    "A ratio is the aRT of the method over that of its baseline: below 1 the method needs fewer evaluations. In brackets the "
    "95% bootstrap interval over instances, drawn in pairs.",
    "`hardest, all` is the ratio at the hardest target (of five a decade from 100 to 1e-8) that both reach in every instance, "
    "`hardest, half` the same in at least half of the instances; with a star, where there is none, at the hardest that both "
    "reach at all.",
    "solved: instances in which the target was reached, the method's and the baseline's.",
    "`inf`: only the baseline reached the target; `0`: only the method did; `-`: neither.",
)


def page(rows: Sequence[Row], manifest: Mapping[str, Any], failures: Sequence[str]) -> list[Block]:
    """Return the page of a benchmark."""
    settings = manifest["settings"]
    blocks: list[Block] = [
        Heading("BBOB", 1),
        Paragraph(
            f"Budget {settings['budget']:g} d evaluations for each instance, restarts ({settings['restarts'].upper()}) "
            f"included; start {settings['start']}, sigma0 = {settings['sigma0']:g}; target f_opt + 1e-8; seed "
            f"{settings['seed']}; functions by the engine `{settings['engine']}`. {_made_with(manifest)}"
        ),
        Bullets(READING),
    ]
    if failures:
        blocks += [Paragraph("These runs failed and are left out:"), Bullets(failures)]
    for d in sorted({row.dimension for row in rows}):
        here = [row for row in rows if row.dimension == d]
        blocks.append(Heading(f"d = {d}"))
        for method, baseline in dict.fromkeys((row.method, row.baseline) for row in here if row.baseline):
            pair = [row for row in here if (row.method, row.baseline) == (method, baseline)]
            blocks += [Heading(f"`{method}` / `{baseline}`", 3), _ratios(pair)]
        blocks += [Heading("Average runtimes", 3), *_runtimes(here)]
    return blocks


def runtimes(rows: Sequence[Row]) -> list[Block]:
    """Return what is printed of a benchmark: for each dimension the average runtimes."""
    blocks: list[Block] = []
    for d in sorted({row.dimension for row in rows}):
        blocks += [Heading(f"d = {d}"), *_runtimes([row for row in rows if row.dimension == d])]
    return blocks


def _runtimes(rows: Sequence[Row]) -> list[Block]:
    targets = " / ".join(f"{target:g}" for target in TARGETS)
    own = [row for row in rows if not row.baseline]
    return [Paragraph(f"aRT to {targets} (instances solved at 1e-8)"), _runtime_table(own)]


def _made_with(manifest: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    return f"Made with {versions} on {manifest['machine']}."


def _ratios(rows: Sequence[Row]) -> Table:
    """Return the table of ratios, with a row for each function."""
    lines: list[list[str]] = []
    functions = sorted({row.function for row in rows if row.function != ALL})
    for function in (*functions, ALL):
        cells = {(row.rule, row.target): row for row in rows if row.function == function}
        fixed = [ratio_text(cells.get((FIXED, target))) for target in TARGETS]
        own = {row.rule: row for row in rows if row.function == function}
        hardest = [own.get(rule) or own.get(AT_ALL) for rule in SHARES]
        if function == ALL:
            lines.append(["all", "geometric mean", *fixed, *map(ratio_text, hardest), *_totals(rows)])
            continue
        solved = [_solved(cells[FIXED, target]) for target in (TARGETS[-1], SOLVED)]
        lines.append([f"f{function}", names[function], *fixed, *map(_hardest, hardest), *solved])
    return Table(("f", "", *(f"{t:g}" for t in TARGETS), *SHARES, "solved 1e-7", "solved 1e-8"), lines)


def _hardest(row: Row | None) -> str:
    return "-" if row is None else f"{ratio_text(row)} at {row.target:.1e}{'*' * (row.rule == AT_ALL)}"


def _solved(row: Row) -> str:
    return f"{row.reached} / {row.baseline_reached} of {row.runs}"


def _totals(rows: Sequence[Row]) -> list[str]:
    totals: list[str] = []
    for target in (TARGETS[-1], SOLVED):
        chosen = [row for row in rows if row.rule == FIXED and row.target == target and row.function != ALL]
        add: Callable[[str], int] = lambda name, chosen=chosen: sum(getattr(row, name) for row in chosen)  # noqa: E731
        totals.append(f"{add('reached')} / {add('baseline_reached')} of {add('runs')}")
    return totals


def ratio_text(row: Row | None) -> str:
    """Format a ratio with its interval."""
    if row is None or isnan(row.ratio):
        return "-"
    if row.ratio in (0.0, inf):
        return f"{row.ratio:g}"
    return f"{row.ratio:.2f} [{row.low:.2f}, {row.high:.2f}]"


def _runtime_table(rows: Sequence[Row]) -> Table:
    methods = list(dict.fromkeys(row.method for row in rows))
    cells = {(row.method, row.function, row.target): row for row in rows}
    lines: list[list[str]] = []
    solved = dict.fromkeys(methods, 0)
    for function in sorted({row.function for row in rows}):
        line = [f"f{function}"]
        for method in methods:
            end = cells.get((method, function, SOLVED))
            if end is None:
                line.append("")
                continue
            solved[method] += end.reached
            arts = (runtime_text(cells[method, function, target].art) for target in TARGETS)
            line.append(f"{' / '.join(arts)} ({end.reached})")
        lines.append(line)
    lines.append(["all", *(f"({solved[method]})" for method in methods)])
    return Table(("f", *methods), lines)


def runtime_text(art: float) -> str:
    """Format an average runtime.

    >>> runtime_text(123456.0), runtime_text(inf), runtime_text(float("nan"))
    ('1.2e5', '-', '')
    """
    if not isfinite(art):
        return "-" if art == inf else ""
    return f"{art:.0f}" if art < 1e5 else f"{art:.1e}".replace("e+0", "e").replace("e+", "e")
