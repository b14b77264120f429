"""The manifest: its bytes, and that a damaged, forged or half-right one is refused in one line."""

import copy
import functools
import itertools
import json
import operator
import random

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UserError
from augment_cli.reports import soundness
from augment_cli.session import Session
from augment_cli.store import manifest
from augment_cli.store.files import sha256_of_json
from augment_cli.store.manifest import MOST_STAGES, Earlier, Part, Stage, dump_manifest
from augment_cli.store.store import Store
from tests.helpers.undisturbed import sealed

READERS = [
    ["status"],
    ["stats", "una"],
    ["stats"],
    ["inspect", "una"],
    ["inspect", "corpus"],
    ["card"],
    ["pack", "--jobs", "1"],
    ["verify"],
    ["una", "--radius", "4", "--jobs", "1"],
    ["remove", "una"],
]
ODD = [None, [], {}, "x", -1, 1.5, True, 10**18, 10**30, float("nan"), float("inf"), [[]], {"a": []}]
MISSING = object()
HONEST_PART = {"rows": 20, "bytes": 1, "sha256": "0" * 64, "statistics": {}}
WORDS = ["a", 'a "word"', "naïve", "line\nend", "\u2028", "\\", "z/9", "ключ", "\x00", "emoji 🙂"]


def honest(store):
    return json.loads((store.path / "manifest.json").read_bytes())


def write(store, value):
    (store.path / "manifest.json").write_text(json.dumps(value))


def forged(value, path, odd):
    """The manifest with something else at that place, every digest of it mended as a careful forger would."""
    value = copy.deepcopy(value)
    inner = functools.reduce(operator.getitem, path[:-1], value)
    if odd is MISSING:
        del inner[path[-1]]
    else:
        inner[path[-1]] = copy.deepcopy(odd)
    return sealed(value)


def check_harmless(result, *case):
    assert result.returncode in (0, 2, 4, 5), (*case, result.stderr)
    assert "Traceback" not in result.stderr and "internal error" not in result.stderr, (*case, result.stderr)


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
    data = dump_manifest(row_ranges, stages)
    value = json.loads(data)
    assert data == json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"
    assert value.pop("sha256") == sha256_of_json(value)
    assert value["schema"] == 1 + any(stage.earlier for stage in stages.values())
    for name, stage in stages.items():
        written = value["stages"][name]
        assert written["settings"] == stage.settings
        assert list(written["parts"]) == [str(index) for index in sorted(stage.parts)]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', "[" * 100_000, '{"schema": 1}', "\x00"])
def test_what_is_no_manifest_is_refused(store, text):
    (store.path / "manifest.json").write_text(text)
    with pytest.raises(BadInputError, match=r"manifest\.json"):
        Store.open(store.path)


def test_another_schema_is_refused(store):
    write(store, forged(honest(store), ("schema",), 99))
    with pytest.raises(MixError, match="schema 99"):
        Store.open(store.path)


@pytest.mark.parametrize("seed", range(30))
def test_one_with_any_byte_changed_is_refused_or_the_same(store, seed):
    path = store.path / "manifest.json"
    before = Store.open(store.path)
    data = bytearray(path.read_bytes())
    draws = random.Random(seed)
    data[draws.randrange(len(data))] = draws.randrange(256)
    path.write_bytes(data)
    try:
        after = Store.open(store.path)
    except UserError:
        return
    assert [after.stage(name) for name in after.stages()] == [before.stage(name) for name in before.stages()]


@pytest.mark.parametrize(
    ("is_sealed", "words"), [(True, "do not fit their fingerprint"), (False, "edited or damaged")]
)
def test_an_edit_without_new_digests_is_refused(store, is_sealed, words):
    value = honest(store)
    value["stages"]["una"]["settings"]["seed"] = 5
    del value["sha256"]
    write(store, value | {"sha256": sha256_of_json(value) if is_sealed else "0" * 64})
    with pytest.raises(BadInputError, match=words):
        Store.open(store.path)


UNA, PART = ("stages", "una"), ("stages", "una", "parts", "0")


@pytest.mark.parametrize(
    ("place", "odd", "words"),
    [
        ((*UNA, "settings", "parameters"), [], "stage 'una', $.settings.parameters: Expected `object`"),
        ((*UNA, "settings", "inputs"), MISSING, "missing required field `inputs`"),
        ((*UNA, "settings", "by_part"), True, "stage 'una', $.settings: Object contains unknown"),
        ((*UNA, "name"), "una", "stage 'una', $: Object contains unknown field `name`"),
        ((*UNA, "parts", "9"), HONEST_PART, "impossible part 9"),
        ((*UNA, "parts", "-0"), HONEST_PART, "stage 'una', $.parts: has one of them twice"),
        ((*UNA, "parts", "01"), HONEST_PART, "stage 'una', key in $.parts: Expected `int`"),
        ((*PART, "rows"), -1, "stage 'una', part 0, $.rows"),
        ((*PART, "rows"), 10**18, "stage 'una', part 0, $.rows: Expected `int` <="),
        ((*PART, "sha256"), "../x", "part 0, $.sha256"),
        ((*PART, "statistics", "reasons"), 3, "$.statistics.reasons: is of another kind"),
        ((*PART, "statistics", "changed"), float("nan"), "NaN is not a valid number"),
        (("stages", "corpus", "parts", "1", "rows"), 3, "stage 'corpus', part 1, $.rows: is not the length"),
        (("stages", "tfidf", "settings", "resources"), {}, "$.settings.resources: lacks tokenizer"),
        (("parts",), MISSING, "not a manifest"),
        (("parts",), [[0, 20], [5, 20], [40, 20]], "do not follow"),
        (("parts", 0), [0, 10**18], "$.parts[0][1]: Expected `int` <= 2147483647"),
    ],
)
def test_the_refusal_says_where(store, command, place, odd, words):
    write(store, forged(honest(store), place, odd))
    result = command("status", "--store", store.path)
    assert result.returncode == 4 and words in result.stderr, result.stderr
    assert str(store.path / "manifest.json") in result.stderr and len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["../out", "/etc", "readme.md", "una/x"])
def test_a_stage_that_cannot_be_called_so_is_refused(store, name):
    value = honest(store)
    write(store, forged(value, ("stages", name), value["stages"]["una"]))
    words = "'una/x' lies inside stage 'una'" if name == "una/x" else "not a valid stage name"
    with pytest.raises(BadInputError, match=words):
        Store.open(store.path)


def places(value, path):
    """Where something stands in a manifest: one stage and one part of each kind, every key within."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def is_refused(folder):
    try:
        Store.open(folder)
    except BadInputError as error:
        assert "not a manifest of this package" in str(error) or "cannot be read" in str(error)
        return True
    except MixError:
        return True
    return False


@pytest.fixture
def grown(store):
    """The store after files were appended to its corpus, which the manifest has a key for."""
    (store.path.parent / "more.txt").write_text("the heron waits\n")
    with Session(store.path, Engine(1)) as session:
        session.append([store.path.parent / "more.txt"])
    return store


EARLIER = ("stages", "corpus", "earlier")


@pytest.mark.parametrize(("inside", "share"), [(UNA, 21), (EARLIER, 5)], ids=lambda value: str(value))
def test_something_else_at_any_place_is_refused_or_does_no_harm(request, command, inside, share):
    """Refused when the store is opened; what may stand there, as in another version, breaks nothing."""
    store = request.getfixturevalue("grown" if inside == EARLIER else "store")
    value = honest(store)
    tried, passed = 0, []
    cases = itertools.product(
        places(functools.reduce(operator.getitem, inside, value), inside), (MISSING, *ODD)
    )
    for number, (place, odd) in enumerate(cases):
        if number % share == 0 and place[-1] != "fingerprint":  # every one, or some
            other = forged(value, place, odd)
            if other == value:
                continue
            write(store, other)
            tried += 1
            if not is_refused(store.path):
                passed.append((place, odd, other))
    assert tried > 150 / share
    for number, (place, odd, other) in enumerate(passed):
        write(store, other)
        arguments = READERS[number % len(READERS)]
        check_harmless(command(*arguments, "--store", store.path), place, odd, arguments)


@pytest.mark.parametrize(
    ("earlier", "words"),
    [
        ([{"parts": 5}], "stage 'corpus', $.earlier: the numbers of parts do not follow each other"),
        ([{"parts": 2}, {"parts": 1}], "$.earlier: the numbers of parts do not follow each other"),
        ([{"parts": 1, "settings": {"stage": "una"}}], "stage 'corpus', $.earlier: is of 'una'"),
    ],
)
def test_the_parts_of_a_grown_corpus_follow_each_other(grown, earlier, words):
    value = honest(grown)
    kept = value["stages"]["corpus"]["earlier"][0]["settings"]
    entries = [item | {"settings": kept | item.get("settings", {})} for item in earlier]
    write(grown, forged(value, EARLIER, entries))
    with pytest.raises(BadInputError) as refusal:
        Store.open(grown.path)
    assert words in str(refusal.value)


@pytest.mark.parametrize("arguments", READERS[:8])
def test_statistics_of_an_augmentation_that_are_missing_or_impossible(store, command, arguments):
    value = honest(store)
    for key, odd in (("changed", MISSING), ("changed", 10**6), ("edits", MISSING), ("sums", MISSING)):
        write(store, forged(value, (*PART, "statistics", key), odd))
        result = command(*arguments, "--store", store.path)
        check_harmless(result, key, odd)
        if arguments[0] == "status":
            assert result.returncode == 4 and "stage 'una', part 0: the manifest" in result.stderr


def test_verify_recounts_rows_from_the_data(store):
    write(store, forged(honest(store), (*PART, "rows"), 19))
    problems = soundness.verify(Store.open(store.path))
    assert any("has 20 rows, the manifest says 19" in problem for problem in problems)


@pytest.mark.parametrize("arguments", READERS)
def test_more_rows_than_the_files_hold(store, command, arguments):
    """Every number in the manifest agrees with every other, and none with the files."""
    value, most = honest(store), 2**31 - 1
    value["parts"] = [[index * most, most] for index in range(len(value["parts"]))]
    for stage in value["stages"].values():
        for part in stage["parts"].values():
            part["rows"] = most
    write(store, sealed(value))
    result = command(*arguments, "--store", store.path)
    assert "Traceback" not in result.stderr and "internal error" not in result.stderr, result.stderr
    if arguments[0] == "inspect":
        assert result.returncode == 4 and "20 rows, the manifest says 2,147,483,647" in result.stderr


def test_too_many_stages_or_parts_are_refused_in_one_line(store, monkeypatch):
    parts = sum(len(store.stage(name).parts) for name in store.stages())
    monkeypatch.setattr(manifest, "MOST_PARTS", parts)
    Store.open(store.path)
    monkeypatch.setattr(manifest, "MOST_PARTS", parts - 1)
    with pytest.raises(BadInputError, match=f"it has {parts} parts, and a store has at most {parts - 1}"):
        Store.open(store.path)
    monkeypatch.undo()
    value = honest(store)
    for count in (MOST_STAGES, MOST_STAGES + 1):  # far more than any honest store has
        for number in range(len(value["stages"]), count):
            value["stages"][f"una-{number}"] = value["stages"]["una"]
        write(store, sealed(value))
        if count == MOST_STAGES:
            assert len(Store.open(store.path).stages()) == count
    with pytest.raises(BadInputError, match="it has 2,001 stages, and a store has at most 2,000") as raised:
        Store.open(store.path)
    assert "\n" not in str(raised.value)
