"""Process of `items.py`: the device, its clock under load, and the bandwidth of a copy. An item is the name of a question."""

import json
import pathlib
import statistics
import subprocess
import sys
from typing import Any

from bound_kernel import BoundKernel
from driver import Driver, DriverError
from items import Item, perform_items

SMI_FIELDS = "name,driver_version,memory.total,power.limit,ecc.mode.current,clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu"
COPY_BYTES = 4 << 30
COPIES = 10


class DeviceRunner:
    """Questions about the device."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.driver, self.folder = Driver(), folder
        self.clocks = json.loads((folder / "programs.json").read_text())["clocks"]

    def perform(self, item: Item) -> Any:
        """The answer to a question."""
        answers = {"device": self.driver.describe, "smi": self.ask_smi, "clock": self.find_clock, "copy": self.find_bandwidth}
        return answers[item[0]]()

    def ask_smi(self) -> dict[str, str]:
        """Fields of `nvidia-smi`."""
        command = ["nvidia-smi", f"--query-gpu={SMI_FIELDS}", "--format=csv,noheader"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return dict(zip(SMI_FIELDS.split(","), done.stdout.splitlines()[0].split(", ")))

    def find_clock(self) -> float:
        """MHz of a multiprocessor: cycles by nanoseconds of a kernel that spins."""
        result = self.driver.allocate(16)
        kernel = BoundKernel(self.driver, self.folder, self.clocks, {"result": result})
        for _ in range(3):
            kernel.launch()
        self.driver.synchronize()
        data = self.driver.download(result, 16)
        cycles, nanoseconds = (int.from_bytes(data[start : start + 8], "little") for start in (0, 8))
        return 1000 * cycles / nanoseconds

    def find_bandwidth(self) -> float:
        """GB/s of a copy within the device; bytes read and bytes written count."""
        one, other = self.driver.allocate(COPY_BYTES), self.driver.allocate(COPY_BYTES)
        self.driver.fill(one, COPY_BYTES)
        pairs = []
        for _ in range(COPIES):
            begin = self.driver.new_event()
            self.driver.copy(other, one, COPY_BYTES)
            pairs.append((begin, self.driver.new_event()))
        self.driver.synchronize()
        return 2 * COPY_BYTES / 1000 / statistics.median(self.driver.take_microseconds(*pair) for pair in pairs)


def main() -> None:
    """Performs the items of a task."""
    task = json.loads(pathlib.Path(sys.argv[1]).read_text())
    perform_items(task, DeviceRunner(pathlib.Path(task["folder"])).perform, DriverError)


if __name__ == "__main__":
    main()
