"""Files: archives of checkpoints, logs of evaluations, checks of JSON, and atomic writes."""

import os

Target = str | os.PathLike[str]
"""Name of a file."""
