"""From treebanks to the pipeline: documents, tokenizer, silver trees, lemmas, the teacher, what ships."""

import gzip
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import fix_random_seed

from data.builds.pipeline import __main__ as build
from data.builds.pipeline import teacher
from data.builds.pipeline.__main__ import ship
from data.builds.pipeline.student import adapt_tokenizer, relearn
from data.builds.pipeline.treebank import (
    PRODUCTIVE,
    Lexicon,
    Sentence,
    apply_script,
    correct,
    group,
    lemma_script,
    make_doc,
    parse_sentence,
    read_conllu,
)


def conllu(text: str, *rows: str) -> list[str]:
    """Lines of a tree; a row is "id form lemma upos xpos feats head deprel misc"."""
    lines = [f"# text = {text}"]
    for row in rows:
        number, form, lemma, pos, tag, feats, head, dep, misc = row.split()
        lines.append("\t".join([number, form, lemma, pos, tag, feats, head, dep, "_", misc]))
    return lines


CONTRACTION = conllu(
    "Cats don't swim.",
    "1 Cats cat NOUN NNS Number=Plur 4 nsubj _",
    "2-3 don't _ _ _ _ _ _ _",
    "2 do do AUX VBP _ 4 aux _",
    "3 n't not PART RB Polarity=Neg 4 advmod _",
    "4 swim swim VERB VB VerbForm=Inf 0 root SpaceAfter=No",
    "4.1 swim swim VERB VB _ _ _ _",
    "5 . . PUNCT . _ 4 punct _",
)
QUESTION = conllu(
    "Who (else)?",
    "1 Who who PRON WP _ 0 root _",
    "2 ( ( PUNCT -LRB- _ 3 punct SpaceAfter=No",
    "3 else else ADJ JJ _ 1 amod SpaceAfter=No",
    "4 ) ) PUNCT -RRB- _ 3 punct SpaceAfter=No",
    "5 ? ? PUNCT . _ 1 punct _",
)


def test_a_document_of_two_trees_the_first_with_a_multi_word_range():
    doc = make_doc(spacy.blank("en").vocab, [parse_sentence(CONTRACTION), parse_sentence(QUESTION)])
    assert doc.text == "Cats don't swim. Who (else)?"
    first, second = doc.sents
    assert [token.text for token in first] == ["Cats", "do", "n't", "swim", "."]
    assert [token.lemma_ for token in first] == ["cat", "do", "not", "swim", "."]
    assert [token.head.i for token in first] == [3, 3, 3, 3, 3]
    assert [token.dep_ for token in first] == ["nsubj", "aux", "advmod", "ROOT", "punct"]
    assert (str(doc[2].morph), doc[0].pos_, doc[0].tag_) == ("Polarity=Neg", "NOUN", "NNS")
    assert second.text == "Who (else)?" and doc[7].head.i == 5


def test_text_that_does_not_match_is_refused():
    with pytest.raises(ValueError, match=r"Cats dont"):
        parse_sentence([line.replace("# text = Cats don't", "# text = Cats dont") for line in CONTRACTION])


def test_groups_hold_every_sentence_once_in_order():
    sentences = [parse_sentence(QUESTION) for _ in range(200)]
    groups = list(group(sentences, 0.5, 4, random.Random(3)))
    assert [id(s) for some in groups for s in some] == [id(s) for s in sentences]
    assert {len(some) for some in groups} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("name", "sentences", "words"),
    [pytest.param("en_ewt-ud-dev", 2001, 25147, marks=pytest.mark.slow), ("en_gum-ud-dev", 1575, 28119)],
)
def test_real_treebank_gives_its_raw_text(data_folder, name, sentences, words):
    vocab = spacy.blank("en").vocab
    count = total = 0
    for sentence in read_conllu(data_folder / "treebank" / f"{name}.conllu.gz"):
        count += 1
        total += len(make_doc(vocab, [sentence]))
    assert (count, total) == (sentences, words)


CASES = {
    "a non-human, well-known co-worker": "a non-human , well - known co-worker",
    "Really?! No!!!": "Really ?! No !!!",
    "cats and/or dogs": "cats and / or dogs",
    "I don't wanna go at 7:30PM": "I do n't wan na go at 7:30 PM",
    "Call 555-010-9999 now": "Call 555-010-9999 now",
    "From 1990-1995.": "From 1990 - 1995 .",
    "====": "====",
}


@pytest.fixture(scope="module")
def adapted():
    return adapt_tokenizer(spacy.blank("en"))


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_division(text, expected, adapted):
    doc = adapted.make_doc(text)
    assert " ".join(token.text for token in doc) == expected
    assert doc.text == text


def test_rules_are_saved_with_the_pipeline(tmp_path, adapted):
    adapted.to_disk(tmp_path)
    text = " ".join(CASES)
    assert [token.text for token in spacy.load(tmp_path).make_doc(text)] == [
        t.text for t in adapted.make_doc(text)
    ]


def tree(words: Sequence[str], heads: Sequence[int], **columns: Any) -> Sentence:
    """A sentence with a space between its words; what is not given is all alike."""
    alike: dict[str, Any] = {"lemmas": list(words), "pos": ["NOUN"] * len(words), "tags": ["NN"] * len(words)}
    alike |= {"morphs": [""] * len(words), "spaces": [True] * (len(words) - 1) + [False]}
    deps = ["ROOT" if head == place else "dep" for place, head in enumerate(heads)]
    return Sentence(" ".join(words), list(words), heads=list(heads), deps=deps, **(alike | columns))


def chain(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Annotate: every word hangs on the one before, but a sentence that starts with "loop" has no root."""
    answers = []
    for sentence in sentences:
        heads = [max(0, i - 1) for i in range(len(sentence.words))]
        if sentence.words[0] == "loop":
            heads[0] = 1
        answers.append(tree(sentence.words, heads))
    return answers


LINES = [f"sentence number {i} is here" for i in range(9)] + ["loop without a root", "too short"[:3]]


def read(path: Path) -> list[str]:
    """Return the lower-cased texts of a file."""
    return [doc.text.lower() for doc in DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)]


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(build, "CHUNK", 4)


@pytest.mark.usefixtures("small_chunks")
def test_only_trees_are_written(tmp_path):
    nlp = spacy.blank("en")
    outcomes = list(build.write_silver(nlp, LINES, chain, tmp_path, seed=1))
    assert [(path.name, kept, given) for path, kept, given in outcomes] == [
        ("silver-000.spacy", 4, 4),
        ("silver-001.spacy", 4, 4),
        ("silver-002.spacy", 1, 3),
    ]
    texts = [text for path in sorted(tmp_path.iterdir()) for text in read(path)]
    assert texts == LINES[:9]
    first = next(DocBin().from_disk(tmp_path / "silver-000.spacy").get_docs(nlp.vocab))
    assert [token.head.i for token in first] == [0, 0, 1, 2, 3]


@pytest.mark.usefixtures("small_chunks")
def test_goes_on_after_a_stop_with_the_same_result(tmp_path):
    nlp = spacy.blank("en")
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    list(build.write_silver(nlp, LINES, chain, whole, seed=1))
    next(build.write_silver(nlp, LINES, chain, stopped, seed=1))
    (stopped / "silver-001.part").write_bytes(b"half")
    outcomes = list(build.write_silver(nlp, LINES, chain, stopped, seed=1))
    assert [kept for _, kept, _ in outcomes] == [-1, 4, 1]
    for path in whole.iterdir():
        assert read(path) == read(stopped / path.name)


def test_sample_is_even_and_repeatable(tmp_path):
    paths = []
    for name in "ab":
        paths.append(tmp_path / f"{name}.txt.gz")
        with gzip.open(paths[-1], "wt", encoding="utf-8") as file:
            file.writelines(f"{name}{i}\n" for i in range(100))
    lines = build.sample_lines(paths, 31, seed=5)
    assert lines == build.sample_lines(paths, 31, seed=5)
    assert len(set(lines)) == 31
    assert sorted(sum(line.startswith(name) for line in lines) for name in "ab") == [15, 16]


def test_lower_changes_words_alone():
    lowered = build.lower(tree(["A", "Bee"], [0, 0]))
    assert (lowered.words, lowered.text, lowered.lemmas) == (["a", "bee"], "a bee", ["A", "Bee"])


class Letters:
    """A tokenizer whose pieces are letters, with the attributes of the real one."""

    cls_token_id, sep_token_id, pad_token_id, unk_token_id = 1, 2, 0, 3

    def __call__(self, word: str, add_special_tokens: bool) -> dict[str, list[int]]:
        """Return the ids of one word's letters."""
        return {"input_ids": [4 + ord(letter) % 60 for letter in word.lower()]}


TREEBANK = [
    tree(words, heads, pos=["VERB" if head == i else "NOUN" for i, head in enumerate(heads)])
    for words, heads in (
        (("Dogs", "run", "fast"), [1, 1, 1]),
        (("run",), [0]),
        (("cats", "eat", "big", "red", "fish"), [1, 1, 4, 4, 1]),
    )
]


@pytest.mark.slow
def test_learns_three_sentences_by_heart():
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    encoder = transformers.BertModel(config, add_pooling_layer=False)
    labels = teacher.Labels.collect(TREEBANK)
    model, batcher = teacher.Teacher(encoder, labels, arc=16, label=16), teacher.Batcher(Letters(), labels)
    epochs = teacher.fine_tune(
        model, batcher, TREEBANK, epochs=120, words=20, encoder_rate=1e-3, head_rate=3e-3
    )
    losses = [loss for _, loss in epochs]
    assert losses[-1] < losses[0] / 5
    answers = teacher.annotate(model, batcher, TREEBANK, words=20)
    assert [answer.text for answer in answers] == [sentence.text for sentence in TREEBANK]
    assert [answer.pos for answer in answers] == [sentence.pos for sentence in TREEBANK]
    assert [answer.heads for answer in answers] == [sentence.heads for sentence in TREEBANK]
    for answer in answers:
        roots = [head == i for i, head in enumerate(answer.heads)]
        assert [dep == "ROOT" for dep in answer.deps] == roots


@pytest.mark.parametrize(
    ("heads", "expected"),
    [([0], True), ([1, 1, 1], True), ([1, 2, 2], True), ([0, 1], False), ([1, 0], False), ([0, 2, 1], False)],
)
def test_is_tree(heads, expected):
    assert teacher.is_tree(heads) is expected


def test_case_classes_are_distinct():
    words = ["lower", "Title", "UPPER", "I", "x86", "mIxed"]
    assert (
        len({teacher.case_class(word, space) for word in words for space in (True, False)}) == teacher.CASES
    )


WORDS = {"dogs": "dog", "cats": "cat", "mice": "mouse", "ponies": "pony", "cows": "cow"}
VERBS = {"ran": "run", "sleep": "sleep", "went": "go", "flies": "fly"}


def treebank() -> list[Sentence]:
    """Every subject with every verb and a stop."""
    columns = {"pos": ["NOUN", "VERB", "PUNCT"], "tags": ["NNS", "VB", "."], "spaces": [True, False, False]}
    made = [
        tree((noun, verb, "."), [1, 1, 1], lemmas=[lemma, base, "."], **columns)
        for noun, lemma in WORDS.items()
        for verb, base in VERBS.items()
    ]
    return [Sentence(**vars(one) | {"text": one.text.replace(" .", ".")}) for one in made]


def learned(sentences: list[Sentence], rounds: int, pipes: dict[str, dict[str, Any]]) -> Any:
    """A pipeline of those components, each with its settings, that learned those sentences."""
    fix_random_seed(1)
    random.seed(1)
    nlp = spacy.blank("en")
    for name, config in pipes.items():
        nlp.add_pipe(name, config=config)
    examples = [Example(nlp.make_doc(s.text), make_doc(nlp.vocab, [s])) for s in sentences]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(rounds):
        nlp.update(examples, sgd=optimizer, drop=0.0)
    return nlp


@pytest.fixture(scope="module")
def trained():
    """A tiny pipeline that learned the tiny treebank."""
    rare = {"trainable_lemmatizer": {"min_tree_freq": 1}, "parser": {"min_action_freq": 1}}
    nlp = learned(treebank(), 15, {"tok2vec": {}, "tagger": {}, "morphologizer": {}} | rare)
    # Met in training but no label's tree, as in a silver file: a lemma that only updates see.
    odd = Sentence(**{**vars(treebank()[0]), "lemmas": ["zebraic", "quaggaish", "."]})
    nlp.update([Example(nlp.make_doc(odd.text), make_doc(nlp.vocab, [odd]))], sgd=None)
    return nlp


def annotation(doc: Doc) -> list[tuple[object, ...]]:
    """Everything the pipeline says."""
    return [(t.text, t.tag_, t.pos_, str(t.morph), t.lemma_, t.dep_, t.head.i, t.is_sent_start) for t in doc]


@pytest.mark.slow
def test_shipped_pipeline_says_the_same_and_forgets_the_words(trained, tmp_path):
    texts = [sentence.text for sentence in treebank()] + ["Oxen sang loudly."]
    before = [annotation(doc) for doc in trained.pipe(texts)]
    trained.to_disk(tmp_path / "whole")
    ship(trained, tmp_path / "shipped", {"name": "tiny", "license": "CC BY-SA 4.0"})
    shipped = spacy.load(tmp_path / "shipped")
    assert [annotation(doc) for doc in shipped.pipe(texts)] == before
    assert "zebraic" in (tmp_path / "whole" / "vocab" / "strings.json").read_text()
    for name in ("vocab/strings.json", "trainable_lemmatizer/trees"):
        assert b"zebraic" not in (tmp_path / "shipped" / name).read_bytes()
    assert (tmp_path / "shipped" / "LICENSE").exists()
    assert shipped.meta["name"] == "tiny"


def words(*entries: str) -> Sentence:
    """A sentence of entries "word/TAG/lemma"."""
    parts = [entry.split("/") for entry in entries]
    columns = list(zip(*parts, strict=True))
    return Sentence(text="", words=list(columns[0]), tags=list(columns[1]), lemmas=list(columns[2]))


@pytest.fixture(scope="module")
def lexicon():
    """Regular past tenses by both scripts, an irregular one, and a word of two lemmas."""
    stems = ["walk", "jump", "call", "help", "wait", "turn"]
    drop_d = ["bake", "vote", "care", "move", "fire", "line"]
    assert len(stems) == len(drop_d) == PRODUCTIVE
    gold = [words(*(f"{s}ed/VBN/{s}" for s in stems), *(f"{s}d/VBN/{s}" for s in drop_d))]
    gold += [words("sought/VBD/seek", "'s/VBZ/be", "'s/VBZ/have", "Dogs/NNS/dog", "odd/JJ/_")]
    lexicon = Lexicon(gold)
    silver = ["establish/VB", "establish/VB", "base/VB", "bas/FW", "sing/VB"]
    vocab = spacy.blank("en").vocab
    forms, tags = zip(*(entry.split("/") for entry in silver), strict=True)
    lexicon.count([Doc(vocab, words=list(forms), tags=list(tags))])
    return lexicon


@pytest.mark.parametrize(
    ("word", "tag", "guess", "lemma"),
    [
        ("Established", "VBN", "establishe", "establish"),
        ("based", "VBN", "bas", "base"),
        ("walked", "VBN", "walke", "walk"),
        ("sought", "VBN", "sough", "seek"),  # known as the other past form
        ("quizzed", "VBN", "quizz", ""),  # no base form of it was met
        ("dogs", "NNS", "dogs", "dog"),
        ("'s", "VBZ", "have", "have"),  # two lemmas: the teacher read the sentence
        ("Houses", "NNP", "Houses", "Houses"),
        ("House", "NN", "House", "house"),
        ("Dutch", "JJ", "Dutch", "Dutch"),
        ("NATO", "NN", "NATO", "NATO"),
        ("odd", "JJ", "odd", "odd"),  # "_" in the gold trees is no lemma
    ],
)
def test_lemma(lexicon, word, tag, guess, lemma):
    assert lexicon.lemma(word, tag, guess) == lemma


def test_correct_sets_all_lemmas(lexicon):
    doc = Doc(spacy.blank("en").vocab, words=["dogs", "based"], tags=["NNS", "VBN"], lemmas=["x", "bas"])
    assert [token.lemma_ for token in correct(doc, lexicon)] == ["dog", "base"]


WORDS_OF_LEMMAS = {"dogs": "dog", "cats": "cat", "ran": "run", "flies": "fly", "here": "here"}
NEW = {"Written": "write", "Known": "know"}


def sentence(words: dict[str, str]) -> Sentence:
    """A sentence of those words with those lemmas."""
    return tree(list(words), [0] * len(words), lemmas=list(words.values()))


@pytest.fixture
def nlp():
    """A lemmatizer that has never seen the new words."""
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    pipes = {"tok2vec": {}, "trainable_lemmatizer": {"min_tree_freq": 1, "model": model}}
    return learned([sentence(WORDS_OF_LEMMAS)], 20, pipes)


def test_new_trees_are_learned(nlp, tmp_path):
    everything = WORDS_OF_LEMMAS | NEW
    encoder: Any = nlp.get_pipe("tok2vec")
    shared = encoder.model.to_bytes()
    assert [token.lemma_ for token in nlp(" ".join(NEW))] != list(NEW.values())
    docs = [make_doc(nlp.vocab, [sentence(everything)]) for _ in range(400)]
    docs.append(make_doc(nlp.vocab, [sentence({"mice": "", "dogs": "dog"})]))  # "": nobody knows
    training = tmp_path / "training"
    training.mkdir()
    attributes = ["ORTH", "SPACY", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"]
    DocBin(attrs=attributes, docs=docs).to_disk(training / "gold.spacy")
    relearn(nlp, training, share=1, seed=1)
    nlp.to_disk(tmp_path / "saved")
    for pipeline in (nlp, spacy.load(tmp_path / "saved")):
        lemmas = {token.text: token.lemma_ for token in pipeline(" ".join(everything))}
        assert lemmas == everything
    assert encoder.model.to_bytes() == shared


@given(st.text("abcAB'é", min_size=1, max_size=8), st.text("abcAB'é", min_size=1, max_size=8))
def test_script_makes_the_lemma(word, lemma):
    assert apply_script(lemma_script(word, lemma), word) == lemma


@pytest.mark.parametrize(
    ("script", "word", "lemma"),
    [
        (lemma_script("studies", "study"), "ponies", "pony"),
        (lemma_script("Walked", "walk"), "Talked", "talk"),
        (lemma_script("Londons", "London"), "Parises", "Parise"),
        ("l|5|be", "is", "is"),  # does not fit: the word stays
        ("l|2|", "is", "is"),
    ],
)
def test_script_carries_over(script, word, lemma):
    assert apply_script(script, word) == lemma
