"""Scoring an encoder on tasks: each distinct sentence of all is encoded once, then the protocols run."""

from collections.abc import Callable, Sequence

import numpy as np

from augment_cli.encoding import transforms
from augment_cli.encoding.encoder import Encoder
from eval import protocols
from eval.contract import Encode, Options, Progress, TaskScore, caution, flaw, undefined
from eval.tasks import Table


class Vectors:
    """The embeddings of all distinct sentences of several tasks, looked up by text."""

    def __init__(
        self,
        encoder: Encoder,
        tables: Sequence[Table],
        options: Options,
        progress: Progress,
        sentences: Callable[[Table], Sequence[str]] | None = None,
    ) -> None:
        read = sentences or (lambda table: protocols.get(table.task.protocol).sentences(table))
        distinct = list(dict.fromkeys(text for table in tables for text in read(table)))
        progress.start("distinct sentences to encode", len(distinct))
        self.rows = {text: row for row, text in enumerate(distinct)}
        self.matrix = encoder.encode(distinct, cache=options.cache, progress=progress.advance)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of n texts of the tasks, shape (n, d)."""
        return self.matrix[[self.rows[text] for text in texts]]


def score_task(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    """Score one task with an encoding function that knows its sentences."""
    protocol = protocols.get(table.task.protocol)
    notes: list[str] = []
    if options.whiten:
        plain, fitted_on = encode, encode(list(dict.fromkeys(protocol.sentences(table))))
        equal = "whitening needs embeddings that differ" if caution(fitted_on) else ""
        if reason := flaw(fitted_on) or equal:
            return undefined(table.task.metric, reason)
        whiten = transforms.fit(fitted_on)
        kept, width = whiten.kernel.shape[1], fitted_on.shape[1]
        if kept < width:
            notes.append(f"whitening kept {kept} of {width} directions, the others have no variance")

        def encode(texts: Sequence[str]) -> np.ndarray:
            return whiten(plain(texts))

    score = protocol.score(protocol.prepared(table), encode, options, progress)
    score.notes.extend(notes)
    if not table.checked:
        score.notes.append(f"data file not checked against a digest; its sha256 is {table.sha256}")
    return score
