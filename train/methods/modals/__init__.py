"""MODALS: augmented embeddings."""
