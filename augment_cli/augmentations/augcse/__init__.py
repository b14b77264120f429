"""The transformations of AugCSE (Tang et al. 2022)."""
