"""Parts that all studies share: the results folder, the work loop, experiments, statistics."""
