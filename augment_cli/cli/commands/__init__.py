"""The written commands, by what they are about.

`stages.py` makes stages (ingest, fit, parse, run), `reports.py` only reads (inspect, stats, status, list,
verify), `stores.py` is about a store as a whole (remove, pack, card, doctor), `models.py` about models
(convert-weights), `vectors.py` about sentence vectors, `answers.py` about language models. The command of
an augmentation is built from its descriptor: `cli/augmentation_command.py`.
"""
