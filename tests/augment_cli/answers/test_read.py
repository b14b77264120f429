"""read: what an answer is taken to say, and every reason why it is turned down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli import api
from augment_cli.answers.read import parsed
from augment_cli.answers.templates import find_template, shipped_templates
from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.reports.soundness import verify
from augment_cli.store.store import Store
from tests.helpers.faulty_server import last_text, serving

ORIGINAL = "The old ferry crosses the river twice a day."
WRITTEN = "Twice a day the old ferry goes over the river."
REASONS = [
    (WRITTEN, "stop", None),
    (f"“{WRITTEN}”\n", "stop", None),
    (f"Sentence: {WRITTEN}", "stop", None),
    (f"Here is a paraphrase:\n\n{WRITTEN}", "stop", None),
    (f"```text\n{WRITTEN}\n```", "stop", None),
    (f"<think>Hm. Two lines\nof thought.</think>\n{WRITTEN}", "stop", None),
    (f"{WRITTEN}\nOr: it goes twice.", "stop", "not_parsable"),
    ("", "stop", "empty_output"),
    ("<think>So the ferry", "length", "truncated_output"),
    (WRITTEN, "length", "truncated_output"),
    (WRITTEN, "content_filter", "refused"),
    ("I'm sorry, but I cannot help with that.", "stop", "refused"),
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
    ("[" * 100_000, "stop", "not_parsable"),
    (f'{{"answer": "{WRITTEN}', "length", "truncated_output"),
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
        ("judge", "same", "same", None),
        ("judge", " **Other.**", "other", None),
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
