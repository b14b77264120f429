"""How to cite the software: what `augment-cli --cite` prints."""

from __future__ import annotations

from augment_cli.version import RELEASED, __version__

AUTHORS = "{The augment-cli maintainers}"


def bibtex() -> str:
    """A BibTeX entry of this version; CITATION.cff says the same."""
    return f"""\
@software{{augment_cli,
  title   = {{augment-cli: offline augmentation for contrastive sentence embeddings}},
  author  = {{{AUTHORS}}},
  version = {{{__version__}}},
  year    = {{{RELEASED[:4]}}},
  license = {{Apache-2.0}}
}}"""
