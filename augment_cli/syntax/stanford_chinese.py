"""Adaptor for the labels of `zh_core_web_*`: Stanford's Chinese dependencies as Universal ones.

Heads are the same in both schemes (a predicate noun is the head of its copula), so that labels and two parts
of speech change, and `universal.py` reads the rest. A negation keeps its label.

Source: Chang et al. 2009, and the labels that spaCy documents for its Chinese pipelines, trained on the
conversion of Chinese OntoNotes; tags: Xia 2000, the Penn Chinese Treebank.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from augment_cli.syntax.parses import ParseRows
from augment_cli.syntax.tree import words

# Fine tags that English does not have: they tell a row, which has one at its verb or its mark.
_TAGS = words("AD AS BA CS DEC DEG DER DEV ETC LB LC M MSP NR NT OD P PN PU SB SP VA VC VE VV")
_UNIVERSAL = {
    "advcl:loc": "advcl",
    "advmod:rcomp": "compound:vv",
    "aux:asp": "aux",
    "aux:ba": "case",  # 把
    "aux:modal": "aux",
    "aux:prtmod": "mark:prt",
    "auxpass": "aux:pass",
    "compound:vc": "compound:vv",
    "dobj": "obj",
    "mark:clf": "clf",
    "nmod:prep": "obl",
    "nmod:range": "obl",
    "nmod:tmod": "obl:tmod",
    "nmod:topic": "dislocated",
    "nsubj:xsubj": "nsubj",
    "nsubjpass": "nsubj:pass",
}


def as_universal(parses: ParseRows) -> ParseRows:
    """The same parses, rows of this scheme with Universal labels."""
    tagged = parses.tags.among(_TAGS)
    if not tagged.any():
        return parses
    ours = (np.bincount(parses.rows, tagged, len(parses)) > 0)[parses.rows]
    deps = parses.deps
    labels = np.array([*deps.values, *(_UNIVERSAL.get(label, label) for label in deps.values)], dtype=object)
    labels = labels[deps.codes + ours * len(deps.values)]
    # The treebank has modals and predicative adjectives among its verbs.
    pos = np.array(parses.pos.values, dtype=object)[parses.pos.codes]
    pos[deps.among({"aux:modal"})] = "AUX"
    pos[parses.tags.among({"VA"}) & ours] = "ADJ"
    strings = {**parses.strings, "deps": pa.array(labels, pa.string()), "pos": pa.array(pos, pa.string())}
    return dataclasses.replace(parses, strings=strings)
