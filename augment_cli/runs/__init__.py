"""Runs: one augmentation with its settings, over the parts of a store or over sentences in memory."""
