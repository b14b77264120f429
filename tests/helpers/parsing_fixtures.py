"""A real spaCy pipeline, small and quickly trained on a handful of sentences, and stores parsed with it."""

import pytest

from tests.helpers.tiny_pipeline import make_tiny_pipeline


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    """Folder of a pipeline with a tagger, morphologizer, lemmatizer, parser, and an entity recogniser."""
    folder = tmp_path_factory.mktemp("pipelines") / "tiny"
    make_tiny_pipeline(folder, seed=0)
    return folder


@pytest.fixture(scope="session")
def other_pipeline(tmp_path_factory):
    """The same by name and version, with other weights."""
    folder = tmp_path_factory.mktemp("others") / "tiny"
    make_tiny_pipeline(folder, seed=1)
    return folder


@pytest.fixture(scope="session")
def parsed_corpus_file(tmp_path_factory):
    """Some sentences, with more rows than a piece has, so that a part has several."""
    path = tmp_path_factory.mktemp("corpus") / "in.txt"
    lines = [f"The heron of river {n} waits." for n in range(1_400)]
    lines[::50] = [f"Boat {n}  don't\tstop 🙂: {line}" for n, line in enumerate(lines[::50])]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
