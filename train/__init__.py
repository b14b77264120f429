"""The lean trainer: `python -m train`, or `torchrun --nproc-per-node N -m train`.

Start in `run.py`; `docs/explanation/trainer-walkthrough.md` follows a step, ARCHITECTURE.md has the rooms.
What a paper adds is a folder in `methods/`, with its components, recipes and a page; the core imports none.
"""
