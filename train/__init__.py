"""The lean trainer: `python -m train`, or `torchrun --nproc-per-node N -m train`. Start reading in run.py."""
