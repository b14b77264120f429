"""A small made-up retrieval set in BEIR's layout."""

import json

DOCUMENTS = [
    {"_id": "d1", "title": "The river", "text": "flows through the old town"},
    {"_id": "d2", "title": "", "text": "a dog eats food"},
    {"_id": "d10", "text": "the man plays guitar"},
    {"_id": "q3", "title": "", "text": "a blue ball on the street"},
    {"_id": "d4", "title": "Cats", "text": "are small , dogs are not"},
    {"_id": "d5", "title": "", "text": "a dog eats food"},  # the same as d2: their cosines tie
]
QUERIES = [
    {"_id": "q1", "text": "where is the river ?"},
    {"_id": "q2", "text": "what eats food ?"},
    {"_id": "q3", "text": "a blue ball on the street"},  # the id of a document, too
    {"_id": "q4", "text": "nobody judged this"},
]
JUDGEMENTS = [("q1", "d1", 2), ("q1", "d10", 1), ("q1", "d2", 0), ("q2", "d5", 1), ("q3", "d4", 1)]


def write_beir(folder, documents=DOCUMENTS, queries=QUERIES, judgements=JUDGEMENTS):
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    for name, entries in [("corpus", documents), ("queries", queries)]:
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    rows = [("query-id", "corpus-id", "score"), *judgements]
    lines = ("\t".join(map(str, row)) + "\n" for row in rows)
    (folder / "qrels" / "test.tsv").write_text("".join(lines), encoding="utf-8")
    return folder
