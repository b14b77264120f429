"""Object stores and other places that an address names: read from, and stores copied to and fro.

`places.py` turns an address into a file system, and its errors into a line for a person, `files.py` reads and
writes single files, `publish.py` copies a store's finished stages to and fro.
"""
