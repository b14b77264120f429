"""How a model is run: device, precision, threads, which rows at once; resolved once."""

import contextlib
import ctypes
import dataclasses
import gc
import platform
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from augment_cli.contract.parameters import RuntimeParameters
from augment_cli.engine.engine import LEAST_FOR_MODELS, check_address_space
from augment_cli.errors import MissingError, UsageError, needed
from augment_cli.neural.loading import ModelFolder

Item = TypeVar("Item")
Result = TypeVar("Result")

# Measured on one core and on one GPU: larger batches gain nothing more. Tokens, padding counted.
_BATCH_TOKENS = {"cpu": 1024, "cuda": 16384}
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


Parameters = TypeVar("Parameters", bound=RuntimeParameters)


def pinned(parameters: Parameters, **models: ModelFolder | None) -> Parameters:
    """The parameters with what depends on the machine made explicit, so that workers look for nothing."""
    folders = {name: str(model.path.absolute()) for name, model in models.items() if model is not None}
    changes: dict[str, Any] = {"allow_download": False, **folders}
    return dataclasses.replace(pin_runtime(parameters), **changes)


def pin_runtime(parameters: Parameters) -> Parameters:
    """The same parameters with `auto` and 0 replaced by what they mean on this machine."""
    check_address_space(LEAST_FOR_MODELS)
    with needed("torch"):
        import torch
    device, precision = parameters.device, parameters.precision
    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device cuda: PyTorch finds no GPU here; use --device cpu")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if precision == "auto":
        precision = "bf16" if _computes_in_bf16(device) else "fp32"
    tokens = parameters.batch_tokens or _BATCH_TOKENS[device]
    return dataclasses.replace(parameters, device=device, precision=precision, batch_tokens=tokens)


def check_device(name: str) -> None:
    """See that PyTorch has a device of a name on this machine, before anything is loaded to it."""
    import torch

    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda", "mps"):
        raise UsageError(f"--device {name}: not a device that is known here; use cpu, cuda, cuda:0 or mps")
    found = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if (device.index or 0) >= found[device.type]:
        raise UsageError(f"--device {name}: PyTorch finds no such GPU here; use --device cpu")


def _computes_in_bf16(device: str) -> bool:
    import torch

    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return has_fast_bf16()


def has_fast_bf16() -> bool:
    """Whether this CPU multiplies bf16 in hardware (AVX512-BF16 or AMX); elsewhere bf16 only costs time."""
    import torch

    capability = getattr(torch.backends.cpu, "get_cpu_capability", lambda: "")()
    if not capability.startswith("AVX512"):
        return False
    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, check, lambda: False)() for check in checks)


def keep_freed_memory() -> bool:
    """Tell glibc to reuse freed blocks instead of handing them back to the kernel after each operation."""
    # Activations of some megabytes otherwise cost a page fault per 4 KiB in every step, which is up to a
    # third of a small encoder's step. Returns whether this machine's C library could be told.
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    largest = 2**31 - 1
    return bool(libc.mallopt(_M_MMAP_THRESHOLD, largest) and libc.mallopt(_M_TRIM_THRESHOLD, largest))


def hand_back_memory() -> None:
    """Give freed memory back to the kernel, Arrow's and the C library's, where the latter is glibc."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def sparing_memory() -> Iterator[None]:
    """For the length of a `with` block Arrow takes its memory from the C library; what is freed goes back."""
    # Arrow's own allocator is quicker, but keeps what it has had: some 60 MB for writing vectors.
    import pyarrow as pa

    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)
        hand_back_memory()


def runtime_settings(parameters: RuntimeParameters) -> dict[str, Any]:
    """What of the runtime decides the result, to its last bit."""
    parameters = pin_runtime(parameters)
    return {
        "precision": parameters.precision,
        "device": parameters.device,
        "batch_tokens": parameters.batch_tokens,
        "threads": parameters.threads,
        "rows": parameters.rows or None,
    }


def limit_warnings(parameters: RuntimeParameters) -> list[str]:
    """A person should know that most of the stage is unchanged on purpose."""
    if not parameters.rows:
        return []
    return [f"the model runs on the first {parameters.rows:,} sentences only; --rows 0 takes them all"]


def dtype_of(precision: str) -> Any:
    """torch's type for `fp32` or `bf16`."""
    import torch

    return {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]


@contextlib.contextmanager
def inference(threads: int) -> Iterator[None]:
    """No gradients, and this many CPU threads, for the length of a `with` block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(before)


class MemoryGuard:
    """Runs batches; one that memory does not hold is cut in halves, and the cut is counted."""

    # splits: how many times a batch was cut

    def __init__(self) -> None:
        self.splits = 0

    def run(self, function: Callable[[list[Item]], list[Result]], items: list[Item]) -> list[Result]:
        """`function(items)`, if need be in pieces."""
        import torch

        try:
            return function(items)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if len(items) == 1:
                raise MissingError(
                    "memory does not hold the model and a single sentence; use fewer --jobs, "
                    "--precision bf16, or fewer --beams"
                ) from error
        # Outside the handler, which would keep the failed batch's tensors alive.
        self.splits += 1
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        half = len(items) // 2
        return self.run(function, items[:half]) + self.run(function, items[half:])


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on a GPU or in the machine."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text


def padded(
    rows: Sequence[Sequence[int]], padding: int, device: Any = "cpu", left: bool = False
) -> tuple[Any, Any]:
    """Token ids as one tensor, int64 (n, longest), and a mask of the same shape of what is not padding."""
    import torch

    width = max(1, max(map(len, rows)))
    fills = ([padding] * (width - len(row)) for row in rows)
    whole = [[*fill, *row] if left else [*row, *fill] for row, fill in zip(rows, fills, strict=True)]
    missing = torch.tensor([width - len(row) for row in rows], device=device).unsqueeze(1)
    places = torch.arange(width, device=device)
    mask = places >= missing if left else places < width - missing
    return torch.tensor(whole, device=device), mask.long()


def named_cache(options: dict[str, Any]) -> dict[str, Any]:
    """The keys and values that `generate` made room for, named as a model takes them."""
    # transformers 5.24 renamed it.
    name = "cache" if "cache" in options else "past_key_values"
    return {name: options[name]}


def batches_by_length(lengths: Sequence[int] | np.ndarray, budget: int) -> list[np.ndarray]:
    """Cut rows into batches of similar length, the longest first."""
    # Rows of length 0 are in no batch. Equal lengths stay in their order, so the lengths decide all.
    lengths = np.asarray(lengths, np.int64)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    batches = []
    start = 0
    while start < len(order):
        count = max(1, budget // int(lengths[order[start]]))
        batches.append(order[start : start + count])
        start += count
    return batches
