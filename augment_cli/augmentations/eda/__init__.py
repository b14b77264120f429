"""Edits of words, after EDA (Wei and Zou 2019), and other baselines."""
