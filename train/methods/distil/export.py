"""A static encoder distilled into a folder, with its card: the command, and one call from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from augment_cli.encoding.encoder import Encoder, to_length_one
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.neural.runtime import has_fast_bf16
from augment_cli.store.store import Store
from train.methods.distil.distil import Say, distil
from train.methods.distil.settings import Settings
from train.outputs.export import export, front_matter, how_to_load


def distil_to(
    out: str | Path,
    store: str | Path = "store",
    teacher: str = MINILM_PACKAGE,
    settings: Settings | None = None,
    *,
    precision: str = "auto",
    half: bool = False,
    allow_download: bool = False,
    command: str = "train.methods.distil.export.distil_to",
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Distil a teacher over a store's corpus, and write the folder of the static encoder."""
    out = Path(out)
    if out.exists():
        raise UsageError(f"{out} exists; name a new folder as --out")
    opened = Store.open(Path(store))
    fast = precision == "bf16" or (precision == "auto" and has_fast_bf16())
    made_of = load_encoder(teacher, precision="bf16" if fast else "fp32", allow_download=allow_download)
    encoder, facts = distil(made_of, opened, settings or Settings(), say)
    # Of length 1, but for halves: sentence-transformers computes in fp16 then, and would divide a text of no
    # known token by a length that is 0 there.
    encoder.modules = [] if half else [to_length_one]
    export(encoder, out, torch.float16 if half else torch.float32)
    facts |= {"command": command, "corpus": opened.stage("corpus").digest}
    (out / "README.md").write_text(_card(out, made_of, facts), encoding="utf-8")
    return facts


def _card(out: Path, teacher: Encoder, facts: dict[str, Any]) -> str:
    table = {
        "teacher": f"{teacher.name} (SHA-256 {teacher.digest})",
        "command": f"`{facts['command']}`",
        "corpus": f"SHA-256 `{facts['corpus']}`",
        "tokens": f"{facts['tokens']:,}",
        "sentences counted": f"{facts['counted']:,}",
    }
    if "sentences" in facts:
        table["sentences of the regression"] = f"{facts['sentences']:,}"
        table["of the teacher's vectors explained"] = f"{facts['explained']:.1%}"
    rows = [f"| {key} | {value} |" for key, value in (table | facts["settings"]).items()]
    front = front_matter("model2vec", "sentence-similarity", "static-embeddings", "sentence-transformers")
    said = "A vector for each token, and the mean of them for a text."
    head = [*front, "---", "", f"# {out.name}", "", said, ""]
    return "\n".join([*head, "| | |", "|---|---|", *rows, "", *how_to_load(out), ""])
