"""Experiments: fixed settings around the library's own functions, from which the command line and the figures are made."""
