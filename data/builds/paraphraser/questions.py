"""Training pairs that are questions, which the corpora hardly have: templates filled with parsed phrases."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from data.builds.paraphraser.sentence import Sentence

# {v}: a verb phrase in the base form ("learn Latin"); {n}: a noun phrase; both come from corpus sentences.
TEMPLATES = [
    ("How do I {v}?", "What is the best way to {v}?"),
    ("How can I {v}?", "What is a good way to {v}?"),
    ("How do you {v}?", "How does one {v}?"),
    ("How can you {v}?", "What is the way to {v}?"),
    ("How to {v}?", "How can I {v}?"),
    ("How should I {v}?", "What is the right way to {v}?"),
    ("How could I {v}?", "In what way could I {v}?"),
    ("What is the best way to {v}?", "How can I best {v}?"),
    ("What are the best ways to {v}?", "How can one best {v}?"),
    ("What are some ways to {v}?", "How can people {v}?"),
    ("What is the easiest way to {v}?", "How can I {v} most easily?"),
    ("What should I do to {v}?", "What do I have to do in order to {v}?"),
    ("What do I need to {v}?", "What is required in order to {v}?"),
    ("Where can I {v}?", "What is a good place to {v}?"),
    ("When should I {v}?", "What is the right time to {v}?"),
    ("Should I {v}?", "Is it a good idea to {v}?"),
    ("Can I {v}?", "Am I able to {v}?"),
    ("Can you {v}?", "Are you able to {v}?"),
    ("Is it possible to {v}?", "Can one {v}?"),
    ("Is it hard to {v}?", "How difficult is it to {v}?"),
    ("Why do people {v}?", "What is the reason that people {v}?"),
    ("Why should I {v}?", "What are the reasons to {v}?"),
    ("Why do we {v}?", "For what reason do we {v}?"),
    ("How long does it take to {v}?", "How much time do you need to {v}?"),
    ("How much does it cost to {v}?", "What is the cost if you {v}?"),
    ("Does anyone know how to {v}?", "Does somebody know a way to {v}?"),
    ("What happens if you {v}?", "What are the consequences if you {v}?"),
    ("What is {n}?", "What does {n} mean?"),
    ("What are the advantages of {n}?", "What are the benefits of {n}?"),
    ("What is the purpose of {n}?", "What is {n} for?"),
    ("What is the meaning of {n}?", "What does {n} mean?"),
    ("What do you think about {n}?", "What is your opinion of {n}?"),
    ("How does {n} work?", "What is the way in which {n} works?"),
    ("What is the difference between {n} and {m}?", "How do {n} and {m} differ?"),
    ("How is {n} different from {m}?", "What is the difference between {n} and {m}?"),
    ("Who invented {n}?", "Who was the inventor of {n}?"),
    ("Where can I find {n}?", "Where is {n} to be found?"),
    ("Why is {n} so important?", "What makes {n} so important?"),
    ("What is the best book about {n}?", "Which book about {n} is the best?"),
    ("What are some good examples of {n}?", "Can you give good examples of {n}?"),
]
LONGEST = 8  # tokens of a phrase


def phrases(sentences: Iterable[Sentence]) -> tuple[list[str], list[str]]:
    """Distinct verb phrases after "to" and noun phrases, without pronouns and in order of appearance."""
    verbs: dict[str, None] = {}
    nouns: dict[str, None] = {}
    for sentence in sentences:
        tokens = sentence.tokens
        for index, token in enumerate(tokens):
            block = sentence.block(index)
            if block is None or not 2 <= block[1] - block[0] <= LONGEST:
                continue
            inside = tokens[slice(*block)]
            if any(t.pos in ("PRON", "PUNCT") or t.lemma in ("he", "his", "her", "their") for t in inside):
                continue
            if (
                token.tag == "VB"
                and tokens[block[0]].text == "to"
                and index == block[0] + 1
                and block[1] > index + 1
                and token.lemma != "be"
            ):
                verbs["".join(t.text + " " * t.space for t in inside[1:]).strip()] = None
            elif (
                token.dep in ("obj", "nsubj") and token.pos in ("NOUN", "PROPN") and block[1] - block[0] <= 4
            ):
                text = "".join(t.text + " " * t.space for t in inside).strip()
                if block[0] > 0 and token.tag in ("NN", "NNP"):
                    nouns[text] = None
    return list(verbs), list(nouns)


def questions(verbs: list[str], nouns: list[str], count: int, seed: int) -> Iterator[tuple[str, str]]:
    """`count` pairs, each template as often as the next."""
    draw = random.Random(seed)
    for number in range(count):
        source, target = TEMPLATES[number % len(TEMPLATES)]
        fill = {"v": draw.choice(verbs), "n": draw.choice(nouns), "m": draw.choice(nouns)}
        yield source.format(**fill), target.format(**fill)
