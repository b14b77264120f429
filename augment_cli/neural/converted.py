"""Marian models by CTranslate2, in int8 on a CPU; pickled weights to safetensors, without running code."""

import importlib.metadata
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from augment_cli.errors import BadInputError, MissingError, UsageError, needed
from augment_cli.models.claims import check_model, reason_of
from augment_cli.neural.generation import Decoding, Generated, Seq2Seq
from augment_cli.neural.loading import ModelFolder, load_weights, read_config
from augment_cli.neural.runtime import dtype_of
from augment_cli.store.files import fsync, naming

PACKAGE = "ctranslate2"
PRECISION = "int8"
# Settings of a model's search: those that are passed on, and those that change nothing or are seen to here.
_PASSED = ("length_penalty", "no_repeat_ngram_size", "repetition_penalty")
_KNOWN = {*_PASSED, "num_beams", "num_return_sequences", "max_length", "early_stopping", "use_cache"}
_KNOWN |= {"renormalize_logits", "do_sample", "transformers_version"}
_KNOWN |= {"output_attentions", "output_hidden_states", "output_scores", "return_dict_in_generate"}
TARGET = "model.safetensors"


def _library() -> Any:
    with needed("ctranslate2"):
        import ctranslate2
    return ctranslate2


def resources() -> dict[str, str]:
    """What an output depends on beside the model; raises `MissingError` without the package."""
    _library()
    return {PACKAGE: importlib.metadata.version(PACKAGE)}


class Converted(Seq2Seq):
    """A Marian model whose search runs in CTranslate2; it is found, checked and read as every other one."""

    def __init__(self, folder: ModelFolder, decoding: Decoding, prefix: str, threads: int) -> None:
        super().__init__(folder, decoding, prefix, threads=threads)
        _library()
        kind = self._config.model_type
        if kind != "marian" or not getattr(self._config, "share_encoder_decoder_embeddings", True):
            raise UsageError(
                f"{folder.path}: --engine {PACKAGE} is for Marian models of one vocabulary, and this is "
                f"{'one of two' if kind == 'marian' else f'a {kind}'}; leave --engine out"
            )

    @cached_property
    def _model(self) -> Any:
        """What the search needs of the model: its settings, and the translator, which holds the weights."""
        library = _library()
        model = load_weights(self._folder.path, "AutoModelForSeq2SeqLM", dtype_of("fp32"), "cpu")
        converter = library.converters.TransformersConverter(str(self._folder.path))
        # What was checked is what is converted.
        converter.load_model = lambda *arguments, **options: model
        converter.load_tokenizer = lambda *arguments, **options: self.tokenizer
        with tempfile.TemporaryDirectory() as folder:
            place = str(Path(folder) / "model")
            converter.convert(place, quantization=PRECISION)
            translator = library.Translator(
                place, device="cpu", compute_type=PRECISION, intra_threads=self._threads, inter_threads=1
            )
        return SimpleNamespace(generation_config=model.generation_config, translator=translator)

    @cached_property
    def _search(self) -> dict[str, Any]:
        """The model's settings under the library's names, which are the same."""
        config = self._generation_config
        wanted = {name: value for name, value in config.to_diff_dict().items() if value is not None}
        if wanted.get("bad_words_ids") == [[config.pad_token_id]]:  # which the library never writes
            del wanted["bad_words_ids"]
        others = (name for name in wanted if not name.startswith("_") and not name.endswith("_token_id"))
        unknown = sorted({*others} - _KNOWN)
        if unknown:
            raise UsageError(
                f"{self._folder.path}: its search has {unknown[0]}, which {PACKAGE} lacks; leave --engine out"
            )
        return {name: wanted[name] for name in _PASSED if name in wanted}

    def write(self, ids: Sequence[Sequence[int]], key: int, row_ids: Sequence[int]) -> list[list[Generated]]:
        """Outputs for one batch, as `Seq2Seq.write`; nothing is drawn."""
        config, tokenizer = self._generation_config, self.tokenizer
        found = self._model.translator.translate_batch(
            [tokenizer.convert_ids_to_tokens(row) for row in ids],
            beam_size=config.num_beams,
            num_hypotheses=config.num_return_sequences,
            max_decoding_length=config.max_length - 1,  # the start token is not written
            return_end_token=True,
            **self._search,
        )
        outputs = [tokenizer.convert_tokens_to_ids(one) for result in found for one in result.hypotheses]
        return self._decode([[config.decoder_start_token_id, *output] for output in outputs], config)


def convert_weights(folder: Path) -> Path:
    """Write a model folder's `pytorch_model*.bin` as `model.safetensors` beside it."""
    # The pickle is read with `torch.load(weights_only=True)`, which takes tensors and plain containers and
    # refuses everything else. Tensors that share memory (tied embeddings) are stored once, as transformers
    # itself stores them, and the result is loaded once to be sure.
    target = folder / TARGET
    if any(folder.glob("*.safetensors")):
        raise UsageError(f"{folder}: has safetensors weights already; nothing to convert")
    files = sorted(folder.glob("pytorch_model*.bin"))
    if not files:
        raise MissingError(f"{folder}: no pytorch_model*.bin here; give the folder of the downloaded model")
    check_model(folder)
    config = read_config(folder)
    tensors: dict[str, Any] = {}
    for file in files:
        tensors |= _read(file)
    if not tensors:
        raise BadInputError(f"{files[0]}: holds no tensors; fetch the model again")

    import torch
    from safetensors.torch import save_file

    temporary = target.with_suffix(".tmp")
    # A cache of the hub holds links to files shared between revisions; ours must be a file of its own.
    with naming(temporary):
        save_file(_without_copies(tensors, _tied_names(config)), temporary, metadata={"format": "pt"})
    fsync(temporary)
    temporary.replace(target)
    fsync(folder)
    try:
        if (architecture := _architecture(config)) is not None:
            load_weights(folder, architecture.__name__, torch.float32, "cpu")
    except BadInputError:
        target.unlink()
        raise
    return target


def _read(file: Path) -> dict[str, Any]:
    import torch

    try:
        loaded = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises several kinds: a refused class, a truncated file, no pickle
        raise BadInputError(
            f"{file}: is not a file of tensors alone, so it is not read ({reason_of(error)}); get the model "
            "from its publisher again, or in safetensors"
        ) from error
    values = loaded.get("state_dict", loaded) if isinstance(loaded, dict) else {}
    return {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}


def _architecture(config: Any) -> Any:
    """The class of transformers' that a configuration names; None where it has no such one."""
    import transformers

    return getattr(transformers, (config.architectures or [""])[0], None)


def _tied_names(config: Any) -> set[str]:
    """Names that transformers fills from another tensor when it loads a model of this architecture."""
    import torch

    if (architecture := _architecture(config)) is None:
        return set()
    with torch.device("meta"):
        model = architecture(config)
    return set(getattr(model, "all_tied_weights_keys", {}))


def _without_copies(tensors: dict[str, Any], tied: set[str]) -> dict[str, Any]:
    """Each tensor once, contiguous: safetensors refuses names that share memory."""
    kept: dict[str, Any] = {}
    places: dict[tuple[int, tuple[int, ...]], str] = {}
    for name in sorted(tensors, key=lambda name: (name in tied, name)):
        tensor = tensors[name]
        place = (tensor.data_ptr(), tuple(tensor.shape))
        if tensor.numel() and place in places and name in tied:
            continue
        places[place] = name
        kept[name] = tensor.clone().contiguous()
    return kept
