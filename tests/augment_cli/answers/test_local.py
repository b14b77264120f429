"""generate in this process: what small random models answer, whatever else is in the batch."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from augment_cli import api
from augment_cli.answers import local
from augment_cli.answers.templates import find_template
from augment_cli.contract.generate_parameters import GenerateParameters
from augment_cli.errors import MissingError, UsageError
from augment_cli.neural.loading import load_tokenizer, load_weights
from augment_cli.neural.sampling import KeyedNoise
from augment_cli.reports.soundness import command_for, verify
from augment_cli.store.store import Store
from tests.helpers.tiny_models import SENTENCES

ROWS = 6


def ask(store, folder, **more):
    chosen = {"engine": "process", "max_tokens": 12, "precision": "fp32"} | more
    return api.generate(store, model=str(folder), **chosen)


def texts(store, stage="answers-paraphrase"):
    return Store.open(store).read(stage)["answer"].to_pylist()


def slowly(folder, kind, prompts, first, **options):
    tokenizer = load_tokenizer(Path(folder))
    model = load_weights(Path(folder), kind, torch.float32, "cpu")
    found = []
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt", **options)["input_ids"]
        with torch.inference_mode():
            longest = 12 + (first if first is not None else ids.shape[1])
            whole = model.generate(
                ids, attention_mask=torch.ones_like(ids), max_length=longest, do_sample=False, num_beams=1
            )
        own = whole[0][first if first is not None else ids.shape[1] :]
        found.append((tokenizer.decode(own, skip_special_tokens=True), ids.shape[1], len(own)))
    return found


def as_chat(text, sentence):
    messages = find_template(text).messages(sentence)
    said = "".join(f"<{one['role']}>{one['content']}</s>" for one in messages)
    return f"{said}<assistant>"


def test_a_causal_model_answers_as_it_does_one_at_a_time(store, answers, model):
    folder = model("llama")
    ask(store, folder, temperature=0.0)
    prompts = [as_chat("paraphrase", sentence) for sentence in SENTENCES[:ROWS]]
    wanted = slowly(folder, "AutoModelForCausalLM", prompts, None, add_special_tokens=False)
    rows = answers()
    assert [row["answer"] for row in rows] == [text for text, _, _ in wanted]
    assert [row["prompt_tokens"] for row in rows] == [count for _, count, _ in wanted]
    assert [row["completion_tokens"] for row in rows] == [count for _, _, count in wanted]
    assert {row["finish"] for row in rows} <= {"stop", "length"}
    for row in rows:
        assert (row["finish"] == "length") == (row["completion_tokens"] == 12 and row["finish"] != "stop")
    assert not verify(Store.open(store))
    kept = Store.open(store).stage("answers-paraphrase").settings
    assert str(folder) not in json.dumps(kept) and kept["parameters"]["model"] == "llama"
    words = " ".join(command_for(Store.open(store), "answers-paraphrase"))
    assert "--model FOLDER" in words and "--engine process" in words and "--precision fp32" in words


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_a_sequence_to_sequence_model_reads_the_conversation_as_text(store, answers, model, kind, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('version = 1\nuser = "Say: {text}"\n')
    folder = model(kind)
    ask(store, folder, template=str(own), temperature=0.0)
    wanted = slowly(
        folder, "AutoModelForSeq2SeqLM", [f"Say: {sentence}\n" for sentence in SENTENCES[:ROWS]], 1
    )
    rows = answers("answers-own")
    assert [row["answer"] for row in rows if row["error"] is None] == [
        text for row, (text, _, _) in zip(rows, wanted, strict=True) if row["error"] is None
    ]
    assert sum(row["error"] is None for row in rows) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama", "llama-plain", "t5"])
def test_a_draw_belongs_to_its_row_whatever_else_is_in_the_batch(store, model, kind):
    ask(store, model(kind), name="alone", batch_tokens=1, temperature=1.0, top_p=0.9)
    ask(store, model(kind), name="together", batch_tokens=100_000, temperature=1.0, top_p=0.9)
    assert texts(store, "alone") == texts(store, "together")
    assert len(set(texts(store, "alone"))) > 1
    ask(store, model(kind), name="other", temperature=1.0, top_p=0.9, seed=1)
    assert texts(store, "other") != texts(store, "alone")


def test_draws_have_the_distribution_they_are_of():
    rows, share = 20_000, torch.tensor([0.6, 0.3, 0.1])
    scores = share.log().expand(rows, 3)
    tokens = torch.zeros(rows, 4, dtype=torch.long)
    drawn = KeyedNoise(7, np.arange(rows), 4, 1.0, 1.0)(tokens, scores).argmax(dim=1)
    found = torch.bincount(drawn, minlength=3) / rows
    assert torch.allclose(found, share, atol=0.02)
    cut = KeyedNoise(7, np.arange(rows), 4, 1.0, 0.85)(tokens, scores).argmax(dim=1)
    assert set(cut.tolist()) == {0, 1}
    cold = KeyedNoise(7, np.arange(rows), 4, 0.1, 1.0)(tokens, scores).argmax(dim=1)
    assert (cold == 0).float().mean() > 0.99
    later = KeyedNoise(7, np.arange(rows), 3, 1.0, 1.0)(tokens, scores).argmax(dim=1)
    assert (later != drawn).any()


def test_what_is_too_long_for_the_model_has_its_reason_and_stops_nothing(store, answers, model):
    ask(store, model("llama"), max_tokens=1020, max_failures=0.0, name="all")
    assert all("context length" in row["error"] for row in answers("all"))
    api.read_answers(store, "all", name="none")
    assert {row["reason"] for row in Store.open(store).read("none").to_pylist()} == {"input_too_long"}


def test_a_run_that_was_ended_goes_on_with_the_rows_that_are_missing(store, model, monkeypatch):
    batches, write, most = [], local.LocalModel._write, [3]

    def counted(self, rows, ids, places):
        if len(batches) == most[0]:
            raise KeyboardInterrupt
        batches.append(places)
        return write(self, rows, ids, places)

    monkeypatch.setattr(local.LocalModel, "_write", counted)
    with pytest.raises(KeyboardInterrupt):
        ask(store, model("llama"), batch_tokens=1)
    most[0] = ROWS
    ask(store, model("llama"), batch_tokens=1)
    assert len(batches) == ROWS  # three, and the others
    ask(store, model("llama"), batch_tokens=7)  # how fast is no setting, and nothing is asked
    assert len(batches) == ROWS
    monkeypatch.undo()
    ask(store, model("llama"), name="whole")
    assert texts(store) == texts(store, "whole")


def test_a_batch_that_memory_does_not_hold_is_cut(store, answers, model, monkeypatch):
    write, cut = local.LocalModel._write, []

    def narrow(self, rows, ids, places):
        if len(places) > 1:
            cut.append(len(places))
            raise MemoryError
        return write(self, rows, ids, places)

    monkeypatch.setattr(local.LocalModel, "_write", narrow)
    ask(store, model("llama"), batch_tokens=100_000)
    assert cut and all(row["error"] is None for row in answers())


def test_without_a_template_an_answer_ends_with_its_block(store, answers, model, monkeypatch):
    asked = local._as_text(find_template("paraphrase").messages("The river flows."))
    assert asked.endswith("Sentence: The river flows.\n")
    assert asked.count("\n\n") == 3  # behind what the system says, and each example
    monkeypatch.setattr(local, "_END_OF_TURN", "e")
    ask(store, model("llama-plain"), max_tokens=60)
    rows = answers()
    ended = [row for row in rows if row["finish"] == "stop"]
    assert ended and not any("e" in row["answer"].lstrip() for row in ended)


def test_a_template_that_knows_no_system_gets_it_in_the_first_question(store, answers, tmp_path):
    from tests.helpers.tiny_models import CHAT, make_llama

    strict = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHAT
    folder = make_llama(tmp_path / "strict", strict)
    ask(store, folder, rows=2)
    assert [row["error"] for row in answers()[:2]] == [None, None]
    system, *others = find_template("paraphrase").messages("x")
    joined = local._without_system([system, *others])
    assert [one["role"] for one in joined] == [one["role"] for one in others]
    assert joined[0]["content"] == f"{system['content']}\n\n{others[0]['content']}"


def test_what_cannot_answer_is_refused_before_anything_is_asked(store, model, tmp_path):
    with pytest.raises(UsageError, match="BertModel does not write"):
        ask(store, model("encoder"))
    with pytest.raises(MissingError, match="no such folder"):
        ask(store, tmp_path / "nothing")
    with pytest.raises(UsageError, match="is for servers"):
        GenerateParameters(engine="process", response_format="json_schema")
    assert "answers-paraphrase" not in Store.open(store).stages()
