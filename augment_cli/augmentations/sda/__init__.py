"""The discrete augmentations of SDA (Mao et al. 2022)."""
