"""`ingest --deduplicate near`: what is near, which row is named, whatever the order of reading."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.ingest.checks import NearDuplicates, band_keys, similarity
from augment_cli.store.store import Store
from augment_cli.text.surface import normalize
from tests.helpers.properties import examples

LINES = [
    "The old bridge crosses the river below the town hall.",
    "A committee of seven members runs the local school.",
    "The old bridge crosses the river below the town hall!",
    "The old bridge crosses the river below the town halls.",
    "A committee of seven members runs the local school.",
    "Nobody has seen the lighthouse keeper since Monday.",
]


def test_near_ones_go_to_the_rejects_with_the_row_they_repeat(read_bytes):
    result = read_bytes("\n".join(LINES).encode(), deduplicate="near")
    assert result.texts == [LINES[0], LINES[1], LINES[5]]
    assert [(row["line"], row["reason"], row["repeats"]) for row in result.rejects] == [
        (3, "near_duplicate", 0),
        (4, "near_duplicate", 0),
        (5, "duplicate", 1),
    ]
    assert result.report.duplicates == 3
    result.report.check(0.0)  # repeats are no faults
    assert read_bytes("\n".join(LINES).encode(), deduplicate="near", strict=True).texts == result.texts
    exact = read_bytes("\n".join(LINES).encode(), deduplicate="exact")
    assert exact.reasons == [(5, "duplicate")] and "repeats" not in exact.rejects[0]
    assert exact.store.stage("corpus").settings["parameters"]["deduplicate"] is True
    looser = read_bytes("\n".join(LINES).encode(), deduplicate="near", near_similarity=1.0)
    assert looser.reasons == [(3, "near_duplicate"), (5, "duplicate")]


def test_the_rows_named_are_those_of_the_corpus_beside_other_rejects(read_bytes):
    data = b"\xff\none two three four\n\nfive six seven eight\nFive, six, seven eight?\n"
    rejects = read_bytes(data, deduplicate="near").rejects
    expected = [("not_utf8", None), ("empty", None), ("near_duplicate", 1)]
    assert [(row["reason"], row["repeats"]) for row in rejects] == expected


def test_on_the_command_line(command, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(LINES))
    for name, arguments in {"plain": [], "near": ["near"], "exact": ["exact"]}.items():
        result = command("ingest", "--corpus", "in.txt", "--store", name, "--deduplicate", *arguments)
        assert result.returncode == 0, result.stderr
        assert Store.open(tmp_path / name).rows == (3 if name == "near" else 5)
    assert command("ingest", "--corpus", "in.txt", "--deduplicate", "fuzzy", "--store", "no").returncode == 2
    for options in ({"deduplicate": "fuzzy"}, {"near_similarity": 0.0}, {"near_similarity": 1.5}):
        with pytest.raises(UsageError, match=r"--deduplicate fuzzy: choose|--near-similarity"):
            IngestOptions(**options)


def slow(texts, threshold):
    """Every text against all kept ones before it, which share a band with it: no index, no arrays."""
    words = normalize(pa.array(texts)).to_pylist()
    kept, first, result = [], [{} for _ in range(8)], []
    for text, plain in zip(texts, words, strict=True):
        keys = band_keys(pa.array([plain]))[0].tolist()
        equal = [number for number, (other, _) in enumerate(kept) if other == text]
        found = sorted({band[key] for band, key in zip(first, keys, strict=True) if key in band})
        near = equal or [number for number in found if similarity(plain, kept[number][1]) >= threshold]
        result.append(near[0] if near else -1)
        if not near:
            for band, key in zip(first, keys, strict=True):
                band.setdefault(key, len(kept))
            kept.append((text, plain))
    return result


@examples(15)
@given(
    st.randoms(use_true_random=False),
    st.sampled_from([0.3, 0.6, 0.9]),
    st.lists(st.integers(1, 9), max_size=6),
)
def test_the_same_as_one_after_the_other_however_they_come(rng, threshold, cuts):
    words = ["river", "bridge", "Öl", "學校", "a", "of", "seven", "🙂"]
    texts = [" ".join(rng.choices(words, k=rng.randint(1, 6))) for _ in range(16)]
    index, found, start = NearDuplicates(threshold), [], 0
    for cut in [*cuts, len(texts)]:
        found += index.add(pa.array(texts[start : start + cut], pa.string()))[0].tolist()
        start += cut
    assert found == slow(texts, threshold)


def test_minhash_finds_nearly_all_that_are_near_and_keys_agree_as_often_as_they_should():
    rng = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz     "
    pairs = []
    while len(pairs) < 300:
        text = "".join(rng.choices(letters, k=100))
        place = rng.randrange(90)
        pairs.append((text, text[:place] + "".join(rng.choices(letters, k=3)) + text[place + 3 :]))
    one, other = (normalize(pa.array(column)) for column in zip(*pairs, strict=True))
    values = np.array([similarity(*pair) for pair in zip(one.to_pylist(), other.to_pylist(), strict=True)])
    assert 0.8 < values.mean() < 0.95
    agree = band_keys(one) == band_keys(other)
    expected = 1 - (1 - values**4) ** 8
    assert abs(agree.any(axis=1).mean() - expected.mean()) < 0.03
    assert abs(agree.mean() - (values**4).mean()) < 0.05
    # Texts with nothing in common agree nowhere.
    assert not (band_keys(one) == band_keys(other.take(pa.array(np.roll(np.arange(300), 1))))).any()
