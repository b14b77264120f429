"""GCSE: hard negatives under a Gaussian decay."""
