"""A classifier of a few labelled texts with SetFit.

python setfit_few_labels.py runs/adapt-mine/best labelled.csv < texts.txt
"""

import sys

from datasets import Dataset
from setfit import SetFitModel, Trainer, TrainingArguments


def classifier(encoder: str, labelled: Dataset, steps: int = 20) -> SetFitModel:
    """The classifier, of rows with the columns `text` and `label`; it learns on a copy of the encoder."""
    names = sorted(set(labelled["label"]))
    model = SetFitModel.from_pretrained(encoder, labels=names, device="cpu")
    settings = TrainingArguments(
        batch_size=16, max_steps=steps, save_strategy="no", report_to="none", show_progress_bar=False
    )
    Trainer(model, settings, train_dataset=labelled).train()
    return model


if __name__ == "__main__":
    model = classifier(sys.argv[1], Dataset.from_csv(sys.argv[2]))
    for text in sys.stdin.read().splitlines():
        print(model.predict([text])[0], text, sep="\t")
