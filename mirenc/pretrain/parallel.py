"""Several processes on one run, started by ``torchrun``: each takes a share of every batch.

Losses are sums over the whole batch, so a run gives the same losses (to rounding) on any number of processes.
"""

import os
from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.nn.functional import all_reduce


class Processes:
    """One process among those of a run; the only one where `torchrun` was not used."""

    def __init__(self, device: torch.device) -> None:
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        self.first = self.rank == 0  # who writes files and shows progress
        if self.count > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")

    def share(self, count: int) -> slice:
        """The items of a batch of ``count`` that are this process's."""
        return slice(self.rank, count, self.count)

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add up the processes' gradients, in one message."""
        if self.count == 1:
            return
        grads = []
        for parameter in parameters:
            if parameter.grad is None:  # a flow without edges in this share
                parameter.grad = torch.zeros_like(parameter)
            grads.append(parameter.grad)
        flat = nn.utils.parameters_to_vector(grads)
        dist.all_reduce(flat)
        nn.utils.vector_to_parameters(flat, grads)

    def total(self, value: Tensor) -> Tensor:
        """Sum over the processes, without gradient."""
        result = value.detach().clone()
        if self.count > 1:
            dist.all_reduce(result)
        return result

    def join(self, rows: Tensor, count: int) -> Tensor:
        """All rows of a batch of ``count`` from the processes' shares, with gradient. Shapes: (B', D) -> (B, D)."""
        if self.count == 1:
            return rows
        all_rows = rows.new_zeros(count, rows.shape[1])
        all_rows[self.share(count)] = rows
        return all_reduce(all_rows)  # type: ignore[no-untyped-call]

    def wait(self) -> None:
        """Wait until every process has called this."""
        if self.count > 1:
            dist.barrier()

    def close(self) -> None:
        if self.count > 1 and dist.is_initialized():
            dist.destroy_process_group()
