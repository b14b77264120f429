"""TF-IDF: fitting it over a store's parts, and the term table that replacements are drawn from."""
