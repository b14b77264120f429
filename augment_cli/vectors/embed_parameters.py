"""What a stage of sentence vectors depends on: the encoder, and how it is used."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from augment_cli.contract.embed_parameters import EmbedParameters
from augment_cli.errors import MixError, UsageError
from augment_cli.models.digest import model_digest
from augment_cli.models.json_files import JsonFiles
from augment_cli.neural.loading import ModelFolder, find_folder
from augment_cli.neural.runtime import pin_runtime, runtime_settings
from augment_cli.store.files import sha256_of_file
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.vectors.stages import VECTORS_STAGE, vectors_name

VERSION = 2
WORD_VECTORS = (".vec", ".txt")
# Measured on one core: larger batches fall out of its cache. The GPU's are as large as it takes to fill one.
_BATCH_TOKENS = {"cpu": 2_048, "cuda": 32_768}


def find_encoder(name: str, allow_download: bool = False) -> ModelFolder:
    """Where an encoder lies, a model's folder or a file of word vectors, and what identifies it."""
    path = Path(name).expanduser()
    if path.suffix in WORD_VECTORS and path.is_file():
        return ModelFolder(path, sha256_of_file(path))
    files = JsonFiles()
    folder, revision = find_folder(name, allow_download, "--model", files)
    return ModelFolder(folder, model_digest(folder, files), revision)


def is_static_model(model: ModelFolder) -> bool:
    """Whether a model is a table of word vectors or a static encoder, without layers."""
    from augment_cli.encoding.layout import is_static

    return model.path.is_file() or is_static(model.path)


def embed_settings(store: Store, of: str, model: ModelFolder, parameters: EmbedParameters) -> Settings:
    """What a stage of vectors depends on; `parameters` pinned."""
    libraries = ["numpy"] if model.path.is_file() else ["numpy", "torch", "transformers", "tokenizers"]
    return Settings(
        VECTORS_STAGE,
        VERSION,
        parameters={
            "of": of,
            "pooling": parameters.pooling or None,
            "max_length": parameters.max_length or None,
            "normalize": parameters.normalize,
            **({"prompt_name": parameters.prompt_name} if parameters.prompt_name else {}),
            **runtime_settings(parameters),
        },
        inputs={of: store.stage(of).digest},
        resources=model.resources,
        libraries=library_versions(libraries),
        by_part=True,  # a vector is copied from an equal text before it, never from one after it
    )


def pinned(store: Store, stage: str, model: ModelFolder, parameters: EmbedParameters) -> EmbedParameters:
    """The parameters with `auto` made explicit: as an existing stage has them, else for this machine."""
    if model.path.is_file():  # word vectors: there is nothing to choose
        return dataclasses.replace(parameters, precision="fp32", device="cpu", batch_tokens=0, threads=1)
    stored = store.stage(stage).settings["parameters"] if stage in store.stages() else {}
    if "precision" in stored:  # `combine` has none; the store refuses to mix the two
        parameters = dataclasses.replace(
            parameters,
            precision=stored["precision"] if parameters.precision == "auto" else parameters.precision,
            device=stored["device"] if parameters.device == "auto" else parameters.device,
            batch_tokens=parameters.batch_tokens or stored["batch_tokens"],
        )
    if parameters.device == "cpu" and parameters.precision != "auto" and parameters.batch_tokens:
        return parameters  # nothing left that PyTorch would have to be asked about
    found = pin_runtime(parameters)
    return dataclasses.replace(found, batch_tokens=parameters.batch_tokens or _BATCH_TOKENS[found.device])


def as_stored(store: Store, stages: Sequence[str], parameters: EmbedParameters | None) -> EmbedParameters:
    """Parameters as the first of some stages that is there has them: one encoder, used in one way."""
    parameters = parameters or EmbedParameters()
    for stage in stages:
        if stage not in store.stages():
            continue
        settings = store.stage(stage).settings
        if settings["resources"].get("model") != find_encoder(parameters.model).digest:
            raise MixError(
                f"{store.path / stage}: made by another encoder than {parameters.model}, and only vectors of "
                "one can be compared; make those that are missing with the same encoder (`augment-cli embed "
                "STAGE --model FOLDER`) and run this again, or read others with --vectors NAME"
            )
        made_with = settings["parameters"]
        return dataclasses.replace(
            parameters,
            pooling=made_with["pooling"] or "",
            max_length=made_with["max_length"] or 0,
            normalize=made_with["normalize"],
            prompt_name=made_with.get("prompt_name", ""),
        )
    return parameters


def wanted(
    store: Store, of: str, parameters: EmbedParameters, name: str | None = None
) -> tuple[ModelFolder, EmbedParameters, Settings]:
    """The encoder, the parameters pinned, and the settings of the vectors of a stage."""
    model = find_encoder(parameters.model, parameters.allow_download)
    if ":" in parameters.pooling:
        _check_weights(model.path, parameters.pooling)
    if parameters.prompt_name:
        from augment_cli.encoding.layout import Prompts, read_prompts

        prompts = read_prompts(model.path) if model.path.is_dir() else Prompts()
        prompts.text(parameters.prompt_name, model.path)  # refuses a name that it does not know
    parameters = pinned(store, vectors_name(of, name), model, parameters)
    return model, parameters, embed_settings(store, of, model, parameters)


def _check_weights(model: Path, pooling: str) -> None:
    """See that an encoder stores token weights; `embed` counts no corpus for them."""
    from augment_cli.encoding.layout import is_static, read_layout

    files = JsonFiles()
    if not model.is_dir() or is_static(model, files) or not read_layout(model, files).word_weights:
        raise UsageError(
            f"--pooling {pooling}: {model.name} stores no token weights, and embed counts none; train one "
            f'with pooling = "{pooling}" and give its folder with --model, or take a pooling without weights'
        )
