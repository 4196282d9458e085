"""The Triton backend `tilewright`: it runs kernels on the emulator of a GPU.

    TRITON_DEFAULT_BACKEND=tilewright TILEWRIGHT_TARGET=mi300x python kernel.py

On an NVIDIA GPU, `enable(kernel)` lets Tilewright compile a kernel that Triton launches, and `compare(kernel, grid, ...)` runs
both versions. Triton imports the modules `compiler` and `driver` of this package in every process; without the variable and
these calls they do nothing.
"""

from __future__ import annotations

from typing import Any

_COMPARISON = ("compare", "Comparison", "Version")
_REPLACEMENT = ("disable", "disabled", "enable", "enabled")
__all__ = [*_COMPARISON, *_REPLACEMENT]


def __getattr__(name: str) -> Any:
    # Triton imports this package before it is imported itself, so the functions, which import Triton, are found late.
    if name in _COMPARISON:
        from . import comparison as module
    elif name in _REPLACEMENT:
        from . import replacement as module  # type: ignore[no-redef]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)
