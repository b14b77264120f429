"""Judging: samples, files of verdicts, counts with Wilson's interval, a judge beside people."""

import dataclasses
import json

import msgspec
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, cohen_kappa_score

import augment_cli
from augment_cli import api, augmentations
from augment_cli.augmentations.una.una import UNA
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, UsageError
from augment_cli.reports import verdicts
from augment_cli.reports.comparison import compare
from augment_cli.reports.verdicts import Judgement, agreement, read, read_elsewhere
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.faulty_server import serving


@pytest.mark.parametrize(("successes", "count"), [(0, 30), (1, 30), (15, 30), (30, 30), (0, 1), (7, 400)])
def test_wilson_is_scipys(successes, count):
    expected = stats.binomtest(successes, count).proportion_ci(method="wilson")
    assert verdicts.wilson(successes, count) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_sample_is_of_changed_rows_and_the_same_for_a_seed(store):
    some = verdicts.sample(store, "una", 5, seed=3)
    texts, originals = (store.read(stage)["text"].to_pylist() for stage in ("una", "corpus"))
    assert len({one.row_id for one in some}) == 5
    for one in some:
        assert (one.text, one.original) == (texts[one.row_id], originals[one.row_id])
        assert one.text is not None and one.verdict is None and one.version == UNA.version
        assert one.store == store.stage("corpus").settings["fingerprint"]
    assert verdicts.sample(store, "una", 5, seed=3) == some != verdicts.sample(store, "una", 5, seed=4)
    assert len(verdicts.sample(store, "una", 10**6)) == sum(text is not None for text in texts)
    with pytest.raises(UsageError, match="'corpus' is not an augmentation's stage"):
        verdicts.sample(store, "corpus", 5)


def judged(**changes):
    one = Judgement(store="s", stage="una", row_id=1, verdict="good", note="", version=UNA.version)
    return msgspec.structs.replace(one, **changes)


def test_what_is_written_is_read_and_a_file_is_never_overwritten(tmp_path):
    path = tmp_path / "file.jsonl"
    some = [judged(), judged(row_id=2, verdict=None, note="Ü", original="a\nb", text="c")]
    verdicts.write(path, some)
    assert verdicts.read([path]) == some
    with pytest.raises(UsageError, match="is there already"):
        verdicts.write(path, [])
    assert verdicts.read([path]) == some


@pytest.mark.parametrize(
    "line", ['{"store": "s"}', "no JSON", '{"store":"s","stage":"una","row_id":1,"verdict":"bad","note":""}']
)
def test_a_line_that_is_no_judgement_is_refused_with_its_place(tmp_path, line):
    path = tmp_path / "file.jsonl"
    path.write_text('{"store":"s","stage":"una","row_id":1,"verdict":"good","note":""}\n' + line + "\n")
    with pytest.raises(BadInputError, match=r"file\.jsonl, line 2: .*good, awkward, wrong"):
        verdicts.read([path])


def test_what_is_too_deep_or_is_not_there_is_refused(tmp_path):
    (tmp_path / "deep").write_text('{"x":' * 100_000 + "1" + "}" * 100_000)
    with pytest.raises(BadInputError, match="deep, line 1: "):
        verdicts.read([tmp_path / "deep"])
    with pytest.raises(BadInputError, match="nowhere: cannot be read"):
        verdicts.read([tmp_path / "nowhere"])


def test_what_the_report_page_saves_is_read(tmp_path):
    path = tmp_path / "judged.json"
    one = {"stage": "una", "fingerprint": "f", "row_id": 7, "verdict": "wrong"}
    path.write_text(json.dumps({"corpus": "c", "judgements": [one]}, indent=1), "utf-8")
    (read,) = verdicts.read([path])
    assert (read.row_id, read.verdict, read.note, read.fingerprint) == (7, "wrong", "", "f")


def test_counts_by_stage():
    read = enumerate(("good", "wrong", "wrong", "awkward", None))
    some = [judged(verdict=verdict, row_id=number) for number, verdict in read]
    (una, other) = verdicts.summary([*some, judged(stage="una-hard", augmentation="una")])
    counts = {"read": 4, "good": 1, "awkward": 1, "wrong": 2, "unread": 1}
    assert una.items() >= counts.items()
    assert (una["wrong_low"], una["wrong_high"]) == verdicts.wilson(2, 4)
    assert other["stage"] == "una-hard" and other["augmentation"] == "una" and una["stale"] is None
    (twice,) = verdicts.summary([*some, *(msgspec.structs.replace(one, judge="b") for one in some)])
    assert (twice["wrong"], twice["wrong_high"]) == (4, una["wrong_high"])
    (unread,) = verdicts.summary([judged(verdict=None)])
    assert unread["wrong_low"] is None


def test_judgements_of_another_version_or_word_list_are_stale(monkeypatch):
    lists = verdicts._resources_of("synonym")
    assert "function_words" in lists
    one = judged(stage="synonym", version=augmentations.get("synonym").version, resources=lists)
    assert verdicts.why_stale(one) is None
    other = msgspec.structs.replace(one, resources=lists | {"function_words": "0" * 12})
    assert verdicts.why_stale(other) == "changed since: function_words"
    assert "not noted" in verdicts.why_stale(judged(version=None))
    assert "no augmentation" in verdicts.why_stale(judged(stage="gone"))
    monkeypatch.setattr("augment_cli.augmentations.una.una.UNA", dataclasses.replace(UNA, version=99))
    assert verdicts.why_stale(judged()) == f"version {UNA.version} was read, now 99"


def test_the_command_samples_and_counts(made_store, tmp_path, command):
    path = tmp_path / "una.jsonl"
    made = command("judge", "una", "-n", "4", "--store", made_store, "--write", path)
    assert made.returncode == 0 and "4 rows to read" in made.stdout
    assert "good, awkward or wrong" in made.stdout
    assert "of a negative, good says something else" in made.stdout
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps(line | {"verdict": "wrong"}) + "\n" for line in lines), "utf-8")
    (entry,) = json.loads(command("judge", "--read", path, "--json").stdout)
    assert entry["wrong"] == entry["read"] == 4 and entry["stale"] is None
    assert "51% – 100%" in command("judge", "--read", path).stdout
    for arguments in ([], ["una", "--read", path], ["--read", path, "--write", "x"]):
        assert command("judge", *arguments).returncode == 2


@pytest.mark.parametrize(
    ("place", "words"),
    [("nowhere/x.jsonl", "is not a folder; make it"), ("{store}/x.jsonl", "lies in the store")],
)
def test_a_sample_is_not_written_where_it_does_harm(made_store, tmp_path, command, place, words):
    path = tmp_path / place.format(store=made_store)
    refused = command("judge", "una", "--store", made_store, "--write", path)
    assert refused.returncode == 2 and words in refused.stderr


def test_a_verdict_counts_once_however_often_it_is_read(made_store, tmp_path, command):
    some = [judged(row_id=row, verdict="wrong" if row else "good") for row in range(8)]
    verdicts.write(tmp_path / "a.jsonl", some)
    verdicts.write(tmp_path / "a (1).jsonl", [*some[:4], judged(row_id=9, verdict=None)])
    files = ["a.jsonl", "./a.jsonl", "a (1).jsonl", "."]
    (una,) = verdicts.summary(verdicts.read([tmp_path / name for name in files]))
    assert (una["read"], una["good"], una["wrong"], una["unread"]) == (8, 1, 7, 1)
    words = [word for name in files for word in ("--read", tmp_path / name)]
    said = command("judge", *words)
    assert said.stderr == "25 of the verdicts are there more than once, and count once\n"
    # Another verdict, or another reader, is another judgement; nobody's is none beside somebody's.
    others = [judged(), judged(verdict="wrong"), judged(judge="b"), judged(verdict=None)]
    verdicts.write(tmp_path / "others.jsonl", others)
    assert verdicts.read([tmp_path / "others.jsonl"]) == others[:3]


@pytest.mark.parametrize("forged", [{"row_id": 10**6}, {"row_id": "unchanged"}, {"text": "Else."}])
def test_a_row_that_the_store_does_not_have_is_refused(store, tmp_path, command, forged):
    texts = store.read("una")["text"].to_pylist()
    if forged.get("row_id") == "unchanged":
        forged = {"row_id": texts.index(None)} if None in texts else {"row_id": len(texts)}
    real, other = verdicts.sample(store, "una", 2)
    verdicts.write(tmp_path / "a.jsonl", [real, msgspec.structs.replace(other, **forged)])
    refused = command("judge", "--read", tmp_path / "a.jsonl", "--store", store.path)
    assert refused.returncode == 4 and "is not in" in refused.stderr and "una" in refused.stderr
    nobody = [Judgement("una", 1, "good"), Judgement("una", 10**6, "good")]
    assert read_elsewhere(store, nobody) == {"una": "1 of 2 rows are not among its changed ones"}
    (tmp_path / "b.jsonl").write_text('{"stage": "una", "row_id": -1, "verdict": "good"}')
    with pytest.raises(BadInputError, match=r"line 1: .*>= 0"):
        verdicts.read([tmp_path / "b.jsonl"])


def changed(judgements, **values):
    return [msgspec.structs.replace(one, **values) for one in judgements]


def test_what_was_read_in_this_store_is_its_own(store):
    judgements = verdicts.sample(store, "una", 5)
    assert read_elsewhere(store, judgements) == {}
    # A page notes the first digits, and no corpus; a file of long ago notes nothing.
    noted = {"fingerprint": judgements[0].fingerprint[:12], "store": ""}
    assert read_elsewhere(store, changed(judgements, **noted)) == {}
    assert read_elsewhere(store, [Judgement("una", 1, "good"), Judgement("gone", 1, "good")]) == {}
    # After an append the corpus has another fingerprint, and the rows are the same.
    assert read_elsewhere(store, changed(judgements, store="f" * 64)) == {}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"stage": "gone"}, "there is no such stage"),
        ({"fingerprint": "f" * 12, "text": None}, "5 of 5 rows were read with another fingerprint"),
        ({"store": "f", "original": "Another sentence."}, "5 of 5 rows read otherwise there"),
        ({"store": "f", "row_id": 10**6}, "5 of 5 rows read otherwise there"),
    ],
)
def test_what_was_read_elsewhere_is_said(store, values, why):
    judgements = changed(verdicts.sample(store, "una", 5), **values)
    assert read_elsewhere(store, judgements) == {judgements[0].stage: why}


def test_a_stage_that_was_made_anew_is_another_and_the_command_warns(store, tmp_path, command):
    verdicts.write(tmp_path / "una.jsonl", verdicts.sample(store, "una", 5))
    words = ("judge", "--read", tmp_path / "una.jsonl", "--store", store.path)
    assert command(*words).stderr == ""
    augment_cli.remove("una", store, with_descendants=True)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("una", radius=4, seed=7))
    assert list(read_elsewhere(Store.open(store.path), verdicts.read([tmp_path / "una.jsonl"]))) == ["una"]
    done = command(*words)
    assert done.returncode == 0 and "Warning: una was read elsewhere than in" in done.stderr


ROWS = 40
VERDICTS = ("same", "other", "neither", "unsure", "same")


@pytest.fixture(scope="module")
def judged_by_both(tmp_path_factory):
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


def test_agreement_is_what_scikit_learn_says(judged_by_both):
    found = agreement(Store.open(judged_by_both), "llm-judge", people(judged_by_both))
    mine, theirs, pairs = [], [], 0
    for row, one in enumerate(people(judged_by_both)):
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


def test_judgements_that_the_judge_did_not_see_are_counted(judged_by_both):
    others = [
        Judgement("rephrase", 0, "good", original="a", text="b"),
        Judgement("rephrase", 0, "wrong"),
        Judgement("rephrase", 0, None, original="a", text="b"),
        Judgement("hypernym", 0, "good", original="a", text="b"),  # of a label that says nothing of it
    ]
    found = agreement(Store.open(judged_by_both), "llm-judge", others)
    assert found["left_out"] == {"unclear": 2, "not_in_stage": 2}
    assert found["pairs"] == 0 and found["accuracy"] is found["kappa"] is None


def test_the_command_reads_a_folder_of_files(judged_by_both, command, tmp_path):
    (tmp_path / "read").mkdir()
    ones = list(people(judged_by_both))
    for name, some in (("a", ones[:20]), ("b", ones[20:])):
        verdicts.write(tmp_path / "read" / f"{name}.jsonl", some)
    assert len(read([tmp_path / "read"])) == ROWS
    words = ("judge", "--read", tmp_path / "read", "--compare", "llm-judge", "--store", judged_by_both)
    shown, as_json = command(*words), command(*words, "--json")
    assert shown.returncode == 0, shown.stderr
    found = json.loads(as_json.stdout)
    assert found == augment_cli.judge(store=judged_by_both, read=[tmp_path / "read"], compare="llm-judge")[0]
    assert f"agreement {found['accuracy']:.0%}" in shown.stdout and "kappa" in shown.stdout
    with pytest.raises(UsageError, match="read="):
        augment_cli.judge()
    with pytest.raises(UsageError, match="has no verdicts of a judge"):
        augment_cli.judge(store=judged_by_both, read=[tmp_path / "read"], compare="other")
    result = command("judge", "--compare", "llm-judge", "--store", judged_by_both)
    assert result.returncode == 2 and "--compare: name the files" in result.stderr


def test_the_report_shows_what_the_judge_called_false_negatives(judged_by_both, tmp_path):
    result = augment_cli.report(judged_by_both, tmp_path / "report.html")
    same = VERDICTS.count("same") * ROWS // 5
    labelled = ROWS - ROWS // 5
    assert result["notices"][0] == (
        f"llm-judge: the judge calls {same} of {labelled} texts of other the same as their originals: "
        "false negatives"
    )
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Called the same by the judge" in page and f"Label: same {same}, other 8, neither 8." in page
    assert "augment-cli read answers-judge" in page
    assert compare(Store.open(judged_by_both))[-1]["sentences_per_second"] is None  # others made the texts
