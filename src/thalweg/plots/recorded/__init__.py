"""A run as it was recorded, by a result, a checkpoint or a log: the data of figures and pages, in arrays of numpy."""

from thalweg.plots.recorded.follow import Followed, follow, read
from thalweg.plots.recorded.run import Recorded, labels
from thalweg.plots.recorded.tables import Evaluations, Generations

__all__ = ["Evaluations", "Followed", "Generations", "Recorded", "follow", "labels", "read"]
