"""Files: checkpoints, logs of evaluations, and atomic writes."""
