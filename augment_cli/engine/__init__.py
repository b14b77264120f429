"""The engine: runs independent tasks here, in workers or on a Dask cluster, and survives a worker's death.

It knows nothing of stores. `engine.py` says what is asked of it; `backends.py` has one function for each
place where tasks may run.
"""
