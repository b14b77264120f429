"""English, the language of most rules: those of AA and DN, by their modes."""

from augment_cli.english.clauses import assertions, auxiliary, double_negation, negation
from augment_cli.resources import weighted_terms
from augment_cli.syntax.language import Language

ENGLISH = Language(
    code="en",
    name="English",
    vocabulary=weighted_terms,
    aa={
        "faithful": assertions.faithful,
        "paper": auxiliary.recommended,
        "literal": auxiliary.literal,
        "v3": auxiliary.released,
        "v3_verb": auxiliary.released_verb,
    },
    dn={"faithful": double_negation.faithful, "paper": negation.recommended, "v3": negation.released},
)
