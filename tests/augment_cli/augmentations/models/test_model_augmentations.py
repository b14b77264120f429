"""The three augmentations that run a model keep the contract of all the others, with real loaders."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import augment_cli
from augment_cli.augmentations.models.rewriting import sound_part
from augment_cli.contract.augmentation import Resources
from augment_cli.english.guards.fidelity import unfaithful
from augment_cli.errors import MissingError, UsageError
from augment_cli.neural.checks import one_line
from augment_cli.neural.generation import Decoding, Seq2Seq
from augment_cli.neural.loading import find_model
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.store.store import Store
from tests.helpers.properties import examples
from tests.helpers.sound import assert_sound
from tests.helpers.tiny_models import ACCENTED, SENTENCES

FAST = {"precision": "fp32", "device": "cpu", "batch_tokens": 200}
# The quick suite has one that writes and one that fills gaps.
OTHERS = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("t5", "bart", "marian")]
# What models with random weights write is no English; these look at nothing but the plain checks.
UNGUARDED = {"faithful": False}


@pytest.fixture
def run_of(model):
    """`run_of("t5")`: an augmentation's run on a small model."""

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


@pytest.mark.parametrize("kind", ["pegasus", "bert", *OTHERS])
def test_every_kind_of_model_changes_most_rows_and_comes_out_sound(run_of, store_path, kind):
    store = Store.open(store_path)
    table = augment_texts(SENTENCES, store, run_of(kind))
    assert_sound(table)
    assert table["row_id"].to_pylist() == list(range(60))
    assert table["original"].to_pylist() == SENTENCES
    assert table["text"].null_count < 30
    assert augment_texts(SENTENCES, store, run_of(kind)).equals(table)


@pytest.mark.parametrize(
    "kind", ["bert", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("pegasus", "marian"))]
)
def test_a_row_does_not_depend_on_its_batch(run_of, store_path, kind):
    """In fp32 nothing but the last bits of sums may depend on it, and none of these is that close."""
    store = Store.open(store_path)
    run = run_of(kind, sample=True) if kind != "bert" else run_of(kind)
    whole = augment_texts(SENTENCES, store, run)
    order = np.random.default_rng(0).permutation(60)
    pieces = {}
    for rows in np.split(order, 6):
        table = augment_texts([SENTENCES[row] for row in rows], store, run, rows)
        pieces |= dict(
            zip(table["row_id"].to_pylist(), table.drop_columns("row_id").to_pylist(), strict=True)
        )
    expected = whole.drop_columns("row_id").to_pylist()
    assert [pieces[row] for row in range(60)] == expected


@pytest.mark.parametrize(
    "kind", ["bert", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("pegasus", "marian"))]
)
def test_other_seeds_and_draws_give_other_texts(run_of, store_path, kind):
    store = Store.open(store_path)
    options = {} if kind == "bert" else {"sample": True}
    results = [
        augment_texts(SENTENCES, store, run_of(kind, seed=seed, draw=draw, **options))["text"].to_pylist()
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


@pytest.mark.parametrize("kind", [pytest.param("pegasus", marks=pytest.mark.slow), "bert", *OTHERS])
@examples(8, HealthCheck.function_scoped_fixture)
@given(texts=ODD)
def test_odd_input_never_raises_and_comes_out_sound(run_of, store_path, kind, texts):
    assert_sound(augment_texts(texts, Store.open(store_path), run_of(kind, anyway=True)))


@pytest.mark.parametrize("kind", ["pegasus", *OTHERS])
def test_an_input_over_the_limit_is_left_alone_and_never_cut(run_of, store_path, kind):
    store, long = Store.open(store_path), "the river waits near the bridge " * 300
    table = augment_texts(["The old bridge waits.", long], store, run_of(kind))
    assert [reason == "input_too_long" for reason in table["reason"].to_pylist()] == [False, True]


def test_the_limit_can_be_lowered(model, store_path):
    lengths = Seq2Seq(find_model(model("pegasus")), Decoding()).lengths(SENTENCES)
    limit = int(np.median(lengths))
    run = make_run("paraphrase", **FAST, **UNGUARDED, beams=2, model=model("pegasus"), longest=limit)
    reasons = augment_texts(SENTENCES, Store.open(store_path), run)["reason"].to_pylist()
    assert [reason == "input_too_long" for reason in reasons] == (lengths > limit).tolist()


@pytest.mark.parametrize(
    "kind", ["bert", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("pegasus", "marian"))]
)
def test_rows_beyond_the_limit_stay_unchanged(run_of, store_path, kind):
    store, run = Store.open(store_path), run_of(kind, rows=20)
    limited = augment_texts(SENTENCES, store, run).to_pylist()
    whole = augment_texts(SENTENCES, store, run_of(kind)).to_pylist()
    assert {row["reason"] for row in limited[20:]} == {"beyond_limit"}
    assert [row["text"] for row in limited[:20]] == [row["text"] for row in whole[:20]]
    assert "first 20 sentences only" in run.warnings(store)[0]


def test_doctor_names_a_default_model_that_is_not_here(tmp_path, monkeypatch):
    from augment_cli.reports.doctor import examine

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))
    entries = {entry["what"]: entry for entry in examine(tmp_path)}
    assert entries["mask-fill"]["missing"] == ["model bert-base-uncased"]
    assert entries["back-translate"]["missing"] == ["forward Helsinki-NLP/opus-mt-en-fr"]
    assert "--allow-download" in entries["mask-fill"]["get"]


def test_paraphrase_without_its_model_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))
    message = (
        r"^--model tuner007/pegasus_paraphrase: .*--allow-download .*folder with --model\. `.*rephrase`.*$"
    )
    with pytest.raises(MissingError, match=message):
        make_run("paraphrase").augmentation.uses(make_run("paraphrase").parameters, Resources(0, 0))


def test_back_translation_keeps_the_text_in_between(run_of, store_path):
    table = augment_texts(SENTENCES, Store.open(store_path), run_of("marian"))
    between = table["intermediate"].to_pylist()
    assert all(between) and len(set(between)) > 10
    assert between != table["text"].to_pylist()


def test_what_was_turned_down_is_kept_beside_the_reason(run_of, store_path):
    rows = augment_texts(SENTENCES, Store.open(store_path), run_of("pegasus")).to_pylist()
    reasons = Counter(row["reason"] for row in rows)
    assert len(reasons) > 1
    for row in rows:
        assert (row["rejected"] is None) == (row["reason"] is None)


@pytest.mark.slow
def test_the_output_is_what_transformers_generates(model, store_path):
    """The whole path, against the plain loop: one sentence at a time, no padding, no shared keys."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    for kind, prefix in (("pegasus", ""), ("t5", "paraphrase: ")):
        tokenizer = AutoTokenizer.from_pretrained(model(kind))
        network = AutoModelForSeq2SeqLM.from_pretrained(model(kind)).eval()
        run = make_run(
            "paraphrase", **FAST, **UNGUARDED, surprise=0.0, candidates=1, beams=3, model=model(kind)
        )
        table = augment_texts(SENTENCES[:20], Store.open(store_path), run)
        for row in table.to_pylist():
            ids = tokenizer(prefix + row["original"], return_tensors="pt").input_ids
            with torch.inference_mode():
                output = network.generate(ids, num_beams=3)
            expected = one_line(tokenizer.decode(output[0], skip_special_tokens=True))
            assert expected == (row["text"] or row["rejected"])


def test_one_beam_is_greedy_search(model):
    import torch

    folder = find_model(model("bart"))
    generator = Seq2Seq(folder, Decoding(beams=1))
    ids, _ = generator.read(SENTENCES[:5])
    found = [outputs[0].text for outputs in generator.write(ids, 0, range(5))]
    for row, text in zip(ids, found, strict=True):
        with torch.inference_mode():
            output = generator._model.generate(torch.tensor([row]), num_beams=1, do_sample=False)
        assert text == one_line(generator.tokenizer.decode(output[0], skip_special_tokens=True))


@pytest.mark.slow
def test_settings_that_look_at_the_whole_batch_are_left_to_transformers(model):
    import torch

    generator = Seq2Seq(find_model(model("pegasus")), Decoding(beams=3))
    generator._model.generation_config.encoder_no_repeat_ngram_size = 1
    ids, _ = generator.read(SENTENCES[:8])
    for row, (output,) in zip(ids, generator.write(ids, 0, range(8)), strict=True):
        with torch.inference_mode():
            tokens = generator._model.generate(torch.tensor([row]), num_beams=3)
        assert output.text == one_line(generator.tokenizer.decode(tokens[0], skip_special_tokens=True))


# --- guards


@pytest.mark.parametrize("kind", [pytest.param("pegasus", marks=pytest.mark.slow), "marian"])
def test_what_the_guards_turn_down_is_a_reason_and_the_next_output_is_tried(
    run_of, store_path, kind, monkeypatch
):
    store = Store.open(store_path)
    plain = augment_texts(SENTENCES, store, run_of(kind, **OF_THREE[kind])).to_pylist()
    first = {row["original"]: row["text"] for row in plain if row["text"]}
    seen = []

    def not_the_first(original, output, is_english):
        seen.append(output)
        return "invented_word" if output == first.get(original) else None

    monkeypatch.setattr("augment_cli.augmentations.models.rewriting.unfaithful", not_the_first)
    guarded = augment_texts(SENTENCES, store, run_of(kind, faithful=True, **OF_THREE[kind])).to_pylist()
    assert set(first.values()) <= set(seen)
    changed = [row for row in guarded if row["original"] in first and row["text"]]
    assert len(changed) > 10 and all(row["text"] != first[row["original"]] for row in changed)
    for row in guarded:
        if row["reason"] == "invented_word":
            assert row["rejected"] == first[row["original"]]


OF_THREE = {"pegasus": {"candidates": 3}, "marian": {"beams": 3}}


def test_english_guards_turn_down_what_random_weights_write(run_of, store_path):
    reasons = augment_texts(SENTENCES, Store.open(store_path), run_of("pegasus", faithful=True))["reason"]
    counts = Counter(reasons.to_pylist())
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


def test_an_unlikely_token_turns_an_output_down(run_of, store_path):
    store = Store.open(store_path)
    strict = augment_texts(SENTENCES, store, run_of("pegasus", surprise=1e-6))
    assert "unlikely_wording" in strict["reason"].to_pylist()
    lenient = augment_texts(SENTENCES, store, run_of("pegasus", surprise=1e6))
    assert (
        lenient["text"].to_pylist() == augment_texts(SENTENCES, store, run_of("pegasus"))["text"].to_pylist()
    )
    assert strict["text"].null_count > lenient["text"].null_count


# --- sampling, candidates


def test_samples_follow_the_models_distribution(model):
    """Chi-square of the first token drawn 4,000 times against softmax."""
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


def test_candidates_the_most_different_is_chosen(run_of, model, store_path):
    store = Store.open(store_path)
    options = {"candidates": 3, "choice": "different", "encoder": model("encoder")}
    lenient = augment_texts(SENTENCES, store, run_of("pegasus", **options, min_cosine=-1.0))
    strict = augment_texts(SENTENCES, store, run_of("pegasus", **options, min_cosine=1.0))
    assert_sound(lenient)
    assert strict["text"].null_count == 60
    assert "meaning_lost" in strict["reason"].to_pylist()
    best = augment_texts(SENTENCES, store, run_of("pegasus", candidates=1))
    assert best["text"].to_pylist() != lenient["text"].to_pylist()


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


# --- mask filling


def test_mask_filling_changes_the_share_of_words_it_is_told_to(run_of, store_path):
    for share, most in [(0.05, 10), (0.2, 10), (0.5, 2), (1.0, 0)]:
        rows = augment_texts(
            SENTENCES, Store.open(store_path), run_of("bert", share=share, most=most)
        ).to_pylist()
        for row in rows:
            wanted = min(int(np.ceil(share * row["words"])), most or 999)
            assert row["words"] == len(row["original"].split())
            assert row["replaced"] == len(row["edits"]) == wanted


def test_a_word_is_never_replaced_by_itself_and_keeps_its_case(run_of, store_path):
    texts = [text.upper() if number % 2 else text for number, text in enumerate(SENTENCES)]
    for row in augment_texts(texts, Store.open(store_path), run_of("bert", share=1.0, most=0)).to_pylist():
        for edit in row["edits"]:
            old = row["original"][edit["start"] : edit["end"]]
            assert edit["replacement"].lower() != old.lower()
            assert edit["replacement"].isalpha()
            assert edit["replacement"][0].isupper() == old[0].isupper()


def test_inserted_words_leave_all_others_where_they_were(run_of, store_path):
    run = run_of("bert", action="insert", share=0.2)
    for row in augment_texts(SENTENCES, Store.open(store_path), run).to_pylist():
        assert all(edit["start"] == edit["end"] for edit in row["edits"])
        rest = iter(row["text"].split())
        assert all(word in rest for word in row["original"].split())


def test_gaps_are_filled_as_transformers_would(model, store_path):
    """With one word to draw from, the filling is the most probable other word of the plain model."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    run = make_run("mask-fill", **FAST, model=model("bert"), share=0.01, top_k=1)
    tokenizer = AutoTokenizer.from_pretrained(model("bert"))
    network = AutoModelForMaskedLM.from_pretrained(model("bert")).eval()
    words = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    for row in augment_texts(SENTENCES[:15], Store.open(store_path), run).to_pylist():
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


def test_in_memory_through_the_public_interface(model, store_path):
    table = augment_cli.augment(
        ["The old bridge waits near the river."], "mask-fill", store=store_path, model=model("bert"), **FAST
    )
    assert_sound(table)
    assert table["text"].null_count == 0


def is_sound_for(original):
    return lambda text: text != original and unfaithful(original, text) is None


def test_a_wrong_change_is_undone_and_a_sound_one_kept():
    original = "The species occur in Asia, but we do not know why."
    output = "The species happen in Asia, but we don't know why."
    assert sound_part(original, output, is_sound_for(original)) == original.replace("do not", "don't")


def test_without_a_sound_change_there_is_no_part():
    original = "The species occur in Asia."
    assert sound_part(original, "The species happen in Europe.", is_sound_for(original)) is None


def test_words_that_come_or_go_are_no_part():
    original = "There are old boats."
    assert sound_part(original, "There are many old boats.", lambda text: True) is None
