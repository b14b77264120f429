"""Whitening after training: fitted on sentences of the corpus, stored as the exported model's last step."""

import shutil
from pathlib import Path

import numpy as np
import torch

from augment_cli.encoding import transforms
from augment_cli.encoding.dense import Dense, with_steps
from augment_cli.encoding.loading import load_encoder
from augment_cli.store.files import replace_folder
from augment_cli.store.store import Store
from train.data import CORPUS
from train.data.order import row_groups


def store_whitened(model: Path, target: Path, store: Store, count: int, dimension: int = 0) -> None:
    """Write a copy of an exported model whose embeddings are whitened."""
    # Source: Su et al. 2021. Their table whitens on the evaluated sentences themselves, which a model that is
    # handed on cannot know (`python -m eval --whiten` does it); here it is the corpus that the model was
    # trained on.
    fitted = transforms.fit(load_encoder(model).encode(spaced_texts(store, count)), dimension or None)
    work = target.with_name(f".{target.name}.writing")
    shutil.rmtree(work, ignore_errors=True)
    with_steps(model, work, [as_step(fitted)])
    replace_folder(work, target)


def as_step(whitening: transforms.Whitening) -> Dense:
    """A Dense module without activation: W as weight and −μW as bias."""
    bias = torch.from_numpy(-whitening.mean @ whitening.kernel)
    return Dense(torch.from_numpy(whitening.kernel.T.copy()).float(), bias.float())


def spaced_texts(store: Store, count: int) -> list[str]:
    """Texts of the corpus at equal distances, in its order."""
    chosen = np.unique(np.linspace(0, store.rows - 1, min(count, store.rows)).round().astype(np.int64))
    texts: list[str] = []
    for group in row_groups(store.parts):
        inside = chosen[(chosen >= group.first_row) & (chosen < group.first_row + group.rows)]
        if len(inside):
            column = store.read_part(CORPUS, group.part, ["text"], [group.index])["text"]
            texts += column.take(inside - group.first_row).to_pylist()
    return texts
