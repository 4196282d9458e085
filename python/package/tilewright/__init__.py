"""Tensor layouts as linear maps over F2, plans of data movement, and an emulator that runs Triton kernels.

Nothing is loaded before its first use: Triton imports this package in every process that has it installed.

>>> import tilewright as tw
>>> parameters = "sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]"
>>> rows = tw.layout("#ttg.blocked<{" + parameters + "}>", (16, 32))
>>> rows.apply(register=1, lane=9, warp=2, block=0)
{'dim0': 9, 'dim1': 5}
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import CompileError, Fault, InputError, TilewrightError, UnsupportedError
    from .layouts import LinearLayout, MemoryLayout, cute, layout
    from .memory import HostArray, array
    from .plans import Plan, access, bank_conflicts, choose_memory, convert
    from .programs import Kernel, Run, compile, run
    from .targets import Target, target, targets

_MODULES = {
    "errors": ("CompileError", "Fault", "InputError", "TilewrightError", "UnsupportedError"),
    "layouts": ("LinearLayout", "MemoryLayout", "cute", "layout"),
    "memory": ("HostArray", "array"),
    "plans": ("Plan", "access", "bank_conflicts", "choose_memory", "convert"),
    "programs": ("Kernel", "Run", "compile", "run"),
    "targets": ("Target", "target", "targets"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "CompileError",
    "Fault",
    "HostArray",
    "InputError",
    "Kernel",
    "LinearLayout",
    "MemoryLayout",
    "Plan",
    "Run",
    "Target",
    "TilewrightError",
    "UnsupportedError",
    "access",
    "array",
    "bank_conflicts",
    "choose_memory",
    "compile",
    "convert",
    "cute",
    "layout",
    "run",
    "target",
    "targets",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("._native", __name__).__version__
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
