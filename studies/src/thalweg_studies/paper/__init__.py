"""The experimental section of Faury et al. (2019), computed again: fig4 and table1."""
