"""Docs of some texts, as `nlp.pipe` makes them, with less work for each word.

spaCy's components are asked for what they know, and none of their answers is made here. What is left out is
work that is done again for each token though it depends on the word alone, and work in pieces too small for
matrix products: a tok2vec embeds each distinct word of a batch once; a lemmatizer applies a tree to a word
once; the parser's states of a thousand sentences are scored together. A component that is none of these, or
of another kind or setting than is known here, runs as `nlp.pipe` runs it.

Sums are added in another order than `nlp.pipe` adds them, so a score may differ in its last digit.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.pipeline import DependencyParser, EditTreeLemmatizer, Tok2Vec
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

from augment_cli.text.spans import offsets_from_lengths

if TYPE_CHECKING:
    from spacy.language import Language

Encoder = Callable[[Any, Sequence[np.ndarray]], list[np.ndarray]]

# Attributes that a word has wherever it stands; the NORM of some (n't) is the tokenizer's, and goes with it.
_OF_THE_WORD = frozenset({"ORTH", "NORM", "LOWER", "PREFIX", "SUFFIX", "SHAPE"})
_EMBEDDINGS = frozenset({"spacy.MultiHashEmbed.v1", "spacy.MultiHashEmbed.v2"})
_TOGETHER = 64  # texts; some 2,000 rows, which fit the cache of a core
# Tokens whose parser states are scored together. The parser keeps 13 vectors of 192 numbers for each: 20 MB.
_PARSED_TOGETHER = 2_048
_EPSILON = np.float32(1e-8)  # of thinc's layer normalisation
_PRODUCTS = NumpyOps(use_blis=False)  # NumPy's matrix products, 1.2 to 1.6 times as fast as BLIS's


def docs_of(nlp: "Language", texts: Sequence[str]) -> list[Doc]:
    """Texts through a pipeline, together."""
    distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    docs = [nlp.make_doc(text) for text in distinct]
    if not any(map(len, docs)):
        docs = list(nlp.pipe(docs))
    else:
        for name, component in nlp.pipeline:
            docs = _run(nlp, name, component, docs)
    return [docs[distinct[text]] for text in texts]


def _run(nlp: "Language", name: str, component: Any, docs: list[Doc]) -> list[Doc]:
    model = getattr(component, "model", None)
    if isinstance(model, Model) and all(type(node.ops) is NumpyOps for node in model.walk()):
        for node in model.walk():
            node.ops = _PRODUCTS
        annotate = _annotator(nlp, name, component, docs)
        if annotate is not None:
            annotate(component, docs)
            return docs
    if hasattr(component, "pipe"):
        return list(component.pipe(iter(docs), batch_size=nlp.batch_size))
    return [component(doc) for doc in docs]


def _annotator(
    nlp: "Language", name: str, component: Any, docs: list[Doc]
) -> Callable[[Any, list[Doc]], None] | None:
    """What runs a component faster than its own `pipe`, or None."""
    if type(component) is Tok2Vec and _embeds_words(nlp, name):
        is_known = is_window_encoder(nlp.get_pipe_config(name)["model"].get("encode", {}))
        return functools.partial(_embed, encode=encode_windows if is_known else None)
    if type(component) is EditTreeLemmatizer and component.backoff == "orth":
        has_lemmas = any(doc.to_array(["LEMMA"]).any() for doc in docs)
        return None if has_lemmas and not component.overwrite else _lemmatize
    if type(component) is DependencyParser and component.cfg["beam_width"] == 1:
        return _parse
    return None


def _embeds_words(nlp: "Language", name: str) -> bool:
    """Whether a tok2vec's first layer sees nothing of a token but the word."""
    embed = nlp.get_pipe_config(name)["model"].get("embed", {})
    return embed.get("@architectures") in _EMBEDDINGS and set(embed["attrs"]) <= _OF_THE_WORD


def _embed(component: Any, docs: list[Doc], encode: Encoder | None) -> None:
    """The vectors of a tok2vec: its first layer on the distinct words, its second on the texts."""
    embed, encoder = component.model.layers
    words = np.concatenate([doc.to_array(["ORTH", "NORM"]).reshape(len(doc), 2) for doc in docs])
    distinct: dict[tuple[int, int], int] = {}
    places = [distinct.setdefault((word, norm), len(distinct)) for word, norm in words.tolist()]
    strings = component.vocab.strings
    vocabulary: Any = Doc(component.vocab, words=[strings[word] for word, _ in distinct])
    vocabulary.from_array(["NORM"], np.array([norm for _, norm in distinct], np.uint64))
    vectors = np.split(embed.predict([vocabulary])[0][places], _bounds(docs))
    for first in range(0, len(docs), _TOGETHER):
        chosen = slice(first, first + _TOGETHER)
        of_texts = vectors[chosen]
        encoded = encoder.predict(of_texts) if encode is None else encode(encoder, of_texts)
        component.set_annotations(docs[chosen], encoded)


def _lemmatize(component: Any, docs: list[Doc]) -> None:
    """The lemmas of an edit-tree lemmatizer: of its best trees, the first that fits the word."""
    strings, trees = component.vocab.strings, component.cfg["labels"]
    known: dict[tuple[int, int], int | None] = {}

    def lemma_of(word: int, tree: int) -> int | None:
        if (word, tree) not in known:
            lemma = component.trees.apply(trees[tree], strings[word])
            known[word, tree] = None if lemma is None else strings.add(lemma)
        return known[word, tree]

    for first in range(0, len(docs), _TOGETHER):
        batch: list[Any] = docs[first : first + _TOGETHER]
        for doc, scores in zip(batch, component.model.predict(batch), strict=True):
            words, best = doc.to_array(["ORTH"]).tolist(), scores.argmax(axis=1).tolist()
            lemmas = [lemma_of(word, tree) for word, tree in zip(words, best, strict=True)]
            for place in (place for place, lemma in enumerate(lemmas) if lemma is None):
                others = np.argsort(-scores[place], kind="stable")[1 : component.top_k].tolist()
                fitting = (lemma_of(words[place], tree) for tree in others)
                lemmas[place] = next((lemma for lemma in fitting if lemma is not None), words[place])
            doc.from_array(["LEMMA"], np.array(lemmas, np.uint64))


def _parse(component: Any, docs: list[Doc]) -> None:
    """The heads and labels of a greedy parser; texts of like length take as many steps."""
    for batch in _parsed_together(sorted(docs, key=len)):
        component._ensure_labels_are_added(batch)
        states = component.moves.init_batch(batch)
        unfinished = [state for state in states if not state.is_final()]
        step: Any = component.model.predict(batch) if unfinished else None
        while unfinished:
            unfinished = component.transition_states(unfinished, step.predict(unfinished))
        component.set_annotations(batch, states)


def _parsed_together(docs: list[Doc]) -> Iterator[list[Doc]]:
    batch: list[Doc] = []
    tokens = 0
    for doc in docs:
        if batch and tokens + len(doc) > _PARSED_TOGETHER:
            yield batch
            batch, tokens = [], 0
        batch.append(doc)
        tokens += len(doc)
    yield batch


def _bounds(docs: list[Doc]) -> np.ndarray:
    """Where each Doc but the first begins among the tokens of all."""
    return offsets_from_lengths(np.array([len(doc) for doc in docs]))[1:-1]


# --- spaCy's encoder of windows of words (`spacy.MaxoutWindowEncoder.v2`), without what training needs


def is_window_encoder(config: Mapping[str, Any]) -> bool:
    """Whether an encoder of this configuration is one; a single layer is not wrapped as several are."""
    return config.get("@architectures") == "spacy.MaxoutWindowEncoder.v2" and config["depth"] > 1


def encode_windows(model: Any, texts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The encoder's vectors of at least one text, float32 (tokens, width) each."""
    # Each layer adds to a word's vector LayerNorm(max over pieces of W·[left; word; right] + b). thinc also
    # keeps what training would need, and takes half as long again. Sums differ in their last digits.
    # Source: the layers `residual(expand_window >> maxout >> layernorm)` of thinc 8.
    # Between texts stand `pad` rows of zeros, as in thinc: they are encoded, too, so that the sentences' ends
    # depend on their number.
    pad, width = model.attrs["pad"], texts[0].shape[1]
    starts = np.cumsum([pad, *(len(text) + pad for text in texts)])
    layers = [{node.name: node for node in layer.walk()} for layer in model.layers[0].layers]
    window = layers[0]["expand_window"].attrs["window_size"]
    # Zeros before the first row and behind the last, for their windows.
    padded = np.zeros((int(starts[-1]) + 2 * window, width), np.float32)
    rows = padded[window : len(padded) - window]
    for start, text in zip(starts, texts, strict=False):
        rows[start : start + len(text)] = text
    columns = np.empty((len(rows), (2 * window + 1) * width), np.float32)
    for layer in layers:
        for place in range(2 * window + 1):
            columns[:, place * width : (place + 1) * width] = padded[place : place + len(rows)]
        rows += _normalised(_largest_piece(columns, layer["maxout"]), layer["layernorm"])
    return [rows[start : start + len(text)] for start, text in zip(starts, texts, strict=False)]


def _largest_piece(columns: np.ndarray, maxout: Any) -> np.ndarray:
    weights, bias = maxout.get_param("W"), maxout.get_param("b")  # (width, pieces, columns), (width, pieces)
    # Piece after piece, so that each is a block of columns of the product.
    width, pieces, _ = weights.shape
    products = columns @ weights.transpose(1, 0, 2).reshape(pieces * width, -1).T
    products += bias.T.reshape(-1)
    largest: np.ndarray = products.reshape(len(columns), pieces, width).max(axis=1)
    return largest


def _normalised(vectors: np.ndarray, layer_norm: Any) -> np.ndarray:
    """Layer normalisation, in place."""
    vectors -= vectors.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", vectors, vectors) / np.float32(vectors.shape[1]) + _EPSILON
    vectors *= (variance ** np.float32(-0.5))[:, None]
    vectors *= layer_norm.get_param("G")
    vectors += layer_norm.get_param("b")
    return vectors
