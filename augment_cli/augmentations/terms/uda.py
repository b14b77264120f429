"""Positives: replace the terms that matter least, keep those that carry the sentence (UDA).

The mode without hard negatives in the code of Shu and Lampos 2024, after Xie et al. 2020
(Unsupervised Data Augmentation): a_i = max z − z_i chooses the positions.
"""

from augment_cli.augmentations.terms.shared import term_replacement
from augment_cli.augmentations.terms.shared.prepared import prepare
from augment_cli.augmentations.terms.shared.share import of_draw
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources


def _prepare(parameters: term_replacement.TermReplacementParameters, resources: Resources) -> Prepared:
    return prepare("uda", parameters, resources, opposite=True)


UDA = Augmentation(
    name="uda",
    version=1,
    kind="positive",
    paper="Xie et al. 2020, Unsupervised Data Augmentation; as used by Shu and Lampos 2024",
    needs=frozenset({"tfidf"}),
    parameters=term_replacement.TermReplacementParameters,
    prepare=_prepare,
    columns=term_replacement.COLUMNS,
    resolve=term_replacement.resolve,
    also_needs=term_replacement.also_needs,
    of_draw=of_draw,
    notes=term_replacement.notes,
    warnings=term_replacement.warnings,
    examples=("augment-cli uda --beta 0.1", "augment-cli uda --beta 0.2 --radius 1% --name uda-20"),
)
