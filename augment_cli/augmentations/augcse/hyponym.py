"""Replace a noun by a WordNet hyponym: `bird` by `sparrow`, in one or two sentences of a thousand.

AugCSE's ReplaceHyponyms: one noun of each sentence, drawn among those with a hyponym, and one of its
hyponyms at most `--depth` steps down, each as likely as the others. Both are listed (`words/noun_kinds.txt`);
where the noun may stand is as with `hypernym`.

Differences from the original: inflected as the noun was, only the drawn place changes instead of every
occurrence as a substring, noun and hyponym are drawn for each sentence instead of by one fixed seed, and
no language model filters the choice. What is a noun says the parse, where there is one.

Changes less than one sentence in 500: hardly a narrower noun is right wherever the wider one is.
"""

from dataclasses import dataclass

from augment_cli.augmentations.augcse.lexical_noun import NounParameters, noun_augmentation, noun_relation
from augment_cli.contract.parameters import parameter


@dataclass(frozen=True)
class HyponymParameters(NounParameters):
    """Parameters of hyponym replacement."""

    depth: int = parameter(10, "most steps down", minimum=1, maximum=10)


HYPONYM = noun_augmentation(
    "hyponym",
    "ReplaceHyponyms",
    HyponymParameters,
    lambda parameters: noun_relation("hyponym", parameters.depth),
    ("augment-cli hyponym", "augment-cli hyponym --rate 0.1"),
    "the more special sentence entails the original, not the reverse",
)
