"""The digest of a model folder, which ties a cached embedding to what made it."""

from augment_cli.models.digest import model_digest

__all__ = ["model_digest"]
