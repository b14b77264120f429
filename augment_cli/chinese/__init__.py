"""Chinese: its words, and its rules for AA, DN and PI."""
