"""Labels in training: stages that are refused, rows that count as unchanged."""

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.contract.entailment import LABEL_COLUMN
from augment_cli.errors import UsageError
from augment_cli.store.schema import AUGMENTATION
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from train.data.order import row_groups
from train.data.reader import stored_texts, unfit_rows
from train.prepare import needed_labels


@pytest.fixture
def labelled(store_copy):
    """The tiny store with `negation`, every third row of which asks, and a `hypernym`."""
    store = Store.open(store_copy)
    fields = AUGMENTATION.append(LABEL_COLUMN)
    with store.lock():
        for name in ("negation", "hypernym"):
            settings = Settings(stage=name, version=1)
            for part in store.begin(name, settings):
                ids = store.read_part("corpus", part, ["row_id"])["row_id"].to_pylist()
                labels = ["other" if row % 3 else "neither" for row in ids]
                columns = [ids, ["x"] * len(ids), [None] * len(ids), [[]] * len(ids), labels]
                arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
                store.commit(store.write_part(name, part, fields, [pa.table(arrays, fields)], settings))
    return store


def test_stages_with_another_label_are_refused(labelled):
    assert needed_labels(labelled, ("self", "aa"), ("una", "negation")) == {"negation": "other"}
    with pytest.raises(UsageError, match=r"negatives: hypernym: its label is 'neither' .*labels = \"kind\""):
        needed_labels(labelled, (), ("hypernym",))
    with pytest.raises(UsageError, match="positives: una: its label is 'other'"):
        needed_labels(labelled, ("una",), ())


def test_rows_with_another_label_count_as_unchanged(labelled):
    group = row_groups(labelled.parts)[0]
    unfit = unfit_rows(labelled, "negation", group, "other")
    np.testing.assert_array_equal(unfit, [row % 3 == 0 for row in range(40)])
    assert unfit_rows(labelled, "una", group, "other") is None
    table = pa.table({"ids": pa.array([[row, 7] for row in range(40)], pa.list_(pa.int32()))})
    texts = stored_texts(table, unfit)
    assert [ids is None for ids in texts] == unfit.tolist()
    assert [ids.tolist() for ids in texts if ids is not None] == [[n, 7] for n in range(40) if n % 3]
