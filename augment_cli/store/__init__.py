"""The store: a folder of stages, each a folder of Parquet parts, and the manifest that vouches for them.

`store.py` opens, reads, writes and commits (`Store.write_part`, `Store.commit`); the files beside it hold one
promise each: `manifest.py` which parts are finished, `settings.py` what a stage depends on, `parquet.py` its
columns, and how a part is written and read, `contents.py` that it is the one that was committed, `files.py`
atomic writes, digests, the lock, and files that a person names.
"""
