"""The documentation: pages in Markdown, and what makes the site of them."""
