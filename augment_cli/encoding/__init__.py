"""From a model folder to vectors: loading, pooling, encoding, the cache of embeddings, whitening."""
