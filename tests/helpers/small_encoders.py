"""Small sentence encoders: a random BERT with a vocabulary of its own, in several layouts."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from threadpoolctl import threadpool_limits

from tests.helpers.tiny_models import make_bert

WORDS = """
a the man woman dog cat river town plays runs eats flows through in on with red blue small old guitar ball
food house street is are was not and or of to it he she they . , ! ?
""".split()  # noqa: SIM905


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def sentences():
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, 14, (60,), generator=generator).tolist()
    chosen = [torch.randint(0, len(WORDS), (length,), generator=generator) for length in lengths]
    return [" ".join(WORDS[number] for number in numbers) for numbers in chosen]


@pytest.fixture(scope="session")
def plain_model(tmp_path_factory):
    """A folder as transformers saves it."""
    return make_bert(tmp_path_factory.mktemp("models") / "plain", "BertModel", WORDS)


def as_old_layout(plain: Path, folder: Path, pooling: dict[str, bool], *, max_length: int = 12) -> Path:
    """The same model as sentence-transformers 2.0 wrote it."""
    shutil.copytree(plain, folder)
    kinds = ["Transformer", "Pooling", "Normalize"]
    paths = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(zip(kinds, paths, strict=True))
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    settings = {"max_seq_length": max_length, "do_lower_case": False}
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings))
    (folder / "1_Pooling").mkdir()
    modes = {f"pooling_mode_{name}": False for name in ("cls_token", "mean_tokens", "max_tokens")}
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 32, **modes, **pooling})
    )
    return folder


def with_prompts(
    source: Path, folder: Path, prompts: dict[str, str], default: str | None = None, pooled: bool = True
) -> Path:
    """The same model with prompts, whose tokens the pooling counts or leaves out."""
    shutil.copytree(source, folder)
    settings = {"prompts": prompts, "default_prompt_name": default}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps(json.loads(pooling.read_text()) | {"include_prompt": pooled}))
    return folder


@pytest.fixture(scope="session")
def old_layout(plain_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "old"
    return as_old_layout(plain_model, folder, {"pooling_mode_cls_token": True})
