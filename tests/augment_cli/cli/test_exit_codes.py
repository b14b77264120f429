"""Every exit code the help documents, what stands on stderr with it, and JSON alone on stdout."""

import json
import os
import re
import shutil

import pytest

from augment_cli.runs.run import make_run
from tests.helpers.commands import LINES
from tests.helpers.made_stores import store_of


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("made"), LINES, make_run("una", radius="1%")).path


@pytest.fixture
def store_folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "store")
    return tmp_path


def parts_of(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".parquet", ".json")]
    return {path: path.read_bytes() for path in files}


@pytest.mark.slow
def test_0_in_a_fresh_folder_and_the_second_run_leaves_every_byte(process, tmp_path):
    first = process("una", "--beta", "0.5", "--radius", "4000", cwd=tmp_path)
    assert first.returncode == 0 and "using the shipped sample" in first.stderr
    assert "the shipped table" in first.stderr and "From una:" in first.stdout
    before = parts_of(tmp_path / "store")
    again = process("una", "--beta", "0.5", "--radius", "4000", cwd=tmp_path)
    assert again.returncode == 0 and "already there" in again.stdout
    assert parts_of(tmp_path / "store") == before


def test_1_internal_errors_keep_their_traceback(command, store_folder, monkeypatch):
    (store_folder / "broken.py").write_text("def explode(texts):\n    1 / 0\nexplode.version = '1'\n")
    monkeypatch.syspath_prepend(store_folder)
    result = command("fit", "--name", "x", "--tokenizer", "broken:explode", "--jobs", "1")
    assert result.returncode == 1
    assert "ZeroDivisionError" in result.stderr
    assert "broken.py, line 2, which is no part of augment-cli" in result.stderr


def test_1_our_own_errors_are_ours(command, store_folder, monkeypatch):
    monkeypatch.setattr("augment_cli.store.store.Store.read_rows", None)
    result = command("inspect", "una")
    assert result.returncode == 1 and "an internal error, which is our fault" in result.stderr


def test_1_an_error_in_an_augmentation_names_its_file(command, store_folder, monkeypatch):
    from augment_cli.augmentations.una import term_replacement

    monkeypatch.setattr(term_replacement, "re", None)
    result = command("una", "--name", "new")
    assert result.returncode == 1 and "AttributeError" in result.stderr
    assert "an error in the augmentation of" in result.stderr and "our fault" not in result.stderr


WRONG = (
    "nonsense; una --nonsense; una --beta 2; una --beta x; una --radius -1; una --draws 0; una --limit 0; "
    "una --name ../out; una --name x/y; una --name tokens/x/y; pack --name x/y; fit --name x/y; "
    "parse --name x/y; pi --name x/y; una --parts one; una --dry-run --corpus -; una --parts 5; "
    "una --backend slurm; una --backend dask; una --backend ray; una --scheduler tcp://x:1; "
    "una --address x:1; una --backend ray --scheduler tcp://x:1; ingest --format xml; "
    "ingest --part-rows 1e30; ingest --part-rows HUGE; ingest --limit HUGE; una --draws HUGE; "
    "una --store st\udcffre; run no-such-recipe; run --set una.nonsense=1; inspect nonsense; remove corpus; "
    "fit --tokenizer nonsense; status --store"
)


@pytest.mark.parametrize("typed", WRONG.split("; "))
def test_2_usage(command, store_folder, typed):
    before = parts_of(store_folder / "store")
    result = command(*typed.replace("HUGE", str(10**30)).split())
    assert result.returncode == 2, result.stderr
    assert result.stdout == "" and result.stderr and "Traceback" not in result.stderr
    assert parts_of(store_folder / "store") == before


def test_3_too_many_rejects_and_damaged_input(command, tmp_path):
    (tmp_path / "in.txt").write_bytes(b"fine here\n" * 50 + b"\xff\n")
    assert command("ingest", "--corpus", "in.txt", "--store", "a", "--max-rejects", "0.02").returncode == 0
    result = command("ingest", "--corpus", "in.txt", "--store", "b")
    assert result.returncode == 3 and "1 of 51 lines were rejected (1 not_utf8)" in result.stderr
    assert "the corpus of b has what is left (50), and nothing else was made of it" in result.stderr
    assert len(result.stderr.splitlines()) == 1 and "Note:" not in result.stderr
    allowed = re.search(r"--max-rejects (\S+?)[;,]? ?(?=;|$)", result.stderr.split("the same again")[1])[1]
    assert command("crop", "--corpus", "in.txt", "--store", "b", "--max-rejects", allowed).returncode == 0
    assert command("ingest", "--corpus", "in.txt", "--store", "c", "--strict").returncode == 4


def test_4_bad_input(command, store_folder):
    assert command("una", "--corpus", "missing.txt").returncode == 4
    assert command("status", "--store", "nowhere").returncode == 4
    path = store_folder / "store" / "una" / "part-00000.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    result = command("verify")
    assert result.returncode == 4 and str(path.relative_to(store_folder)) in result.stderr
    result = command("verify", "--json")
    assert result.returncode == 4 and len(json.loads(result.stdout)["problems"]) >= 1
    assert command("inspect", "una").returncode == 4


def test_5_two_at_once(command, store_folder):
    import fcntl

    with (store_folder / "store" / ".work" / "lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        result = command("una", "--radius", "1%")
        assert result.returncode == 5 and f"another run (process {os.getpid()})" in result.stderr
        for reader in (["status"], ["stats", "una"], ["inspect", "una"], ["verify"]):
            assert command(*reader).returncode == 0  # readers take no lock
    # The file still names an owner, who no longer holds it.
    assert command("una", "--radius", "1%").returncode == 0


def test_6_something_missing(command, store_folder):
    result = command("una", "--name", "x", "--backend", "dask", "--scheduler", "nowhere://x")
    assert result.returncode == 6 and "no Dask scheduler answers" in result.stderr


SPEAKING_JSON = (
    "una --radius 1%; una --radius 1% --dry-run; run --dry-run; fit; ingest; inspect una -n 3; "
    "inspect corpus -n 3; inspect terms; stats una; stats tfidf; stats rejects; status; verify; list; doctor"
)


@pytest.mark.parametrize("typed", SPEAKING_JSON.split("; "))
def test_json_is_all_there_is_on_stdout(command, store_folder, typed):
    result = command(*typed.split(), "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) is not None
