"""A run that continues from a checkpoint: the sentence that says so."""

import logging
import os

from thalweg.search.optimizer import Optimizer

notices = logging.getLogger("thalweg.notices")
"""The command line shows these messages, too."""


def announce(es: Optimizer, checkpoint: str | os.PathLike[str]) -> None:
    """Say from where the search continues, or that it has finished already."""
    name = os.fspath(checkpoint)
    if es.stop():
        message = "already finished, nothing to do: %s has %d evaluations"
    else:
        message = "continuing from %s after %d evaluations"
    notices.info(message, name, es.nfev)
