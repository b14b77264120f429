"""Object stores and other places that an address names: read from, and stores copied to and fro.

`files.py` turns an address into a file system, its errors into a line for a person, reads and writes single
files, and `publish.py` copies a store's finished stages to and fro.
"""
