"""The documentation site, `make docs`: the Markdown of this folder, and a reference from the code."""

import re
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
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        *(f"sidebar/{part}.html" for part in ("brand", "search", "scroll-start", "navigation", "versions")),
        "sidebar/scroll-end.html",
    ]
}
# Each release has its site in a folder of its name beside this one; 0.1.0 had none.
_CHANGES = (Path(__file__).parent.parent / "CHANGELOG.md").read_text("utf-8")
html_context = {"versions": re.findall(r"(?m)^## \[([1-9]\d*\.\d+\.\d+)\]", _CHANGES)}
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
exclude_patterns = ["_build", "notebooks"]
smartquotes = False  # `--where` in a command's help is no dash
# The pages quote shell commands, TOML and diffs that need no colours.
highlight_language = "none"


def _prepare_links(app: Any, page: str, source: list[str]) -> None:
    """Code leads to the page made from it; other files of the repository are named, not linked."""
    source[0] = reference.for_the_site(source[0], page)


def _write_reference(app: Any) -> None:
    reference.write(Path(app.srcdir) / "reference")


def _mend(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """What a screen reader and a keyboard need: levels of captions, and boxes that scroll can be reached."""
    levels = ('role="heading"', 'role="heading" aria-level="2"')
    for part in ("body", "furo_navigation_tree"):
        text = context.get(part, "").replace(*levels).replace("<pre>", '<pre tabindex="0">')
        context[part] = text.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write_reference)
    app.connect("source-read", _prepare_links)
    app.connect("html-page-context", _mend, priority=900)  # after the theme
    return {"parallel_read_safe": True}
