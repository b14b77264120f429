"""What the rules on clauses ask of a sentence: plain statements, their parts and their marks."""

from __future__ import annotations

from data.builds.paraphraser.sentence import Sentence

QUOTES = {'"', "“", "”", "''", "``", "'", "‘", "’"}


def has(sentence: Sentence, index: int, *deps: str) -> bool:
    return sentence.child(index, *deps) is not None


def lower(sentence: Sentence, index: int) -> str:
    text = sentence.tokens[index].text
    return text if text == "I" else text.lower()


def starts(sentence: Sentence, index: int) -> bool:
    """Whether a clause can begin at a token."""
    return (
        index == 0
        or sentence.tokens[index - 1].text == ","
        or sentence.tokens[index - 1].pos in ("CCONJ", "SCONJ")
    )


def frame(sentence: Sentence) -> tuple[int, tuple[int, int], int] | None:
    """Root, the subject's block, and where closing punctuation begins, of a plain statement."""
    root, tokens = sentence.root, sentence.tokens
    subject = sentence.child(root, "nsubj", "nsubj:pass", "expl")
    end = sentence.end
    if (
        subject is None
        or end == len(sentence)
        or tokens[end].text != "."
        or any(t.text in QUOTES | {"(", ")", ";", ":"} for t in tokens)
    ):
        return None
    if has(sentence, root, "parataxis") or tokens[subject].tag in ("WP", "WDT", "WRB"):
        return None
    block = sentence.block(subject)
    return None if block is None or block[0] > root else (root, block, end)
