"""BERT's layers and dropout for speed alone; the switch is `augment_cli.neural.fast`."""
