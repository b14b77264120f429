"""``python -m benchmarks.search``."""

from benchmarks.search.search import main

main()
