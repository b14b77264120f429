"""spaCy's English tokenizer, brought closer to how Universal Dependencies English divides words.

Only punctuation and exception rules change, and a saved pipeline carries its own rules, so that the shipped
pipeline loads without this code. Written after reading where the default rules disagree with EWT train.
"""

from __future__ import annotations

import re
from typing import Any

from spacy.attrs import ORTH
from spacy.lang.char_classes import HYPHENS
from spacy.language import Language
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

from augment_cli.syntax.tree import words

# Prefixes that stay with their word: "non-human" is one word, "well-known" three.
PREFIXES = sorted(
    words(
        "anti co cross de e ex extra hyper inter intra macro mega meta micro mid mini mono multi neo non "
        "over para post pre pro proto pseudo psycho quasi re semi socio sub super trans ultra un uni"
    )
)
# Runs of punctuation that are one token.
RUNS = [
    r"[!?]+[.!?]*[!?]",
    r"\.+[!?]+",
    r"={2,}",
    r"\*{2,}",
    r"_{2,}",
    r"-{3,}",
    r"<{2,}",
    r">{2,}",
    r"\${2,}",
]
NUMBERS = r"(?:\+?\d{1,2}-)?(?:\d{3}-)?\d{3}-\d{4}$"  # telephone
ABBREVIATIONS = sorted(words("Ft. Lt. Col. Capt. Sgt. Maj. Attn. Mon. Tue. Wed. Thu. Thur. Fri. Sat. Sun."))
UNSPLIT = {"and/or"}  # the default's exceptions that EWT divides
DIVIDED = {"wanna": ("wan", "na"), "dont": ("do", "nt")}


def adapt_tokenizer(nlp: Language) -> Language:
    """Change the rules of a blank English pipeline's tokenizer in place; returns the pipeline."""
    tokenizer: Any = nlp.tokenizer  # as spaCy's own languages have it; its type says any callable
    defaults: Any = nlp.Defaults
    kept = "".join(rf"(?<!\b{prefix})(?<!\b{prefix.capitalize()})" for prefix in PREFIXES)
    infixes = [kept + rule if f"(?:{HYPHENS})" in rule else rule for rule in defaults.infixes]
    if infixes == list(defaults.infixes):
        raise RuntimeError("this spaCy's English rules have no hyphen infix as expected; adapt this")
    tokenizer.infix_finditer = compile_infix_regex([*RUNS, *infixes]).finditer
    tokenizer.prefix_search = compile_prefix_regex([*RUNS, *defaults.prefixes]).search
    clock = [r"(?<=\d)(?:AM|PM|am|pm)"]
    tokenizer.suffix_search = compile_suffix_regex([*RUNS, *clock, *defaults.suffixes]).search
    tokenizer.token_match = re.compile(NUMBERS).match
    rules = {text: parts for text, parts in tokenizer.rules.items() if text not in UNSPLIT}
    rules |= {text: [{ORTH: text}] for text in ABBREVIATIONS}
    for text, parts in DIVIDED.items():
        for variant in (text, text.capitalize()):
            start = 0
            rules[variant] = []
            for part in parts:
                rules[variant].append({ORTH: variant[start : start + len(part)]})
                start += len(part)
    tokenizer.rules = rules
    return nlp
