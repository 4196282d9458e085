"""Launches: Triton's arguments become those of kernel IR, and the emulator runs the grid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import triton

from tilewright import programs
from tilewright.errors import UnsupportedError
from tilewright.memory import Allocations

from .device import CLOCK

_ELEMENTS = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "f32": "f32", "fp64": "f64", "i1": "i1", "u1": "i1"}


def element_type(ty: str) -> str:
    """Returns the kernel IR type of a scalar type of Triton."""
    known = _ELEMENTS.get(ty) or re.sub(r"^u", "i", ty)
    if not re.fullmatch(r"(i|f|bf)\d+", known):
        raise UnsupportedError(f"an argument of type {ty}")
    return known


def flatten(types: Any, values: Any) -> Iterator[tuple[str, Any]]:
    """Yields the type and value of each kernel argument: tuples are flattened, constants are dropped, and a descriptor
    of the host is its pointer, shape, strides and flags."""
    for ty, value in zip(types, values):
        if isinstance(ty, tuple):
            yield from flatten(ty, value)
        elif ty == "constexpr":
            continue
        elif ty.startswith("tensordesc"):
            yield from _descriptor(ty, value)
        else:
            yield ty, value


def _descriptor(ty: str, value: Any) -> Iterator[tuple[str, Any]]:
    # The order of Triton's pass that rewrites descriptors to pointers.
    yield "*i8", value.base
    for size in value.shape:
        yield "i64", size
    for step in value.strides:
        yield "i64", step
    yield "i1", getattr(value, "padding", "zero") == "nan"
    if hasattr(value, "round_f32_to_tf32"):
        yield "i1", value.round_f32_to_tf32
    for size in value.shape:
        yield "i32", size
    for step in value.strides:
        yield "i64", step


class Launcher:
    """Launches one compiled kernel."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._types = tuple(source.signature.values())

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: int,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *values: Any,
    ) -> None:
        if 0 in (grid_x, grid_y, grid_z):
            return
        utilities = triton.runtime.driver.active.utils
        if enter_hook is not None:
            enter_hook(launch_metadata)
        memory = Allocations()
        given = [_encoded(ty, value, memory) for ty, value in flatten(self._types, values)]
        launch = utilities.kernel(function), (int(grid_x), int(grid_y), int(grid_z)), given, memory
        steps = programs.estimate_steps(*launch) if CLOCK.estimates else programs.launch(*launch).steps
        CLOCK.nanoseconds += steps / utilities.compute_units
        if exit_hook is not None:
            exit_hook(launch_metadata)


def _encoded(ty: str, value: Any, memory: Allocations) -> tuple[int, int, int]:
    if ty.startswith("*"):
        return programs.pointer_argument(value, memory)
    return programs.scalar_argument(value, element_type(ty))
