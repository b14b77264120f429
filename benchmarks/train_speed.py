"""Sentences a second of this trainer and of the sentence-transformers library's, interleaved.

    python -m benchmarks.train_speed --data DATA [--rounds 2] [--ranks 2] [--pooling cls]

Both train the same new BERT (4 layers, 256 wide, dropout 0.1) with SimCSE's InfoNCE loss on the same
Wikipedia sentences, batch 64, 32 tokens, fp32 and bf16 autocast. Every run is a process of its own and the
runs alternate, so that a noisy machine is noisy for all. The clock starts after the first steps. The library
runs in one process, once with its default threads and once with one thread (where a neighbour keeps a core
busy, the default collapses); ratios are to its better fp32 speed. This trainer runs as `make train RANKS=2`
does: two processes of one thread under torchrun (`--ranks 1` for one process).
"""

import argparse
import gzip
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from augment_cli.ingest import ingest
from augment_cli.store.store import Store
from benchmarks import markdown
from train.outputs.log import read_log

WARM, STEPS, BATCH, LENGTH = 15, 60, 64, 32
ENCODER = {
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 128,
}


def library(encoder: str, texts: Path, precision: str) -> None:
    """Train with sentence-transformers and print its sentences a second."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.training_args import SentenceTransformerTrainingArguments
    from transformers import TrainerCallback

    class Clock(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):  # type: ignore[no-untyped-def]
            times.append(time.perf_counter())

    times: list[float] = []
    model = SentenceTransformer(encoder, device="cpu")
    model.max_seq_length = LENGTH
    lines = texts.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            folder,
            per_device_train_batch_size=BATCH,
            max_steps=STEPS,
            learning_rate=3e-5,
            warmup_steps=0,
            bf16=precision == "bf16",
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_dict({"anchor": lines, "positive": lines}),
            loss=MultipleNegativesRankingLoss(model),
            callbacks=[Clock()],
        ).train()
    print(f"speed {BATCH * (STEPS - WARM) / (times[STEPS - 1] - times[WARM - 1])}")


def ours(
    encoder: str, store: Path, out: Path, precision: str, ranks: int, pooling: str
) -> tuple[float, float]:
    """Train with this trainer; sentences a second and share of the time spent waiting for data."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks] if ranks > 1 else []
    command = [sys.executable, *launcher, "-m", "train", "simcse", "--store", store, "--encoder", encoder]
    command += ["--out", out]
    settings = f"steps={STEPS} log_every={WARM} max_length={LENGTH} batch={BATCH} dropout=0.1 slices=1"
    for change in f"{settings} pooling={pooling} evaluate_every=0 precision={precision}".split():
        command += ["--set", change]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run(list(map(str, command)), check=True, env=environment, capture_output=True)
    steps = [event for event in read_log(out / "log.jsonl") if event["event"] == "step"]
    events = [event for event in steps if event["step"] > WARM]
    seconds = [WARM * BATCH / event["rows_per_second"] for event in events]
    waited = sum(event["waited"] * time for event, time in zip(events, seconds, strict=True)) / sum(seconds)
    return WARM * len(events) * BATCH / sum(seconds), waited


def make_encoder(folder: Path, pooling: str) -> Path:
    """A new BERT with the shipped encoder's vocabulary, and the pooling that both trainers read."""
    import torch

    from train.loading import make_recipe
    from train.model import start
    from train.outputs.export import export

    tokenizer = folder / "tokenizer"
    tokenizer.mkdir()
    shipped = Path(__file__).resolve().parent.parent / "data/models/encoder"
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tokenizer / name).write_bytes((shipped / name).read_bytes())
    recipe = make_recipe({"new_encoder": ENCODER, "pooling": pooling})
    export(start(tokenizer, recipe, torch.device("cpu")), folder / "encoder")
    return folder / "encoder"


def main() -> None:
    if sys.argv[1:2] == ["library"]:
        return library(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="data folder with corpus/")
    parser.add_argument("--rounds", type=int, default=2, help="how often each is measured")
    parser.add_argument("--ranks", type=int, default=2, help="processes of this trainer")
    parser.add_argument("--pooling", default="cls", help="of both, by a name that the library knows too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with gzip.open(args.data / "corpus/wiki_en-00.txt.gz", "rt", encoding="utf-8") as lines:
            (folder / "texts.txt").write_text(
                "".join(itertools.islice(lines, BATCH * STEPS)), encoding="utf-8"
            )
        store = Store.create(folder / "store")
        with store.lock():
            ingest(store, [folder / "texts.txt"])
        encoder = make_encoder(folder, args.pooling)
        speeds: dict[tuple[str, str], list[float]] = {}
        most_waited = 0.0
        for number, precision in itertools.product(range(args.rounds), ("fp32", "bf16")):
            out = folder / f"run-{number}-{precision}"
            speed, waited = ours(str(encoder), folder / "store", out, precision, args.ranks, args.pooling)
            speeds.setdefault((f"this trainer, {args.ranks} processes", precision), []).append(speed)
            most_waited = max(most_waited, waited)
            for threads, limit in (("default threads", {}), ("1 thread", {"OMP_NUM_THREADS": "1"})):
                command = [sys.executable, "-m", "benchmarks.train_speed", "library"]
                command += [str(encoder), str(folder / "texts.txt"), precision]
                done = subprocess.run(command, capture_output=True, text=True, env=os.environ | limit)
                if done.returncode:
                    raise SystemExit(done.stderr[-2000:])
                speed = float(done.stdout.split("speed ")[-1])
                speeds.setdefault((f"sentence-transformers, {threads}", precision), []).append(speed)
        middle = {key: statistics.median(values) for key, values in speeds.items()}
        base = max(speed for (name, kind), speed in middle.items() if "sentence" in name and kind == "fp32")
        rows = [[*key, f"{speed:.0f}", f"{speed / base:.2f}"] for key, speed in middle.items()]
        print(markdown(["trainer", "precision", "sentences/s", "ratio"], rows))
        print(f"waiting for data: at most {most_waited:.2%} of the time")
    return None


if __name__ == "__main__":
    main()
