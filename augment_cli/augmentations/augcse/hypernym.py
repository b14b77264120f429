"""Replace a noun by its WordNet hypernym: `violinist` by `musician`, in one sentence of a hundred.

AugCSE's ReplaceHypernyms: one noun of each sentence, drawn among those with a hypernym, at most `--height`
steps up. WordNet has a hypernym for every sense of every noun; those that hold in any sentence are listed
(`words/noun_kinds.txt`), and the others are left alone: anger for rage says the same, and metal for nickel is
mostly false.

The sentence entails the one with the wider noun, so none is put where that fails: in the scope of negations,
quantifiers, conditions and comparisons (`english/words/replaceable.py`), or in quotations, compounds and
expressions.

Differences from the original: inflected as the noun was, only the drawn place changes instead of every
occurrence as a substring, the noun is drawn for each sentence instead of by one fixed seed, and no
language model filters the choice. What is a noun says the parse, where there is one. Common words are drawn
less often, so that none makes up most of the edits.

Changes 1 % of Wikipedia's sentences and hardly any question or request.
"""

from dataclasses import dataclass

from augment_cli.augmentations.augcse.lexical_noun import NounParameters, noun_augmentation, noun_relation
from augment_cli.contract.parameters import parameter


@dataclass(frozen=True)
class HypernymParameters(NounParameters):
    """Parameters of hypernym replacement."""

    height: int = parameter(10, "most steps up", minimum=1, maximum=10)


HYPERNYM = noun_augmentation(
    "hypernym",
    "ReplaceHypernyms",
    HypernymParameters,
    lambda parameters: noun_relation("hypernym", parameters.height),
    ("augment-cli hypernym", "augment-cli hypernym --height 1 --rate 0.1"),
    "the sentence entails the more general one, not the reverse",
)
