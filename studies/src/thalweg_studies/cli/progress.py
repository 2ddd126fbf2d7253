"""Progress bars of the studies' commands."""

from rich import progress

from thalweg_studies.common.progress import OnProgress, Progress


def show_progress(bars: progress.Progress, name: str, waiting: str, later: float = 0.0) -> tuple[progress.TaskID, OnProgress]:
    """Add a bar, with a note until the time left is known; `later` are seconds of work that follows it."""
    task = bars.add_task(name, total=1.0, note=waiting)

    def report(now: Progress) -> None:
        left = waiting if now.seconds_left is None else f"{duration(now.seconds_left + later)} left"
        bars.update(task, completed=now.share, note=f"{now.done} of {now.total}, {left}")

    return task, report


def duration(seconds: float) -> str:
    """Format a time in minutes, or in seconds if there are few.

    >>> duration(40), duration(200)
    ('40 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
