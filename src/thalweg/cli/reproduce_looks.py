"""Figures 1 to 3 of `thalweg reproduce`: runs in dimension 2 that are looked at."""

from collections.abc import Sequence
from pathlib import Path

from thalweg.experiments.paper import fig1, fig23
from thalweg.experiments.paper.look import SHOWN, Look, tidy
from thalweg.experiments.paper.store import open_store, write_text
from thalweg.report.files import markdown, save_figure
from thalweg.report.look_figures import animate, isolines_figure, search_figure

LOOKS = {"fig1": fig1.FULL, "fig2": fig23.ROSENBROCK, "fig3": fig23.RASTRIGIN}


def write_look(name: str, folder: Path, seeds: int | None = None, *, quick: bool = False) -> list[Path]:
    """Run it, write its tidy file, figures and page, and return their paths. Seconds, so nothing is kept for later.

    Figure 1 is a single run. The others draw the run of the first seed, and compare over all seeds.
    """
    look = LOOKS[name]
    if name == "fig1":
        open_store(folder, look)
        courses = look.run(1)
        (course,) = courses.values()
        files = save_figure(isolines_figure(look, course, fig1.arrival(course)), folder / name)
        text = [fig1.caption(course)]
    else:
        look = fig23.quick(look) if quick else look
        open_store(folder, look)
        courses = look.run(seeds or (fig23.QUICK_SEEDS if quick else fig23.SEEDS))
        entries = fig23.summarise(look, courses)
        files = save_figure(search_figure(look, courses), folder / name)
        files.append(animate(look, courses, folder / f"{name}.gif", every=3 if quick else 1))
        text = [markdown(fig23.head(look), fig23.table(look, entries)), fig23.caption(look, entries)]
    raw = folder / f"{name}.csv"
    write_text(raw, tidy(look, courses))
    return [raw, *files, write_page(look, folder, text, files)]


def write_page(look: Look, folder: Path, text: Sequence[str], files: Sequence[Path]) -> Path:
    """A page of Markdown with the pictures and what is to be said of them."""
    path = folder / f"{look.name}.md"
    setting = (
        f"The {look.functions[0].title()} function of two variables, neither moved nor turned; {look.start}. "
        "The paper does not say from where its own pictures start. "
        f"The pictures show the run of seed {SHOWN}, the first of those for results; it was not picked."
    )
    pictures = [f"![{file.stem}{' moving' * (file.suffix == '.gif')}]({file.name})" for file in files if file.suffix != ".svg"]
    write_text(path, "\n\n".join([f"# Figure {look.name.removeprefix('fig')}", setting, *pictures, *text]) + "\n")
    return path
