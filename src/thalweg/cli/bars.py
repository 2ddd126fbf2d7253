"""Progress bars on a terminal."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


def progress_bars() -> Progress:
    """Return bars on stderr that vanish when the work is done, and that show nothing in a pipe.

    The line of a task holds its description, a bar, its field `note`, and the time since its start.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(complete_style="cyan", finished_style="green"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
