"""Progress bars: on a terminal only, and gone when the work is done."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


def progress_bars() -> Progress:
    """A line for each task: its name, a bar, its field `note`, and the time since its start. Silent in a pipe."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(complete_style="cyan", finished_style="green"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
