"""Commands that `thalweg` gains by this package: `reproduce` and `bench`."""
