"""The reading of retrieval sets that are right, incomplete or damaged."""

import pytest

from augment_cli.errors import BadInputError, MissingError, UsageError
from eval.tasks.beir import read_beir, read_beir_folders
from tests.helpers.beir_folders import DOCUMENTS, JUDGEMENTS, QUERIES, write_beir


def test_documents_queries_and_judgements_are_read_in_their_order(tmp_path):
    table = read_beir(write_beir(tmp_path / "toy set"))
    assert (table.task.name, table.task.title, table.task.metric) == ("toy-set", "toy set", "ndcg_at_10")
    assert table.select("id", "corpus") == ["d1", "d2", "d10", "q3", "d4", "d5"]
    assert table.texts("corpus")[:3] == [
        "The river flows through the old town",
        "a dog eats food",
        "the man plays guitar",
    ]
    assert table.select("id", "queries") == ["q1", "q2", "q3"]  # q4 is not judged
    assert table.relevance["q1"] == {"d1": 2, "d10": 1, "d2": 0}
    assert table.notes == ()
    assert table.task.counts == {"corpus": 6, "queries": 3}


def test_the_digest_is_that_of_all_three_files(tmp_path):
    first = read_beir(write_beir(tmp_path / "a")).sha256
    assert first == read_beir(write_beir(tmp_path / "b")).sha256
    others = [
        read_beir(write_beir(tmp_path / "c", documents=DOCUMENTS[:-1])),
        read_beir(write_beir(tmp_path / "d", queries=QUERIES[:-1])),
        read_beir(write_beir(tmp_path / "e", judgements=JUDGEMENTS[:-1])),
    ]
    assert len({first, *(table.sha256 for table in others)}) == 4


def test_what_is_odd_is_taken_with_a_note(tmp_path):
    """Judged documents that are gone, queries without a relevant one, repetitions, ids that are numbers."""
    judgements = [*JUDGEMENTS, ("q2", "gone", 1), ("q4", "d1", 0)]
    notes = read_beir(write_beir(tmp_path / "odd", judgements=judgements)).notes
    assert [note.split(" ", 2)[:2] for note in notes] == [["1", "judged"], ["1", "queries"]]
    whole = read_beir(write_beir(tmp_path / "a"))
    table = read_beir(write_beir(tmp_path / "b", judgements=[*JUDGEMENTS, JUDGEMENTS[0]]))
    assert table.relevance == whole.relevance
    assert table.notes == ("1 judgements are repeated, and count once",)
    text = "one\u2028two\u0085three"  # separators within a text do not end a line
    documents = [{"_id": 1, "text": text}, {"_id": 22, "text": "two"}]
    folder = write_beir(tmp_path / "c", documents, [{"_id": 7, "text": "seven"}], [(7, 22, 1)])
    numbered = read_beir(folder)
    assert numbered.texts("corpus") == [text, "two"]
    assert numbered.select("id", "corpus") == ["1", "22"] and numbered.relevance == {"7": {"22": 1}}
    assert numbered.notes == (
        "2 ids in corpus.jsonl are numbers, taken as text",
        "1 ids in queries.jsonl are numbers, taken as text",
    )


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_missing_file_is_named(tmp_path, name):
    (write_beir(tmp_path) / name).unlink()
    with pytest.raises(MissingError, match=f"{name} does not exist; a folder in BEIR's layout holds"):
        read_beir(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.jsonl", "{", r"corpus\.jsonl, line 1: not valid JSON"),
        ("corpus.jsonl", '{"_id": true, "text": "x"}', r"corpus\.jsonl, line 1: should be an object"),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n' * 2, "line 2: the id 'a' comes a second time"),
        ("corpus.jsonl", "\n", "has no line"),
        ("corpus.jsonl", b"\xff", "is not UTF-8"),
        ("queries.jsonl", '{"_id": "q1"}', r"queries\.jsonl, line 1: should be an object"),
        ("queries.jsonl", '{"_id": "other", "text": "x"}', r"query 'q1' is not in queries\.jsonl \(3"),
        ("qrels/test.tsv", "q1\td1\n", r"test\.tsv, line 1: should be query id, document id and a whole"),
        (
            "qrels/test.tsv",
            "q1\td1\t1\nq1\td1\t0\n",
            "line 2: query 'q1' and document 'd1' come a second time, with another grade",
        ),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "has no judgement"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, name, content, message):
    path = write_beir(tmp_path) / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInputError, match=message):
        read_beir(tmp_path)


def test_two_sets_need_two_names(tmp_path):
    folders = [write_beir(tmp_path / "a" / "toy"), write_beir(tmp_path / "b" / "toy")]
    with pytest.raises(UsageError, match="there is another task 'toy'; give the folder another name"):
        read_beir_folders(folders, [])
    with pytest.raises(UsageError, match="there is another task 'toy'"):
        read_beir_folders(folders[:1], ["sts12", "toy"])
    assert [table.task.name for table in read_beir_folders(folders[:1], ["sts12"])] == ["toy"]
