"""Speed of the word-level augmentations beside nlpaug's and textaugment's, text and edits included.

    python -m venv peers && peers/bin/pip install nlpaug==1.1.11 textaugment==3.0.0
    NLTK_DATA=nltk_data python -m benchmarks.augmentation_speed --peers peers/bin/python \\
        --corpus '../shared/data/corpus/wiki_en-*.txt.gz' \\
        --treebank ../shared/data/treebank/en_ewt-ud-train.conllu.gz

The peers need WordNet where NLTK looks (`nltk_data/corpora/wordnet`: WordNet 3.0's files and `lexnames`), and
nlpaug's synonyms need NLTK's perceptron tagger; where its weights are not at hand, `--treebank` trains the
same tagger on a treebank, which costs the same per token. One process each, over the same sentences; CPU
seconds are counted. Ours makes the whole table of a stage: text, reason, edits, columns. Without `--peers`
only ours run; `benchmarks.rules_speed` has all others.
"""

import argparse
import contextlib
import gzip
import json
import subprocess
import sys
import time
from typing import Any

from benchmarks.timing import markdown, read_sentences

BATCH = 8192
ROUNDS = 5

# Ours with its parameters, and what the peers call it.
COMPARED: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "synonym 10 %": ("synonym", {"rate": 0.1}, ("nlpaug synonym", "textaugment synonym")),
    "synonym 10 %, any sense": ("synonym", {"senses": "any"}, ("nlpaug synonym", "textaugment synonym")),
    "antonym": ("antonym", {}, ("nlpaug antonym",)),
    "random insertion": ("random-insertion", {}, ("textaugment insertion",)),
    "swap any two": ("random-swap", {}, ("textaugment swap",)),
    "swap neighbours": ("random-swap", {"distance": "neighbour"}, ("nlpaug swap",)),
    "deletion 10 %": ("word-deletion", {}, ("nlpaug delete", "textaugment deletion")),
    "crop 10 %": ("crop", {"part": "gap"}, ("nlpaug crop",)),
    "repetition": ("word-repetition", {}, ()),
    "mixture": ("random-mixture", {}, ()),
}


def our_seconds(name: str, parameters: dict[str, Any], texts: list[str]) -> float:
    """CPU seconds for a stage's tables over some sentences; the tables of words are loaded before."""
    import numpy as np
    import pyarrow as pa

    from augment_cli.contract.augmentation import Resources
    from augment_cli.contract.rows import Rows
    from augment_cli.runs.run import make_run
    from augment_cli.runs.tables import as_table
    from augment_cli.text.spans import CodePoints

    run = make_run(name, **parameters)
    prepared = run.augmentation.prepare(run.parameters, Resources(run.seed, run.draw))

    def table(first: int) -> None:
        column = pa.array(texts[first : first + BATCH])
        batch = Rows(np.arange(first, first + len(column)), column, CodePoints.of(column))
        as_table(run.augmentation, batch, prepared(batch))

    table(0)
    start = time.process_time()
    for first in range(0, len(texts), BATCH):
        table(first)
    return time.process_time() - start


def train_tagger(treebank: str) -> None:
    """Give NLTK the tagger it would have downloaded, trained on a treebank of its own kind."""
    import nltk
    from nltk.tag.perceptron import PerceptronTagger

    rows: list[list[tuple[str, str]]] = [[]]
    with gzip.open(treebank, "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 10 and fields[0].isdigit():
                rows[-1].append((fields[1], fields[4]))
            elif not line.strip() and rows[-1]:
                rows.append([])
    tagger = PerceptronTagger(load=False)
    tagger.train([row for row in rows if row][:4000], nr_iter=1)
    nltk.pos_tag = lambda tokens, *_, **__: tagger.tag(tokens)


def serve_peers(treebank: str | None) -> None:
    """In the peers' interpreter: the seconds of each call over the sentences of the input."""
    import nlpaug.augmenter.word as naw
    from textaugment import EDA

    if treebank:
        train_tagger(treebank)
    # NLTK's list of stop words is another download; the words that matter for the time are these.
    eda = EDA(stop_words=["the", "of", "and", "in", "to", "a", "was", "is", "for", "on", "as", "by", "with"])
    calls = {
        "nlpaug synonym": naw.SynonymAug(aug_src="wordnet", aug_p=0.1).augment,
        "nlpaug antonym": naw.AntonymAug(aug_p=0.1).augment,
        "nlpaug swap": naw.RandomWordAug(action="swap", aug_p=0.1).augment,
        "nlpaug delete": naw.RandomWordAug(action="delete", aug_p=0.1).augment,
        "nlpaug crop": naw.RandomWordAug(action="crop", aug_p=0.1).augment,
        "textaugment synonym": eda.synonym_replacement,
        "textaugment insertion": eda.random_insertion,
        "textaugment swap": eda.random_swap,
        "textaugment deletion": lambda text: eda.random_deletion(text, p=0.1),
    }
    for call in calls.values():
        call("The quick brown fox jumps over the lazy dog and runs away from the old man and his horse.")
    texts, seconds = json.load(sys.stdin), {}
    for name, call in calls.items():
        start = time.process_time()
        for text in texts:
            with contextlib.suppress(IndexError, ValueError):  # on odd sentences
                call(text)
        seconds[name] = time.process_time() - start
    print(json.dumps(seconds))


def peer_seconds(python: str, treebank: str | None, texts: list[str]) -> dict[str, float]:
    """CPU seconds of each call of the other libraries over some sentences."""
    command = [python, "-W", "ignore", "-m", "benchmarks.augmentation_speed", "--serve"]
    command += ["--treebank", treebank] if treebank else []
    printed = subprocess.check_output(command, input=json.dumps(texts), text=True)
    seconds: dict[str, float] = json.loads(printed.splitlines()[-1])
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", help="glob of gzipped text files, a sentence per line")
    parser.add_argument("--peers", help="a Python with nlpaug and textaugment")
    parser.add_argument("--treebank", help="train NLTK's tagger on this treebank")
    parser.add_argument("--sentences", type=int, default=5 * BATCH)
    parser.add_argument("--peer-sentences", type=int, default=1_500, help="of them, for each peer")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve_peers(options.treebank)
        return
    texts = list(read_sentences(options.corpus, options.sentences))
    if not texts:
        raise SystemExit(f"no sentences in {options.corpus}")
    some = texts[: options.peer_sentences]
    peers = peer_seconds(options.peers, options.treebank, some) if options.peers else {}
    table = []
    for label, (name, parameters, names) in COMPARED.items():
        rate = ROUNDS * len(texts) / sum(our_seconds(name, parameters, texts) for _ in range(ROUNDS))
        table.append([label, f"{rate:,.0f}", "", "", ""])
        for peer in names if peers else ():
            other = len(some) / peers[peer]
            table.append(["", "", peer, f"{other:,.0f}", f"{rate / other:.1f}"])
    print(markdown(["augmentation", "sentences/s", "peer", "its sentences/s", "ratio"], table))


if __name__ == "__main__":
    main()
