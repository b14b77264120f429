"""read and generate in this process: what an answer is taken to say, and what small random models answer."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli import api
from augment_cli.answers import generate, local
from augment_cli.answers.read import parsed
from augment_cli.answers.templates import find_template, shipped_templates
from augment_cli.contract.generate_parameters import GenerateParameters
from augment_cli.contract.reasons import Reason
from augment_cli.errors import MissingError, UsageError
from augment_cli.neural.loading import load_tokenizer, load_weights
from augment_cli.neural.sampling import KeyedNoise
from augment_cli.reports.soundness import command_for, verify
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.faulty_server import last_text, serving
from tests.helpers.tiny_models import SENTENCES

ORIGINAL = "The old ferry crosses the river twice a day."
WRITTEN = "Twice a day the old ferry goes over the river."
REASONS = [
    (WRITTEN, "stop", None),
    (f'"{WRITTEN}"', "stop", None),
    (f"“{WRITTEN}”\n", "stop", None),
    (f"Sentence: {WRITTEN}", "stop", None),
    (f"Here is a paraphrase:\n\n{WRITTEN}", "stop", None),
    (f"```text\n{WRITTEN}\n```", "stop", None),
    (f"<think>Hm. Two lines\nof thought.</think>\n{WRITTEN}", "stop", None),
    (f"{WRITTEN}\nOr: it goes twice.", "stop", "not_parsable"),
    ("", "stop", "empty_output"),
    ("...", "stop", "empty_output"),
    ("<think>So the ferry", "length", "truncated_output"),
    (WRITTEN, "length", "truncated_output"),
    (WRITTEN, "content_filter", "refused"),
    ("I'm sorry, but I cannot help with that.", "stop", "refused"),
    ("As an AI, I have no ferry.", "stop", "refused"),
    ("the OLD ferry crosses the river, twice a day!", "stop", "same_words"),
    ("The ferry goes the ferry goes the ferry goes the ferry goes.", "stop", "looping_output"),
    ("Старый паром ходит дважды в день.", "stop", "wrong_script"),
    (" ".join(f"word{n}" for n in range(60)), "stop", "absurd_length"),
]


JSON_REASONS = [
    (f'{{"answer": "{WRITTEN}"}}', "stop", None),
    (f'```json\n{{"answer": "{WRITTEN}"}}\n```', "stop", None),
    (WRITTEN, "stop", "not_parsable"),
    ('{"answer": 3}', "stop", "not_parsable"),
    ('{"text": "a"}', "stop", "not_parsable"),
    ("[" * 100_000, "stop", "not_parsable"),
    (f'{{"answer": "{WRITTEN}', "length", "truncated_output"),
    ('{"answer": ""}', "stop", "empty_output"),
    ('{"answer": "I cannot help with that."}', "stop", "refused"),
    ("", "stop", "empty_output"),
]


@pytest.mark.parametrize(
    ("answer", "finish", "reason", "as_json"),
    [*((*case, False) for case in REASONS), *((*case, True) for case in JSON_REASONS)],
)
def test_what_a_paraphrase_is_taken_to_say(answer, finish, reason, as_json):
    text, found = parsed(find_template("paraphrase"), ORIGINAL, answer, finish, as_json)
    assert found == reason
    assert reason is not None or text == WRITTEN


@pytest.mark.parametrize(
    ("template", "answer", "said", "reason"),
    [
        ("shorter", "The ferry crosses twice a day.", None, None),
        ("shorter", WRITTEN + " It is old.", None, "other_length"),
        ("longer", "Two times on each day the ferry, which is old, makes its way over it.", None, None),
        ("longer", "The ferry crosses twice.", None, "other_length"),
        ("query", "Query: ferry times", "ferry times", None),
        ("near-miss", "The old ferry crosses the lake twice a day.", None, None),
        ("contradiction", "The old ferry never crosses the river.", None, None),
        ("judge", "same", "same", None),
        ("judge", " **Other.**", "other", None),
        ("judge", '"neither"', "neither", None),
        ("judge", "unsure", "unsure", None),
        ("judge", "The same, I think", None, "not_parsable"),
        ("judge", "same\nother", None, "not_parsable"),
    ],
)
def test_each_template_has_its_length_or_its_choices(template, answer, said, reason):
    text, found = parsed(find_template(template), ORIGINAL, answer, "stop")
    assert found == reason and text == (said or text)


def test_a_judge_under_a_schema_has_its_choices_in_it():
    form = find_template("judge").response_format["json_schema"]["schema"]
    assert form["properties"]["answer"]["enum"] == ["same", "other", "neither", "unsure"]
    assert parsed(find_template("judge"), ORIGINAL, '{"answer": "other"}', "stop", True) == ("other", None)


def test_a_sentence_that_begins_like_a_refusal_may_be_paraphrased():
    original, answer = "I am sorry for the noise.", "I'm sorry it was loud."
    assert parsed(find_template("paraphrase"), original, answer, "stop")[1] is None


@given(
    st.text(),
    st.text(),
    st.sampled_from(["stop", "length", "other", None]),
    st.sampled_from(shipped_templates()),
)
def test_no_answer_is_too_odd_to_be_read(original, answer, finish, template):
    text, reason = parsed(find_template(template), original, answer, finish)
    assert "\n" not in text
    assert reason is None or reason in {*Reason}


@pytest.mark.parametrize("name", shipped_templates())
def test_the_examples_of_a_template_are_read_as_they_are_meant(name):
    template = find_template(name)
    assert template.version == 1 and template.system and len(template.examples) >= 2
    for one in template.examples:
        assert parsed(template, one.text, one.answer, "stop") == (one.answer, None)
    assert template.messages("a {other} b", "c")[-1]["content"].count("{other}") == 1  # is no field of ours


@pytest.fixture
def lines():
    starts = "The river flows.", "The heron waits here.", "A boat leaves now.", "It rains today."
    return [*starts, "The sun sets late."]


@pytest.fixture
def part_rows():
    return 2


def generated(store, replies, text_of=last_text, **more):
    """Answers that go by the beginning of the sentence."""

    def behave(handler, number, body):
        text = text_of(body)
        found = next(reply for start, reply in replies.items() if text.startswith(start))
        handler.answer(found) if isinstance(found, str) else handler.reply(found, 400)

    with serving(behave) as server:
        api.generate(store, endpoint=server.endpoint, model="small", **more)


def texts(store, stage):
    return [(row["text"], row["reason"], row["label"]) for row in Store.open(store).read(stage).to_pylist()]


PARAPHRASES = {
    "The river": "The stream runs.",
    "The heron": "I can't help with that.",
    "A boat": {"error": "This model's maximum context length is 8 tokens"},
    "It": {"error": "odd"},
}


def test_a_stage_of_texts_with_labels_and_reasons(store):
    generated(store, PARAPHRASES, rows=4)
    api.read_answers(store)
    assert texts(store, "llm-paraphrase") == [
        ("The stream runs.", None, "same"),
        (None, "refused", None),
        (None, "input_too_long", None),
        (None, "no_answer", None),
        (None, "beyond_limit", None),
    ]
    opened = Store.open(store)
    assert not verify(opened)
    reasons = [part.statistics["reasons"] for part in opened.stage("llm-paraphrase").parts.values()]
    assert reasons == [{"refused": 1}, {"input_too_long": 1, "no_answer": 1}, {"beyond_limit": 1}]


def test_a_judge_gives_texts_their_labels_and_pack_goes_by_them(store):
    near = {"The river": "The river freezes.", "The heron": "The heron left here.", "": "Nothing happens."}
    generated(store, near, template="near-miss")
    api.read_answers(store, "answers-near-miss")
    assert {label for _, _, label in texts(store, "llm-near-miss")} == {"neither"}
    verdicts = {
        "The river": "other",
        "The heron": "same",
        "A boat": "unsure",
        "It": "neither",
        "": "who knows",
    }

    def first_of(body):
        return body["messages"][-1]["content"].split("\n")[0].removeprefix("First: ")

    generated(store, verdicts, first_of, template="judge", of="llm-near-miss")
    api.read_answers(store, "answers-judge")
    assert texts(store, "llm-judge") == [
        ("The river freezes.", None, "other"),
        ("The heron left here.", None, "same"),
        (None, "unsure", None),
        ("Nothing happens.", None, "neither"),
        (None, "not_parsable", None),
    ]
    assert not verify(Store.open(store))
    api.pack_table(store, positives=["corpus"], negatives=["llm-judge"])
    assert Store.open(store).read("pack").num_rows == 1


@pytest.mark.slow
def test_the_guards_of_paraphrase_are_there_for_who_wants_them(store):
    generated(store, {"The river": "The river flows in 1984.", "": "The sun goes down late."})
    api.read_answers(store, faithful=True)
    assert texts(store, "llm-paraphrase")[0][1] == "name_or_number_changed"
    generated(store, {"": "The sun"}, template="shorter")
    with pytest.raises(UsageError, match="--faithful: is for paraphrases"):
        api.read_answers(store, "answers-shorter", faithful=True)


def test_reading_again_in_another_way_asks_nobody(store, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('version = 1\nuser = "Sentence: {text}"\n[read]\nlabel = "other"\n')
    generated(store, {"": "The stream runs."}, template=str(own))
    with pytest.raises(UsageError, match="there is none"):
        api.read_answers(store, "answers-own")
    api.read_answers(store, "answers-own", template=str(own))
    assert {label for _, _, label in texts(store, "llm-own")} == {"other"}
    own.write_text(own.read_text().replace('"other"', '"same"'))
    api.read_answers(store, "answers-own", template=str(own), overwrite=True)
    assert {label for _, _, label in texts(store, "llm-own")} == {"same"}
    generated(store, {}, template=str(own))  # no server answers any more, and none is asked


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('version = 1\nuser = "Say it"', "lacks {text}"),
        ('version = 1\nuser = "{text} {other}"', "both or neither"),
        ('version = "a"\nuser = "{text}"', "version"),
        ('user = "{text}"', "version"),
        ('version = 1\nuser = "{text}"\nsystm = "x"', "systm"),
        ('version = 1\nuser = "{text}"\n[read]\nlabel = "good"', "good"),
        ("version = ", "not valid TOML"),
        (None, "there is no such file"),
    ],
)
def test_a_file_that_is_no_template_is_refused_in_a_line(tmp_path, text, message):
    path = tmp_path / "own.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=message.replace("{", r"\{")) as found:
        find_template(str(path))
    assert "\n" not in str(found.value)


def test_both_steps_in_one_are_the_same_two_steps(store, command):
    def behave(handler, number, body):
        handler.answer("The stream runs.")

    with serving(behave) as server:
        words = ("--model", "small", "--endpoint", server.endpoint, "--store", store, "--draws", "2")
        result = command("llm-paraphrase", *words)
        assert result.returncode == 0, result.stderr
        assert len(server.requests) == 10
        api.generate(store, model="small", endpoint=server.endpoint, draws=2)
        for answers in ("answers-paraphrase", "answers-paraphrase.1"):
            api.read_answers(store, answers)  # all of it is there, by the same settings
        assert len(server.requests) == 10
        own = store.parent / "own.toml"
        own.write_text('version = 1\nuser = "Sentence: {text}"\n[read]\nlabel = "same"\n')
        api.llm_paraphrase(store, model="small", endpoint=server.endpoint, template=str(own), name="mine")
    assert texts(store, "llm-paraphrase.1")[0] == ("The stream runs.", None, "same")
    assert texts(store, "llm-mine")[0] == ("The stream runs.", None, "same")
    assert not verify(Store.open(store))


ROWS = 6


def ask(store, folder, **more):
    chosen = {"engine": "process", "max_tokens": 12, "precision": "fp32"} | more
    return api.generate(store, model=str(folder), **chosen)


def local_texts(store, stage="answers-paraphrase"):
    return Store.open(store).read(stage)["answer"].to_pylist()


def slowly(folder, kind, prompts, first, **options):
    """What transformers' own greedy search writes, one prompt at a time."""
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


def test_a_sample_is_timed_without_loading_and_changes_no_answer(store, model, monkeypatch, tmp_path):
    folder = str(model("llama"))
    parameters = GenerateParameters(model=folder, engine="process", max_tokens=12, precision="fp32")
    whole = tmp_path / "whole"
    shutil.copytree(store, whole)
    ask(whole, folder)
    load, write = local.load_weights, local.LocalModel._write
    now, asked = [0.0], []

    def slow_load(*arguments):
        now[0] += 100
        return load(*arguments)

    def slow_write(self, rows, ids, places):
        now[0] += len(places)
        asked.extend(rows[place] for place in places)
        return write(self, rows, ids, places)

    with monkeypatch.context() as patched:
        patched.setattr(local.LocalModel, "_write", slow_write)
        patched.setattr(local, "load_weights", slow_load)
        patched.setattr(generate, "time", SimpleNamespace(monotonic=lambda: now[0]))
        with Session(store) as session:
            stage, numbers = session.sample(parameters, 3)
        ask(store, folder)
    assert (stage, numbers["asked"], numbers["requests"]) == ("answers-paraphrase", 3, ROWS - 3)
    assert numbers["seconds"] == numbers["seconds_left"] == 3
    assert sorted(asked) == list(range(ROWS))
    assert local_texts(store) == local_texts(whole)


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
    assert local_texts(store, "alone") == local_texts(store, "together")
    assert len(set(local_texts(store, "alone"))) > 1
    ask(store, model(kind), name="other", temperature=1.0, top_p=0.9, seed=1)
    assert local_texts(store, "other") != local_texts(store, "alone")


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
    assert local_texts(store) == local_texts(store, "whole")


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


def test_half_the_precision_is_a_setting(store, model):
    ask(store, model("llama"), precision="bf16")
    settings = Store.open(store).stage("answers-paraphrase").settings
    assert settings["parameters"]["precision"] == "bf16" and all(local_texts(store))


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
