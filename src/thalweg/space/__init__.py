"""The map between what the objective takes and the unbounded space in which the search runs."""
