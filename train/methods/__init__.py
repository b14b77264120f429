"""Methods of papers: a folder each. The core imports none of them."""
