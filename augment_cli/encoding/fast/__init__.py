"""Encoding for speed alone; the switch is `augment_cli.neural.fast`."""
