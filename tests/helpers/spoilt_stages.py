"""Stages with a known defect: an augmentation whose texts are made by a function of the test."""

import dataclasses
import sys

import numpy as np

from augment_cli import augmentations
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome
from augment_cli.pages.layout import word_edits
from augment_cli.text.spans import EditList


def spoil(monkeypatch, name, change):
    """Let an augmentation make `change(text)` of each text, until the test ends."""

    def run(rows):
        edits = EditList()
        for row, text in enumerate(rows.texts.to_pylist()):
            for edit in word_edits(text, change(text)):
                place = [np.array([value]) for value in (row, edit["start"], edit["end"])]
                edits.replace(*place, [edit["replacement"]], np.zeros(1, np.int64))
        return Outcome(edits.edits(), np.full(len(rows), Reason.NO_TOKEN, object))

    descriptor = augmentations.get(name)
    module, constant = _place_of(descriptor)
    spoilt = dataclasses.replace(descriptor, prepare=lambda parameters, resources: run, columns=())
    monkeypatch.setattr(module, constant, spoilt)


def _place_of(descriptor):
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("augment_cli.augmentations"):
            for constant, value in vars(module).items():
                if value is descriptor and constant.isupper():
                    return module, constant
    raise LookupError(descriptor.name)
