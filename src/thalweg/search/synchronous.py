"""The synchronous loop of `minimize`: one generation after the other."""

from dataclasses import dataclass

from thalweg._common.outcome import Outcome
from thalweg.evaluate import Interrupted
from thalweg.search.loop import Loop
from thalweg.storage.log import Evaluation


@dataclass
class SynchronousLoop(Loop):
    """Evaluates a generation, then tells it: all workers wait for the slowest evaluation."""

    def advance(self) -> None:
        es = self.es
        self.consistent = False
        X = es.ask()
        self.consistent = True
        run, generation = es.campaign.runs, es.run.nit
        known = {} if self.log is None else known_outcomes(self.log.known(run, generation, X), len(X) if es.nfev == 0 else None)
        record = None if self.log is None else lambda i, outcome: self.record(run, generation, i, X[i], outcome)
        failures = self.evaluate.failures
        try:
            F = self.evaluate(X, self.time_left(), known, record)
        except Interrupted as interrupt:
            self.save()
            self.consistent = False  # no checkpoint may continue from a generation that is abandoned
            es.abandon(X, interrupt.values)
            raise
        self.consistent = False
        es.run.failures += self.evaluate.failures - failures
        es.tell(X, F)
        self.consistent = True
        self.after_tell()


def known_outcomes(rows: dict[int, Evaluation], first: int | None) -> dict[int, Outcome]:
    """Return the outcomes that the log holds of a generation.

    A first generation of size `first` that has only failures is evaluated again: it ended the run with an error, and whoever
    runs it again has mended the objective.
    """
    if rows and len(rows) == first and all(row.error is not None for row in rows.values()):
        return {}
    return {i: row.outcome() for i, row in rows.items()}
