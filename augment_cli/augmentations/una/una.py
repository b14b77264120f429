"""Hard negatives: replace the terms that carry a sentence by terms of similar weight (UNA).

Shu and Lampos 2024, section 2; the arithmetic is in `term_replacement`.
"""

from augment_cli.augmentations.una import term_replacement
from augment_cli.augmentations.una.surfaces import prepare
from augment_cli.contract.augmentation import Augmentation

UNA = Augmentation(
    name="una",
    version=1,
    kind="negative",
    paper="Shu and Lampos 2024, Unsupervised hard Negative Augmentation for contrastive learning",
    needs=frozenset({"tfidf"}),
    parameters=term_replacement.TermReplacementParameters,
    prepare=lambda parameters, resources: prepare("una", parameters, resources, opposite=False),
    columns=term_replacement.COLUMNS,
    resolve=term_replacement.resolve,
    also_needs=term_replacement.also_needs,
    of_draw=term_replacement.of_draw,
    notes=lambda parameters, resources: (
        term_replacement.notes(parameters, resources) + term_replacement.paper_note(parameters)
    ),
    warnings=term_replacement.warnings,
    examples=(
        "augment-cli una",
        "augment-cli una --radius 4000 --surface in-place --name una-paper",
        "augment-cli una --radius 1% --draws 3",
        "augment-cli una --corpus sentences.txt --store my-store",
        "augment-cli una --positions random --terms random --name una-random",
    ),
)
