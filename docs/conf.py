"""The documentation site, `make docs`: the Markdown of this folder, and a reference from the code."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from augment_cli.version import __version__
from docs import reference

project = "augment-cli"
version = release = __version__
project_copyright = "the augment-cli authors, Apache License 2.0"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"augment-cli {__version__}"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
exclude_patterns = ["_build", "notebooks"]
# The pages quote shell commands, TOML and diffs that need no colours.
highlight_language = "none"


def _prepare_links(app: Any, page: str, source: list[str]) -> None:
    """Files of the repository that are no pages are named, not linked."""
    source[0] = reference.without_outer_links(source[0])


def _write_reference(app: Any) -> None:
    reference.write(Path(app.srcdir) / "reference")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write_reference)
    app.connect("source-read", _prepare_links)
    return {"parallel_read_safe": True}
