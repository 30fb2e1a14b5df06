"""The devices that train one PyTorch model: one process for each, gradients averaged between them.

Each process takes its share of every batch, and the batch stays as large as the recipe's. This
process is the first of the group; it starts the others, each of which does the same with its
share. On a processor the devices are processes that share its cores.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import distributed, multiprocessing, nn

from epochcost.measure import machine
from epochcost.measure.termination import end_with_parent

# How long a process waits for an answer from the others.
_PATIENCE = timedelta(minutes=5)


@dataclass(frozen=True)
class Group:
    """One process's place among those that train together; alone by default."""

    rank: int = 0
    size: int = 1

    @property
    def place(self) -> torch.device:
        """The device of this process."""
        return torch.device("cuda", self.rank) if torch.cuda.is_available() else torch.device("cpu")

    def share(self, batch: torch.Tensor) -> torch.Tensor:
        """This process's samples of a batch; there may be none."""
        return batch if self.size == 1 else batch[self.rank :: self.size]

    def wrap(self, model: nn.Module) -> nn.Module:
        """A model whose gradients are the mean over the group."""
        return model if self.size == 1 else nn.parallel.DistributedDataParallel(model)

    def alike(self, model: nn.Module) -> nn.Module:
        """The model with the first process's running statistics, if it has any."""
        for statistic in model.buffers():
            distributed.broadcast(statistic, 0)
        return model

    def sum(self, value: torch.Tensor) -> torch.Tensor:
        """The sum of a number over all processes."""
        if self.size > 1:
            distributed.all_reduce(value)
        return value


@contextmanager
def started(size: int, task: Callable, *arguments) -> Iterator[Group]:
    """A group of `size` processes, of which this is the first.

    The others run `task(group, *arguments)`; the arguments must be picklable, and tensors in them
    are shared, not copied.
    """
    if size == 1:
        yield Group()
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"file://{folder}/meeting"
        context = multiprocessing.get_context("spawn")
        others = []
        try:
            for rank in range(1, size):
                process = context.Process(
                    target=_run, args=(Group(rank, size), meeting, task, arguments), daemon=True
                )
                process.start()
                others.append(process)
            _join(Group(0, size), meeting)
            yield Group(0, size)
            distributed.destroy_process_group()
        except BaseException:
            # The others may be waiting for this one, and would do so for long.
            for process in others:
                process.kill()
            raise
        finally:
            for process in others:
                process.join()


def _run(group: Group, meeting: str, task: Callable, arguments: tuple) -> None:
    """What another process of the group does; it exits at once, as Gloo's threads may not end."""
    status = 1
    try:
        end_with_parent()
        _join(group, meeting)
        task(group, *arguments)
        distributed.destroy_process_group()
        status = 0
    except BaseException as error:
        # The first process has ended and says why, or will notice the missing answer.
        print(f"device {group.rank + 1} of {group.size}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def _join(group: Group, meeting: str) -> None:
    backend = "gloo"
    if group.place.type == "cuda":
        backend = "nccl"
        torch.cuda.set_device(group.place)
    else:
        torch.set_num_threads(max(1, machine.usable_cores() // group.size))
        if sys.platform == "linux":
            # Otherwise Gloo looks up the host's name, which fails on a machine without a network.
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    distributed.init_process_group(
        backend, init_method=meeting, rank=group.rank, world_size=group.size, timeout=_PATIENCE
    )
