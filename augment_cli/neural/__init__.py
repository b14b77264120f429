"""Augmentations that run a neural model: loading, batching, generating, checking, and never losing work.

Only modules named by a stage at work are imported from here, since they load torch and transformers.
"""
