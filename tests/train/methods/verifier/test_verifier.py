"""Verifiers: pairs by a store's labels, what the network must not depend on, the command, the column."""

import json
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import augment_cli
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.verifier import load_verifier, side_by_side, untrained
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.store.store import Store
from tests.helpers.commands import typed
from tests.helpers.made_stores import store_of
from tests.helpers.places import REPOSITORY
from tests.helpers.tiny_encoders import SENTENCES
from train.methods.verifier import Settings
from train.methods.verifier.fit import fit, neighbours, read_pairs

STAGES = ("negation", "antonym", "rephrase", "crop", "random-sentence")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    # Two turns at one predicate are rare: sentences that have them stand beside those of the sample.
    nouns = ("road", "plan", "sale", "vote")
    plain = [f"The {noun} is {quality}." for noun in nouns for quality in ("legal", "possible")]
    path = store_of(tmp_path_factory.mktemp("verifier"), [*SENTENCES[:90], *plain], *STAGES).path
    augment_cli.run("negation", path, of="antonym")
    return path


@pytest.fixture(scope="module")
def verifier(tiny_encoder):
    return untrained(load_encoder(tiny_encoder), str(tiny_encoder), width=16)


def test_labels_say_what_turns_a_text_and_other_rows_texts_are_left_out(store):
    pairs, held_out, originals = read_pairs(Store.open(store), 0, 0.2, seed=0)
    columns = {stage: Store.open(store).read(stage)["text"].to_pylist() for stage in ("corpus", *STAGES)}
    found = {(pair.first, pair.second): pair.turned for pair in (*pairs, *held_out)}
    labels = Store.open(store).read("negation")["label"].to_pylist()
    unclear = {text for text, label in zip(columns["corpus"], labels, strict=True) if label == "neither"}
    assert unclear  # negated questions, which ask the same
    for stage, turned in (("negation", True), ("antonym", True), ("rephrase", False)):
        asked = [pair for pair in zip(columns["corpus"], columns[stage], strict=True) if pair[1]]
        said = {found.get(pair) for pair in asked if stage != "negation" or pair[0] not in unclear}
        assert said == {turned}
        assert stage != "negation" or not {pair for pair in asked if pair[0] in unclear} & {*found}
    assert not {pair.second for pair in pairs} & {*columns["random-sentence"]}
    assert not {pair.first for pair in pairs} & {pair.first for pair in held_out if pair.kind == "negation"}
    assert {*originals} <= {*columns["corpus"]} - {pair.first for pair in held_out if pair.kind == "negation"}
    # A crop that lost a "not" does not say the same.
    kept = {pair.second for pair in (*pairs, *held_out) if pair.kind == "crop"}
    lost = [
        crop
        for text, crop in zip(columns["corpus"], columns["crop"], strict=True)
        if crop and " not " in text and " not " not in crop
    ]
    assert not kept & {*lost}
    none = {pair.second: pair.turned for pair in (*pairs, *held_out) if pair.kind == "none"}
    assert none["No road is legal."] and none["No plan is possible."] and all(none.values())


def test_two_turns_at_one_predicate_say_the_same(store):
    trained, held_out, _ = read_pairs(Store.open(store), 0, 0.2, 0)
    pairs = {(pair.first, pair.second): pair.turned for pair in (*trained, *held_out)}
    text, negated, turned = "The plan is legal.", "The plan is not legal.", "The plan is illegal."
    assert pairs[text, negated] and pairs[text, turned] and not pairs[negated, turned]
    chain = "The plan is not illegal."
    assert not pairs[text, chain] and pairs[negated, chain] and pairs[turned, chain]


def test_pairs_depend_on_the_seed_and_the_rows_asked_for(store):
    opened = Store.open(store)
    assert read_pairs(opened, 0, 0.2, 3) == read_pairs(opened, 0, 0.2, 3) != read_pairs(opened, 0, 0.2, 4)
    some, *_ = read_pairs(opened, 40, 0.2, 3)
    assert len({pair.first for pair in some if pair.kind == "negation"}) <= 2 * 40


def test_neighbours_are_the_nearest_others():
    angles = np.array([0.0, 0.1, 0.3, 2.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert [(pair.first, pair.second) for pair in neighbours(vectors, list("abcd"), most=1)] == [
        ("a", "b"), ("b", "a"), ("c", "b"), ("d", "c"),
    ]  # fmt: skip


def test_neither_order_nor_what_else_is_asked_changes_an_answer(verifier):
    texts = [*SENTENCES[:20], "river", "", SENTENCES[3] + " " + SENTENCES[7]]
    others = texts[1:] + texts[:1]
    together = verifier.turned(texts, others)
    assert together.dtype == np.float32 and ((together > 0) & (together < 1)).all()
    np.testing.assert_allclose(verifier.turned(others, texts), together, atol=1e-5)
    alone = [verifier.turned([one], [other])[0] for one, other in zip(texts, others, strict=True)]
    np.testing.assert_allclose(alone, together, atol=1e-5)
    assert verifier.turned([], []).shape == (0,)
    for ask in (verifier.turned, verifier.score):
        with pytest.raises(UsageError, match="1 texts and 2 partners"):
            ask(["a"], ["b", "c"])
        with pytest.raises(UsageError, match="give two lists of texts"):
            ask("ab", "ac")
        with pytest.raises(UsageError, match="pair 1 has a NoneType, not a string"):
            ask(["a", "b"], ["c", None])


def test_a_score_is_the_cosine_less_a_penalty(verifier):
    texts, others = SENTENCES[:5], SENTENCES[5:10]
    one, other = (verifier.encoder.encode(side) for side in (texts, others))
    cosines = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    wanted = cosines - verifier.shape.penalty * verifier.turned(texts, others) ** 2
    np.testing.assert_allclose(verifier.score(texts, others), wanted, atol=1e-5)


def trained(store, encoder, out, steps):
    words = ["--store", store, "--encoder", encoder, "--out", out, "--steps", steps]
    words += ["--width", "32", "--held-out", "0.3", "--batch", "32"]
    assert typed("train", "verifier", *words).returncode == 0
    return out


@pytest.fixture(scope="module")
def made(store, tiny_encoder, tmp_path_factory):
    return trained(store, tiny_encoder, tmp_path_factory.mktemp("made") / "verifier", 9)


@pytest.mark.slow
def test_a_trained_one_tells_a_negation_from_a_rephrasing(store, tiny_encoder, tmp_path):
    texts = Store.open(store).read("corpus")["text"].to_pylist()
    verifier = load_verifier(trained(store, tiny_encoder, tmp_path / "verifier", 250))
    columns = {stage: Store.open(store).read(stage)["text"].to_pylist() for stage in ("negation", "crop")}
    means = {}
    for stage, others in columns.items():
        asked = [pair for pair in zip(texts, others, strict=True) if pair[1]]
        means[stage] = verifier.turned(*zip(*asked, strict=True)).mean()
    assert means["negation"] > means["crop"] + 0.1


def test_the_command_says_what_it_cannot_do(made, store, tiny_encoder, tmp_path, ended, monkeypatch):
    def refused(*words):
        code, said = ended("verifier", *words)
        assert code in (UsageError.exit_code, MissingError.exit_code)
        return said

    base = ("--store", store, "--encoder", tiny_encoder)
    assert "exists; name a new folder" in refused(*base, "--out", made)
    new = ("--out", tmp_path / "new")
    augment_cli.run("crop", tmp_path / "crops", corpus=store.parent / "in.txt")
    assert "too few turned sentences" in refused("--store", tmp_path / "crops", *base[2:], *new)
    assert "reads the layers of a transformer" in refused("--store", store, "--encoder", "static", *new)
    assert "--steps 0: must be at least 1" in refused(*base, *new, "--steps", "0")
    assert "--width 6: must be a multiple of 4" in refused(*base, *new, "--width", "6")
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "`pip install 'augment-cli[onnx]'`" in refused(*base, *new, "--onnx")
    assert not (tmp_path / "new").exists()


def test_the_networks_differ_their_mean_is_asked_and_the_card_says_how_they_were_made(made):
    verifier = load_verifier(made)
    first, second = (side_by_side([torch.randn(4, verifier.shape.dimension * 2)]) for _ in range(2))
    with torch.inference_mode():
        alone = [float(network(*first, *second)) for network in verifier.network]
        together = float(verifier.network(*first, *second))
    assert len(set(alone)) == verifier.shape.networks == 2
    assert together == pytest.approx(sum(alone) / 2, abs=1e-5)
    card = (made / "README.md").read_text(encoding="utf-8")
    assert "| negation |" in card and "python -m train verifier" in card


def test_onnx_gives_the_same_logits_and_none_of_other_weights_stays(made, tmp_path):
    pytest.importorskip("onnx", reason="the extra onnx writes it")
    runtime = pytest.importorskip("onnxruntime", reason="the test asks it")
    verifier = load_verifier(made)
    verifier.save(tmp_path, onnx=True)
    session = runtime.InferenceSession(tmp_path / "verifier.onnx", providers=["CPUExecutionProvider"])
    for lengths in (([3], [3]), ([1, 5, 2], [4, 1, 9]), ([30] * 8, [2, 3] * 4)):
        sides = [
            [torch.nn.functional.normalize(torch.randn(n, verifier.shape.dimension), dim=1) for n in side]
            for side in lengths
        ]
        sides = [[vectors.repeat(1, len(verifier.shape.layers)) for vectors in side] for side in sides]
        inputs = [part for side in sides for part in side_by_side(side)]
        asked = {one.name: part.numpy() for one, part in zip(session.get_inputs(), inputs, strict=True)}
        with torch.inference_mode():
            wanted = verifier.network(*inputs).numpy()
        np.testing.assert_allclose(session.run(["logits"], asked)[0], wanted, atol=1e-4)
    verifier.save(tmp_path)
    assert not (tmp_path / "verifier.onnx").exists()


def test_the_shipped_onnx_has_the_shipped_weights():
    shipped = REPOSITORY / "data/models/verifier"
    written = (shipped / "verifier.onnx").read_bytes()
    weights = load_file(shipped / "verifier.safetensors")
    # The exporter turns what is multiplied, and leaves the rest as it is.
    kept = {name: weights[name].float().numpy().tobytes() for name in weights if name.endswith("bias")}
    assert len(kept) > 10
    assert [name for name, values in kept.items() if values not in written] == []


def test_another_encoder_and_a_damaged_folder_are_refused(made, tmp_path):
    with pytest.raises(UsageError, match="has other files; give that encoder"):
        load_verifier(made, encoder="static")
    for number, change in enumerate(({"width": 24}, {"layers": 3}, {"unknown": 1})):
        folder = tmp_path / str(number)
        folder.mkdir()
        said = json.loads((made / "verifier.json").read_text()) | change
        (folder / "verifier.json").write_text(json.dumps(said))
        (folder / "verifier.safetensors").write_bytes((made / "verifier.safetensors").read_bytes())
        with pytest.raises(BadInputError, match="does not load as a verifier"):
            load_verifier(folder)
    with pytest.raises(BadInputError, match="does not load as a verifier"):
        load_verifier(tmp_path / "none")


def test_score_has_a_column_of_it(made, store):
    scored = augment_cli.score(store, "negation", columns=["length_ratio"], verifier=str(made))
    frame = scored.frame("scores-negation")
    texts, negated = (scored.read(stage)["text"].to_pylist() for stage in ("corpus", "negation"))
    asked = [pair for pair in zip(texts, negated, strict=True) if pair[1]]
    found = frame["turned"].to_list()
    assert [value is None for value in found] == [other is None for other in negated]
    wanted = load_verifier(made).turned(*zip(*asked, strict=True))
    np.testing.assert_allclose([value for value in found if value is not None], wanted, atol=1e-4)
    assert augment_cli.verify(store) == []
    with pytest.raises(UsageError, match="holds no verifier; make one"):
        augment_cli.score(store, "negation", columns=["length_ratio"], verifier=str(store), name="two")


def test_a_text_of_which_nothing_was_made_is_a_neighbour_all_the_same(tiny_encoder, tmp_path):
    texts = [f"The {noun} is legal." for noun in ("plan", "sale", "vote", "road", "deal")]
    texts += ["Oh", "Ah", "Eh"]
    store = store_of(tmp_path, texts, "negation", "rephrase")
    settings = Settings(steps=1, held_out=0.4, width=8)
    _, held_out = fit(load_encoder(tiny_encoder), "tiny", store, settings)
    assert held_out.turned
