"""Ranks: one process without torchrun, N with it. The only collectives are here and in `fast/`.

Every rank computes head and loss on the gathered global batch and back-propagates only through its own
slice of it. The encoder's gradients of the ranks then add up to the gradient of the whole batch, so one sum
a step makes N ranks equal one rank.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from augment_cli.errors import UsageError
from augment_cli.neural import fast
from augment_cli.process.watchdog import Watchdog, watched
from train.machine.fast import SharedSum

if dist.is_available():
    # Before there is a group: it would hold that as a default, and the threads of a group that is still held
    # after `leave` may abort the process while Python ends.
    import torch.distributed.nn


@watched("gather", "sum", "same", "agree", "sum_gradients", "barrier")
@dataclass(frozen=True)
class Ranks:
    """This process among all."""

    rank: int  # own number
    ranks: int  # how many there are
    here: int  # how many run on this machine
    device: torch.device  # where this process computes
    gradient_sum: SharedSum  # adds up the gradients of all ranks
    watchdog: Watchdog  # names a rank that the others wait for in vain

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes and prints."""
        return self.rank == 0

    def gather(self, own: Tensor, sizes: list[int]) -> Tensor:
        """Concatenate every rank's rows."""
        # Not differentiable: the caller takes its own slice of the gradient.
        # own: (n, …); sizes: rows of each rank, which may differ by one. Returns (sum of sizes, …).
        if self.ranks == 1:
            return own
        padded = own.new_zeros((max(sizes), *own.shape[1:]))
        padded[: len(own)] = own
        everyone = [torch.empty_like(padded) for _ in sizes]
        dist.all_gather(everyone, padded)
        return torch.cat([rows[:size] for rows, size in zip(everyone, sizes, strict=True)])

    def sum(self, value: Tensor) -> Tensor:
        """The sum of a small tensor over all ranks."""
        if self.ranks > 1:
            dist.all_reduce(value)
        return value

    def same(self, number: int) -> bool:
        """Whether all ranks have the same number."""
        if self.ranks == 1:
            return True
        bounds = torch.tensor([number, -number], device=self.device)
        dist.all_reduce(bounds, op=dist.ReduceOp.MAX)
        return int(bounds[0]) == -int(bounds[1])

    def agree(self, signal: int, finished: bool) -> tuple[int, bool]:
        """The number of a signal that some rank got, 0 for none, and whether the first rank is finished."""
        # All ranks leave at the same step, or some would wait for the others for ever.
        if self.ranks == 1:
            return signal, finished
        votes = torch.tensor([signal, int(finished and self.is_first)], device=self.device)
        dist.all_reduce(votes, op=dist.ReduceOp.MAX)
        return int(votes[0]), bool(votes[1])

    def sum_gradients(self, own: Iterable[nn.Parameter], shared: Iterable[nn.Parameter] = ()) -> None:
        """One sum over the ranks: gradients of `own` parameters are summed, of `shared` ones averaged."""
        # `shared` are the heads', which every rank has computed in full.
        if self.ranks == 1:
            return
        own, shared = list(own), list(shared)
        for parameter in own:
            if _is_sparse(parameter):
                self._sum_rows(parameter)
        own = [parameter for parameter in own if not _is_sparse(parameter)]
        parameters = [*own, *shared]
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        for parameter in shared:
            assert parameter.grad is not None
            parameter.grad /= self.ranks
        if fast.is_on():
            self.gradient_sum.sum_gradients(parameters)
        else:
            for parameter in parameters:
                dist.all_reduce(parameter.grad)

    def _sum_rows(self, parameter: nn.Parameter) -> None:
        """Sum a sparse gradient over the ranks; only rows travel that some rank has."""
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter, layout=torch.sparse_coo)
        own = parameter.grad.coalesce()
        own_rows = own.indices()[0]
        touched = torch.zeros(len(parameter), dtype=torch.uint8, device=own.device)
        touched[own_rows] = 1
        dist.all_reduce(touched, op=dist.ReduceOp.MAX)
        rows = touched.nonzero().squeeze(1)
        values = own.values().new_zeros((len(rows), *parameter.shape[1:]))
        # The view: a rank without rows of its own has values of another shape, (0,).
        values[torch.searchsorted(rows, own_rows)] = own.values().view(len(own_rows), *parameter.shape[1:])
        dist.all_reduce(values)
        parameter.grad = torch.sparse_coo_tensor(
            rows[None], values, parameter.shape, is_coalesced=True, check_invariants=False
        )

    def barrier(self) -> None:
        """Wait for everyone."""
        if self.ranks > 1:
            dist.barrier()


def _is_sparse(parameter: nn.Parameter) -> bool:
    return getattr(parameter, "has_sparse_gradient", False)


def join() -> Ranks:
    """Join torchrun's group (gloo on CPUs, nccl on GPUs), or be alone without it."""
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    rank, local = int(os.environ.get("RANK", "0")), int(os.environ.get("LOCAL_RANK", "0"))
    known = os.environ.get("LOCAL_WORLD_SIZE")  # a launcher that is not torchrun may leave it out
    here = int(known or ranks)
    device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cuda":
        if here > (gpus := torch.cuda.device_count()):
            raise UsageError(
                f"{here} processes share {gpus} GPU(s) here, and each needs its own: start torchrun with "
                f"--nproc-per-node {gpus}, or set CUDA_VISIBLE_DEVICES to nothing to train on the CPU"
            )
        torch.cuda.set_device(device)
    if ranks > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    beside = device.type == "cpu" and known is not None and here == ranks
    return Ranks(rank, ranks, here, device, SharedSum(rank, ranks, beside), Watchdog(rank, ranks))


def leave() -> None:
    """Leave the group."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
