"""From passive to active and back, for training pairs."""

from __future__ import annotations

from lemminflect import getInflection

from data.builds.paraphraser.sentence import Piece, Sentence
from data.builds.paraphraser.statement import has, lower, starts

LOOSE = {
    "in",
    "on",
    "at",
    "during",
    "after",
    "before",
    "since",
    "until",
    "for",
    "from",
    "with",
    "by",
    "as",
    "to",
}
SUBJECT_OF = {"him": "he", "her": "she", "them": "they", "me": "I", "us": "we", "it": "it", "you": "you"}
OBJECT_OF = {subject: obj for obj, subject in SUBJECT_OF.items()}
BE = {
    ("VBD", False): "was", ("VBD", True): "were", ("VBZ", False): "is", ("VBP", False): "is",
    ("VBZ", True): "are", ("VBP", True): "are",
}  # fmt: skip


def passive_to_active(sentence: Sentence) -> list[Piece] | None:
    """ "The novel was written by John Smith in 1990." → "John Smith wrote the novel in 1990." """
    root, tokens = sentence.root, sentence.tokens
    subject, agent, be = (
        sentence.child(root, "nsubj:pass"),
        sentence.child(root, "obl:agent"),
        sentence.child(root, "aux:pass"),
    )
    if (
        subject is None
        or agent is None
        or be is None
        or tokens[root].tag != "VBN"
        or has(sentence, root, "conj", "cop", "expl")
    ):
        return None
    before, by = sentence.block(subject), sentence.block(agent)
    if (
        not before
        or not by
        or by[0] != root + 1
        or tokens[by[0]].lemma != "by"
        or (before[1] != be and tokens[before[1]].pos != "ADV")
    ):
        return None
    if any(
        tokens[i].dep in ("aux", "mark") or tokens[i].lemma in ("not", "n't") for i in sentence.children[root]
    ):
        return None
    if tokens[be].tag not in ("VBD", "VBZ", "VBP") or any(
        tokens[i].dep in ("acl:relcl", "acl", "conj") for i in range(*by)
    ):
        return None
    by = (by[0], _short(sentence, by[0] + 1, by[1]))
    rest = tokens[by[1] : sentence.end]
    if any(token.text == "by" for token in rest) or (rest and rest[0].text == ","):
        return None  # a second agent, or a clause about the first
    doer = [*range(by[0] + 1, by[1])]
    if not doer or tokens[doer[0]].tag == "VBG":
        return None
    plural = (
        tokens[agent].tag in ("NNS", "NNPS")
        or has(sentence, agent, "conj")
        or tokens[agent].lemma in ("they", "we", "you", "I")
    )
    tag = "VBD" if tokens[be].tag == "VBD" else "VBP" if plural else "VBZ"
    verb = inflect(tokens[root].lemma, tag)
    if verb is None:
        return None
    if not starts(sentence, before[0]):
        return None
    words: list[Piece] = [SUBJECT_OF.get(tokens[doer[0]].text, doer[0])] if len(doer) == 1 else [*doer]
    done: list[Piece] = [*range(*before)]
    if len(done) == 1:
        done = [OBJECT_OF.get(lower(sentence, before[0]), done[0])]
    adverbs = [i for i in range(before[1], root) if i != be]
    if any(tokens[i].pos != "ADV" for i in adverbs):
        return None
    return [*range(before[0]), *words, *adverbs, verb, *done, *range(by[1], len(sentence))]


def active_to_passive(sentence: Sentence) -> list[Piece] | None:
    """ "Smith founded the company in 1990." → "The company was founded by Smith in 1990." """
    root, tokens = sentence.root, sentence.tokens
    subject, thing = sentence.child(root, "nsubj"), sentence.child(root, "obj")
    if (
        subject is None
        or thing is None
        or tokens[root].tag not in ("VBD", "VBZ")
        or tokens[root].lemma
        in ("have", "be", "do", "include", "become", "lack", "get", "contain", "want", "take")
    ):
        return None
    if has(
        sentence, root, "conj", "xcomp", "ccomp", "iobj", "cop", "aux", "compound:prt", "expl", "parataxis",
        "advcl",  # whose subject would be another
    ):  # fmt: skip
        return None
    before, after = sentence.block(subject), sentence.block(thing)
    if not before or not after or before[1] != root or after[0] != root + 1 or tokens[thing].pos == "PRON":
        return None
    after = (after[0], _short(sentence, *after))
    if (
        not starts(sentence, before[0])
        or after[1] - after[0] > 9
        or any(
            tokens[i].dep in ("acl:relcl", "nmod:poss")
            or tokens[i].text == ","
            or tokens[i].lemma in ("himself", "herself", "itself", "themselves")
            for i in range(*after)
        )
    ):
        return None
    if any(tokens[i].dep == "acl:relcl" for i in range(*before)) or before[1] - before[0] > 9:
        return None
    plural = tokens[thing].tag in ("NNS", "NNPS") or has(sentence, thing, "conj")
    verb = inflect(tokens[root].lemma, "VBN")
    if verb is None or tokens[subject].text in ("who", "which", "that", "this", "these", "it", "It", "This"):
        return None
    doer: list[Piece] = [*range(*before)]
    if len(doer) == 1:
        doer = [OBJECT_OF.get(lower(sentence, before[0]), doer[0])]
    return [
        *range(before[0]),
        *range(*after),
        BE[tokens[root].tag, plural],
        verb,
        "by",
        *doer,
        *range(after[1], len(sentence)),
    ]


def inflect(lemma: str, tag: str) -> str | None:
    """The form of a lemma for a Penn Treebank tag; None where the dictionary has none."""
    forms = getInflection(lemma, tag, inflect_oov=False)
    return forms[0] if forms else None


def _short(sentence: Sentence, first: int, last: int) -> int:
    """Where a noun phrase ends if what a time or a place says belongs to the verb, as most often."""
    return next((i for i in range(first, last) if sentence.tokens[i].text in LOOSE), last)
