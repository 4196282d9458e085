"""Process of `items.py`: launches cases on their buffers. An item is a compiler and a case.

With `repeats`, an item also checks the contents of all buffers, repeats the launch and times it; without, it only launches.
"""

import json
import pathlib
import statistics
import sys
from typing import Any

from arena import Arena
from bound_kernel import BoundKernel
from driver import Driver, DriverError
from items import Item, perform_items


class CaseRunner:
    """The cases of a folder on a device."""

    def __init__(self, folder: pathlib.Path, repeats: int) -> None:
        self.driver, self.folder, self.repeats = Driver(), folder, repeats
        self.cases = json.loads((folder / "programs.json").read_text())["cases"]

    def perform(self, item: Item) -> dict[str, Any]:
        """The result of an item."""
        side, name = item[0], item[1]
        case = self.cases[name]
        arena = Arena(self.driver, self.folder, case["buffers"])
        kernel = BoundKernel(self.driver, self.folder, case[side], arena.addresses)
        kernel.launch()
        self.driver.synchronize()
        result = self.check(arena, kernel) if self.repeats else {}
        kernel.close()
        arena.close()
        return result

    def check(self, arena: Arena, kernel: BoundKernel) -> dict[str, Any]:
        """Compares the contents after one launch, and after more launches of the same inputs, which are timed."""
        first = arena.read()
        wrong, later, is_same, times = arena.find_wrong(first), None, True, []
        for _ in range(self.repeats):
            arena.restore()
            begin = self.driver.new_event()
            kernel.launch()
            end = self.driver.new_event()
            self.driver.synchronize()
            times.append(self.driver.take_microseconds(begin, end))
            contents = arena.read()
            if not arena.is_same(first, contents):
                # Sums by atomic operations may differ within the tolerance.
                is_same, later = False, later or arena.find_wrong(contents)
        return {"wrong": wrong, "wrong_later": None if wrong else later, "same": is_same, "us": statistics.median(times)}


def main() -> None:
    """Performs the items of a task."""
    task = json.loads(pathlib.Path(sys.argv[1]).read_text())
    runner = CaseRunner(pathlib.Path(task["folder"]), task["repeats"])
    perform_items(task, runner.perform, DriverError)


if __name__ == "__main__":
    main()
