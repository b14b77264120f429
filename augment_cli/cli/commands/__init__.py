"""The written commands by what they are about, and the one that is built for each augmentation.

`stages.py` makes stages (ingest, fit, parse, run), `augmentation.py` is behind the command of every
augmentation, `reports.py` only reads (inspect, stats, status, list, verify), `stores.py` is about a store as
a whole (remove, pack, card, doctor), `models.py` about models (convert-weights).
"""
