"""Forged and half-right manifests, sealed as a careful forger would: commands refuse them in one line."""

import copy
import itertools
import json
import subprocess
import sys

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.sealing import sealed

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


def places(value, path=()):
    """Where something stands in a manifest: one stage and one part of each kind, every key within."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def forged(value, path, odd):
    """The manifest with something else at that place, every digest of it mended."""
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if odd is MISSING:
        del inner[path[-1]]
    else:
        inner[path[-1]] = copy.deepcopy(odd)
    return sealed(value)


def is_refused(folder):
    try:
        Store.open(folder)
    except BadInputError as error:
        assert "not a manifest of this package" in str(error) or "cannot be read" in str(error)
        return True
    except MixError:
        return True
    return False


STAGES = ["corpus", "rejects", "tfidf", "terms", "una"]


@pytest.mark.parametrize(
    ("stage", "share"),
    [("una", 21), *(pytest.param(stage, 1, marks=pytest.mark.slow) for stage in STAGES)],
    ids=lambda value: str(value),
)
def test_something_else_at_any_place_is_refused_or_does_no_harm(store, command, stage, share):
    """Refused when the store is opened; what may stand there, as in another version, breaks nothing."""
    path = store.path / "manifest.json"
    honest = json.loads(path.read_bytes())
    tried, passed = 0, []
    cases = itertools.product(places(honest["stages"][stage], ("stages", stage)), (MISSING, *ODD))
    for number, (place, odd) in enumerate(cases):
        if number % share == 0:  # every one, or some
            value = forged(honest, place, odd)
            if value == honest or place[-1] == "fingerprint":
                continue
            path.write_text(json.dumps(value))
            tried += 1
            if not is_refused(store.path):
                passed.append((place, odd, path.read_text()))
    assert tried > 150 / share
    for number, (place, odd, text) in enumerate(passed):
        path.write_text(text)
        arguments = READERS[number % len(READERS)]
        result = command(*arguments, "--store", store.path)
        for word in ("Traceback", "internal error"):
            assert word not in result.stderr, (place, odd, arguments, result.stderr)
        assert result.returncode in (0, 2, 4, 5), (place, odd, arguments, result.stderr)


@pytest.fixture
def grown(store):
    """The store after files were appended to its corpus, which the manifest has a key for."""
    (store.path.parent / "more.txt").write_text("the heron waits\n")
    with Session(store.path, Engine(1)) as session:
        session.append([store.path.parent / "more.txt"])
    return store.path / "manifest.json"


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_something_else_in_a_manifest_of_a_grown_corpus(grown, command, share):
    honest = json.loads(grown.read_bytes())
    stage = {"earlier": honest["stages"]["corpus"]["earlier"]}
    tried = 0
    for place, odd in itertools.product(places(stage, ("stages", "corpus")), (MISSING, *ODD)):
        tried += 1
        if tried % share or len(place) == 2 or place[-1] == "fingerprint":
            continue
        grown.write_text(json.dumps(forged(honest, place, odd)))
        if is_refused(grown.parent):
            continue
        for arguments in READERS if tried % 29 == 0 else READERS[:1]:
            result = command(*arguments, "--store", grown.parent)
            for word in ("Traceback", "internal error"):
                assert word not in result.stderr, (place, odd, arguments, result.stderr)
    assert tried > 150


@pytest.mark.parametrize(
    ("earlier", "words"),
    [
        ([{"parts": 5}], "stage 'corpus', $.earlier: the numbers of parts do not follow each other"),
        ([{"parts": 2}, {"parts": 1}], "$.earlier: the numbers of parts do not follow each other"),
        ([{"parts": 1, "settings": {"stage": "una"}}], "stage 'corpus', $.earlier: is of 'una'"),
    ],
)
def test_the_parts_of_a_grown_corpus_follow_each_other(grown, earlier, words):
    value = json.loads(grown.read_bytes())
    stage = value["stages"]["corpus"]
    kept = stage["earlier"][0]["settings"]
    stage["earlier"] = [item | {"settings": kept | item.get("settings", {})} for item in earlier]
    grown.write_text(json.dumps(sealed(value)))
    with pytest.raises(BadInputError) as refusal:
        Store.open(grown.parent)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("place", "odd", "words"),
    [
        (
            ("stages", "una", "settings", "parameters"),
            [],
            "stage 'una', $.settings.parameters: Expected `object`",
        ),
        (("stages", "una", "settings", "stage"), [], "stage 'una', $.settings.stage: Expected `str`"),
        (("stages", "una", "settings"), [], "stage 'una', $.settings: Expected `object`"),
        (("stages", "una", "settings", "inputs"), MISSING, "missing required field `inputs`"),
        (("stages", "una", "parts", "0", "rows"), 10**18, "stage 'una', part 0, $.rows: Expected `int` <="),
        (("stages", "una", "parts", "0", "statistics"), [1], "part 0, $.statistics: Expected `object`"),
        (
            ("stages", "una", "parts", "0", "statistics", "reasons"),
            3,
            "$.statistics.reasons: is of another kind",
        ),
        (("stages", "una", "parts", "0", "statistics", "changed"), float("nan"), "NaN is not a valid number"),
        (("stages", "corpus", "parts", "1", "rows"), 3, "stage 'corpus', part 1, $.rows: is not the length"),
        (("stages", "tfidf", "settings", "resources"), {}, "$.settings.resources: lacks tokenizer"),
        (("parts", 0), [0, 10**18], "$.parts[0][1]: Expected `int` <= 2147483647"),
        (("stages", "una", "name"), "una", "stage 'una', $: Object contains unknown field `name`"),
        (("stages", "una", "settings", "by_part"), True, "stage 'una', $.settings: Object contains unknown"),
        (("stages", "una", "parts", "-0"), HONEST_PART, "stage 'una', $.parts: has one of them twice"),
        (("stages", "una", "parts", "01"), HONEST_PART, "stage 'una', key in $.parts: Expected `int`"),
    ],
)
def test_the_refusal_says_where(store, command, place, odd, words):
    path = store.path / "manifest.json"
    path.write_text(json.dumps(forged(json.loads(path.read_bytes()), place, odd)))
    result = command("status", "--store", store.path)
    assert result.returncode == 4 and words in result.stderr and str(path) in result.stderr, result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_stage_inside_another_is_refused(store):
    path = store.path / "manifest.json"
    value = json.loads(path.read_bytes())
    value["stages"]["una/x"] = value["stages"]["una"]
    path.write_text(json.dumps(sealed(value)))
    with pytest.raises(BadInputError, match="'una/x' lies inside stage 'una'"):
        Store.open(store.path)


@pytest.mark.parametrize("arguments", READERS[:8])
def test_statistics_of_an_augmentation_that_are_missing_or_impossible(store, command, arguments):
    path = store.path / "manifest.json"
    honest = json.loads(path.read_bytes())
    for key, odd in (("changed", MISSING), ("changed", 10**6), ("edits", MISSING), ("sums", MISSING)):
        path.write_text(json.dumps(forged(honest, ("stages", "una", "parts", "0", "statistics", key), odd)))
        result = command(*arguments, "--store", store.path)
        assert "Traceback" not in result.stderr, result.stderr
        assert result.returncode in (0, 4)
        if arguments[0] == "status":
            assert result.returncode == 4 and "stage 'una', part 0: the manifest" in result.stderr


@pytest.mark.parametrize("arguments", READERS)
def test_more_rows_than_the_files_hold(store, command, arguments):
    """Every number in the manifest agrees with every other, and none with the files."""
    path = store.path / "manifest.json"
    value = json.loads(path.read_bytes())
    most = 2**31 - 1
    value["parts"] = [[index * most, most] for index in range(len(value["parts"]))]
    for stage in value["stages"].values():
        for part in stage["parts"].values():
            part["rows"] = most
    path.write_text(json.dumps(sealed(value)))
    result = command(*arguments, "--store", store.path)
    assert "Traceback" not in result.stderr and "internal error" not in result.stderr, result.stderr
    if arguments[0] == "inspect":
        assert result.returncode == 4 and "20 rows, the manifest says 2,147,483,647" in result.stderr


def test_the_schema_is_not_loaded_for_help():
    """Only opening a store needs it."""
    code = "import sys, augment_cli.cli as c; c.load_commands(); print('msgspec' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
