"""The experiments with synthetic objectives of Faury et al. (2019): figures 1 to 4, table 1 and the claims of the text."""
