"""Sums over the ranks for speed alone; the switch is `augment_cli.neural.fast`."""
