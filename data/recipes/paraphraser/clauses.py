"""Rules that put the clauses and phrases of a sentence into another order, for training pairs.

Each rule takes a `Sentence` and gives the new order of its pieces, or None where it does not apply. Two rules
never undo doubt: where the parse leaves a choice they decline.
"""

from __future__ import annotations

from collections.abc import Callable

from lemminflect import getInflection

from data.recipes.paraphraser.sentence import Piece, Sentence

Rule = Callable[[Sentence], list[Piece] | None]

TIME = {
    "year", "month", "week", "day", "night", "morning", "evening", "afternoon", "summer", "winter",
    "spring", "autumn", "fall", "century", "decade", "time", "season", "moment", "period", "era", "war",
    "age", "beginning", "end", "january", "february", "march", "april", "may", "june", "july", "august",
    "september", "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday",
}  # fmt: skip
FREE_PREPOSITIONS = {
    "during", "after", "before", "since", "until", "despite", "throughout", "following", "unlike",
    "because", "besides", "without", "under", "within", "among", "according", "instead",
}  # fmt: skip
PLACE_PREPOSITIONS = {"in", "on", "at"}
# Verbs whose place belongs to them: "In Paris, he lives" is no paraphrase of "He lives in Paris".
BOUND_VERBS = {
    "live", "be", "put", "place", "result", "include", "participate", "believe", "engage", "involve",
    "succeed", "base", "locate", "situate", "find", "set", "lie", "stand", "sit", "look", "focus", "depend",
    "arrive", "consist", "come", "go", "bear", "interest", "stay", "remain", "rely", "invest", "hold",
    "deal", "appear", "specialize", "specialise", "end", "land", "reside",
}  # fmt: skip
CONJUNCTIONS = {
    "when", "after", "before", "although", "though", "because", "if", "while", "since", "until", "as",
    "once", "whereas", "unless",
}  # fmt: skip
SAYING = {
    "say",
    "state",
    "report",
    "announce",
    "claim",
    "add",
    "argue",
    "note",
    "believe",
    "explain",
    "think",
}
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


def reorder(sentence: Sentence) -> list[Piece] | None:
    """The order that the first applicable rule gives."""
    for rule in RULES:
        order = rule(sentence)
        if order is not None:
            return order
    return None


def move_ending_first(sentence: Sentence) -> list[Piece] | None:
    """ "He moved to Rome in 1999." → "In 1999, he moved to Rome." """
    found = _frame(sentence)
    if found is None:
        return None
    root, subject, end = found
    if subject[0] != 0 or sentence.tokens[0].pos == "SCONJ":
        return None
    for index in reversed(sentence.children[root]):
        block = sentence.block(index)
        if block is None or block[1] != end or block[0] <= root or not _moves(sentence, index, root, block):
            continue
        if any(block[0] < i < block[1] and sentence.tokens[i].text == "," for i in range(len(sentence))):
            return None
        stop = block[0] - 1 if sentence.tokens[block[0] - 1].text == "," else block[0]
        return [*range(*block), ",", *range(stop), *range(end, len(sentence))]
    return None


def move_beginning_last(sentence: Sentence) -> list[Piece] | None:
    """ "In 1999, he moved to Rome." → "He moved to Rome in 1999." """
    found = _frame(sentence)
    if found is None:
        return None
    root, subject, end = found
    first = sentence.tokens[0]
    if subject[0] == 0 or end - subject[0] > 22 or first.text[:1] in "\"'“‘(":
        return None
    comma = subject[0] - 1
    if comma < 1 or sentence.tokens[comma].text != ",":
        return None
    block = next((b for b in map(sentence.block, sentence.children[root]) if b and b == (0, comma)), None)
    index = next((i for i in sentence.children[root] if sentence.block(i) == block), None)
    if block is None or index is None or not _moves(sentence, index, root, block, beginning=True):
        return None
    rest = range(subject[0], end)
    if any(
        sentence.tokens[i].dep in ("conj", "parataxis", "advcl") and sentence.tokens[i].pos in ("VERB", "AUX")
        for i in rest
    ):
        return None
    if any(sentence.tokens[i].text in (",", ";", ":") for i in rest):
        return None
    return [*rest, *range(*block), *range(end, len(sentence))]


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
        or _has(sentence, root, "conj", "cop", "expl")
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
        or _has(sentence, agent, "conj")
        or tokens[agent].lemma in ("they", "we", "you", "I")
    )
    tag = "VBD" if tokens[be].tag == "VBD" else "VBP" if plural else "VBZ"
    verb = inflect(tokens[root].lemma, tag)
    if verb is None:
        return None
    if not _starts(sentence, before[0]):
        return None
    words: list[Piece] = [SUBJECT_OF.get(tokens[doer[0]].text, doer[0])] if len(doer) == 1 else [*doer]
    done: list[Piece] = [*range(*before)]
    if len(done) == 1:
        done = [OBJECT_OF.get(_lower(sentence, before[0]), done[0])]
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
    if _has(
        sentence, root, "conj", "xcomp", "ccomp", "iobj", "cop", "aux", "compound:prt", "expl", "parataxis",
        "advcl",  # whose subject would be another
    ):  # fmt: skip
        return None
    before, after = sentence.block(subject), sentence.block(thing)
    if not before or not after or before[1] != root or after[0] != root + 1 or tokens[thing].pos == "PRON":
        return None
    after = (after[0], _short(sentence, *after))
    if (
        not _starts(sentence, before[0])
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
    plural = tokens[thing].tag in ("NNS", "NNPS") or _has(sentence, thing, "conj")
    verb = inflect(tokens[root].lemma, "VBN")
    if verb is None or tokens[subject].text in ("who", "which", "that", "this", "these", "it", "It", "This"):
        return None
    doer: list[Piece] = [*range(*before)]
    if len(doer) == 1:
        doer = [OBJECT_OF.get(_lower(sentence, before[0]), doer[0])]
    return [
        *range(before[0]),
        *range(*after),
        BE[tokens[root].tag, plural],
        verb,
        "by",
        *doer,
        *range(after[1], len(sentence)),
    ]


def name_speaker_last(sentence: Sentence) -> list[Piece] | None:
    """ "He said that the plan failed." → "The plan failed, he said." """
    root, tokens = sentence.root, sentence.tokens
    subject, said = sentence.child(root, "nsubj"), sentence.child(root, "ccomp")
    if (
        tokens[root].lemma not in SAYING
        or subject is None
        or said is None
        or _has(sentence, root, "aux", "conj", "advmod", "aux:pass")
    ):
        return None
    block, who = sentence.block(said), sentence.block(subject)
    if block is None or who is None or who[0] != 0 or block[1] != sentence.end or block[0] < root:
        return None
    if any(token.text in QUOTES for token in tokens) or (
        tokens[sentence.end : sentence.end + 1] and tokens[sentence.end].text != "."
    ):
        return None
    first = block[0] + (tokens[block[0]].text == "that")
    if (
        tokens[first].pos in ("SCONJ", "ADV", "PUNCT")
        or (first == block[0] and tokens[block[0]].dep == "mark")
        or tokens[first].text in ("what", "how", "whether", "who")
    ):
        return None
    if not _has(sentence, said, "nsubj", "nsubj:pass", "expl"):
        return None
    if any(tokens[i].text == "to" and tokens[i].pos == "PART" for i in sentence.children[said]):
        return None  # "many believe the reason to be …"
    stop = block[0] - 1 if tokens[block[0] - 1].text in (",", ":") else block[0]
    return [*range(first, block[1]), ",", *range(stop), *range(sentence.end, len(sentence))]


def name_speaker_first(sentence: Sentence) -> list[Piece] | None:
    """ "The plan failed, he said." → "He said that the plan failed." """
    root, tokens, end = sentence.root, sentence.tokens, sentence.end
    for verb in (
        i for i in sentence.children[root] if tokens[i].dep == "parataxis" and tokens[i].lemma in SAYING
    ):
        block = sentence.block(verb)
        if (
            block is None
            or block[1] != end
            or block[0] < 3
            or tokens[block[0] - 1].text != ","
            or verb != end - 1
        ):
            continue
        if tokens[block[0]].dep.startswith("nsubj") or sentence.child(verb, "nsubj") is not None:
            if (
                any(tokens[i].text in QUOTES for i in range(end))
                or tokens[verb].pos != "VERB"
                or _has(sentence, verb, "aux")
            ):
                return None
            return [*range(*block), "that", *range(block[0] - 1), *range(end, len(sentence))]
    return None


def turn_identity(sentence: Sentence) -> list[Piece] | None:
    """ "Rome is the capital of Italy." → "The capital of Italy is Rome." """
    root, tokens = sentence.root, sentence.tokens
    subject, be, article = (
        sentence.child(root, "nsubj"),
        sentence.child(root, "cop"),
        sentence.child(root, "det"),
    )
    if (
        subject is None
        or be is None
        or article is None
        or tokens[article].text != "the"
        or tokens[subject].pos == "PRON"
    ):
        return None
    who = sentence.block(subject)
    if (
        who is None
        or who != (0, be)
        or article != be + 1
        or _has(sentence, root, "aux", "advmod", "conj", "parataxis", "advcl")
        or tokens[root].lemma in ("same", "one")
    ):
        return None
    plural = tokens[subject].tag in ("NNS", "NNPS")
    if plural != (tokens[root].tag in ("NNS", "NNPS")) or any(
        tokens[i].text in (",", ";", ":") for i in range(sentence.end)
    ):
        return None
    return [*range(be + 1, sentence.end), be, *range(*who), *range(sentence.end, len(sentence))]


def say_exists(sentence: Sentence) -> list[Piece] | None:
    """ "There are three schools in the town." → "Three schools exist in the town." """
    root, tokens = sentence.root, sentence.tokens
    there, thing = sentence.child(root, "expl"), sentence.child(root, "nsubj")
    if (
        there != 0
        or thing is None
        or tokens[root].lemma != "be"
        or root != 1
        or _has(sentence, root, "conj", "advcl", "advmod")
    ):
        return None
    block = sentence.block(thing)
    if (
        block is None
        or block[0] != 2
        or any(tokens[i].lemma in ("no", "not", "nothing") for i in range(*block))
    ):
        return None
    if sentence.child(thing, "acl", "acl:relcl") is not None or tokens[2].pos == "ADV" or block[1] > 16:
        return None
    case = next(
        (i for i in range(thing + 1, block[1]) if tokens[i].text in ("in", "on", "at", "between")), block[1]
    )
    verb = {"was": "existed", "were": "existed", "is": "exists", "are": "exist"}.get(tokens[root].text)
    return None if verb is None else [*range(2, case), verb, *range(case, len(sentence))]


QUOTES = {'"', "“", "”", "''", "``", "'", "‘", "’"}

# The first that applies is taken: the rarer the rule, the earlier.
RULES: tuple[Rule, ...] = (
    say_exists, passive_to_active, name_speaker_first, name_speaker_last, move_beginning_last,
    move_ending_first, turn_identity, active_to_passive,
)  # fmt: skip


def inflect(lemma: str, tag: str) -> str | None:
    """The form of a lemma for a Penn Treebank tag; None where the dictionary has none."""
    forms = getInflection(lemma, tag, inflect_oov=False)
    return forms[0] if forms else None


def _short(sentence: Sentence, first: int, last: int) -> int:
    """Where a noun phrase ends if what a time or a place says belongs to the verb, as most often."""
    return next((i for i in range(first, last) if sentence.tokens[i].text in LOOSE), last)


def _starts(sentence: Sentence, index: int) -> bool:
    """Whether a clause can begin at a token."""
    return (
        index == 0
        or sentence.tokens[index - 1].text == ","
        or sentence.tokens[index - 1].pos in ("CCONJ", "SCONJ")
    )


def _has(sentence: Sentence, index: int, *deps: str) -> bool:
    return sentence.child(index, *deps) is not None


def _lower(sentence: Sentence, index: int) -> str:
    text = sentence.tokens[index].text
    return text if text == "I" else text.lower()


def _frame(sentence: Sentence) -> tuple[int, tuple[int, int], int] | None:
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
    if _has(sentence, root, "parataxis") or tokens[subject].tag in ("WP", "WDT", "WRB"):
        return None
    block = sentence.block(subject)
    return None if block is None or block[0] > root else (root, block, end)


def _moves(
    sentence: Sentence, index: int, root: int, block: tuple[int, int], beginning: bool = False
) -> bool:
    """Whether a dependent of the root may stand at either end of the sentence."""
    tokens = sentence.tokens
    token, first = tokens[index], tokens[block[0]]
    opening = first.text.lower()
    if token.dep == "advcl":
        mark = tokens[block[0]].pos in ("SCONJ", "ADV") and opening in CONJUNCTIONS
        return mark and _has(sentence, index, "nsubj", "nsubj:pass") and block[1] - block[0] <= 14
    if not token.dep.startswith("obl") or token.dep == "obl:agent" or first.pos not in ("ADP", "SCONJ"):
        return False
    if block[1] - block[0] > 9 or (not beginning and sentence.child(root, "conj") is not None):
        return False
    if opening in FREE_PREPOSITIONS:
        return True
    inside = range(*block)
    timed = token.lemma.lower() in TIME or any(
        tokens[i].pos == "NUM" and len(tokens[i].text) == 4 and tokens[i].text.isdigit() for i in inside
    )
    if opening in (*PLACE_PREPOSITIONS, "by", "from", "for") and timed:
        return opening in PLACE_PREPOSITIONS or beginning
    rooted = _has(sentence, root, "obj", "aux:pass") and tokens[root].lemma not in BOUND_VERBS
    return opening in PLACE_PREPOSITIONS and (beginning or (rooted and token.pos == "PROPN"))
