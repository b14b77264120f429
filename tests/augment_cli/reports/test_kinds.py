"""The kinds of stages: each declared once in its own room, and true to what makes them."""

import pytest

from augment_cli import augmentations
from augment_cli.contract.generate_parameters import GenerateParameters
from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.pack import PackOptions
from augment_cli.reports import soundness
from augment_cli.reports.soundness import why_not_reused
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.manifest import Stage
from augment_cli.store.store import Store
from augment_cli.tfidf.fit import FitOptions
from augment_cli.vectors.mine_parameters import MineParameters
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import EmbedParameters
from tests.helpers.faulty_server import serving
from tests.helpers.places import REPOSITORY

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


def test_a_stage_of_another_maker_is_known_by_nothing_but_its_name():
    kind = soundness.kind_of(stage_of("someone"))
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


@pytest.mark.parametrize(
    ("maker", "name", "words", "is_for_readers"),
    [
        ("corpus", "corpus", "the sentences", True),
        ("corpus", "rejects", "lines that are not sentences, and why", False),
        ("tfidf", "terms-b", "terms by falling maximum TF-IDF score", False),
        ("tfidf", "tfidf-b", "TF-IDF of each sentence", False),
        ("parses", "parses", "tokens of each sentence", False),
        ("given", "again", "texts that the input brought along", True),
        ("pack", "pack", "anchor, positive, negatives", True),
        ("vectors", "vectors", "vectors", True),
    ],
)
def test_what_a_card_says(maker, name, words, is_for_readers):
    stage = stage_of(maker, name)
    kind = soundness.kind_of(stage)
    assert kind.describe(stage).startswith(words) and kind.is_for_readers(stage) == is_for_readers
