"""Prompts in evaluation: queries and documents of retrieval behind theirs, as in sentence-transformers."""

import json

import pytest
from sentence_transformers import SentenceTransformer

from eval.command import main
from eval.protocols.retrieval import score
from eval.tasks.beir import read_beir
from tests.helpers.beir_folders import write_beir
from tests.helpers.small_encoders import with_prompts

PROMPTS = {"query": "the dog runs : ", "document": "town "}


@pytest.fixture
def prompted(old_layout, tmp_path):
    return with_prompts(old_layout, tmp_path / "prompted", PROMPTS)


def test_queries_and_documents_have_prompts_of_their_own(prompted, tmp_path, capsys):
    beir, out = write_beir(tmp_path / "made-up"), tmp_path / "results"
    common = [str(prompted), "--beir", str(beir), "--out", str(out), "--no-plots", "--json"]
    library = SentenceTransformer(str(prompted), device="cpu")

    def theirs(name):
        return lambda texts: library.encode(list(texts), prompt_name=name)

    found = []
    for options, document, query in [
        ([], None, None),
        (["--prompt-name", "document"], "document", "document"),
        (["--prompt-name", "document", "--query-prompt-name", "query"], "document", "query"),
    ]:
        main([*common, *options])
        capsys.readouterr()
        folder = max(out.glob("prompted/*"), key=lambda path: path.stat().st_mtime_ns)
        settings = json.loads((folder / "encoder.json").read_text())
        assert (settings.get("prompt_name"), settings.get("query_prompt_name")) == (
            document,
            query if query != document else None,
        )
        (result,) = (json.loads(path.read_text()) for path in folder.glob("made-up*.json"))
        expected = score(read_beir(beir), theirs(document), queries_by=theirs(query))
        assert result["scores"]["test"][0]["ndcg_at_10"] == pytest.approx(
            expected.scores["ndcg_at_10"], abs=1e-6
        )
        found.append(folder)
    assert len(set(found)) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prompt-name", "passage"], "has the prompts query, document; name one"),
        (["--query-prompt-name", "query", "--whiten"], "--query-prompt-name query: goes without --whiten"),
    ],
)
def test_what_makes_no_sense_is_refused(prompted, tmp_path, options, message, capsys):
    beir = write_beir(tmp_path / "made-up")
    with pytest.raises(SystemExit):
        main([str(prompted), "--beir", str(beir), "--out", str(tmp_path / "results"), *options])
    assert message in capsys.readouterr().err
