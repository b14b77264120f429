"""judge --compare: a judge beside people, against scikit-learn; false negatives in the report."""

import json

import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score

import augment_cli
from augment_cli import api
from augment_cli.errors import UsageError
from augment_cli.reports.comparison import compare
from augment_cli.reports.verdicts import Judgement, agreement, read
from augment_cli.store.store import Store
from tests.helpers.faulty_server import serving

ROWS = 40
VERDICTS = ("same", "other", "neither", "unsure", "same")


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Pairs that came along, a stage of them, and a judge's verdicts by their numbers."""
    folder = tmp_path_factory.mktemp("judged")
    rows = [{"text": f"the heron number {n} waits", "other": f"heron {n} is waiting"} for n in range(ROWS)]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = folder / "store"
    api.ingest_corpus(folder / "in.jsonl", store, text_column="text", negative_columns=["other"])

    def behave(handler, number, body):
        place = int(body["messages"][-1]["content"].split()[4])
        handler.answer(VERDICTS[place % 5])

    with serving(behave) as server:
        chosen = {"template": "judge", "of": "other", "endpoint": server.endpoint}
        api.llm_paraphrase(store, model="small", **chosen)
    return store


def people(store, makers=("rephrase", "antonym")):
    """Judgements in good and wrong, of a positive and of a negative by turns, some that say nothing."""
    texts = [Store.open(store).read(stage)["text"].to_pylist() for stage in ("corpus", "other")]
    for row, (original, text) in enumerate(zip(*texts, strict=True)):
        verdict = ("good", "wrong", "good", "awkward")[row // 3 % 4]
        yield Judgement(makers[row % 2], row, verdict, original=original, text=text)


def test_agreement_is_what_scikit_learn_says(judged):
    found = agreement(Store.open(judged), "llm-judge", people(judged))
    mine, theirs, pairs = [], [], 0
    for row, one in enumerate(people(judged)):
        if one.verdict == "awkward":
            continue
        pairs += 1
        is_same = (one.verdict == "good") == (one.stage == "rephrase")
        if VERDICTS[row % 5] != "unsure":
            mine.append(is_same)
            theirs.append(VERDICTS[row % 5] == "same")
    assert found["pairs"] == pairs and found["of"] == "other"
    assert found["accuracy"] == pytest.approx(accuracy_score(mine, theirs))
    assert found["kappa"] == pytest.approx(cohen_kappa_score(mine, theirs))
    assert found["accuracy_low"] < found["accuracy"] < found["accuracy_high"]
    assert sum(row["none"] for row in found["confusion"].values()) == pairs - len(mine)
    assert found["left_out"] == {"unclear": ROWS - pairs, "not_in_stage": 0}


def test_judgements_that_the_judge_did_not_see_are_counted(judged):
    others = [
        Judgement("rephrase", 0, "good", original="a", text="b"),
        Judgement("rephrase", 0, "wrong"),
        Judgement("rephrase", 0, None, original="a", text="b"),
        Judgement("hypernym", 0, "good", original="a", text="b"),  # of a label that says nothing of it
    ]
    found = agreement(Store.open(judged), "llm-judge", others)
    assert found["left_out"] == {"unclear": 2, "not_in_stage": 2}
    assert found["pairs"] == 0 and found["accuracy"] is found["kappa"] is None


def test_a_judge_that_always_says_the_same_has_no_kappa_where_people_do(judged):
    alike = [one for row, one in enumerate(people(judged)) if VERDICTS[row % 5] == "same"]
    for one in alike:
        one.stage, one.verdict = "rephrase", "good"
    found = agreement(Store.open(judged), "llm-judge", alike)
    assert found["accuracy"] == 1.0 and found["kappa"] is None


def test_the_command_reads_a_folder_of_files(judged, command, tmp_path):
    (tmp_path / "read").mkdir()
    ones = list(people(judged))
    for name, some in (("a", ones[:20]), ("b", ones[20:])):
        lines = [
            {field: getattr(one, field) for field in ("stage", "row_id", "verdict", "original", "text")}
            for one in some
        ]
        (tmp_path / "read" / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(read([tmp_path / "read"])) == ROWS
    words = ("judge", "--read", tmp_path / "read", "--compare", "llm-judge", "--store", judged)
    shown, as_json = command(*words), command(*words, "--json")
    assert shown.returncode == 0, shown.stderr
    found = json.loads(as_json.stdout)
    assert found == augment_cli.judge(store=judged, read=[tmp_path / "read"], compare="llm-judge")[0]
    assert f"agreement {found['accuracy']:.0%}" in shown.stdout and "kappa" in shown.stdout
    with pytest.raises(UsageError, match="has no verdicts of a judge"):
        augment_cli.judge(store=judged, read=[tmp_path / "read"], compare="other")
    result = command("judge", "--compare", "llm-judge", "--store", judged)
    assert result.returncode == 2 and "--compare: name the files" in result.stderr


def test_the_report_shows_what_the_judge_called_false_negatives(judged, tmp_path):
    result = augment_cli.report(judged, tmp_path / "report.html")
    same = VERDICTS.count("same") * ROWS // 5
    labelled = ROWS - ROWS // 5
    assert result["notices"][0] == (
        f"llm-judge: the judge calls {same} of {labelled} texts of other the same as their originals: "
        "false negatives"
    )
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Called the same by the judge" in page and f"Label: same {same}, other 8, neither 8." in page
    assert "augment-cli read answers-judge" in page


def test_texts_of_a_model_are_compared_like_others(judged):
    (entry,) = compare(Store.open(judged), ["llm-judge"])
    assert entry["label"] == "neither" and entry["sentences_per_second"] is None
