"""The pages of the manual, and of the results beside it, without those that are generated from the code."""

from docs import reference
from tests.helpers.places import REPOSITORY

DOCS, RESULTS = REPOSITORY / "docs", REPOSITORY / "benchmarks/results"
MANUAL = sorted(
    page
    for page in [*DOCS.glob("*.md"), *DOCS.glob("*/*.md")]
    if not (page.parent.name == "reference" and page.stem in reference.PAGES)
)
PAGES = [*MANUAL, *sorted(RESULTS.glob("*.md"))]
