"""The lean trainer: `python -m train`, or `torchrun --nproc-per-node N -m train`.

Start reading in `run.py`; `docs/explanation/trainer-walkthrough.md` follows a step. Every import points down:

- `cli.py`, then `seeds.py` (one run for each seed) and `plan.py` (the dry run), then `run.py`
- `prepare.py`: the model and the rows of a run; `resume.py`: where an earlier run stopped; `loading.py`: a
  recipe is read and checked
- `outputs/`, `watching/`, `optimizer.py`
- `objectives/`: from rows to a loss and its gradient
- `model/`: the model in training, and how much memory it takes
- `additions/`, `losses/`, `heads/`: the components of methods, one file each, found by `components.py`
- `data/`: which rows a step trains on; `machine/`: ranks, threads, signals
- `recipe.py`: the settings, each with its default and reason; `draws.py`: seeds; `recipes/`: the methods

Rooms called `fast` hold what is there for speed alone.
"""
