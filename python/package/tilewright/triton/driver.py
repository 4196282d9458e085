"""Triton's driver interface: one device, the emulator of the target that `TILEWRIGHT_TARGET` names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

NAME = "tilewright"
DEFAULT_TARGET = "h100"


class TilewrightDriver(DriverBase):
    """The driver of the emulator."""

    def __init__(self) -> None:
        super().__init__()
        from .device import DeviceInterface, Utilities
        from .launch import Launcher

        self.utils = Utilities(self.target_name())
        self.launcher_cls = Launcher
        self._interface = DeviceInterface(self.target_name())

    @classmethod
    def is_active(cls) -> bool:
        """Whether the user asked for this backend; otherwise other backends stay unaffected."""
        return os.environ.get("TRITON_DEFAULT_BACKEND") == NAME

    @staticmethod
    def target_name() -> str:
        """Returns the name of the emulated target."""
        return os.environ.get("TILEWRIGHT_TARGET", DEFAULT_TARGET)

    def get_current_target(self) -> GPUTarget:
        from .architecture import emulated_target

        return emulated_target(self.target_name())

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return self._interface.get_device_capability(device)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        return self._interface

    def map_python_to_cpp_type(self, ty: str) -> str:
        from .launch import element_type

        return "pointer" if ty.startswith("*") else element_type(ty)

    def get_benchmarker(self) -> Callable[..., Any]:
        """Returns a function that runs a kernel once and returns its emulated time in milliseconds."""
        from .device import emulated_time

        def benchmark(kernel_call: Callable[[], Any], *, quantiles: Sequence[float] | None = None, **_: Any) -> Any:
            time = emulated_time(kernel_call)
            return [time for _ in quantiles] if quantiles is not None else time

        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        return bytearray()

    def clear_cache(self, cache: Any) -> None:
        pass

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args
