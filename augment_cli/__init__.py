"""Offline augmentation for contrastive sentence embeddings."""

from augment_cli.version import __version__

__all__ = ["__version__"]
