"""Augmentations that read TF-IDF: they replace the terms that carry a sentence, or those that do not."""
