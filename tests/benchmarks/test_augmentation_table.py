"""The measured table: shares of short and long sentences, of those that a stage was run on."""

import pytest

from augment_cli import augment, ingest_corpus, run, stats
from benchmarks.augmentation_table import SHORT, changed_shares, row

SENTENCES = [
    "The big dog sleeps beside the door of the small house.",
    "It is what it is.",
    "The old ferry crosses the wide river in the grey of the early morning, and they are glad of it.",
    "A tiny boat waits.",
]


def test_shares_are_those_of_the_short_and_of_the_long_sentences(tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(SENTENCES))
    store = tmp_path / "store"
    ingest_corpus([tmp_path / "texts.txt"], store)
    run("contraction", store)
    changed = [text is not None for text in augment(SENTENCES, "contraction")["text"].to_pylist()]
    short, long = [
        sum(flags) / len(flags)
        for flags in (
            [flag for flag, text in zip(changed, SENTENCES, strict=True) if (len(text) <= SHORT) == is_short]
            for is_short in (True, False)
        )
    ]
    assert any(changed) and not all(changed)
    assert changed_shares(store, "contraction") == pytest.approx((short, long))
    [entry] = stats(store=store)
    share = f"| {100 * sum(changed) / 4:.1f} | {100 * short:.0f} | {100 * long:.0f} |"
    assert row(entry, short, long).startswith(f"| `contraction` | same | positive | kept {share}")
