"""Control characters never reach a terminal: from the corpus, a forged manifest, a path, an option."""

import json
import re

import pytest

from augment_cli.errors.visible import visible, visible_json, visible_line
from tests.helpers.undisturbed import sealed

BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
EVIL = "\x1b[31mred\x07\x9b1m\u202egnp.txt\u2066x\u2069\x7f"


def check(result):
    for stream in (result.stdout, result.stderr):
        assert not BAD.search(stream), repr(stream)


@pytest.mark.parametrize(
    "code", [*range(9), *range(11, 32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
)
def test_each_becomes_a_mark_and_an_escape(code):
    text = f"a{chr(code)}b"
    assert not BAD.search(visible(text)) and visible(text)[0] + visible(text)[-1] == "ab"
    assert not BAD.search(visible_json(text)) and json.loads(visible_json(text)) == text


def test_what_is_text_stays():
    text = "naïve café ‏".rstrip("\u200f") + "日本語 👩‍👩‍👧 العربية\tx\ny"
    assert visible(text) == text and json.loads(visible_json({"a": text})) == {"a": text}
    assert visible_line("a\n\tb") == "a␊␉b"


def test_from_the_corpus(command, tmp_path):
    turned = "\u202egnp.txt\u2066x\u2069"  # such a line is a sentence; one with ESC is set aside
    rows = [{"text": f"the river {turned} number {n} flows by house {n}"} for n in range(40)]
    rows += [{"text": f"a line of {EVIL}"}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for arguments in (
        ["una", "--radius", "4", "--corpus", "in.jsonl", "--max-rejects", "1"],
        ["inspect", "una"],
        ["inspect", "corpus"],
        ["inspect", "rejects"],
        ["inspect", "terms", "-n", "50"],
    ):
        check(command(*arguments))
        check(command(*arguments, "--json"))
    shown = command("inspect", "corpus", "--json")
    assert all("\u202e" in row["text"] for row in json.loads(shown.stdout))
    assert "<U+202E>gnp.txt<U+2066>" in command("inspect", "una").stdout
    assert "␛" in command("inspect", "rejects").stdout or "\\u001b" in command("inspect", "rejects").stdout


SLOW = pytest.param("pack", marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "typed", ["status", "stats una", "stats rejects", "card", "inspect una", SLOW, "una"]
)
def test_from_a_forged_manifest(store, command, typed):
    path = store.path / "manifest.json"
    value = json.loads(path.read_bytes())
    for stage in value["stages"].values():
        stage["settings"]["parameters"] |= {EVIL: EVIL, "text_column": EVIL, "tokenizer": EVIL}
        stage["settings"]["libraries"] |= {EVIL: EVIL}
        for part in stage["parts"].values():
            part["statistics"].setdefault("reasons", {})[EVIL] = 1
    path.write_text(json.dumps(sealed(value)))
    result = command(*typed.split(), "--store", store.path)
    check(result)
    assert "Traceback" not in result.stderr
    if typed != "card":
        check(command(*typed.split(), "--store", store.path, "--json"))
    else:
        assert not BAD.search((store.path / "README.md").read_text())


TYPED = (
    "status --store EVIL; una --corpus EVIL; una --name EVIL; una --beta EVIL; EVIL; una --EVIL; run EVIL; "
    "run default --set EVIL=EVIL; ingest --format EVIL; paraphrase --model ./EVIL; una --parts EVIL; "
    "fit --tokenizer EVIL; inspect EVIL"
)


@pytest.mark.parametrize("typed", TYPED.split("; "))
def test_from_an_option(command, typed):
    result = command(*(word.replace("EVIL", EVIL) for word in typed.split()))
    check(result)
    assert result.returncode in (2, 4, 6), result.stderr


def test_from_a_folder_and_a_broken_file(command, tmp_path):
    folder = tmp_path / EVIL.replace("/", "")
    folder.mkdir()
    (folder / "in.txt").write_text("one sentence here\nanother one there\n" * 10)
    result = command("una", "--radius", "4", "--corpus", folder / "in.txt", "--store", folder / "store")
    check(result)
    assert result.returncode == 0
    check(command("verify", "--store", folder / "store"))
    (folder / "store" / "una" / "part-00000.parquet").write_bytes(b"x")
    for arguments in (["verify"], ["inspect", "una"], ["status"]):
        check(command(*arguments, "--store", folder / "store"))
    (folder / "recipe.toml").write_text(f"x = {json.dumps(EVIL)}\n[{json.dumps(EVIL)}]\n")
    check(command("run", folder / "recipe.toml"))


def test_markup_in_names_is_text(store, command):
    path = store.path / "manifest.json"
    value = json.loads(path.read_bytes())
    value["stages"]["una"]["settings"]["parameters"]["x"] = "[link=file:///etc/passwd]here[/link][/oops]"
    path.write_text(json.dumps(sealed(value)))
    result = command("status", "--settings", "--store", store.path)
    assert result.returncode == 0 and "[link=file" in result.stdout.replace("\n", "")
