"""Loaded code of a program by one compiler, bound to buffers."""

import ctypes
import math
import pathlib
from collections.abc import Mapping
from typing import Any

from driver import Driver


class BoundKernel:
    """A loaded kernel with its arguments: `side` is what `prepare` wrote, `addresses` are those of the buffers."""

    def __init__(self, driver: Driver, folder: pathlib.Path, side: dict[str, Any], addresses: Mapping[str, int]) -> None:
        self.driver, self.side = driver, side
        self.module = driver.load((folder / side["cubin"]).read_bytes() + b"\0")
        self.function = driver.find_function(self.module, side["entry"], side["dynamic_shared_bytes"])
        self.scratch: list[int] = []
        self.values = [self.encode(argument, addresses) for argument in side["arguments"]]
        self.pointers = (ctypes.c_void_p * len(self.values))(*map(ctypes.addressof, self.values))

    def encode(self, argument: dict[str, Any], addresses: Mapping[str, int]) -> Any:
        """The bytes of an argument."""
        if argument["kind"] == "map":
            return self.driver.encode_tensor_map(argument, addresses[argument["buffer"]])
        if argument["kind"] == "scratch":
            return ctypes.c_uint64(self.make_scratch(argument["bytes"] * math.prod(self.side["grid"])))
        value = addresses[argument["buffer"]] if argument["kind"] == "buffer" else argument["bits"]
        return ctypes.create_string_buffer(value.to_bytes(argument["size"], "little"), argument["size"])

    def make_scratch(self, size: int) -> int:
        """The address of memory of zeros; null if no bytes are needed."""
        if size == 0:
            return 0
        self.scratch.append(self.driver.allocate(size))
        # An upload, since profilers list the kernel that fills memory.
        self.driver.upload(self.scratch[-1], bytes(size))
        return self.scratch[-1]

    def launch(self) -> None:
        """Begins a launch."""
        side = self.side
        self.driver.launch(self.function, side["grid"], side["threads"], side["dynamic_shared_bytes"], self.pointers)

    def close(self) -> None:
        """Frees what the kernel holds."""
        for address in self.scratch:
            self.driver.free(address)
        self.driver.unload(self.module)
