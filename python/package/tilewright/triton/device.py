"""The emulated device: its properties, streams, events, and clock."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tilewright import _native
from tilewright.session import session
from tilewright.targets import target

from .architecture import device_capability


class _Clock:
    """The time of the emulated device: one nanosecond for each operation that a warp executes, divided by the compute
    units, which execute blocks at the same time."""

    def __init__(self) -> None:
        self.nanoseconds = 0.0
        # Whether launches only advance the clock, by an estimate.
        self.estimates = False


CLOCK = _Clock()

# The loaded kernels by their handles, of all drivers of this process.
_LOADED: dict[int, _native.Kernel] = {}
_HANDLES = itertools.count(1)


def emulated_time(call: Callable[[], Any]) -> float:
    """Returns the emulated time of a call in milliseconds. Its launches run some of their programs, and change no tensor."""
    before = CLOCK.nanoseconds
    CLOCK.estimates = True
    try:
        call()
    finally:
        CLOCK.estimates = False
    return (CLOCK.nanoseconds - before) / 1e6


class Event:
    """An event of the device, as of `torch.cuda.Event`. Events measure the time that the emulation takes: benchmarks repeat a
    call for a time, and would repeat it too often by the emulated time."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._at = 0.0

    def record(self, stream: Any = None) -> None:
        self._at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Returns the milliseconds from this event to another."""
        return max(end._at - self._at, 1e-9) * 1e3

    def synchronize(self) -> None:
        pass

    def wait(self, stream: Any = None) -> None:
        pass

    def query(self) -> bool:
        return True


class EmulatedStream:
    """A stream of the device. Launches end before they return, so streams are always empty."""

    cuda_stream = 0

    def synchronize(self) -> None:
        pass

    def wait_stream(self, other: Any) -> None:
        pass

    def wait_event(self, event: Any) -> None:
        pass

    def __enter__(self) -> EmulatedStream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class DeviceInterface:
    """The functions of `torch.cuda` that programs call through Triton's driver."""

    Event = Event
    Stream = EmulatedStream

    def __init__(self, name: str) -> None:
        self._name = name

    def synchronize(self, device: Any = None) -> None:
        pass

    def current_device(self) -> int:
        return 0

    def set_device(self, device: Any) -> None:
        pass

    def device_count(self) -> int:
        return 1

    def is_available(self) -> bool:
        return True

    def current_stream(self, device: Any = None) -> EmulatedStream:
        return EmulatedStream()

    def stream(self, stream: Any) -> EmulatedStream:
        return EmulatedStream()

    def get_device_properties(self, device: Any = None) -> SimpleNamespace:
        """Returns the properties by torch's names."""
        one = target(self._name)
        major, minor = self.get_device_capability()
        return SimpleNamespace(
            name=one.model,
            multi_processor_count=one.compute_units,
            warp_size=one.lanes,
            shared_memory_per_block=one.shared_bytes,
            shared_memory_per_block_optin=one.shared_bytes,
            major=major,
            minor=minor,
        )

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return device_capability(target(self._name).architecture)

    def get_device_name(self, device: Any = None) -> str:
        return f"the emulator of {target(self._name).model}"


class Utilities:
    """The device properties, and the loader of compiled kernels."""

    def __init__(self, name: str) -> None:
        self._target = target(name)
        self.lanes = self._target.lanes
        self.compute_units = self._target.compute_units

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """Returns the properties that Triton and programs use."""
        return {
            "max_shared_mem": self._target.shared_bytes,
            "max_num_regs": self._target.registers_per_block,
            "multiprocessor_count": self.compute_units,
            "warpSize": self.lanes,
            "max_threads_per_block": self._target.lanes_per_block,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 1024,
            "arch": self._target.architecture,
            "name": self._target.model,
        }

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        """Loads a kernel; returns its handles, the most registers that its lanes may have, spills, and the most threads of a
        block."""
        handle = next(_HANDLES)
        loaded = _LOADED[handle] = session().decode(self._target.name, kernel)
        # Programs compute from it how many blocks are resident, at least one.
        registers = min(self._target.registers_per_lane, self._target.registers_per_block // (loaded.lanes * loaded.warps))
        return handle, handle, registers, 0, self._target.lanes_per_block

    def unload_module(self, module: int) -> None:
        _LOADED.pop(module, None)

    def kernel(self, function: int) -> _native.Kernel:
        """Returns a loaded kernel."""
        return _LOADED[function]

    def set_printf_fifo_size(self, size: int) -> None:
        pass
