"""Other ways to adapt an encoder to unlabelled text, beside `adapt`, on the same domains and as many steps.

    python -m benchmarks.adapt_rivals --data DIR --work runs/rivals
    python -m benchmarks.adapt_rivals --data DIR --work runs/rivals --rivals TSDAE,SimCSE
    python -m benchmarks.adapt_rivals --data DIR --work runs/texts --texts --weight 1 --seeds 42,0,1

Each is trained at each of its learning rates; the table shows the best of them by the labels, which flatters
the rivals: `adapt` has one rate. They take 60 steps of 64 pairs, as much encoding as `adapt` does, and what
they end with is scored, without a choice by `neighbours`, which `adapt` was made with. All start with the
encoder's own pooling and without a head. TSDAE is sentence-transformers' own. "adapt with" adds contrast of
that kind to the recipe, with the weight of `--weight`, and ends as it does; `--texts` trains these alone, at
the recipe's own learning rate, and pairs them with `adapt` seed by seed. UNA's negatives stand against the
sentence itself, and where the encoder is a static one, which has no dropout, against synonyms. Texts and
scores are those of `benchmarks.adapt_domains`. The domain `questions` is retrieval: 2,000 questions, each of
which has a duplicate among 10,000 others, none of them in the corpus; nDCG@10.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.encoding.loading import load_encoder
from augment_cli.vectors.stages import find_encoder, is_static_model
from benchmarks.adapt_corpora import read_pairs
from benchmarks.adapt_domains import DOMAINS, Encode, adapt, common_options, corpus_of, scores
from benchmarks.reproduce.table import student
from benchmarks.result_lines import add_line, read_lines
from eval.protocols import retrieval
from eval.protocols.sts import stsb
from eval.tasks.beir import CORPUS, QRELS, QUERIES, read_beir
from eval.tasks.registry import load_registry
from eval.tasks.table import read_table

STEPS, BATCH = 60, 64
_EQUAL = [f"steps={STEPS}", f"batch={BATCH}", "evaluate_every=0", "warmup_steps=6", "max_length=64"]
_EQUAL += ["head=none", "pooling="]
PLAIN, WITH = "adapt", "adapt with "
OWN_RATE = "own"  # of the recipe, which has another for static encoders
QUESTIONS, DOCUMENTS = "questions", 10_000
_REWORDED = ["positives=synonym,crop,word-deletion", "labels=kind"]


@dataclass(frozen=True)
class Rival:
    """A recipe with settings on top, and the learning rates that it is trained at."""

    recipe: str  # empty: TSDAE, which is not ours
    settings: Sequence[str] = ()
    rates: Sequence[str] = ("1e-5", "3e-5")


def _beside_adapt(*settings: str) -> Rival:
    """The recipe adapt with contrast beside it, whose weight the command says."""
    return Rival("adapt", settings, ("4e-5",))


RIVALS = {
    "SimCSE": Rival("simcse", _EQUAL),
    "GISTEmbed": Rival("gist", [*_EQUAL, *_REWORDED, "guide.vectors=minilm"]),
    "RankCSE": Rival("rankcse", [*_EQUAL, "ranking.vectors=minilm"]),
    "GCSE": Rival("gcse", [*_EQUAL, "decay.vectors=minilm"]),
    "neighbours as positives": Rival(
        "adapt-contrastive", [*_EQUAL, "positives=mined-vectors", "labels=kind", "ranking.weight=0"]
    ),
    "adapt-contrastive": Rival("adapt-contrastive", _EQUAL),
    "TSDAE": Rival("", rates=("3e-5", "1e-4")),
    PLAIN: Rival("adapt", rates=("4e-5",)),
    f"{WITH}paraphrases": _beside_adapt("positives=paraphrase"),
    f"{WITH}rephrase": _beside_adapt("positives=rephrase"),
    f"{WITH}UNA's negatives": _beside_adapt('positives=["self"]', "labels=kind", "negatives=una"),
    f"{WITH}synonyms": _beside_adapt("positives=synonym"),
    f"{WITH}synonyms against UNA's negatives": _beside_adapt(
        "positives=synonym", "labels=kind", "negatives=una"
    ),
}


def with_texts(encoder: str) -> list[str]:
    """`adapt` alone and with each kind of text that the encoder can learn from."""
    # A static encoder gives a sentence and itself one vector.
    static = is_static_model(find_encoder(encoder))
    una = "synonyms against UNA's negatives" if static else "UNA's negatives"
    return [PLAIN, *(f"{WITH}{kind}" for kind in ("paraphrases", "synonyms", "rephrase", una))]


def tsdae(texts: Sequence[str], out: Path, encoder: str, rate: float) -> Path:
    """Train by sentence-transformers' denoising autoencoder: 60 % of the words go, the decoder is tied."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.losses import DenoisingAutoEncoderLoss

    if (out / "modules.json").is_file():
        return out
    torch.manual_seed(42)
    random = np.random.default_rng(42)
    model = SentenceTransformer(str(find_encoder(encoder).path), device="cpu")
    loss = DenoisingAutoEncoderLoss(model)
    optimizer = torch.optim.AdamW(loss.parameters(), lr=rate)
    model.train()
    for _ in range(STEPS):
        batch = [texts[place] for place in random.choice(len(texts), BATCH, replace=False)]
        noisy = [" ".join(_kept(text.split(), random)) for text in batch]
        value = loss([model.preprocess(noisy), model.preprocess(batch)], torch.empty(0))
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(loss.parameters(), 1.0)
        optimizer.step()
    model.eval().save(str(out))
    return out


def _kept(words: list[str], random: np.random.Generator) -> list[str]:
    kept = [word for word in words if random.random() >= 0.6]
    return kept or [words[random.integers(len(words))]]


def domain_of(
    domain: str, options: argparse.Namespace
) -> tuple[list[str], Callable[[Encode], dict[str, float]]]:
    """The texts of a domain's corpus, and what scores an encoder on others, in percent."""
    if domain != QUESTIONS:
        table = read_table(load_registry()[domain], options.data)
        common = (options.rows, options.scored, options.data, options.kmeans)
        return corpus_of(table, options.rows)[0], lambda encode: scores(encode, table, *common)
    pairs = read_pairs(options.data / "pairs/quora_duplicates.tsv.gz")
    folder = options.work / "beir"
    write_beir(pairs[:DOCUMENTS], options.scored, folder)
    held_out = read_beir(folder)
    seen = {*held_out.columns["text"]}
    texts = [first for first, _ in pairs[DOCUMENTS:] if first not in seen][: options.rows]

    def retrieved(encode: Encode) -> dict[str, float]:
        found = {"ndcg_10": retrieval.score(held_out, encode).main}
        found["stsb"] = stsb(encode, options.data, "test").spearman
        return {name: 100 * float(value) for name, value in found.items()}

    return texts, retrieved


def write_beir(pairs: Sequence[tuple[str, str]], queries: int, folder: Path) -> None:
    """Write pairs in BEIR's layout: the second halves are documents, the first of them queries."""
    asked = {f"q{place}": first for place, (first, _) in enumerate(pairs[:queries])}
    # A question that is asked is no document: it would be the nearest of all.
    questions = {*asked.values()}
    kept = dict.fromkeys(second for _, second in pairs if second not in questions)
    documents = {text: f"d{place}" for place, text in enumerate(kept)}
    judged = [
        (name, documents[second])
        for name, (_, second) in zip(asked, pairs, strict=False)
        if second in documents
    ]
    (folder / QRELS).parent.mkdir(parents=True, exist_ok=True)
    for name, texts in ((CORPUS, {name: text for text, name in documents.items()}), (QUERIES, asked)):
        lines = (json.dumps({"_id": key, "text": text}) + "\n" for key, text in texts.items())
        (folder / name).write_text("".join(lines), encoding="utf-8")
    rows = (f"{query}\t{document}\t1\n" for query, document in judged)
    (folder / QRELS).write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")


def measure(key: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """Train one rival at one rate on one domain; the line of its results, in percent."""
    rival, rate, domain = key["rival"], key["rate"], key["domain"]
    texts, score = domain_of(domain, options)
    run, own = f"{re.sub('[^a-zA-Z]+', '-', rival)}-{rate}-", RIVALS[rival]
    if own.recipe:
        changes = [*own.settings, *([f"learning_rate={rate}"] if rate != OWN_RATE else [])]
        if rival.startswith(WITH):
            changes.append(f"contrastive_weight={key['weight']}")
            run += f"{key['weight']}-"
        best = adapt(domain, texts, options, key["seed"], own.recipe, run, changes) / "best"
    else:
        best = tsdae(texts, options.work / domain / run[:-1], options.encoder, float(rate))
    return key | score(load_encoder(str(best)).encode)


def rivals_table(lines: list[dict[str, Any]]) -> str:
    """K-means or few-shot accuracy and purity of each rival at its best rate on each domain, as Markdown."""
    domains = list(dict.fromkeys(line["domain"] for line in lines))
    columns = [*domains, *(["mean"] if len(domains) > 1 else []), "STS-B test"]
    rows = [f"| way | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for rival in dict.fromkeys(line["rival"] for line in lines):
        own = [_best_rate([one for one in lines if (one["rival"], one["domain"]) == (rival, domain)])
               for domain in domains]  # fmt: skip
        pairs = [(_main(line), line["purity_10"]) for line in own]
        if len(domains) > 1:
            pairs.append((statistics.mean(x for x, _ in pairs), statistics.mean(y for _, y in pairs)))
        cells = [f"{main:.1f} / {purity:.1f}" for main, purity in pairs]
        cells.append(f"{statistics.mean(line['stsb'] for line in own):.1f}")
        rows.append(f"| {rival} | {' | '.join(cells)} |")
    return "\n".join(rows)


def texts_table(lines: list[dict[str, Any]]) -> str:
    """What each kind of text adds to `adapt`, in points with half of Student's interval, as Markdown."""
    # K-means, few-shot or nDCG@10 stands first, then purity where there are classes. Pairs are of one seed;
    # a gain whose interval leaves out zero is bold.
    domains = list(dict.fromkeys(line["domain"] for line in lines))
    by_key = {(line["model"], line["rival"], line["domain"], line["seed"]): line for line in lines}
    rows = [f"| model | with | {' | '.join(domains)} |", f"|---|---|{'---:|' * len(domains)}"]
    for model, rival in dict.fromkeys(key[:2] for key in by_key if key[1] != PLAIN):
        cells = []
        for domain in domains:
            pairs = [
                (line, by_key[model, PLAIN, domain, key[3]])
                for key, line in by_key.items()
                if key[:3] == (model, rival, domain) and (model, PLAIN, domain, key[3]) in by_key
            ]
            scores = [_main, *([_purity] if pairs and "purity_10" in pairs[0][0] else [])]
            gains = ([score(one) - score(plain) for one, plain in pairs] for score in scores)
            cells.append(" / ".join(_with_half(values) for values in gains) if len(pairs) > 1 else "–")
        rows.append(f"| {model} | {rival.removeprefix(WITH)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _with_half(values: list[float]) -> str:
    low, high, _ = student(values)
    center, half = statistics.mean(values), (high - low) / 2
    shown = f"{center:+.1f} ± {half:.1f}".replace("-", "−")
    return f"**{shown}**" if abs(center) > half else shown


def _purity(line: dict[str, Any]) -> float:
    found: float = line["purity_10"]
    return found


def _best_rate(lines: list[dict[str, Any]]) -> dict[str, Any]:
    return max(lines, key=lambda line: _main(line) + _purity(line))


def _main(line: dict[str, Any]) -> float:
    found: float = next(line[name] for name in ("accuracy", "accuracy_10", "ndcg_10") if name in line)
    return found


def main() -> None:
    parser = common_options(__doc__)
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--rivals", default=",".join(RIVALS))
    parser.add_argument("--texts", action="store_true", help="`adapt` alone, with and without texts")
    parser.add_argument("--weight", type=float, default=0.1, help="of contrast beside `adapt`")
    parser.add_argument("--seeds", default="42")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.results or options.work / "results.jsonl"
    lines = read_lines(results)
    rivals = with_texts(options.encoder) if options.texts else options.rivals.split(",")
    seeds = map(int, options.seeds.split(","))
    for seed, domain, rival in itertools.product(seeds, options.domains.split(","), rivals):
        for rate in [OWN_RATE] if options.texts else RIVALS[rival].rates:
            key = {"model": options.model, "rival": rival, "rate": rate, "domain": domain, "seed": seed}
            key |= {"weight": options.weight} if rival.startswith(WITH) else {}
            if not any(key.items() <= line.items() for line in lines):
                add_line(results, lines, measure(key, options))
    print(texts_table(lines) if options.texts else rivals_table(lines))


if __name__ == "__main__":
    main()
