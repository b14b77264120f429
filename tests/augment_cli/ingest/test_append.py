"""Files that join a corpus: the rows of one ingest of all, old parts to the byte, and no stage mixed."""

import random
import re

import polars
import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, IncompleteError, MixError, UsageError
from augment_cli.ingest import IngestOptions, report_of
from augment_cli.pack.options import choose
from augment_cli.process.reporter import Logged
from augment_cli.reports.report import status, write_card
from augment_cli.reports.soundness import verify, why_not_reused
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.tfidf.fit import FitOptions
from augment_cli.vectors.stages import EmbedParameters
from tests.helpers.undisturbed import digests_of_parts

NOUNS = ["heron", "river", "bridge", "boat", "house", "road", "field", "mill"]
RULES = ["random-swap", "synonym", "crop"]


def lines_of(seed, count):
    draws = random.Random(seed)
    return [
        f"the {draws.choice(NOUNS)} number {draws.randrange(9)} isn't near the {draws.choice(NOUNS)} today"
        for _ in range(count)
    ]


def write(path, lines, *bad):
    path.write_bytes("".join(f"{line}\n" for line in lines).encode() + b"".join(line + b"\n" for line in bad))
    return path


def test_files_of_one_name_and_ids_that_repeat_are_told(tmp_path, caplog):
    for folder, ids in (("one", "ab"), ("two", "cb")):
        (tmp_path / folder).mkdir()
        rows = "".join(f'{{"text": "{folder} {name}", "id": "{name}"}}\n' for name in ids)
        (tmp_path / folder / "t.jsonl").write_text(rows)
    store = tmp_path / "store"
    with Session(store, Engine(1), Logged()) as session, caplog.at_level("INFO"):
        session.ingest([tmp_path / "one" / "t.jsonl"], IngestOptions(id_column="id", part_rows=1))
        assert not [line for line in caplog.messages if "source of this name" in line or "repeat" in line]
        session.append([tmp_path / "two" / "t.jsonl"])
    assert "t.jsonl: the corpus has a source of this name already; lines of this one have row ids from 2" in (
        caplog.messages
    )
    assert "1 of 4 rows repeat an id, first row 3 the id 'b'" in caplog.messages


@pytest.fixture
def files(tmp_path):
    return [
        write(tmp_path / "a.txt", lines_of(1, 24), b"a\x00b"),
        write(tmp_path / "b.txt", lines_of(2, 17), b"\xff", b""),
        write(tmp_path / "c.txt", lines_of(3, 5)),
    ]


def ingest(store, corpus, how="ingest", **options):
    with Session(store, Engine(1)) as session:
        getattr(session, how)(corpus, IngestOptions(**options), max_rejects=1)
        return session.store


def append(store, corpus, **options):
    return ingest(store, corpus, "append", **options)


@pytest.fixture
def first(tmp_path, files):
    return ingest(tmp_path / "store", files[:1], part_rows=8)


def augment(store, name, **options):
    with Session(store, Engine(1)) as session:
        session.augment(make_run(name, **options))
        return session.store


def rows(store, stage):
    return store.read(stage).to_pylist()


@pytest.mark.parametrize(("part_rows", "deduplicate"), [(8, True), (7, "near"), (100, False)])
def test_the_rows_are_those_of_one_ingest(tmp_path, files, part_rows, deduplicate):
    options = {"part_rows": part_rows, "deduplicate": deduplicate}
    whole = ingest(tmp_path / "whole", files, **options)
    grown = ingest(tmp_path / "grown", files[:1], **options)
    before = digests_of_parts(grown.path)
    for file in files[1:]:
        grown = append(grown.path, [file])
    assert before.items() <= digests_of_parts(grown.path).items()
    for stage in ("corpus", "rejects"):
        assert rows(grown, stage) == rows(whole, stage)
    assert report_of(grown) == report_of(whole)
    assert report_of(whole).duplicates > 0 or not deduplicate
    by_file = [report_of(grown, number) for number in range(3)]
    assert [report.read for report in by_file] == [25, 19, 5]
    assert sum(report.kept for report in by_file) == whole.rows
    if part_rows == 8 and not deduplicate:  # 24 rows are three whole parts, 17 are not two
        assert grown.parts[:5] == whole.parts[:5]
    assert verify(grown) == [] and grown.parts == Store.open(grown.path).parts


def test_rules_give_the_same_rows_and_old_parts_stay(tmp_path, files):
    whole = ingest(tmp_path / "whole", files, part_rows=8)
    grown = ingest(tmp_path / "grown", files[:1], part_rows=8)
    for name in RULES:
        augment(whole.path, name)
        augment(grown.path, name)
    before = digests_of_parts(grown.path)
    for file in files[1:]:  # twice: the second time some parts are of the first ingest, some of the second
        grown = append(grown.path, [file])
        assert not any(grown.has(name) for name in RULES)
        for name in RULES:
            grown = augment(grown.path, name)
    for name in RULES:
        assert rows(grown, name) == rows(Store.open(whole.path), name), name
        assert grown.stage(name).expected_parts == len(grown.parts)
        assert [earlier.parts for earlier in grown.stage(name).earlier] == [3, 6]
    assert before.items() <= digests_of_parts(grown.path).items()
    assert verify(grown) == []
    assert all(entry["differs"] is None and entry["behind"] is None for entry in status(grown))
    times = {path: path.stat().st_mtime_ns for path in grown.path.rglob("*.parquet")}
    augment(grown.path, "crop")
    assert times == {path: path.stat().st_mtime_ns for path in grown.path.rglob("*.parquet")}
    assert polars.read_parquet(grown.path / "crop/*.parquet").height == grown.rows
    write_card(Store.open(grown.path), "Herons", "cc0-1.0", "en")


def test_parses_vectors_pairs_and_packs_go_on(tmp_path, tiny_encoder):
    def pairs(name, seed):
        table = polars.DataFrame({"text": lines_of(seed, 12), "good": lines_of(seed + 50, 12)})
        table.write_csv(tmp_path / name)
        return tmp_path / name

    def make(session):
        session.parse()
        session.augment(make_run("pi"))
        session.embed(parameters=EmbedParameters(model=str(tiny_encoder), device="cpu"))
        session.pack(choose(session.store, ["pi"], [], carry=["good"]))
        return session.store

    files, given = [pairs("a.csv", 1), pairs("b.csv", 1)], {"positive_columns": ["good"], "part_rows": 5}
    with Session(tmp_path / "whole", Engine(1)) as session:
        session.ingest(files, IngestOptions(**given))
        whole = make(session)
    with Session(tmp_path / "grown", Engine(1)) as session:
        session.ingest(files[:1], IngestOptions(**given))
        make(session)
    before = digests_of_parts(tmp_path / "grown")
    files[1].write_text(files[1].read_text() + "a heron waits here,\n")
    with Session(tmp_path / "grown", Engine(1)) as session:
        session.append(files[1:], IngestOptions(**given), max_rejects=1)
        assert session.store.has("good")  # at once, as `ingest` makes it
        grown = make(session)
    assert before.items() <= digests_of_parts(grown.path).items()
    assert grown.rows == whole.rows + 1
    for stage in ("good", "parses", "pi", "vectors"):
        assert rows(grown, stage)[: whole.rows] == rows(whole, stage), stage
    assert grown.stage("pack").rows >= whole.stage("pack").rows
    assert verify(grown) == []


def test_what_depends_on_the_fit_is_named_refused_and_made_anew(first, tmp_path, files, command):
    augment(first.path, "una", radius=5)
    una = digests_of_parts(first.path / "una")
    store = append(first.path, files[1:])
    behind = {entry["stage"]: entry["behind"] for entry in status(store)}
    assert set(behind) == {"rejects", "corpus", "terms", "tfidf", "forms", "una"}
    remedy = f"`augment-cli fit --overwrite --store {store.path}`"
    for name in ("terms", "tfidf", "forms", "una"):
        assert f"was made from the first 3 of the corpus's {len(store.parts)} parts" in behind[name]
        assert remedy in behind[name] and why_not_reused(store, name)
    assert behind["corpus"] is None and verify(store) == []  # sound, and behind
    checked = command("verify", "--store", store.path)
    assert checked.returncode == 0
    assert "behind since files were appended: terms, tfidf, forms, una" in checked.stdout
    shown = command("status", "--store", store.path)
    assert shown.returncode == 0 and remedy.strip("`") in shown.stdout

    with pytest.raises(MixError, match="before files were appended") as refusal:
        augment(store.path, "una", radius=5)
    assert remedy in str(refusal.value)
    with pytest.raises(UsageError, match="run --behind"):
        choose(store, ["corpus"], ["una"])
    assert digests_of_parts(store.path / "una") == una  # never mixed

    with Session(store.path, Engine(1), overwrite=True) as session:
        session.fit(FitOptions())
    store = augment(store.path, "una", radius=5)
    whole = ingest(tmp_path / "whole", files, part_rows=8)
    whole = augment(whole.path, "una", radius=5)
    for stage in ("terms", "tfidf", "una"):
        assert rows(store, stage) == rows(whole, stage)
    assert verify(store) == []


def test_the_same_files_again_change_nothing(first, files):
    append(first.path, files[1:2])
    before = {path: path.read_bytes() for path in first.path.rglob("*") if path.is_file()}
    for again in (files[1:2], files[:1]):
        append(first.path, again)
    assert {path: path.read_bytes() for path in first.path.rglob("*") if path.is_file()} == before


def test_refusals_leave_the_corpus_as_it_was(first, tmp_path, files):
    before = (first.path / "manifest.json").read_bytes()
    empty = write(tmp_path / "empty.txt", [], b"\xff")
    with pytest.raises(MixError, match=r"made with parameters\.part_rows = 8, now 9"):
        append(first.path, files[1:], part_rows=9)
    with pytest.raises(BadInputError, match="no sentence could be read"):
        append(first.path, [empty])
    with Session(first.path, Engine(1)) as session:
        with pytest.raises(BadInputError, match=r"b\.txt, line 18: not_utf8"):
            session.append(files[1:2], strict=True)
        with pytest.raises(UsageError, match="--append needs what to read"):
            session.append()
    with (
        pytest.raises(UsageError, match="--append"),
        Session(first.path, Engine(1), overwrite=True) as session,
    ):
        session.append(files[1:])
    with pytest.raises(UsageError, match="no finished corpus to append to"):
        append(tmp_path / "none", files)
    assert not (tmp_path / "none").exists()
    assert (first.path / "manifest.json").read_bytes() == before
    assert verify(first) == [] and list((first.path / ".work").rglob("*.parquet")) == []
    with pytest.raises(UsageError, match="first 5 sentences"):
        append(ingest(tmp_path / "few", files[:1], limit=5).path, files[1:])
    append(first.path, files[1:])
    with pytest.raises(MixError, match="files were appended to this corpus"):
        ingest(first.path, files[:1], part_rows=8)


def test_too_many_rejects_are_an_error_after_the_rows_were_kept(tmp_path, files):
    store = ingest(tmp_path / "store", files[2:])
    for _ in range(2):
        with Session(store.path, Engine(1)) as session, pytest.raises(IncompleteError, match="2 of 19 lines"):
            session.append(files[1:2])
    assert Store.open(store.path).rows == 22


def test_sentences_in_memory_and_standard_input(tmp_path, files, command):
    store = tmp_path / "store"
    augment_cli.ingest_corpus(texts=["A heron waits.", "A boat drifts."], store=store)
    report = augment_cli.ingest_corpus(texts=["The mill turns."], store=store, append=True)
    assert report.kept == 3
    result = command("ingest", "--append", "--corpus", "-", "--store", store, stdin="The road ends.\n")
    assert result.returncode == 0 and "1 sentence appended as part 2" in result.stderr, result.stderr
    opened = Store.open(store)
    assert [row["row_id"] for row in rows(opened, "corpus")] == [0, 1, 2, 3]
    assert {row["source"] for row in rows(opened, "corpus")} == {"texts.jsonl", "stdin"}
    assert command("ingest", "--append", "--store", store).returncode == 2


def test_a_stage_that_was_unfinished_is_finished(first, tmp_path, files):
    with Session(first.path, Engine(1)) as session:
        session.augment(make_run("crop"), parts=[1])
    append(first.path, files[1:])
    with Session(first.path, Engine(1), shared=True) as session:
        session.augment(make_run("crop"), parts=[0, 4])
    store = augment(first.path, "crop")
    whole = augment(ingest(tmp_path / "whole", files, part_rows=8).path, "crop")
    assert rows(store, "crop") == rows(whole, "crop") and verify(store) == []


@pytest.mark.slow
def test_what_is_behind_is_made_by_the_commands_that_are_printed(tmp_path, files, command):
    store = tmp_path / "store"
    made = [
        f"ingest --corpus {files[0]} --part-rows 8 --max-rejects 1",
        "una --radius 4 --avoid none",
        "una --draws 2 --beta 0.1:0.5 --name two",
        "fit --min-df 2 --name frequent",
        "una --fit frequent --name of-frequent",
        "crop",
        "word-deletion --rate 0.3 --name fewer",
        "score una --columns length_ratio",
        "mine --max-score 0.9 --max-df 1",
        "pack --positive corpus --negative una --unchanged drop --split 0.3 --name both",
    ]
    for typed in made:
        done = command(*typed.split(), "--store", store)
        assert done.returncode == 0, (typed, done.stderr)
    settings = {name: Store.open(store).stage(name).settings for name in Store.open(store).stages()}
    appended = command("ingest", "--append", "--corpus", *files[1:2], "--max-rejects", 1, "--store", store)
    printed = re.findall(r"^  (augment-cli .*)$", appended.stdout, re.M)
    assert appended.returncode == 0 and printed == [
        f"augment-cli {words} --store {store}"
        for words in (
            "fit --overwrite",
            "una --radius 4 --avoid none --overwrite",
            "una --beta 0.1:0.5 --draws 2 --name two --overwrite",
            "fit --min-df 2 --name frequent --overwrite",
            "una --fit frequent --name of-frequent --overwrite",
            "crop",
            "word-deletion --rate 0.3 --name fewer",
            "score una --columns length_ratio --overwrite",
            "mine --max-score 0.9 --max-df 1.0 --overwrite",
            "pack --positive corpus --negative una --split 0.3 --name both",
        )
    ]
    shown = command("run", "--behind", "--dry-run", "--store", store)
    assert re.findall(r"^\$ (.*)$", shown.stderr, re.M) == printed
    done = command("run", "--behind", "--store", store)
    assert done.returncode == 0, done.stderr
    grown = Store.open(store)
    assert verify(grown) == [] and all(grown.has(name) for name in settings)
    assert all(entry["behind"] is None and entry["differs"] is None for entry in status(grown))
    for name, before in settings.items():
        after = grown.stage(name).settings
        # Of a larger corpus the radius is another, and sentences may repeat that did not.
        grows = {"radius": 0, "repeated_sentences": True}
        assert before["parameters"] | grows == after["parameters"] | grows, name
    again = "augment-cli pack --positive corpus --negative una --split 0.3 --name both"
    assert f"Files that --out wrote earlier are as they were; {again} --store {store} --out" in done.stderr
    assert "Nothing is behind." in command("run", "--behind", "--store", store).stderr
