"""Section 5.3 of Faury et al. (2019): direct policy search in two environments of MuJoCo."""
