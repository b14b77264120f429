"""What a model folder claims, checked before anything of it is loaded.

A folder may hold anything: a device where weights should be, a configuration of a million layers, a tokenizer
whose ids no table has. Loading such a folder takes all memory, or never ends. So every file must be a file,
and every size in a configuration is compared with the shapes in the header of the weights, which costs
milliseconds.
"""

import contextlib
import os
import stat
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, MissingError
from augment_cli.models.digest import (
    JsonFiles,
    check_normalizer,
    check_unknown_token,
    damaged,
    highest_id,
    module_folders,
    unfit,
)

_ADVICE = {
    "trust_remote_code": "it needs code of its own, which is never run",
    "weights only load failed": "it is damaged, or holds more than tensors",
}
LONGEST = 2**20  # tokens; a length above it is a slip or an attack
_MOST_LAYERS = 1_000
_MOST_BEAMS = 1_000
_LENGTH_TRIED = 16  # tokens that a text is cut to, to see that it is
_MOST_LABELS = 1_000_000
_LONGEST_COMPUTED = 2**16  # positions whose vectors an encoder-decoder computes itself when it is loaded

_LAYERS = (
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "encoder_layers",
    "decoder_layers",
    "num_encoder_layers",
    "num_decoder_layers",
)
_WIDTHS = (
    "hidden_size",
    "d_model",
    "dim",
    "n_embd",
    "intermediate_size",
    "hidden_dim",
    "d_ff",
    "n_inner",
    "encoder_ffn_dim",
    "decoder_ffn_dim",
)
_LENGTHS = ("max_position_embeddings", "n_positions", "max_length", "max_new_tokens", "max_seq_length")
_BEAMS = ("num_beams", "num_return_sequences", "num_beam_groups")
_IDS = ("pad_token_id", "decoder_start_token_id", "forced_bos_token_id")
_LIMITS = (
    dict.fromkeys(_LAYERS, _MOST_LAYERS)
    | dict.fromkeys(_LENGTHS, LONGEST)
    | dict.fromkeys(_BEAMS, _MOST_BEAMS)
    | {"num_labels": _MOST_LABELS}
)
_LAYERS_SHARED = ("albert",)  # one layer's weights, used many times

# How architectures call their tables: of tokens, of positions, of sentence one and two.
_TOKENS = (
    "word_embeddings.weight",
    "embed_tokens.weight",
    "shared.weight",
    "wte.weight",
    "tok_embeddings.weight",
    "word_embedding.weight",
    "tokens_embed.weight",
)
_POSITIONS = ("position_embeddings.weight", "embed_positions.weight", "wpe.weight")
_STATIC = ("embedding.weight", "embeddings")
_OFFSET = 2  # BART's table has two rows more than positions, FSMT's one

_READ = (".json", ".safetensors", ".txt", ".model", ".spm", ".bin", ".jinja", ".cfg")
_CONFIGURATIONS = ("config.json", "generation_config.json", "sentence_*_config.json", "tokenizer_config.json")

Shapes = dict[str, tuple[int, ...]]


def reason_of(error: Exception) -> str:
    """The first line of an error, or what it means where it would advise to run code."""
    text = str(error).strip()
    for advice, meaning in _ADVICE.items():
        if advice in text.lower():
            return meaning
    return (text.splitlines() or [type(error).__name__])[0]


@contextlib.contextmanager
def panics_as_errors() -> Iterator[None]:
    """Within the `with` block a panic of tokenizers' Rust code, which is no `Exception`, is a ValueError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise ValueError(str(error)) from error
        raise


@contextlib.contextmanager
def tokenizing(model: object) -> Iterator[None]:
    """Within the `with` block a text that a tokenizer's own rules fail on is bad input."""
    try:
        with panics_as_errors():
            yield
    except Exception as error:
        if type(error) is Exception or type(error.__cause__).__name__ == "PanicException":
            raise BadInputError(
                f"{model}: its tokenizer fails on a text ({reason_of(error)}); fetch or export the model "
                "again, or take another"
            ) from error
        raise


def check_model(folder: Path, files: JsonFiles | None = None) -> None:
    """Refuse a model folder that claims what cannot be."""
    files = files or JsonFiles()
    places = [folder, *sorted(module_folders(folder, files))]
    for path in (path for place in places for path in sorted(place.iterdir())):
        if path.name.endswith(_READ):
            _check_file(path)
    for place in places:
        check_unknown_token(place, files)
        check_normalizer(place, files)
        config = files.settings(place / "config.json")
        for pattern in _CONFIGURATIONS:
            for path in sorted(place.glob(pattern)):
                _check_limits(path, files.settings(path))
        shapes = _shapes(place, files)
        if not shapes:
            continue
        if config.get("model_type") not in (None, "model2vec"):  # a static encoder has a table alone
            _check_sizes(place, config, shapes)
        _check_ids(place, config, shapes, files)
    for place in places:
        files.forget(place / "tokenizer.json")


def check_pipeline(folder: Path) -> None:
    """Refuse a spaCy pipeline's folder that holds anything but files and folders, at any depth."""
    for path in sorted(folder.rglob("*")):
        if not path.is_dir():
            _check_file(path)


def check_tokenizer(folder: Path, tokenizer: Any) -> None:
    """The same for the ids of a loaded tokenizer, whatever files it came from."""
    rows = _rows_of_tokens(_shapes(folder, JsonFiles()))
    if rows:
        _check_highest(folder, max(tokenizer.get_vocab().values(), default=0), rows)
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise damaged(f"{folder}: its tokenizer knows no words (is tokenizer.json or vocab.txt missing?)")
    with tokenizing(folder):
        ids = tokenizer("a \u2603 \U0001f643")["input_ids"]
        cut = tokenizer("a \u2603 " * _LENGTH_TRIED, truncation=True, max_length=_LENGTH_TRIED)["input_ids"]
    if rows:  # what is put around a text is no word of the vocabulary's
        _check_highest(folder, max(ids, default=0), rows)
    if len(cut) > _LENGTH_TRIED:
        raise damaged(
            f"{folder}: its tokenizer makes {len(cut):,} tokens of a text where {_LENGTH_TRIED} are asked for"
        )


def _check_file(path: Path) -> None:
    try:
        kind = path.stat().st_mode
    except OSError as error:  # a link to nothing, or to itself
        raise damaged(f"{path} cannot be read ({error.strerror})") from error
    if not stat.S_ISREG(kind):
        names = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
        raise unfit(f"{path} is a {names.get(stat.S_IFMT(kind), 'device')}, not a file")


def _shapes(place: Path, files: JsonFiles) -> Shapes:
    """The shape of every tensor by its name, from the headers of the weights; empty where there are none."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:  # whoever loads a model says what is missing
        return {}
    shapes: Shapes = {}
    weights = _weights(place, files)
    for path in weights:
        try:
            with safe_open(path, framework="np") as file:
                for name in list(file.keys()):
                    shapes[name] = tuple(file.get_slice(name).get_shape())
        except SafetensorError as error:
            raise damaged(f"{path} cannot be read ({error})") from error
    needed = sum(path.stat().st_size for path in weights)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        raise MissingError(
            f"{place}: its weights take {needed / 1e9:,.0f} GB, and this machine has {memory / 1e9:,.0f} GB "
            "of memory; choose a smaller model"
        )
    return shapes


def _weights(place: Path, files: JsonFiles) -> list[Path]:
    """The files that transformers reads: one, or those that the index names, none of them elsewhere."""
    single, index = place / "model.safetensors", place / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if not index.is_file():
        return sorted(place.glob("*.safetensors"))
    places = files.settings(index).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise damaged(f"{index} names no files of weights")
    names = sorted(set(places.values()))
    if strange := [name for name in names if Path(name).name != name or not name.endswith(".safetensors")]:
        raise unfit(f"{index} names {strange[0]}, no file of this folder")
    if missing := [name for name in names if not (place / name).is_file()]:
        raise MissingError(f"{place / missing[0]} is missing; fetch or export the model again")
    return [place / name for name in names]


def _numbers(value: Any) -> Iterator[tuple[str, Any]]:
    """Every setting of a configuration with its name, those of inner configurations too."""
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, dict):
                yield from _numbers(item)
            else:
                # Some architectures give a size for each layer.
                several = item if isinstance(item, list) and name in _WIDTHS else [item]
                yield from ((name, one) for one in several)


def _check_limits(path: Path, settings: dict[str, Any]) -> None:
    """No size but whole numbers, none that nothing could hold."""
    # The names in a table of word weights are words, and "dim" is one.
    for name, value in _numbers({key: value for key, value in settings.items() if key != "word_weights"}):
        if name == "model_max_length" and (not isinstance(value, int | float) or not value >= 1):
            raise damaged(f"{path}: {name} is {_short(value)}, not a number of tokens")
        if value is None or name not in (*_LIMITS, *_WIDTHS, "vocab_size", "type_vocab_size"):
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < -1:
            raise damaged(f"{path}: {name} is {_short(value)}, not a size")
        if value > (limit := _LIMITS.get(name, 2**31)):
            raise unfit(f"{path}: {name} is {_short(value)}, and at most {limit:,} is taken")


def _check_sizes(place: Path, config: dict[str, Any], shapes: Shapes) -> None:
    path = place / "config.json"
    stacks = defaultdict(set)
    of_layers, of_all = set[int](), set[int]()
    for name, shape in shapes.items():
        before, number = _layer(name)
        of_all.update(shape)
        if number is not None:
            stacks[before].add(number)
            of_layers.update(shape)
    depths = {len(numbers) for numbers in stacks.values()}
    has_decoder = any("decoder" in before for before in stacks)
    for name, value in _numbers(config):
        if not isinstance(value, int) or (value <= 0 and name not in _LAYERS):
            continue
        if name in _LAYERS and not has_decoder and "decoder" in name:  # the encoder alone was kept
            continue
        shared = value > 0 and config["model_type"] in _LAYERS_SHARED
        if name in _LAYERS and depths and value not in depths and not shared:
            _contradict(path, name, value, " or ".join(f"{depth:,}" for depth in sorted(depths)))
        if name in _WIDTHS and value not in (of_layers or of_all):
            _contradict(path, name, value, "none of that size")
    _check_tables(path, config, shapes)


def _check_tables(path: Path, config: dict[str, Any], shapes: Shapes) -> None:
    rows = _rows_of(shapes, _TOKENS)
    vocabulary = config.get("vocab_size")
    if isinstance(vocabulary, int) and rows and vocabulary not in rows:
        _contradict(path, "vocab_size", vocabulary, f"a table of {max(rows):,} tokens")
    positions = config.get("max_position_embeddings", config.get("n_positions"))
    if isinstance(positions, int) and not isinstance(positions, bool):
        found = _rows_of(shapes, _POSITIONS)
        if found and not found & set(range(positions, positions + _OFFSET + 1)):
            _contradict(path, "max_position_embeddings", positions, f"a table of {max(found):,} positions")
        if not found and config.get("is_encoder_decoder") and positions > _LONGEST_COMPUTED:
            _contradict(path, "max_position_embeddings", positions, "no table of positions")
    kinds, found = config.get("type_vocab_size"), _rows_of(shapes, ("token_type_embeddings.weight",))
    if isinstance(kinds, int) and (found or kinds > _MOST_LAYERS) and kinds not in found:
        _contradict(path, "type_vocab_size", kinds, f"a table of {max(found, default=0):,}")


def _check_ids(place: Path, config: dict[str, Any], shapes: Shapes, files: JsonFiles) -> None:
    rows = _rows_of_tokens(shapes)
    if not rows:
        return
    _check_highest(place, highest_id(place, files), rows)
    for path, settings in (
        (place / "config.json", config),
        (place / "generation_config.json", files.settings(place / "generation_config.json")),
    ):
        for name, value in _numbers(settings):
            if name in _IDS and value is not None and not (isinstance(value, int) and -1 <= value < rows):
                _contradict(path, name, value, f"a table of {rows:,} tokens")


def _check_highest(place: Path, highest: int, rows: int) -> None:
    if highest >= rows:
        raise damaged(
            f"{place}: the tokenizer gives ids up to {_short(highest)}, and the weights have {rows:,} tokens"
        )


def _rows_of_tokens(shapes: Shapes) -> int:
    """Rows of the table of tokens; 0 where it is not known which one that is."""
    if "mapping" in shapes:  # model2vec: the row of each token
        return shapes["mapping"][0] if shapes["mapping"] else 0
    return max(
        _rows_of(shapes, _TOKENS) | _rows_of({n: s for n, s in shapes.items() if n in _STATIC}, _STATIC),
        default=0,
    )


def _rows_of(shapes: Shapes, endings: tuple[str, ...]) -> set[int]:
    return {shape[0] for name, shape in shapes.items() if name.endswith(endings) and len(shape) == 2}


def _layer(name: str) -> tuple[str, int | None]:
    """What stands before the first number in a tensor's name, and the number."""
    words = name.split(".")
    for place, word in enumerate(words):
        if word.isdecimal() and place:
            return ".".join(words[:place]), int(word)
    return name, None


def _contradict(path: Path, name: str, value: Any, found: str) -> None:
    raise damaged(f"{path}: {name} is {_short(value)}, and the weights have {found}")


def _short(value: Any) -> str:
    text = f"{value:,}" if type(value) is int and abs(value) < 10**18 else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
