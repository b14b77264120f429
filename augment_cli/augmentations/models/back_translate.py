"""Positives: translate the sentence into another language and back.

English to French and back with the Marian models opus-mt, as in UNA's comparison (Shu and Lampos 2024,
Table 4); any pair of sequence-to-sequence models will do. The text in between is kept as a column.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, PreparedModel, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.neural.checks import reason_against
from augment_cli.neural.generation import Decoding, Generated, Seq2Seq
from augment_cli.neural.loading import ModelFolder, architecture_of, find_model, read_config
from augment_cli.neural.rewriting import Rewriter, Rewritten, decoding_settings
from augment_cli.neural.runtime import RuntimeParameters, limit_warnings, pinned, runtime_settings

COLUMNS = (
    pa.field("intermediate", pa.string()),
    pa.field("rejected", pa.string()),
    pa.field("input_truncated", pa.bool_(), nullable=False),
)


@dataclass(frozen=True)
class BackTranslateParameters(RuntimeParameters):
    """Parameters of back-translation; 0 beams mean the models' own setting, as in the comparison."""

    forward: str = parameter(
        "Helsinki-NLP/opus-mt-en-fr", "model into the other language: folder or hub name"
    )
    backward: str = parameter("Helsinki-NLP/opus-mt-fr-en", "model back again: folder or hub name")
    forward_prefix: str = parameter("auto", "put before each sentence, such as '>>fr<< ' for several targets")
    backward_prefix: str = parameter("auto", "put before each translation")
    beams: int = parameter(0, "width of the beam search; 0 for the models' own", minimum=0, maximum=1000)
    max_length: int = parameter(0, "most tokens of an output; 0 for the models' own limit", minimum=0)
    sample: bool = parameter(False, "draw both translations from the models' distributions")
    temperature: float = parameter(1.0, "of the distribution, with --sample", minimum=0.01)
    top_k: int = parameter(50, "tokens to draw from, with --sample; 0 for all", minimum=0)


def _models(parameters: BackTranslateParameters) -> tuple[ModelFolder, ModelFolder]:
    return (
        find_model(parameters.forward, parameters.allow_download, "--forward"),
        find_model(parameters.backward, parameters.allow_download, "--backward"),
    )


def _resolve(parameters: BackTranslateParameters, resources: Resources) -> dict[str, Any]:
    decoding = decoding_settings(parameters, resources, ("temperature", "top_k"))
    return (
        runtime_settings(parameters)
        | decoding
        | {
            "architectures": [architecture_of(read_config(folder.path)) for folder in _models(parameters)],
            "forward_prefix": parameters.forward_prefix,
            "backward_prefix": parameters.backward_prefix,
        }
    )


def _uses(parameters: BackTranslateParameters, resources: Resources) -> dict[str, str]:
    used: dict[str, str] = {}
    for way, folder in zip(("forward", "backward"), _models(parameters), strict=True):
        used |= {f"{way} {key}": value for key, value in folder.resources.items()}
    # Marian's tokenizer normalises punctuation with it where it is installed.
    try:
        used["sacremoses"] = importlib.metadata.version("sacremoses")
    except importlib.metadata.PackageNotFoundError:
        used["sacremoses"] = "not installed"
    return used


def _pin(parameters: BackTranslateParameters) -> BackTranslateParameters:
    forward, backward = _models(parameters)
    return pinned(parameters, forward=forward, backward=backward)


class _BackTranslator(Rewriter):
    """There and back."""

    def __init__(self, parameters: BackTranslateParameters, resources: Resources) -> None:
        super().__init__(parameters, COLUMNS)
        decoding = Decoding(
            beams=parameters.beams,
            max_length=parameters.max_length,
            sample=parameters.sample,
            temperature=parameters.temperature,
            top_k=parameters.top_k,
        )
        runtime = (parameters.precision, parameters.device, parameters.threads)
        folders = _models(parameters)
        prefixes = (parameters.forward_prefix, parameters.backward_prefix)
        self._forward, self._backward = (
            Seq2Seq(folder, decoding, prefix, *runtime)
            for folder, prefix in zip(folders, prefixes, strict=True)
        )
        self._keys = resources.key("back-translate/forward"), resources.key("back-translate/backward")

    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        return self._forward.lengths(texts)

    def use_device(self, device: str) -> None:
        self._forward.device = self._backward.device = device

    def rewrite(self, items: list[tuple[int, str]]) -> list[Rewritten]:
        row_ids, texts = [row_id for row_id, _ in items], [text for _, text in items]
        ids, cut = self._forward.read(texts)
        translations = [outputs[0] for outputs in self._forward.write(ids, self._keys[0], row_ids)]
        usable = [
            number
            for number, translation in enumerate(translations)
            if translation.text and translation.is_complete
        ]
        returned: dict[int, tuple[Generated, bool]] = {}
        if usable:
            ids, cut_again = self._backward.read([translations[number].text for number in usable])
            usable_ids = [row_ids[number] for number in usable]
            best = [outputs[0] for outputs in self._backward.write(ids, self._keys[1], usable_ids)]
            returned = dict(zip(usable, zip(best, cut_again, strict=True), strict=True))
        return [
            self._judge(text, translations[number], returned.get(number), cut[number])
            for number, text in enumerate(texts)
        ]

    @staticmethod
    def _judge(
        text: str, translation: Generated, returned: tuple[Generated, bool] | None, was_cut: bool
    ) -> Rewritten:
        if returned is None:
            columns = {"intermediate": translation.text, "input_truncated": was_cut}
            failed = Reason.TRUNCATED_OUTPUT if translation.text else Reason.EMPTY_OUTPUT
            return Rewritten(None, failed, columns)
        output, was_cut_again = returned
        reason = reason_against(text, output.text, output.is_complete)
        columns = {
            "intermediate": translation.text,
            "rejected": output.text if reason else None,
            "input_truncated": was_cut or was_cut_again,
        }
        return Rewritten(None if reason else output.text, reason, columns)


def _prepare(parameters: BackTranslateParameters, resources: Resources) -> PreparedModel:
    return _BackTranslator(_pin(parameters), resources)


BACK_TRANSLATE = Augmentation(
    name="back-translate",
    version=1,
    kind="positive",
    paper="Sennrich et al. 2016; as a positive: Shu and Lampos 2024, Table 4",
    needs=frozenset({"model"}),
    parameters=BackTranslateParameters,
    prepare=_prepare,
    columns=COLUMNS,
    resolve=_resolve,
    warnings=lambda parameters, resources: limit_warnings(parameters),
    uses=_uses,
    pin=_pin,
    libraries=("torch", "transformers", "tokenizers", "sentencepiece"),
    examples=(
        "augment-cli back-translate --allow-download",
        "augment-cli back-translate --forward models/en-de --backward models/de-en --name back-translate-de",
    ),
)
