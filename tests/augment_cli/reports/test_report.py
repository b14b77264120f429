"""`status` names what keeps a stage from being reused; each kind of stage is declared once."""

import dataclasses
import importlib.metadata
import json
import re
import shutil
import threading

import pyarrow as pa
import pytest

import augment_cli
from augment_cli import augmentations, ingest
from augment_cli.augmentations.una.una import UNA
from augment_cli.contract.generate_parameters import GenerateParameters
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.pack import PackOptions
from augment_cli.pack.export import steps_of, training_lines
from augment_cli.reports import report, soundness
from augment_cli.reports.soundness import why_not_reused
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.manifest import Stage
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf.fit import FitOptions
from augment_cli.tokenization import get_tokenizer
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import EmbedParameters
from tests.helpers.faulty_server import serving
from tests.helpers.places import REPOSITORY


def differs(store, corpus=None):
    return {entry["stage"]: entry["differs"] for entry in report.status(store, corpus)}


def test_nothing_differs_in_a_fresh_store(store, made_store):
    assert set(differs(store, [made_store.parent / "in.txt"]).values()) == {None}


def test_the_parts_that_are_missing_are_those_that_parts_takes(store, command):
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("crop"), parts=[1])
    entries = {entry["stage"]: entry for entry in report.status(Store.open(store.path))}
    assert entries["crop"]["missing_parts"] == "0,2" and entries["una"]["missing_parts"] == ""
    assert "crop lacks the parts 0,2" in command("status", "--store", store.path).stdout
    assert command("crop", "--parts", "0,2", "--store", store.path).returncode == 0
    assert Store.open(store.path).has("crop")


def test_a_library_that_is_another_or_gone(store, monkeypatch):
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "numpy" else real(name))
    differences = differs(store)
    assert differences["tfidf"] == f'libraries.numpy = "{real("numpy")}", now "0.1"'
    assert differences["una"] == differences["tfidf"] and differences["corpus"] is None

    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert "now null" in differs(store)["una"]


def test_changed_tokenizer(store, monkeypatch):
    monkeypatch.setattr(get_tokenizer(tfidf.FitOptions().tokenizer), "version", "99")
    assert differs(store)["tfidf"].startswith("resources.tokenizer = ")
    assert differs(store)["una"] is None


@pytest.mark.parametrize(("place", "stages"), [(ingest, {"corpus", "rejects"}), (tfidf, {"tfidf", "terms"})])
def test_changed_code_version(store, monkeypatch, place, stages):
    monkeypatch.setattr(place, "VERSION", 99)
    differences = differs(store)
    assert {stage for stage, key in differences.items() if key == "version = 1, now 99"} == stages


def test_changed_augmentation_version(store, monkeypatch):
    monkeypatch.setattr("augment_cli.augmentations.una.una.UNA", dataclasses.replace(UNA, version=99))
    assert differs(store)["una"] == f"version = {UNA.version}, now 99"


def test_an_input_that_is_another_or_was_made_anew(store, tmp_path, made_store):
    data = bytearray((made_store.parent / "in.txt").read_bytes())
    data[10] ^= 1
    (tmp_path / "in.txt").write_bytes(data)
    assert differs(store, [tmp_path / "in.txt"])["corpus"].startswith("inputs.files = ")
    store.stage("terms").parts[0] = store.stage("tfidf").parts[0]
    assert differs(store)["una"].startswith("inputs.terms = ")
    assert differs(store)["una"].endswith('now "made anew since"')


def test_a_stage_that_others_made_is_judged_by_its_inputs_alone(store):
    """Such as the trainer's token ids, whose version and tokenizer this package does not know."""
    digest = store.stage("corpus").digest
    resources = {"tokenizer": "some digest"}
    settings = Settings("tokens", 7, inputs={"corpus": digest}, resources=resources)
    store.begin("tokens/abc/corpus", settings, expected_parts=1)
    schema = pa.schema([pa.field("row_id", pa.int64(), nullable=False)])
    store.commit(store.write_part("tokens/abc/corpus", 0, schema, [], settings))
    assert differs(store)["tokens/abc/corpus"] is None


def test_status_is_short_unless_settings_are_asked_for(small, command):
    assert command("una", "--radius", "4", "--avoid", "none", "--corpus", "in.txt").returncode == 0
    assert command("crop").returncode == 0
    short = command("status").stdout
    assert re.search(r"una +60 +[0-9.]+ % +[0-9.]+ kB +ready, made with --radius 4 --avoid none", short)
    assert re.search(r"crop +60 .* ready\s", short)
    assert "fingerprint" not in short and "term_fragments" not in short
    whole = command("status", "--settings").stdout
    assert "fingerprint=" in whole and "1/1" in whole and "term_fragments=" in whole
    assert command("ingest", "--corpus", "in.txt", "--part-rows", "30", "--store", "two").returncode == 0
    assert command("crop", "--parts", "0", "--store", "two").returncode == 0
    shown = command("status", "--store", "two").stdout
    assert "unfinished: 1 of 2 parts" in shown
    assert "crop lacks the parts 1; augment-cli crop --store two" in shown


def test_stats_of_a_packed_stage_count_parts_as_parts(small, command):
    assert command("una", "--radius", "4", "--corpus", "in.txt").returncode == 0
    packed = command("pack", "--positive", "corpus", "--negative", "una")
    assert packed.returncode == 0
    entry = json.loads(command("stats", "pack", "--json").stdout)
    assert entry["complete"] is True and entry["complete_rows"] == entry["rows"] == 60
    assert re.search(r"complete +yes\s", command("stats", "pack").stdout)
    # The lines that train on it come with it, with steps for its rows.
    program = packed.stdout[packed.stdout.index("from datasets") :]
    compile(program, "printed", "exec")
    assert 'data_dir="store/pack"' in program and '["anchor", "positive", "negative"]' in program
    assert "per_device_train_batch_size=64, max_steps=1," in program
    assert re.search(r"1 steps of 64 rows: about .* on this machine's \d+ cores", packed.stdout)


def test_the_how_to_has_the_lines_that_pack_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (REPOSITORY / "docs/how-to/sentence-transformers.md").read_text("utf-8")
    shown = re.search(r"```python\n(.*?)```", page, re.S)[1]
    store = augment_cli.run("una", tmp_path / "titles", texts=["The river flows.", "A heron waits."], jobs=1)
    augment_cli.pack_table(store.path, positives=["corpus"], negatives=["una"])
    store.reload()
    lines = training_lines(store, "pack").replace("max_steps=1,", "max_steps=312,")
    for folder in (tmp_path, REPOSITORY):
        lines = lines.replace(f"{folder}/", "")
    assert shown == lines and steps_of(20_000) == 312


def test_folders_that_come_and_go_do_no_harm(store):
    """As while the stage runs whose work is counted."""
    folder = store.work / "parses"
    stopped = threading.Event()

    def disturb():
        while not stopped.is_set():
            for number in range(20):
                (folder / f"part-{number:05d}" / "inner").mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)

    other = threading.Thread(target=disturb)
    other.start()
    try:
        assert all(report.rows_in_work(store) == {} for _ in range(60))
    finally:
        stopped.set()
        other.join()


# Whether the rest of the package continues them where the corpus grows.
CONTINUED = {"given", "parses", "vectors", "pack", "answers", "read"}
MADE_ANEW = {"corpus", "tfidf", "forms", "scores", "mined"}


def stage_of(maker, name="x"):
    settings = {"stage": maker, "parameters": {"draw": 0}, "inputs": {}}
    return Stage(settings, 1, {}, name=name)


def test_every_maker_declares_its_kind_and_what_makes_it_today():
    makers = CONTINUED | MADE_ANEW | set(augmentations.names())
    assert soundness.all_kinds().keys() == makers | {"tokens"}
    for maker in makers:
        kind = soundness.kind_of(stage_of(maker))
        assert kind.maker == maker and isinstance(kind.version(), int)
        assert kind.describe(stage_of(maker)).strip()

    kind = soundness.kind_of(stage_of("someone"))  # of which nothing but the name is known
    assert kind.version() is None and kind.describe(stage_of("someone")) == "someone"
    assert not kind.goes_by_part({}) and not kind.has_numbers and kind.is_for_readers(stage_of("someone"))


def test_kinds_say_what_the_settings_say_that_made_them(tmp_path, pipeline, monkeypatch):
    """Whether a stage is continued is said twice: by the settings that make it, and of stored ones."""
    begun, real = {}, Store.begin

    def begin(store, name, settings, *rest, **more):
        begun[name] = settings
        return real(store, name, settings, *rest, **more)

    monkeypatch.setattr(Store, "begin", begin)
    lines = [f"The heron of the {place} waits near boat {n}.\tIt waits." for n in range(6) for place in "abc"]
    (tmp_path / "in.tsv").write_text("text\tagain\n" + "\n".join(lines) + "\n")
    encoder = EmbedParameters(model=str(REPOSITORY / "data" / "models" / "static"))
    with (
        serving(lambda handler, number, body: handler.answer("It stands there.")) as server,
        Session(tmp_path / "store", Engine(1)) as session,
    ):
        session.ingest([tmp_path / "in.tsv"], IngestOptions(text_column="text", positive_columns=("again",)))
        session.fit(FitOptions())
        session.parse(pipeline)
        for name in ("una", "crop"):
            session.augment(make_run(name))
        session.embed("corpus", encoder)
        session.score("crop", ScoreOptions(("length_ratio",)))
        session.mine(MineParameters(max_df=1.0))
        session.pack(PackOptions(("again",)))
        session.generate(GenerateParameters(model="small", endpoint=server.endpoint))
        session.read("answers-paraphrase")
        store = session.store
    makers = {store.stage(name).settings["stage"] for name in begun}
    assert makers == CONTINUED | MADE_ANEW | {"una", "crop"}
    for name, settings in begun.items():
        kind = soundness.kind_of(store.stage(name))
        assert kind.goes_by_part(store.stage(name).settings) == settings.by_part, name
        assert settings.by_part == (settings.stage in CONTINUED | {"crop"}), name
        assert kind.version() == settings.version and why_not_reused(store, name) is None, name
