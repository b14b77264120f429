"""PI, AA and DN for one sentence at a time, written plainly from the papers' rules over ClearNLP labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lemminflect

from augment_cli.syntax.tree import words

CLAUSES = {"acl", "advcl", "ccomp", "csubj", "csubjpass", "relcl", "xcomp"}
AUXILIARIES = {"aux", "auxpass"}
FINITE = {"VBD", "VBP", "VBZ"}
BE = {"am", "is", "are", "was", "were", "be", "been", "being", "'m", "'re", "'s"}
CLOSERS = "\"'”’»›)]}」』）】》〉"
SPECIAL = words("am is are was were can could will would shall should may must might 'm 're 's")


def comma_after(sentence: Sentence, i: int) -> str | None:
    """A comma behind token i, if a word stands there, a space follows, and then a word."""
    tokens = sentence.tokens
    if tokens[i].pos == "SPACE":
        i -= 1
    if i < 0 or i + 1 >= len(tokens) or not tokens[i].space:
        return None
    if sentence.is_mark(tokens[i]) or sentence.is_mark(tokens[i + 1]):
        return None
    return sentence.replaced((tokens[i].end, tokens[i].end, ","))


def form_of(token: Token) -> str:
    """The Penn tag of a verb, "" for any other word; where the tag is no word's, the morphology counts."""
    if token.tag == ".":
        return morphology_says(token)
    return token.tag if token.tag in {"VB", "VBD", "VBP", "VBZ", "VBN", "VBG", "MD"} else ""


def mended_root_tag(sentence: Sentence) -> str:
    """A participle as main verb, behind its subject and without auxiliary or mark between, is a past form."""
    root, subject = sentence.root, sentence.subject()
    if form_of(root) != "VBN" or subject is None or subject.i > root.i:
        return form_of(root)
    children = sentence.children(root)
    if any(child.dep in AUXILIARIES and child.tag != "TO" for child in children):
        return "VBN"
    between = [child for child in children if subject.i < child.i < root.i and child.dep == "punct"]
    return "VBN" if between else "VBD"


def clause_comma(sentence: Sentence) -> str | None:
    """Rule 1."""
    tokens = sentence.tokens
    head = next((token for token in tokens if token.dep in CLAUSES and token.head != token.i), None)
    if head is None:
        return None
    span = sentence.subtree(head)
    first, last = span[0].i, span[-1].i
    tag = mended_root_tag(sentence) if head is sentence.root else form_of(head)
    if first == last or (first == head.i and tag in FINITE | {"MD"}):
        return None
    if first == 0:
        return comma_after(sentence, last)
    relative = head.dep in {"relcl", "rcmod"}
    if relative and (span[0].tag not in {"WDT", "WP", "WP$", "WRB", "IN"} or span[0].lower == "that"):
        return None
    before = tokens[first - 1]
    if before.tag in {"IN", "TO", "WDT", "WP", "WP$", "WRB", "DT", "PDT", "PRP$", "MD"}:
        return None
    if before.pos in {"ADP", "SCONJ"}:
        return None
    return comma_after(sentence, before.i)


def trusted_subject(sentence: Sentence) -> list[Token] | None:
    """The subject's full subtree, edge to edge, where nothing tells of a wrong parse."""
    subject = sentence.subject()
    if subject is None:
        return None
    span = sentence.subtree(subject)
    first, last = span[0], span[-1]
    if first.tag == "WRB" or first.pos in {"ADP", "SCONJ", "CCONJ"} or last.i - first.i >= 25:
        return None
    for token in sentence.tokens[first.i : subject.i]:
        if sentence.is_mark(token) and token.text[-1] in ",;:，；：":
            return None
    return sentence.tokens[first.i : last.i + 1]


def subject_comma(sentence: Sentence) -> str | None:
    """Rule 2, comma."""
    span = trusted_subject(sentence)
    if span is None or span[-1].i > sentence.root.i:
        return None
    return comma_after(sentence, span[-1].i)


def subject_quotes(sentence: Sentence) -> str | None:
    """Rule 2, quotation marks."""
    span = trusted_subject(sentence)
    if span is None:
        return None
    subject = sentence.subject()
    assert subject is not None
    if span[-1].pos == "SPACE":
        span = span[:-1]
    if sentence.is_mark(span[-1]) and span[-1].i > subject.i and span[-1].text not in CLOSERS:
        span = span[:-1]
    for token in span:
        quoting = any(character in token.text for character in '"“”„«»「」『』') or "''" in token.text
        if quoting and (sentence.is_mark(token) or token.pos in {"SYM", "X"}):
            return None
    first, last = span[0], span[-1]
    if sentence.is_mark(first):
        return None
    before = sentence.tokens[first.i - 1] if first.i else None
    if before is not None and not before.space and not sentence.is_mark(before):
        return None
    after = sentence.tokens[last.i + 1] if last.i + 1 < len(sentence.tokens) else None
    if not last.space and after is not None and not sentence.is_mark(after):
        return None
    return sentence.replaced((first.start, first.start, '"'), (last.end, last.end, '"'))


def final_mark(sentence: Sentence) -> Token | None:
    """The last mark, behind which up to three closing marks may stand."""
    for distance, token in enumerate(reversed(sentence.tokens)):
        if distance > 3:
            return None
        if sentence.is_mark(token) and token.text[-1] in ".!?…。！？,;:，；：、-–—":
            return token
        if token.text not in CLOSERS and token.text != "''" and not token.text.isspace():
            return None
    return None


def repeat(sentence: Sentence) -> str | None:
    """Rule 3."""
    mark = final_mark(sentence)
    end = mark.i if mark is not None else len(sentence.tokens) - 1
    for token in sentence.tokens[:end]:
        spaced = token.space or token.i == 0 or sentence.tokens[token.i - 1].space
        paired = token.text[0] in "\"'‘’“”„«»‹›()[]{}<>「」『』（）【】《》〈〉`"
        if sentence.is_mark(token) and spaced and not paired:
            return sentence.replaced((token.end, token.end, token.text))
    return None


def exclaim(sentence: Sentence) -> str | None:
    """Rule 4."""
    mark = final_mark(sentence)
    last = sentence.tokens[-1] if mark is None else mark
    if mark is None or mark.text[-1] == "!":
        return sentence.replaced((last.end, last.end, "!"))
    return sentence.replaced((mark.start, mark.end, "!"))


def infinitive(token: Token, tag: str) -> str | None:
    """The dictionary's infinitive, where it has one whose form under `tag` is this word."""
    if token.lower in {"'ve", "'d", "'s"}:
        return "have"
    if not token.lower.isalpha():
        return None
    fitting = []
    for lemma in lemminflect.getLemma(token.lower, "VERB", lemmatize_oov=False):
        forms = (lemma,) if tag == "VBP" else lemminflect.getInflection(lemma, tag)
        if token.lower in forms:
            fitting.append(lemma)
    return None if not fitting else token.lemma if token.lemma in fitting else fitting[0]


def is_be(token: Token) -> bool:
    contracted = token.lower != "'s" or token.lemma in {"be", "'s"}
    return token.pos in {"VERB", "AUX"} and token.lower in BE and contracted


def cased(new: str, old: str) -> str:
    if old.isupper() and sum(map(str.isalpha, old)) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


def morphology_says(token: Token) -> str:
    """The one verb form among the features of the made-up parses."""
    return "VBD" if "VerbForm=Fin" in token.morph else ""


def plural(sentence: Sentence, noun: Token) -> bool:
    joined = [child for child in sentence.children(noun) if child.dep == "conj"]
    ors = [noun, *joined]
    either = any(
        child.pos == "CCONJ" and child.lower in {"or", "nor"}
        for head in ors
        for child in sentence.children(head)
    )
    if joined and not either:
        return True
    if noun.lower in {"we", "they", "these", "those", "both", "many", "few", "several", "ones", "i", "you"}:
        return True
    if noun.tag in {"NN", "NNP", "NNS", "NNPS"}:
        return noun.tag in {"NNS", "NNPS"}
    return "Number=Plur" in noun.morph


def auxiliary(sentence: Sentence) -> str | None:
    """AA as recommended."""
    root, tokens = sentence.root, sentence.tokens
    children = sentence.children(root)
    token = min([root, *(child for child in children if child.dep in AUXILIARIES)], key=lambda t: t.i)
    tag = mended_root_tag(sentence) if token is root else form_of(token)
    mended = token is root and tag != form_of(token)
    following = tokens[token.i + 1] if token.i + 1 < len(tokens) else None
    follows = "" if following is None else following.lower
    modal = token is not root and tag == "MD"
    be = is_be(token) and tag in FINITE
    if token is not root and not modal and not be:
        return None
    if not modal and tag not in FINITE:
        return None
    negative = {"not", "n't", "nt", "never"}
    if any(child.dep == "neg" for child in children) or follows in negative:
        return None
    semi = {"have", "has", "had", "need", "needs", "needed", "ought", "used", "'s", "'d", "'ve"}
    if (be or token.lower in semi) and follows == "to":
        return None
    if following is not None and not token.space and following.pos not in {"PUNCT", "SPACE"}:
        return None
    nominal = {"NOUN", "PROPN", "PRON", "NUM"}
    if not any(
        child.dep in SUBJECTS | {"csubj", "csubjpass", "expl"} or (child.pos in nominal and child.i < root.i)
        for child in children
    ):
        return None
    subject = sentence.subject()
    expletive = next((child for child in children if child.dep == "expl"), None)
    if max(t.i if t is not None else -1 for t in (subject, expletive)) > token.i:
        return None
    said = morphology_says(token)
    if not modal and not mended and said and said != tag:
        return None
    verb = "" if modal else " be" if be else infinitive(token, tag)
    if verb is None:
        return None
    if not modal and not be:
        verb = " " + verb
    if tag == "VBD" or (modal and token.lower in {"would", "could", "'d"}):
        phrase = "had to"
    elif modal:
        noun = subject
        if noun is None and expletive is not None:
            noun = next((child for child in children if child.i > root.i and child.pos in nominal), None)
        phrase = "have to" if noun is not None and plural(sentence, noun) else "has to"
    else:
        phrase = "has to" if tag == "VBZ" else "have to"
    new = space_before(sentence, token) + cased(phrase + verb, token.text)
    return sentence.replaced((token.start, token.end, new))


def space_before(sentence: Sentence, token: Token) -> str:
    """A space, where the token was joined to a word."""
    before = sentence.tokens[token.i - 1] if token.i else None
    return " " if before is not None and not before.space and before.pos not in {"PUNCT", "SPACE"} else ""


def double_negation(sentence: Sentence) -> str | None:
    """DN as recommended: Algorithm 3."""
    tokens, root = sentence.tokens, sentence.root
    negative = [token for token in tokens if token.lower in {"not", "n't", "never"}]
    # "no" as a determiner; not in "no longer" or "no. 4".
    negative += [token for token in tokens if token.lower == "no" and token.tag in {"DT", "."}]
    negative.sort(key=lambda token: token.i)
    edits: list[tuple[int, int, str]] = []
    count = 0
    deleted = negative[0] if negative else None
    taken = set()
    for token in tokens:
        if count + (deleted is not None) == 2:
            break
        if token is deleted:
            continue
        if token is root:
            tag = mended_root_tag(sentence)
            if token.pos in {"VERB", "AUX"} and token.lower in SPECIAL:
                edits.append((token.end, token.end, " not"))
            elif tag in FINITE:
                lemma = infinitive(token, tag)
                if lemma is None:
                    taken.add(None)
                do = {"VBP": "do", "VBZ": "does", "VBD": "did"}[tag]
                new = space_before(sentence, token) + cased(f"{do} not {lemma}", token.text)
                edits.append((token.start, token.end, new))
            else:
                edits.append((tokens[0].start, tokens[0].start, "Not "))
            count, taken = count + 1, taken | {token.i}
        elif token.dep in AUXILIARIES and token.tag != "TO" and token.head != token.i:
            following = tokens[token.i + 1] if token.i + 1 < len(tokens) else None
            if following in negative and following is not deleted:
                continue
            full = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}.get(token.lower)
            if full is None:
                edits.append((token.end, token.end, " not"))
            else:
                edits.append((token.start, token.end, cased(full, token.text) + " not"))
            count, taken = count + 1, taken | {token.i}
    if count + (deleted is not None) < 2 or None in taken:
        return None
    if deleted is not None:
        edits.append(deletion(sentence, deleted, taken))
    return sentence.replaced(*edits)


def deletion(sentence: Sentence, token: Token, taken: set[int | None]) -> tuple[int, int, str]:
    tokens = sentence.tokens
    following = tokens[token.i + 1] if token.i + 1 < len(tokens) else None
    if token.i and tokens[token.i - 1].space:
        return tokens[token.i - 1].end, token.end, ""
    if token.i and tokens[token.i - 1].pos != "PUNCT":
        return token.start, token.end, ""
    if following is None:
        return token.start, token.end, ""
    is_capitalised = cased("xx", token.text) == "Xx"
    if token.i == 0 and is_capitalised and following.i not in taken:
        return token.start, following.end, following.text[0].upper() + following.text[1:]
    return token.start, following.start, ""


SUBJECTS = {"nsubj", "nsubjpass"}


@dataclass
class Token:
    """A token as spaCy has it."""

    i: int
    text: str
    start: int
    end: int
    space: bool
    lemma: str
    pos: str
    tag: str
    morph: str
    dep: str
    head: int

    @property
    def lower(self) -> str:
        return self.text.lower()


class Sentence:
    """A text with its tokens."""

    def __init__(self, text: str, row: dict[str, Any]) -> None:
        self.text = text
        columns = ("starts", "ends", "whitespace", "lemmas", "pos", "tags", "morphs", "deps", "heads")
        self.tokens = [
            Token(i, text[start:end], start, end, *rest)
            for i, (start, end, *rest) in enumerate(zip(*(row[name] for name in columns), strict=True))
        ]
        roots = [token for token in self.tokens if token.head == token.i]
        verbs = [token for token in roots if token.pos in {"VERB", "AUX"}]
        self.root = (verbs or roots)[0]

    def children(self, head: Token) -> list[Token]:
        return [token for token in self.tokens if token.head == head.i and token.i != head.i]

    def subtree(self, head: Token) -> list[Token]:
        found, waiting = {head.i}, [head]
        while waiting:
            for child in self.children(waiting.pop()):
                if child.i not in found:
                    found.add(child.i)
                    waiting.append(child)
        return [self.tokens[i] for i in sorted(found)]

    def is_mark(self, token: Token) -> bool:
        punctuation = token.pos == "PUNCT" or (token.dep == "punct" and token.head != token.i)
        return punctuation and not token.text.isspace() and not any(map(str.isalnum, token.text))

    def subject(self) -> Token | None:
        return next((token for token in self.children(self.root) if token.dep in SUBJECTS), None)

    def replaced(self, *edits: tuple[int, int, str]) -> str:
        text = self.text
        for start, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
            text = text[:start] + new + text[end:]
        return text
