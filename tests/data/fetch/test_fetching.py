"""Fetching and converting, against a server on the loopback interface only."""

import csv
import gzip
import io
import json
import re

import pytest

from augment_cli.errors import BadInputError, IncompleteError, MissingError, UsageError
from data.fetch import READERS, convert, decode, download, fetch, load_sources, main, one_line, split_lines
from eval.tasks import load_registry, read_table
from tests.helpers.file_server import server

__all__ = ["server"]
SOURCES = load_sources()
REGISTRY = load_registry()


def quiet(text):
    pass


def serve(server, target, files):
    """Put the raw files of a source, in their order, under the paths where the fetcher looks for them."""
    paths = [file for part in SOURCES[target].parts for file in part.files]
    server.files.update(zip(paths, files, strict=True))
    return paths


def sts16_originals():
    """Synthetic originals with the published counts, and unscored pairs among them."""
    raw = []
    for count in REGISTRY["sts16"].subsets.values():
        sentences = [f"first {n}\tsecond {n}\tsource\tsource" for n in range(count + 5)]
        gold = ["" if n % 50 == 3 and n < 250 else str(n % 6) for n in range(count + 5)]
        missing = 5 - gold.count("")
        for n in range(missing):
            gold[-1 - n] = ""
        raw += ["\n".join(sentences).encode() + b"\n", "\n".join(gold).encode() + b"\n"]
    return raw


def test_sts16_is_fetched_converted_counted_and_recorded(server, tmp_path):
    paths = serve(server, "sts/sts16.tsv.gz", sts16_originals())
    said = []
    assert fetch(tmp_path, ["sts16"], host=server.host, say=said.append) == ["sts/sts16.tsv.gz"]
    table = read_table(REGISTRY["sts16"], tmp_path)
    assert len(table.columns["score"]) == 1186
    assert table.columns["sentence2"][0] == "second 0"
    assert "1,186 rows, counts right, no digest known" in said[0]
    record = json.loads((tmp_path / "fetched.json").read_text())["sts/sts16.tsv.gz"]
    assert record["sha256"] == table.sha256
    assert set(record["originals"]) == {f"{server.host}/{path}" for path in paths}
    assert sorted(server.asked) == sorted(paths)
    before = (tmp_path / "sts" / "sts16.tsv.gz").read_bytes()
    assert fetch(tmp_path, ["sts16"], host=server.host, say=quiet) == []
    assert fetch(tmp_path, ["sts/sts16.tsv.gz"], host=server.host, say=quiet, force=True)
    assert (tmp_path / "sts" / "sts16.tsv.gz").read_bytes() == before  # the same bytes at any time
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fetched.json", "sts"]


def tabbed(rows, names, end="\n", header=""):
    """Rows as tab-separated lines; a name that no row has is a column of its own text."""
    body = "".join("\t".join(row.get(name, name) for name in names.split()) + end for row in rows)
    return (header + end if header else "") + body


def quoted(rows, names, header=()):
    file = io.StringIO()
    csv.writer(file).writerows(
        [*([header] if header else []), *([row[name] for name in names] for row in rows)]
    )
    return file.getvalue()


# For each reader the files of one part, from its rows: what `data/fetch` undoes.
ORIGINALS = {
    "pairs_with_gold": lambda rows: [
        tabbed(rows, "sentence1 sentence2 source") + "never\tscored\n",
        tabbed(rows, "score") + "\n",
    ],
    "text_beside_label": lambda rows: [tabbed(rows, "text", "\r\n"), tabbed(rows, "label")],
    "lines": lambda rows: [tabbed(rows, "text", " \n") + "\n \n"],
    "acceptability": lambda rows: [tabbed(rows, "source label * text")],
    "paraphrases": lambda rows: [
        tabbed(rows, "label id1 id2 sentence1 sentence2", "\r\n", "\ufeffQuality\t#1 ID\t#2 ID\t#1\t#2")
    ],
    "sick": lambda rows: [
        tabbed(rows, "pair_id sentence1 sentence2 score entailment", header="pair_ID\tA\tB\tscore\tjudgment")
    ],
    "sts_benchmark": lambda rows: [tabbed(rows, "genre subtask year 7 score sentence1 sentence2")],
    "double_bar_pairs": lambda rows: [
        "".join(f"{r['id']}||{r['sentence1']}||{r['sentence2']}||{r['score']}\n" for r in rows)
    ],
    "quoted_pairs": lambda rows: [quoted(rows, ("sentence1", "sentence2", "score"))],
    "categories": lambda rows: [quoted(rows, ("text", "label"), ("text", "category"))],
    "label_then_text": lambda rows: ["".join(f"{r['label']} {r['text']}\n" for r in rows)],
    "text_then_label": lambda rows: ["".join(f"{r['text']} \t {r['label']}\n" for r in rows)],
}


def originals_of(target, rows):
    """Undo the conversion: the public form of a set from its rows in the layout."""
    source = SOURCES[target]
    raws = []
    for part in source.parts:
        chosen = [row for row in rows if all(row[key] == value for key, value in part.values.items())]
        raws += [raw.encode() for raw in ORIGINALS[source.reader](chosen)]
    return raws


@pytest.mark.slow
def test_real_sets_in_their_public_form_become_exactly_the_registrys_content(server, tmp_path, data_folder):
    wanted = [target for target in SOURCES if (data_folder / target).is_file()]
    assert len(wanted) >= 20
    for target in wanted:
        content = gzip.decompress((data_folder / target).read_bytes()).decode()
        header, *lines = content.rstrip("\n").split("\n")
        names = header.split("\t")
        rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines]
        serve(server, target, originals_of(target, rows))
    said = []
    assert fetch(tmp_path, wanted, host=server.host, say=said.append) == wanted
    for target, line in zip(wanted, said, strict=True):
        assert line.endswith("the content that the registry describes"), (target, line)


def test_sets_without_a_stored_copy_are_read_in_their_public_form():
    (questions,) = READERS["questions"]("DESC:manner How did it end ?\n")
    assert questions == {"label": "DESC", "fine_label": "DESC:manner", "text": "How did it end ?"}
    clusters = list(READERS["clustered_json"]('{"text": "a \\u2013 b", "cluster": 37}\n\n'))
    assert clusters == [{"label": "37", "text": "a – b"}]
    assert {source.reader for source in SOURCES.values()} == set(READERS)


def test_every_further_set_of_the_layout_has_a_pinned_source():
    without = {task.file for task in REGISTRY.values()} - set(SOURCES)
    assert without == {"clustering/agnews.tsv.gz", "nli/anli_dev.tsv.gz", "nli/snli_dev_test.tsv.gz"}
    for source in SOURCES.values():
        assert {key for part in source.parts for key in part.values} <= {"split", "label", "subtask"}
        assert all(
            re.fullmatch("[0-9a-f]{40}", file.split("/")[2]) for part in source.parts for file in part.files
        )


def test_wrong_counts_and_wrong_forms_leave_nothing_behind(server, tmp_path):
    raws = sts16_originals()
    raws[1] = raws[1].replace(b"5\n", b"\n", 1)
    serve(server, "sts/sts16.tsv.gz", raws)
    said = []
    with pytest.raises(IncompleteError, match=r"1 of 1 sets are missing: sts/sts16\.tsv\.gz"):
        fetch(tmp_path, ["sts16"], host=server.host, say=said.append)
    assert "1,185 rows instead of test 1,186" in said[0].replace("test 1,185", "1,185")
    assert list(tmp_path.iterdir()) == []
    raws[1] = b"1\n2\n"
    serve(server, "sts/sts16.tsv.gz", raws)
    with pytest.raises(IncompleteError):
        fetch(tmp_path, ["sts16"], host=server.host, say=said.append)
    assert "does not have the form that pairs_with_gold reads" in said[1]
    serve(server, "sts/sick_test.tsv.gz", [b"<html>no such page</html>\nx\ny\n"])
    with pytest.raises(BadInputError, match="does not have the form that sick reads"):
        convert(SOURCES["sts/sick_test.tsv.gz"], [[b"header\nno tabs\n"]], ["split"])


def test_a_missing_file_is_named_and_the_other_sets_are_in_place(server, tmp_path):
    serve(server, "sts/sts16.tsv.gz", sts16_originals())
    said = []
    with pytest.raises(IncompleteError, match=r"1 of 2 sets are missing: intent/hwu64\.tsv\.gz"):
        fetch(tmp_path, ["sts16", "hwu64"], host=server.host, say=said.append)
    assert any("HWU64" in line and "404" in line for line in said)
    assert (tmp_path / "sts" / "sts16.tsv.gz").is_file()


def test_broken_connections_are_tried_again_and_refusals_are_not(server):
    server.files["x"] = b"0123456789"
    server.faults["x"] = [503, "cut", 429]
    assert download(f"{server.host}/x", wait=0) == b"0123456789"
    assert len(server.asked) == 4
    with pytest.raises(MissingError, match="404"):
        download(f"{server.host}/y", wait=0)
    assert len(server.asked) == 5
    server.faults["x"] = [503] * 9
    with pytest.raises(MissingError, match="check the network and run the command again"):
        download(f"{server.host}/x", wait=0)


def test_too_large_a_file_is_refused(server, monkeypatch):
    monkeypatch.setattr("data.fetch.LIMIT", 5)
    server.files["x"] = b"0123456789"
    with pytest.raises(MissingError, match="larger than 5 bytes"):
        download(f"{server.host}/x", wait=0)


def test_fields_fit_the_layout_and_old_encodings_are_understood():
    assert one_line(" a\tb\r\nc ") == "a b  c"
    assert decode("café".encode("latin-1")) == decode("café".encode()) == "café"
    assert decode(b"\xef\xbb\xbfx") == "x"
    assert split_lines("a\r\nb\u2028c\n") == ["a", "b\u2028c"]


def test_the_command_says_what_it_did(server, tmp_path, capsys):
    serve(server, "sts/sts16.tsv.gz", sts16_originals())
    main(["sts16", "--data", str(tmp_path), "--host", server.host])
    assert "1 sets written" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["sts99", "--data", str(tmp_path), "--host", server.host])
    assert left.value.code == UsageError.exit_code
    assert "unknown set 'sts99'; sets are sts/sts12.tsv.gz" in capsys.readouterr().err
