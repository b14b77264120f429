"""Running a neural model: finding and loading it, batching, generating, checking what it said.

Only modules named by a stage at work are imported from here, since they load torch and transformers.
"""
