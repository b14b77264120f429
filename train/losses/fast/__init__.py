"""Gradients of the contrastive losses for speed alone; the switch is `augment_cli.neural.fast`."""
