"""The command itself: its help, its version, and the group that the other modules add commands to."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from augment_cli.cli.group import AugmentationGroup
from augment_cli.cli.guard import EXIT_CODES
from augment_cli.version import RELEASED, __version__

app = typer.Typer(
    cls=AugmentationGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


def _print_version(is_asked_for: bool) -> None:
    if is_asked_for:
        print(__version__)
        raise typer.Exit


def bibtex() -> str:
    """What `--cite` prints: a BibTeX entry of this version; CITATION.cff says the same."""
    return f"""\
@software{{augment_cli,
  title   = {{augment-cli: offline augmentation for contrastive sentence embeddings}},
  author  = {{{{The augment-cli maintainers}}}},
  version = {{{__version__}}},
  year    = {{{RELEASED[:4]}}},
  license = {{Apache-2.0}}
}}"""


def _print_citation(is_asked_for: bool) -> None:
    if is_asked_for:
        print(bibtex())
        print(
            "Please cite the papers behind the methods, too; `augment-cli list --json` names them.",
            file=sys.stderr,
        )
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
    cite: Annotated[
        bool, typer.Option("--cite", callback=_print_citation, is_eager=True, help="print a BibTeX entry")
    ] = False,
) -> None:
    """Offline augmentation for contrastive sentence embeddings.

    Start with `augment-cli una`: it reads the shipped sample, fits TF-IDF and writes hard negatives
    to `./store`. Give your own text with `--corpus`.
    """
