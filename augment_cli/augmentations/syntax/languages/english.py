"""English: the language of most rules, which stand in the augmentations' own files and in `shared/`."""

from __future__ import annotations

from augment_cli.augmentations.syntax.shared import affirmation_english, double_negation_english
from augment_cli.augmentations.syntax.shared import auxiliary_english as auxiliary
from augment_cli.augmentations.syntax.shared import negation_english as negation
from augment_cli.syntax.language import Language

ENGLISH = Language(
    code="en",
    name="English",
    aa={
        "faithful": affirmation_english.faithful,
        "paper": auxiliary.recommended,
        "literal": auxiliary.literal,
        "v3": auxiliary.released,
        "v3_verb": auxiliary.released_verb,
    },
    dn={"faithful": double_negation_english.faithful, "paper": negation.recommended, "v3": negation.released},
)
