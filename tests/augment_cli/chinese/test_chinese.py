"""PI, AA and DN on Chinese: sentences parsed by hand, and the thousand gold parses of UD Chinese-GSDSimp."""

from typing import Any

import pytest

from augment_cli import augmentations
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.reasons import Reason
from augment_cli.runs.tables import as_table
from augment_cli.store.parquet import PARSES
from data.builds.pipeline.treebank import Sentence, read_conllu
from tests.helpers.hand_parses import parsed_rows, row_of

# form, coarse tag, label, head; the coarse tag stands for the fine one too, which no Chinese rule reads.
SENTENCES = {
    "她走了。": "她 PRON nsubj 2\n走 VERB root 0\n了 AUX aux 2\n。 PUNCT punct 2",
    "他在学校工作。": "他 PRON nsubj 4\n在 ADP case 3\n学校 NOUN obl 4\n工作 VERB root 0\n。 PUNCT punct 4",
    "老师可以休息。": "老师 NOUN nsubj 3\n可以 AUX aux 3\n休息 VERB root 0\n。 PUNCT punct 3",
    "这也是苹果。": "这 PRON nsubj 3\n也是 AUX cop 3\n苹果 NOUN root 0\n。 PUNCT punct 3",
    "他不会来。": "他 PRON nsubj 3\n不会 AUX aux 3\n来 VERB root 0\n。 PUNCT punct 3",
    "门被他关了。": "门 NOUN nsubj:pass 4\n被 AUX aux:pass 4\n他 PRON nsubj 4\n关 VERB root 0\n"
    "了 AUX aux 4\n。 PUNCT punct 4",
    "因为下雨，我们回家。": "因为 SCONJ mark 2\n下雨 VERB advcl 5\n， PUNCT punct 2\n我们 PRON nsubj 5\n"
    "回家 VERB root 0\n。 PUNCT punct 5",
}
ONLY = {"clause_weight": 0.0, "subject_weight": 0.0, "repeat_weight": 0.0, "final_weight": 0.0}
PAPER = {"mode": "paper"}
CASES: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("pi", ONLY | {"subject_weight": 1.0, "quote_share": 0.0}, "她走了。", "她，走了。"),
    ("pi", ONLY | {"subject_weight": 1.0, "quote_share": 1.0}, "她走了。", "“她”走了。"),
    ("pi", ONLY | {"final_weight": 1.0}, "她走了。", "她走了！"),
    ("pi", ONLY | {"repeat_weight": 1.0}, "因为下雨，我们回家。", "因为下雨，，我们回家。"),
    ("pi", ONLY | {"repeat_weight": 1.0}, "她走了。", None),
    ("aa", PAPER | {"auxiliaries": "必须"}, "他在学校工作。", "他必须在学校工作。"),
    ("aa", PAPER | {"auxiliaries": "应该"}, "老师可以休息。", "老师应该休息。"),
    ("aa", PAPER | {"auxiliaries": "应该"}, "这也是苹果。", "这也应该是苹果。"),
    ("aa", PAPER | {"auxiliaries": "必须"}, "门被他关了。", "门必须被他关了。"),
    ("aa", PAPER, "他不会来。", None),
    ("dn", PAPER, "老师可以休息。", "老师不可以不休息。"),
    ("dn", PAPER, "他不会来。", "他会不来。"),
    ("dn", PAPER, "她走了。", None),
    ("dn", PAPER, "门被他关了。", "门没被他没关了。"),
    ("aa", {}, "她走了。", "她的确走了。"),
    ("aa", {}, "他在学校工作。", "他的确在学校工作。"),
    ("aa", {}, "他不会来。", "他的确不会来。"),
    ("dn", {}, "老师可以休息。", None),
]


def row_for(text: str) -> dict[str, Any]:
    lines = [line.split() for line in SENTENCES[text].splitlines()]
    row = row_of(
        text,
        "\n".join(f"{form} {tag} {label} {head} {label} {head}" for form, tag, label, head in lines),
        "universal",
    )
    return row | {"pos": [tag for _, tag, _, _ in lines]}


def outcome(
    name: str, parameters: dict[str, Any], texts: list[str], rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    descriptor = augmentations.get(name)
    parsed = parsed_rows(texts, rows)
    return as_table(
        descriptor, parsed, descriptor.prepare(descriptor.parameters(**parameters), Resources(42, 0))(parsed)
    ).to_pylist()


@pytest.mark.parametrize(("name", "parameters", "text", "expected"), CASES)
def test_sentences_parsed_by_hand(name, parameters, text, expected):
    result = outcome(name, parameters, [text], [row_for(text)])[0]
    assert result["text"] == expected
    assert (result["reason"] is None) == (expected is not None)


def treebank_row(sentence: Sentence) -> dict[str, Any]:
    row: dict[str, Any] = {name: [] for name in PARSES.names[1:]}
    place = 0
    for index, (word, space) in enumerate(zip(sentence.words, sentence.spaces, strict=True)):
        row["starts"].append(place)
        row["ends"].append(place + len(word))
        row["whitespace"].append(space)
        row["sentence_starts"].append(index == 0)
        place += len(word) + space
    names = ("lemmas", "pos", "tags", "morphs", "deps", "heads")
    return row | {name: getattr(sentence, name) for name in names}


@pytest.fixture(scope="module")
def treebank(data_folder):
    files = [data_folder / "treebank" / f"zh_gsdsimp-ud-{split}.conllu.gz" for split in ("dev", "test")]
    sentences = [sentence for file in files for sentence in read_conllu(file)]
    return [sentence.text for sentence in sentences], [treebank_row(sentence) for sentence in sentences]


# Coverage on the gold parses, as docs/reference/syntax-rules.md gives it: a change of the rules shows here.
@pytest.mark.parametrize(("name", "coverage"), [("pi", 0.593), ("aa", 0.917), ("dn", 0.230)])
def test_gold_parses(name, coverage, treebank):
    results = outcome(name, {} if name == "pi" else PAPER, *treebank)
    assert len(results) == 1_000
    changed = [row for row in results if row["text"] is not None]
    assert len(changed) / len(results) == pytest.approx(coverage, abs=0.0005)
    assert all(row["reason"] in set(Reason) for row in results if row["text"] is None)
    assert all(row["rule"] for row in changed)


# Universal labels as `zh_core_web_*` has them, and the tags of the Penn Chinese Treebank for coarse ones.
STANFORD = {
    "nsubj:pass": "nsubjpass", "aux:pass": "auxpass", "obj": "dobj", "clf": "mark:clf", "obl": "nmod:prep",
    "obl:tmod": "nmod:tmod", "dislocated": "nmod:topic", "compound:vv": "advmod:rcomp",
}  # fmt: skip
_TAGS = "VERB:VV AUX:VV ADJ:VA ADP:P ADV:AD PUNCT:PU NOUN:NN PRON:PN"
TREEBANK = dict(pair.split(":") for pair in _TAGS.split())


def stanford_row(row: dict[str, Any]) -> dict[str, Any]:
    """A gold parse with the labels and tags that the other scheme has for the same tree."""
    deps, pos = [], []
    for label, tag, lemma, morph in zip(row["deps"], row["pos"], row["lemmas"], row["morphs"], strict=True):
        negates = label == "advmod" and "Polarity=Neg" in morph
        helps = "aux:asp" if lemma in "了着著过過" else "aux:modal"
        deps.append("neg" if negates else helps if label == "aux" else STANFORD.get(label, label))
        pos.append("VERB" if tag in ("ADJ", "AUX") and deps[-1] != "aux:asp" else tag)
    tags = [TREEBANK.get(tag, "X") for tag in row["pos"]]
    return row | {"deps": deps, "pos": pos, "tags": tags, "morphs": [""] * len(deps)}


@pytest.mark.parametrize("name", ["pi", "aa", "dn"])
def test_gold_parses_in_the_labels_of_spacys_pipelines_give_the_same_sentences(name, treebank):
    texts, rows = treebank
    settings = {} if name == "pi" else PAPER
    expected = outcome(name, settings, texts, rows)
    found = outcome(name, settings, texts, [stanford_row(row) for row in rows])
    differing = [
        (one["text"], other["text"])
        for one, other in zip(expected, found, strict=True)
        if one["text"] != other["text"]
    ]
    assert differing[:3] == []
