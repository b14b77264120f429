"""Augmentations that run a neural model: they paraphrase, translate there and back, fill gaps."""
