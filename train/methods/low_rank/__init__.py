"""LoRA: low-rank differences in place of all weights."""
