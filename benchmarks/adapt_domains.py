"""`python -m train adapt` on real domains: labelled scores on texts it did not train on, and STS.

    python -m benchmarks.adapt_domains --data ../shared/data --work runs/domains
    python -m benchmarks.adapt_domains --data ../shared/data --work runs/domains --domains clinc150

A domain's corpus is `--rows` texts of its evaluation set, without labels; any set of single texts with labels
will do (`--domains agnews,mr,cr`). Scored are `--scored` other texts: K-means accuracy (clustering) or
accuracy from ten examples a class of the corpus, the purity of the ten nearest, and STS-B test. A finished
run is not made again, nor is an encoder scored again that has its line in `--results`. Printed is a JSON line
for each encoder, and at the end the table of benchmarks/results/adaptation.md.
"""

import argparse
import functools
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli import api
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.layout import is_static
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.lookup import Lookup
from augment_cli.encoding.transforms import centred, smoothed, unit
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.vectors.stages import find_encoder
from benchmarks import add_line, markdown, read_lines
from eval.measures.geometry import neighbourhoods_by_row
from eval.protocols import clustering, intent
from eval.protocols.sts import stsb
from eval.tasks import Table, load_registry, read_table

KINDS = {  # of encoders, and what their rows are called
    "start": "",
    "best": "adapted",
    "lookup": "a lookup of it",
    "nearest": "plus its ten nearest, beside the static encoder of half its length",
    "lookup of best": "a lookup of it adapted",
    "beside": "beside the static encoder",
    "beside at half": "… of half its length",
    "model2vec": "model2vec's distillation of it",
}
OTHERS = ("nearest", "beside", "beside at half", "model2vec")  # beside which MiniLM is shown
STATIC = Path(__file__).parents[1] / "data" / "models" / "static"
Encode = Callable[[Sequence[str]], np.ndarray]
DOMAINS = ("stackoverflow", "searchsnippets", "biomedical", "banking77", "clinc150")


def corpus_of(table: Table, rows: int) -> tuple[list[str], np.ndarray]:
    """Texts of a domain's corpus and their labels, `rows` of them in a fixed mixed order."""
    return _some(table, ["train", "dev"], 0, rows)


def _some(table: Table, splits: Sequence[str], low: int, high: int) -> tuple[list[str], np.ndarray]:
    """A stretch of the texts of some splits in a mixed order that is always the same."""
    if table.task.split == "all":  # there is no other
        splits = [table.task.split]
    elif low:  # another split holds the others
        low, high = 0, high - low
    texts, labels = table.texts(*splits), table.labels(*splits)
    chosen = np.random.default_rng(0).permutation(len(texts))[low:high]
    return [texts[place] for place in chosen], labels[chosen]


def scores(
    encode: Encode, table: Table, rows: int, scored: int, data: Path, seeds: int, general: bool = True
) -> dict[str, float]:
    """What an encoder scores on other texts of a domain and, if asked, on STS-B test, in percent."""
    texts, labels = _some(table, ["test"], rows, rows + scored)  # none of the corpus
    vectors = encode(texts)
    measured = {"purity_10": float(neighbourhoods_by_row(vectors, labels, [10])["purity_10"].mean())}
    if table.task.protocol == "clustering":
        measured["accuracy"] = clustering.score(vectors, labels, seeds=range(seeds)).scores["accuracy"]
    else:
        known, classes = corpus_of(table, rows)
        side = (encode(known), classes)
        measured["accuracy_10"] = intent.score(side, (vectors, labels), shots=(10,)).main
    if general:
        measured["stsb"] = stsb(encode, data, "test").spearman
    return {name: 100 * float(value) for name, value in measured.items()}


def encoders(options: argparse.Namespace, table: Table, seed: int) -> dict[str, Callable[[], Encode]]:
    """What is scored in a domain, by the name it has in the results; made when it is called."""
    texts = corpus_of(table, options.rows)[0]

    def load(folder: str) -> Encoder:
        return load_cached(folder, options.work)

    def best() -> Encoder:
        return load(str(adapt(table.task.name, texts, options, seed) / "best"))

    return {
        "start": lambda: load(options.encoder).encode,
        "lookup": lambda: look_up(texts, load(options.encoder), options.encoder),
        "best": lambda: best().encode,
        "lookup of best": lambda: look_up(texts, best(), options.encoder),
        "nearest": lambda: nearest_ten(beside(load(options.encoder), 0.5), texts),
        "beside": lambda: beside(load(options.encoder), 1.0),
        "beside at half": lambda: beside(load(options.encoder), 0.5),
        "model2vec": lambda: distilled(options.encoder),
    }


def load_cached(folder: str, work: Path, **options: Any) -> Encoder:
    """An encoder that keeps its vectors in a folder."""
    encoder = load_encoder(folder, **options)
    vars(encoder)["encode"] = functools.partial(encoder.encode, cache=work / "cache")
    return encoder


def look_up(texts: Sequence[str], encoder: Encoder, start: str) -> Encode:
    """A lookup in the corpus; the static encoder helps one that has layers to tell what is near."""
    has_layers = not is_static(find_encoder(start).path)
    return Lookup.fit(encoder, texts, [(load_encoder(str(STATIC)), 0.5)] * has_layers).encode


def beside(encoder: Encoder, weight: float) -> Encode:
    """An encoder's vectors of length 1 and the static encoder's, of a length of `weight`, side by side."""
    parts = (encoder, 1.0), (load_encoder(str(STATIC)), weight)
    return lambda texts: np.hstack([weight * unit(one.encode(texts))[0] for one, weight in parts])


def nearest_ten(encode: Encode, texts: Sequence[str]) -> Encode:
    """Each vector about the corpus's mean, plus the mean of its ten nearest of the corpus's smoothed ones."""
    corpus = unit(encode(texts))[0]
    mean, keys = corpus.mean(axis=0), smoothed(centred(corpus), 10, 2)

    def moved(others: Sequence[str]) -> np.ndarray:
        own = centred(encode(others), mean)
        places = np.argpartition(-own @ keys.T, 9, axis=1)[:, :10]
        return unit(own + keys[places].mean(axis=1))[0]

    return moved


@functools.cache
def distilled(encoder: str) -> Encode:
    """The table of words that model2vec makes of an encoder."""
    # Not with the corpus's words: model2vec 0.10 makes nearly one vector of all that are added.
    from model2vec.distill import distill

    table = distill(str(find_encoder(encoder).path), device="cpu")
    return lambda texts: unit(table.encode(list(texts)))[0]


def adapt(name: str, texts: Sequence[str], options: argparse.Namespace, seed: int) -> Path:
    """The run's folder, trained if it is not yet. STS-B is scored afterwards, not while it trains."""
    folder = options.work / name
    folder.mkdir(parents=True, exist_ok=True)
    corpus, store, out = folder / "corpus.txt", folder / "store", folder / f"seed-{seed}"
    if not corpus.is_file():
        corpus.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        api.ingest_corpus([corpus], store, max_rejects=0.5)
    command = [sys.executable, "-m", "train", "adapt", "--store", store, "--encoder", options.encoder]
    command += ["--out", out, "--data", folder]
    command += [word for change in (f"seed={seed}", *options.set) for word in ("--set", change)]
    subprocess.run(list(map(str, command)), check=True)
    return out


def gains_table(lines: list[dict[str, Any]]) -> str:
    """What each encoder scores, and what adaptation, a lookup in the corpus, or both gain, as Markdown."""
    rows = []
    domains = [*dict.fromkeys([*DOMAINS, *(line["domain"] for line in lines)])]
    for model in dict.fromkeys(line["model"] for line in lines):
        by_kind = {kind: _by_domain(lines, model, kind) for kind in KINDS}
        start = by_kind.pop("start")
        if not start:  # another run has it
            continue
        rows.append([f"**{model}**", *_cells(start, domains, ".1f")])
        for kind, found in by_kind.items():
            gains = {domain: score - start[domain] for domain, score in found.items() if domain in start}
            rows += [[KINDS[kind], *_cells(gains, domains, "+.1f")]] if gains else []
    return markdown(["encoder", *domains, "mean", "STS-B test"], rows)


def _by_domain(lines: list[dict[str, Any]], model: str, kind: str) -> dict[str, np.ndarray]:
    """K-means or few-shot accuracy, purity and STS-B, means over seeds, of each domain that was measured."""
    own = [line for line in lines if (line["model"], line["encoder"]) == (model, kind)]
    found = defaultdict[str, list[list[float]]](list)
    for line in own:
        found[line["domain"]].append([main_score(line), line["purity_10"], line["stsb"]])
    return {domain: np.mean(scores, axis=0) for domain, scores in found.items()}


def main_score(line: dict[str, Any]) -> float:
    """K-means accuracy where a domain is a set of clustering, else that from ten examples a class."""
    return float(line["accuracy" if "accuracy" in line else "accuracy_10"])


def _cells(by_domain: dict[str, np.ndarray], domains: Sequence[str], form: str) -> list[str]:
    mean = np.mean([*by_domain.values()], axis=0)
    pairs = [by_domain.get(domain) for domain in domains]
    cells = ["–" if pair is None else f"{pair[0]:{form}} / {pair[1]:{form}}" for pair in [*pairs, mean]]
    return [cell.replace("-", "−") for cell in (*cells, f"{mean[2]:{form}}")]


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def common_options(documentation: str) -> argparse.ArgumentParser:
    """What the scripts that adapt take."""
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--scored", type=int, default=2000, help="other texts, which are scored")
    parser.add_argument("--kmeans", type=int, default=10, help="seeds of K-means")
    parser.add_argument("--encoder", default=MINILM_PACKAGE)
    parser.add_argument("--model", default="MiniLM", help="what the encoder is called in the results")
    parser.add_argument("--results", type=Path, help="file of JSON lines to add to (default: in --work)")
    parser.add_argument("--set", action="append", default=[], help="a setting of every recipe")
    return parser


def begin(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, Path, list[dict[str, Any]]]:
    """What a run on domains is told, the file of its results, and the lines that are there."""
    parser.add_argument("--rows", type=int, default=4000, help="texts of a domain's corpus")
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--seeds", default="42,0,1")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.results or options.work / "results.jsonl"
    return options, results, read_lines(results)


def main() -> None:
    parser = common_options(__doc__)
    usual = [kind for kind in KINDS if kind not in OTHERS]
    parser.add_argument(
        "--kinds", default=",".join(usual), help=f"what is scored (others: {', '.join(OTHERS)})"
    )
    options, results, lines = begin(parser)
    for seed in map(int, options.seeds.split(",")):  # all domains with the first seed come first
        for name in options.domains.split(","):
            table = read_table(load_registry()[name], options.data)
            for kind, load in encoders(options, table, seed).items():
                if kind not in options.kinds.split(","):
                    continue
                key = {"model": options.model, "domain": name, "encoder": kind}
                key |= {"seed": seed} if kind.endswith("best") else {}
                if any(key.items() <= line.items() for line in lines):
                    continue
                before = _children_seconds()
                encode = load()
                if kind == "best" and (spent := _children_seconds() - before) > 1:
                    key["cpu_seconds"] = round(spent)
                measured = scores(encode, table, options.rows, options.scored, options.data, options.kmeans)
                add_line(results, lines, key | measured)
    print(gains_table(lines))


if __name__ == "__main__":
    main()
