"""Evaluation of sentence encoders: loading, pooling, encoding and the published protocols."""
