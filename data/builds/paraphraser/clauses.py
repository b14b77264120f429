"""Rules that put the clauses and phrases of a sentence into another order, for training pairs.

Each rule takes a `Sentence` and gives the new order of its pieces, or None where it does not apply. Two rules
never undo doubt: where the parse leaves a choice they decline.
"""

from __future__ import annotations

from collections.abc import Callable

from data.builds.paraphraser.sentence import Piece, Sentence
from data.builds.paraphraser.statement import QUOTES, frame, has
from data.builds.paraphraser.voice import active_to_passive, passive_to_active

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


def reorder(sentence: Sentence) -> list[Piece] | None:
    """The order that the first applicable rule gives."""
    for rule in RULES:
        order = rule(sentence)
        if order is not None:
            return order
    return None


def move_ending_first(sentence: Sentence) -> list[Piece] | None:
    """ "He moved to Rome in 1999." → "In 1999, he moved to Rome." """
    found = frame(sentence)
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
    found = frame(sentence)
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


def name_speaker_last(sentence: Sentence) -> list[Piece] | None:
    """ "He said that the plan failed." → "The plan failed, he said." """
    root, tokens = sentence.root, sentence.tokens
    subject, said = sentence.child(root, "nsubj"), sentence.child(root, "ccomp")
    if (
        tokens[root].lemma not in SAYING
        or subject is None
        or said is None
        or has(sentence, root, "aux", "conj", "advmod", "aux:pass")
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
    if not has(sentence, said, "nsubj", "nsubj:pass", "expl"):
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
                or has(sentence, verb, "aux")
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
        or has(sentence, root, "aux", "advmod", "conj", "parataxis", "advcl")
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
        or has(sentence, root, "conj", "advcl", "advmod")
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


# The first that applies is taken: the rarer the rule, the earlier.
RULES: tuple[Rule, ...] = (
    say_exists, passive_to_active, name_speaker_first, name_speaker_last, move_beginning_last,
    move_ending_first, turn_identity, active_to_passive,
)  # fmt: skip


def _moves(
    sentence: Sentence, index: int, root: int, block: tuple[int, int], beginning: bool = False
) -> bool:
    """Whether a dependent of the root may stand at either end of the sentence."""
    tokens = sentence.tokens
    token, first = tokens[index], tokens[block[0]]
    opening = first.text.lower()
    if token.dep == "advcl":
        mark = tokens[block[0]].pos in ("SCONJ", "ADV") and opening in CONJUNCTIONS
        return mark and has(sentence, index, "nsubj", "nsubj:pass") and block[1] - block[0] <= 14
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
    rooted = has(sentence, root, "obj", "aux:pass") and tokens[root].lemma not in BOUND_VERBS
    return opening in PLACE_PREPOSITIONS and (beginning or (rooted and token.pos == "PROPN"))
