"""The store: a folder of stages, each a folder of Parquet parts, and the manifest that vouches for them."""
