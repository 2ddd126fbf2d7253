"""The commands that this package adds to `thalweg`: `reproduce` and `bench`."""
