"""The digest of a pipeline folder changes with what decides its answers, and with nothing else."""

import shutil

import pytest
import spacy

from augment_cli.errors import MissingError
from augment_cli.models.digest import model_digest


@pytest.fixture
def pipeline(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def test_the_same_wherever_it_lies(pipeline, tmp_path):
    shutil.copytree(pipeline, tmp_path / "elsewhere" / "x")
    assert model_digest(pipeline) == model_digest(tmp_path / "elsewhere" / "x")


def test_every_file_counts_but_cards_and_licences(pipeline):
    before = model_digest(pipeline)
    for name in ("README.md", "LICENSE", "LICENSES_SOURCES", "LICENCE.txt", "meta.json", ".DS_Store"):
        (pipeline / name).write_text("{}")
        assert model_digest(pipeline) == before, name
    files = [path for path in pipeline.rglob("*") if path.is_file()]
    decisive = [path for path in files if path.stem[:4] not in {"READ", "LICE"}]
    changed = set()
    for path in decisive:
        data = path.read_bytes()
        path.write_bytes(data + b" ")
        if model_digest(pipeline) != before:
            changed.add(path.relative_to(pipeline).as_posix())
        path.write_bytes(data)
    assert {"config.cfg", "tokenizer", "vocab/strings.json"} <= changed
    names = {path.relative_to(pipeline).as_posix() for path in decisive}
    assert changed == names - {"meta.json", ".DS_Store"}


def test_a_renamed_file_counts(pipeline):
    before = model_digest(pipeline)
    (pipeline / "tokenizer").rename(pipeline / "tokenizer2")
    assert model_digest(pipeline) != before


def test_no_model_there(tmp_path):
    (tmp_path / "README.md").write_text("soon")
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(MissingError, match="holds no model"):
            model_digest(folder)
