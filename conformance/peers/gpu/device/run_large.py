"""Process of `items.py`: checks large programs with PyTorch, and times them. An item is the name of a program.

Each launch is timed by events, with L2 flushed before it; the compilers, and `torch.matmul`, take turns.
"""

import json
import pathlib
import statistics
import sys
from collections.abc import Callable
from typing import Any

import torch
from bound_kernel import BoundKernel
from driver import Driver, DriverError
from items import Item, perform_items
from references import find_reference, make_tensor, relative_error

SIDES = ("ours", "triton")
FLUSH_BYTES = 256 << 20
WARM_UP = 3


class LargeRunner:
    """The large programs of a folder on a device."""

    def __init__(self, folder: pathlib.Path, part: str, launches: int) -> None:
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        self.driver, self.folder, self.launches = Driver(), folder, launches
        self.programs = json.loads((folder / "programs.json").read_text())[part]
        self.flushed = self.driver.allocate(FLUSH_BYTES)

    def perform(self, item: Item) -> dict[str, Any]:
        """The errors and the times of a program."""
        result = self.measure(self.programs[item[0]])
        torch.cuda.empty_cache()
        return result

    def measure(self, program: dict[str, Any]) -> dict[str, Any]:
        """The errors and the times of a program, whose tensors live no longer than this call."""
        generator = torch.Generator("cuda").manual_seed(0)
        tensors = {name: make_tensor(buffer, generator, "cuda") for name, buffer in program["buffers"].items()}
        addresses = {name: tensor.data_ptr() for name, tensor in tensors.items()}
        kernels = {side: BoundKernel(self.driver, self.folder, program[side], addresses) for side in SIDES}
        expected = find_reference(program["reference"])(tensors)
        output = tensors[next(name for name, buffer in program["buffers"].items() if buffer["make"] is None)]
        errors = {side: self.find_error(kernels[side], output, expected) for side in SIDES}
        launches: dict[str, Callable[[], object]] = {side: kernel.launch for side, kernel in kernels.items()}
        if program.get("library"):
            b = tensors["b"].T if program["reference"]["transposed"] else tensors["b"]
            launches["library"] = lambda: torch.matmul(tensors["a"], b)
        times = self.time_in_turn(launches)
        for kernel in kernels.values():
            kernel.close()
        return {"errors": errors, "us": times}

    def find_error(self, kernel: BoundKernel, output: Any, expected: Any) -> float:
        """The relative error of one launch."""
        output.fill_(77)
        torch.cuda.synchronize()
        kernel.launch()
        self.driver.synchronize()
        return relative_error(output, expected)

    def time_in_turn(self, launches: dict[str, Callable[[], object]]) -> dict[str, float]:
        """The median microseconds of each launch."""
        for launch in list(launches.values()) * WARM_UP:
            launch()
        events: dict[str, list[Any]] = {name: [] for name in launches}
        for _ in range(self.launches):
            for name, launch in launches.items():
                self.driver.fill(self.flushed, FLUSH_BYTES)
                begin = self.driver.new_event()
                launch()
                events[name].append((begin, self.driver.new_event()))
        self.driver.synchronize()
        take = self.driver.take_microseconds
        return {name: statistics.median(take(*pair) for pair in pairs) for name, pairs in events.items()}


def main() -> None:
    """Performs the items of a task."""
    task = json.loads(pathlib.Path(sys.argv[1]).read_text())
    runner = LargeRunner(pathlib.Path(task["folder"]), task["part"], task["launches"])
    perform_items(task, runner.perform, DriverError)


if __name__ == "__main__":
    main()
