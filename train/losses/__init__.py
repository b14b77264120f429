"""Losses: maths on embeddings of the gathered global batch, no models, no ranks. One file each."""
