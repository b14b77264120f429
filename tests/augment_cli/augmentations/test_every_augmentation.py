"""What holds for every registered augmentation: golden examples, purity, whole edits, what is protected."""

import functools
import json
import re
import tomllib
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import augment_cli
from augment_cli import augmentations
from augment_cli.contract.augmentation import LABELS, Resources, entailment_of
from augment_cli.contract.rows import Rows
from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.resources import word_groups
from augment_cli.runs.again import command_of
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.runs.tables import as_table
from augment_cli.session import SAMPLE, Session
from augment_cli.store.store import Store
from augment_cli.text.untouched import protecting
from tests.helpers.hand_parses import SCHEMES, made_up_row, parsed_rows, sentence
from tests.helpers.in_memory import assert_sound
from tests.helpers.made_stores import store_of
from tests.helpers.properties import examples

GOLDEN = Path(__file__).parent / "golden"
# Those that run a model are held to the same in `models/`, where there are models small enough.
NAMES = [name for name in augmentations.names() if "model" not in augmentations.get(name).needs]


@functools.cache
def golden(name: str) -> dict[str, Any]:
    file = GOLDEN / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.exists() else {"case": []}


def needs_parses(name: str) -> bool:
    return "parses" in augmentations.get(name).needs


def parameters_of(name: str) -> dict[str, Any]:
    """What an augmentation cannot do without, from its golden file; a file's name is one beside it."""
    given = golden(name).get("parameters", {})
    return {key: str(GOLDEN / value) if key == "vectors" else value for key, value in given.items()}


def golden_rows(name: str, scheme: str, cases: list[dict[str, Any]], fitted, sample_store: Store):
    """What becomes of each case as row 0; all of them have the same parameters."""
    parameters, row_ids = parameters_of(name) | cases[0].get("parameters", {}), np.zeros(len(cases), np.int64)
    run = make_run(name, **parameters)
    if scheme:
        texts, rows = zip(*(sentence(case["sentence"], scheme) for case in cases), strict=True)
        return augmented_with_parses(run, parsed_rows(texts, rows, row_ids)).to_pylist()
    reads_fit = "tfidf" in augmentations.get(name).needs
    store = fitted(golden(name)["corpus"]) if reads_fit else sample_store
    return augment_texts([case["text"] for case in cases], store, run, row_ids).to_pylist()


@pytest.mark.parametrize("name", NAMES)
def test_golden_examples(name, fitted, sample_store):
    """A case names a text, or a sentence of tests/helpers/sentences.toml, tried in both label schemes."""
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for case in golden(name)["case"]:
        for scheme in SCHEMES if "sentence" in case else [""]:
            alike.setdefault((scheme, json.dumps(case.get("parameters"))), []).append(case)
    wrong = [
        (scheme, case, row)
        for (scheme, _), cases in alike.items()
        for case, row in zip(cases, golden_rows(name, scheme, cases, fitted, sample_store), strict=True)
        if (row["text"], row["reason"]) != (case.get("expected"), case.get("reason"))
        or any(row[column] != case[column] for column in {"rule", "label"} & case.keys())
    ]
    assert not wrong


@functools.lru_cache(64)
def made_up_rows(texts: tuple[str, ...], row_ids: tuple[int, ...]) -> Rows:
    """Texts with made-up parses; the same ones serve for every augmentation."""
    return parsed_rows(texts, [made_up_row(text) for text in texts], np.array(row_ids))


def augmented_with_parses(run: AugmentationRun, parsed: Rows) -> pa.Table:
    prepared = run.augmentation.prepare(run.parameters, Resources(run.seed, run.draw))
    return as_table(run.augmentation, parsed, prepared(parsed)).add_column(0, "original", parsed.texts)


def augmented(
    texts: list[str], name: str, store: Store, row_ids: np.ndarray | None = None, **options: Any
) -> pa.Table:
    """Augment texts; where parses are needed, made-up ones serve, each a function of its text alone."""
    run = make_run(
        name, **parameters_of(name), anyway=True, **options
    )  # whatever language they look to be in
    if needs_parses(name):
        ids = np.arange(len(texts)) if row_ids is None else row_ids
        return augmented_with_parses(run, made_up_rows(tuple(texts), tuple(ids.tolist())))
    return augment_texts(texts, store, run, row_ids)


@functools.cache
def sample() -> list[str]:
    """The sample's sentences, some texts of three of them, and texts with several choices."""
    lines = SAMPLE.read_text("utf-8").splitlines()
    threes = [" ".join(lines[start : start + 3]) for start in range(0, 240, 3)]
    several = "south probably maybe north later likely possibly decrease."  # places in its made-up parse
    return [*lines, *threes, *["She was totally honest.", several] * 12]


# What made-up parses never hold: a subject and an object of one sort around their verb.
UNMET = {"subject-object-switch"}


@pytest.mark.parametrize("name", NAMES)
def test_the_sample_comes_out_sound_and_otherwise_with_other_draws(name, sample_store):
    table = augmented(sample(), name, sample_store)
    assert_sound(table)
    assert table["row_id"].to_pylist() == list(range(len(sample())))
    assert name in UNMET or table["text"].null_count < len(table), "no sentence of the sample was changed"
    if augmentations.get(name).is_random:
        others = [augmented(sample(), name, sample_store, **one) for one in ({"seed": 1}, {"draw": 1})]
        texts = [one["text"].to_pylist() for one in (table, *others)]
        hint = "if it draws nothing by default, its descriptor says `is_random=False`"
        assert all(one != other for one, other in combinations(texts, 2)), hint


ODD_CHARACTERS = st.sampled_from("a bB'\"`.,-()…“”éİΣς日🙂\u0301\u00a0\t0")
ODD = st.lists(
    st.text(ODD_CHARACTERS | st.characters(exclude_categories=["Cs", "Cc"]))
    | st.sampled_from(["cannot", "İSTANBUL'DA", "don't", '"Why?"', "…", "x" * 300, "\u00a0", "ΟΔΟΣ"]),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("name", NAMES)
@examples(40, HealthCheck.function_scoped_fixture)
@given(texts=ODD)
def test_odd_input_never_raises_and_comes_out_sound(name, sample_store, texts):
    assert_sound(augmented(texts, name, sample_store))


@pytest.mark.parametrize("name", NAMES)
def test_a_row_does_not_depend_on_the_others(name, sample_store):
    corpus = sample_store.read("corpus").slice(0, 100)

    def texts_of(positions: np.ndarray) -> dict[int, str | None]:
        part = corpus.take(pa.array(positions))
        table = augmented(part["text"].to_pylist(), name, sample_store, part["row_id"].to_numpy())
        return dict(zip(table["row_id"].to_pylist(), table["text"].to_pylist(), strict=True))

    whole = texts_of(np.arange(100))
    pieces = {row: text for piece in np.split(np.arange(100), 5) for row, text in texts_of(piece).items()}
    assert pieces == whole
    assert texts_of(np.arange(100)[::-1]) == whole


@pytest.mark.parametrize("name", augmentations.names())
def test_the_descriptor_is_complete(name):
    descriptor = augmentations.get(name)
    assert descriptor.name == name and descriptor.paper and descriptor.examples
    assert augmentations.summary(name).endswith(".")
    assert all(example.startswith(f"augment-cli {name}") for example in descriptor.examples)
    entailment = entailment_of(descriptor)
    assert entailment.label in LABELS and len(entailment.reason.split()) > 3


def test_rules_name_the_lists_that_they_have():
    for file in Path(augmentations.__file__).parent.glob("*/*.py"):
        named = set(re.findall(r"\b_WORDS\.(\w+)", file.read_text("utf-8")))
        assert not named or named == vars(word_groups(file.stem.replace("_", "-"))).keys(), file.name


SPANS = [
    *("https://example.org/old-house?q=red&big=1#top", "www.example.com/a_b", "t.co/xYz12"),
    *("ann.lee@big-house.example.org", "@old_house", "#RedRiver2020", "<b>", "</b>", "<a href='big house'>"),
    *("</>", "&amp;", "&#8217;", "[COL]", "[VAL]"),
]
TEXTS = [
    f"The airplane near {span} was almost big, and the red rug {span} (see {span}) moved rapidly."
    for span in SPANS
]
TEXTS += [f"{span} the airplane rapidly hid an old rug although the big house was red" for span in SPANS]
OPTIONS: dict[str, dict[str, Any]] = {
    "word-deletion": {"rate": 0.8, "maximum": 0},
    "random-swap": {"rate": 0.9},
    "word-repetition": {"rate": 1.0},
    "random-mixture": {"rate": 0.6},
    "synonym": {"rate": 1.0},
    "random-insertion": {},
    "una": {"beta": "1", "radius": "1000", "positions": "random"},
    "uda": {"beta": "1", "positions": "random"},
}


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("protected"), TEXTS, "una").path


@pytest.mark.parametrize("name", OPTIONS)
def test_no_edit_of_words_cuts_into_them(small_store, name):
    rows = augment_cli.augment(TEXTS, name, store=small_store, draws=5, **OPTIONS[name]).to_pylist()
    changed = [row for row in rows if row["text"] is not None]
    assert len(changed) > len(TEXTS)
    for row in changed:
        for span in SPANS:
            assert row["text"].count(span) == row["original"].count(span), (row["original"], row["text"])


@pytest.mark.parametrize(
    "text", ["a < b and c > d", "I <3 it", "R&B; C#, #1", "He said: and/or, 3.5/4", "an e.g. word", "[sic]"]
)
def test_what_only_looks_like_one_is_not(text):
    assert protecting(pa.array([text])).protected is None


def test_patterns_of_one_s_own_are_protected_and_part_of_the_stage(tmp_path):
    lines = [f"the code AB-{n} means that the big house {n} is old" for n in range(30)]
    store = store_of(tmp_path, lines, make_run("word-deletion", rate=0.7, protect=r"code \w+-\d+"))
    texts = [text for text in store.read("word-deletion")["text"].to_pylist() if text]
    assert len(texts) > 20 and all("code AB-" in text for text in texts)
    assert command_of(store, "word-deletion").endswith(r"--protect 'code \w+-\d+'")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("word-deletion", rate=0.7, protect=r"code \w+-\d+"))
        with pytest.raises(MixError, match="protect"):
            session.augment(make_run("word-deletion", rate=0.7))
    with pytest.raises(UsageError, match="--protect '\\(': is not a regular expression"):
        make_run("word-deletion", protect="(")
