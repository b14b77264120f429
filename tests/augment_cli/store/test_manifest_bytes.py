"""The bytes of a manifest are those of `json.dumps`, whatever is in its settings."""

import json
import random

import pytest

from augment_cli.store.files import sha256_of_json
from augment_cli.store.manifest import Earlier, Part, Stage, dump_manifest
from augment_cli.store.schema import APPENDED_SCHEMA_VERSION, SCHEMA_VERSION

WORDS = ["a", 'a "word"', "naïve", "line\nend", "\u2028", "\\", "z/9", "ключ", "\x00", "emoji 🙂"]


def written_whole(row_ranges, stages):
    """The manifest's bytes as one call of the library writes them."""
    has_grown = any(stage.earlier for stage in stages.values())
    value = {
        "schema": APPENDED_SCHEMA_VERSION if has_grown else SCHEMA_VERSION,
        "parts": [list(pair) for pair in row_ranges],
        "stages": {
            name: {
                "settings": stage.settings,
                "expected_parts": stage.expected_parts,
                "parts": {
                    str(index): {
                        "rows": part.rows,
                        "bytes": part.bytes,
                        "sha256": part.sha256,
                        "statistics": part.statistics,
                    }
                    for index, part in sorted(stage.parts.items())
                },
                **(
                    {"earlier": [{"settings": one.settings, "parts": one.parts} for one in stage.earlier]}
                    if stage.earlier
                    else {}
                ),
            }
            for name, stage in stages.items()
        },
    }
    value["sha256"] = sha256_of_json(value)
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


def some_settings(chance):
    odd = [None, True, 0.1, 1e-9, 1e22, -3, 10**30, [], {}, [[1], {"b": [None]}], *WORDS]
    parameters = {word: chance.choice(odd) for word in chance.sample(WORDS, chance.randrange(5))}
    return {"schema": 1, "stage": chance.choice(WORDS), "parameters": parameters, "inputs": {}}


def some_part(chance):
    sums = {word: chance.randrange(10**6) for word in chance.sample(WORDS, chance.randrange(4))}
    statistics = chance.choice([{}, {"characters": 3}, {"reasons": sums}, {"z": None, "reasons": sums}])
    return Part(chance.randrange(999), chance.randrange(9**9), f"{chance.getrandbits(256):064x}", statistics)


def some_stage(name, chance):
    count = chance.choice([0, 1, 3, 14])
    indices = list(range(count))
    chance.shuffle(indices)  # parts come in any order, and are written in theirs
    parts = {index: some_part(chance) for index in indices[: chance.randrange(count + 1)]}
    earlier = tuple(Earlier(some_settings(chance), at) for at in range(chance.choice([0, 0, 1, 2])))
    return Stage(some_settings(chance), count, parts, earlier, name)


@pytest.mark.parametrize("seed", range(60))
def test_the_bytes_are_those_of_the_library(seed):
    chance = random.Random(seed)
    names = chance.sample([*WORDS, "una", "una.1", "corpus"], chance.randrange(6))
    stages = {name: some_stage(name, chance) for name in names}
    row_ranges = [(chance.randrange(99), chance.randrange(99)) for _ in range(chance.randrange(4))]
    assert dump_manifest(row_ranges, stages) == written_whole(row_ranges, stages)
