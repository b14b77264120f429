"""Pages for people: self-contained HTML with inline SVG, no network, everything from a corpus as text."""
