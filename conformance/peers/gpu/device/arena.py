"""The buffers of a case on the device, with guard bytes before and after each, and their comparison with what is expected."""

import pathlib
from typing import Any

import numpy
from driver import Driver
from numbers_of_case import decode, find_difference

GUARD = 4096
ALIGNMENT = 256
PATTERN = 0xA5


class Arena:
    """One allocation with all buffers of a case; `restore` brings back the contents from before the run."""

    def __init__(self, driver: Driver, folder: pathlib.Path, buffers: dict[str, Any]) -> None:
        self.driver, self.buffers, self.offsets, end = driver, buffers, dict[str, int](), GUARD
        for name, buffer in buffers.items():
            self.offsets[name] = end
            end = -(-(end + buffer["bytes"] + GUARD) // ALIGNMENT) * ALIGNMENT
        before, self.after = bytearray([PATTERN]) * end, dict[str, bytes]()
        for name, buffer in buffers.items():
            start = self.offsets[name]
            before[start : start + buffer["bytes"]] = (folder / buffer["before"]).read_bytes()
            self.after[name] = (folder / buffer["after"]).read_bytes() if buffer["after"] else b""
        self.before = bytes(before)
        self.saved, self.base = driver.allocate(end), driver.allocate(end)
        driver.upload(self.saved, self.before)
        driver.upload(self.base, self.before)

    @property
    def addresses(self) -> dict[str, int]:
        """The address of each buffer."""
        return {name: self.base + offset for name, offset in self.offsets.items()}

    def restore(self) -> None:
        """Begins to restore all contents."""
        self.driver.copy(self.base, self.saved, len(self.before))

    def read(self) -> bytes:
        """All contents."""
        return self.driver.download(self.base, len(self.before))

    def find_wrong(self, found: bytes) -> str | None:
        """What is wrong in the contents after a run; None if they are as expected."""
        guards = numpy.frombuffer(found, numpy.uint8) != numpy.frombuffer(self.before, numpy.uint8)
        for name, buffer in self.buffers.items():
            start, end = self.offsets[name], self.offsets[name] + buffer["bytes"]
            guards[start:end] = False
            if not self.after[name]:
                continue
            got, expected = (decode(data, buffer["dtype"]) for data in (found[start:end], self.after[name]))
            if difference := find_difference(got, expected, buffer["tolerance"]):
                return f"{name}: {difference}"
        if guards.any():
            return f"{int(guards.sum())} bytes outside of all buffers, the first at {int(guards.argmax())} of the arena"
        return None

    def is_same(self, one: bytes, other: bytes) -> bool:
        """Whether two runs leave the same in all buffers that are compared."""
        spans = [(self.offsets[name], self.offsets[name] + len(after)) for name, after in self.after.items()]
        return all(one[start:end] == other[start:end] for start, end in spans)

    def close(self) -> None:
        """Frees the memory."""
        self.driver.free(self.saved)
        self.driver.free(self.base)
