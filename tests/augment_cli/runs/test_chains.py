"""Chains: an augmentation on another stage's texts, with the labels that follow and edits of the original."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli.english.words.words import are_complements
from augment_cli.errors import UsageError
from augment_cli.reports.soundness import why_not_reused
from augment_cli.runs.again import command_of
from augment_cli.runs.run import make_run
from augment_cli.runs.stored import joined
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.text.spans import CodePoints, Edits, apply_edits
from tests.helpers.properties import examples

LINES = [
    "The shop is legal.",
    "The river flows through the town.",
    "All answers are possible.",
    "The old bridge was closed.",
    "The doctor rescued the hunter in May 1990.",
    "Tea, coffee!",
]


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("chains")
    with Session(folder / "store") as session:
        session.ingest(texts=LINES)
        session.augment(make_run("adjective-antonym", place="predicate"), "opposite")
        session.augment(make_run("negation", of="opposite"))
        session.augment(make_run("quantity", of="negation"))
        session.augment(make_run("rephrase", kinds="voice", clauses=1.0), "voice")
        session.augment(make_run("phrase-swap", of="voice"))
        return session.store


def rows_of(store: Store, stage: str) -> dict[int, tuple[str, str]]:
    return {
        row["row_id"]: (row["text"], row["label"]) for row in store.read(stage).to_pylist() if row["text"]
    }


def test_two_turns_of_one_predicate_say_the_same(chains: Store) -> None:
    rows = rows_of(chains, "negation-of-opposite")
    assert rows[0] == ("The shop is not illegal.", "same")
    assert rows[2] == ("All answers are not impossible.", "neither")  # "not" may deny "all"
    assert chains.stage("negation-of-opposite").settings["parameters"]["label"] == "same"


def test_a_turn_beside_another_stays_one(chains: Store) -> None:
    """`quantity` made its stage of `negation` first, since the store had none."""
    assert "negation" in chains.stages()
    text, label = rows_of(chains, "quantity-of-negation")[4]
    assert label == "other"
    assert text.startswith("The doctor did not rescue the hunter in ")
    assert text != "The doctor did not rescue the hunter in May 1990."


def test_a_paraphrase_that_is_turned_is_turned(chains: Store) -> None:
    assert rows_of(chains, "phrase-swap-of-voice")[4] == (
        "The doctor was rescued by the hunter in May 1990.",
        "other",
    )


def test_rows_without_a_text_in_the_first_stage_say_so(chains: Store) -> None:
    reasons = chains.read("negation-of-opposite")["reason"].to_pylist()
    assert reasons[1] == reasons[5] == "not_made"


def test_a_chain_is_a_stage_as_any_other(chains: Store) -> None:
    assert augment_cli.verify(chains.path) == []
    assert why_not_reused(chains, "negation-of-opposite") is None
    command = command_of(chains, "negation-of-opposite")
    assert command == "augment-cli negation --of opposite --name negation-of-opposite"
    with Session(chains.path) as session:
        session.augment(make_run("negation", of="opposite"))
        assert not session.results[-1].was_made


def test_pack_takes_only_rows_that_say_the_same(chains: Store) -> None:
    packed = augment_cli.pack_table(
        chains.path, positives=["negation-of-opposite"], negatives=["phrase-swap-of-voice"], name="chained"
    )
    texts = [row["positive"] for row in packed.read("chained").to_pylist() if row.get("positive")]
    assert "All answers are not impossible." not in texts


def test_what_cannot_be_chained_is_refused(chains: Store) -> None:
    with Session(chains.path) as session:
        with pytest.raises(UsageError, match="no finished augmentation of this name"):
            session.augment(make_run("negation", of="nothing"))
        with pytest.raises(UsageError, match="runs a model"):
            session.augment(make_run("paraphrase", of="opposite"))
    with pytest.raises(UsageError, match="names a stage of a store"):
        augment_cli.augment(LINES, "negation", of="opposite")


def test_the_command_line_has_the_option(chains: Store) -> None:
    words = ["negation", "--of", "opposite", "--store", str(chains.path), "--dry-run", "--json"]
    done = subprocess.run([sys.executable, "-m", "augment_cli", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    states = {entry["stage"]: entry["state"] for entry in json.loads(done.stdout)}
    assert states["negation-of-opposite"] == "done"


TEXTS = st.text("ab ", min_size=0, max_size=12)


def edits_on(text: str, data: st.DataObject) -> list[tuple[int, int, str]]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    return [(start, end, data.draw(st.text("xy", max_size=3))) for start, end in spans]


def after(text: str, edits: list[tuple[int, int, str]]) -> str:
    starts, ends, new = zip(*edits, strict=True) if edits else ((), (), ())
    column = Edits(
        np.zeros(len(edits), np.int64),
        np.array(starts, np.int32),
        np.array(ends, np.int32),
        pa.array(new, pa.string()),
    )
    return apply_edits(CodePoints.of(pa.array([text])), column)[0].as_py()


@examples(300)
@given(text=TEXTS, data=st.data())
def test_two_steps_of_edits_in_one_give_the_same_text(text: str, data: st.DataObject) -> None:
    first = edits_on(text, data)
    between = after(text, first)
    second = edits_on(between, data)
    assert after(text, joined(between, first, second)) == after(between, second)


def test_complements_leave_no_third() -> None:
    assert are_complements("Open", "closed")
    assert are_complements("unhappy", "happy")
    assert not are_complements("old", "young")
    assert not are_complements("responsible", "irresponsible")
