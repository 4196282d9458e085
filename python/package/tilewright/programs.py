"""Compilation of tile programs (Triton IR), and their runs on the emulator."""

from __future__ import annotations

import math
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _native
from .errors import InputError
from .memory import Allocations, HostArray, Region, region
from .session import session

# Max number of operations of a run by default; more are most likely an endless loop.
MAX_STEPS = 1_000_000_000_000

# Number of operations after which an estimate starts no further programs.
_SAMPLED_STEPS = 200_000


@dataclass(frozen=True)
class Run:
    """The counts of a run: executed operations, sectors of global memory, wavefronts of shared memory."""

    counts: dict[str, int]
    printed: list[str]

    @property
    def steps(self) -> int:
        """Number of operations that all warps executed."""
        return self.counts["steps"]


class Kernel:
    """A tile program compiled for a target."""

    def __init__(self, native: _native.Kernel) -> None:
        self.native = native

    @property
    def name(self) -> str:
        """The name of the program's function."""
        return self.native.name

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.native.target_name

    @property
    def warps(self) -> int:
        """Number of warps of a block."""
        return self.native.warps

    @property
    def lanes(self) -> int:
        """Number of lanes of a warp."""
        return self.native.lanes

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block."""
        return self.native.shared_bytes

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The names and types of the parameters."""
        return self.native.parameters

    @property
    def layouts(self) -> str:
        """The program with a layout for every tensor, as TTGIR."""
        return self.native.layouts

    @property
    def report(self) -> str:
        """The chosen layouts and the remaining conversions with their costs."""
        return self.native.report

    @property
    def kernel_ir(self) -> str:
        """The kernel IR as text."""
        return self.native.text

    def code(self, form: str = "asm", optimisation: int = 2) -> bytes:
        """Generates code: `asm`, `llvm` or `object`. NVIDIA and AMD need the package tilewright-llvm, or plugins along
        `TILEWRIGHT_PLUGIN_PATH`."""
        return session().generate(self.native, form, optimisation)[0]

    @property
    def asm(self) -> str:
        """The assembly text."""
        return self.code("asm").decode()

    def run(
        self,
        grid: int | Sequence[int],
        *arguments: Any,
        max_steps: int = MAX_STEPS,
        file: Any = None,
        races: bool | None = None,
    ) -> Run:
        """Runs the kernel on the emulator. Pointers are torch tensors on the CPU, numpy arrays, or objects with `data_ptr()`;
        the kernel's writes are seen in them. Printed lines go to `file`, by default standard output.

        Raises `Fault` if the kernel does something illegal. `races` says whether unordered accesses of global memory are a
        fault; by default they are, unless `TILEWRIGHT_RACES` is 0.
        """
        types = [ty for _, ty in self.parameters]
        if len(types) != len(arguments):
            raise InputError(f"kernel {self.name} takes {len(types)} arguments, {len(arguments)} are given")
        memory = Allocations()
        given = [_argument(value, ty, memory) for value, ty in zip(arguments, types)]
        return launch(self.native, _grid(grid), given, memory, max_steps, file, races)


def launch(
    native: _native.Kernel,
    grid: tuple[int, int, int],
    arguments: list[tuple[int, int, int]],
    memory: Allocations,
    max_steps: int = MAX_STEPS,
    file: Any = None,
    races: bool | None = None,
) -> Run:
    """Runs a kernel with arguments that are already encoded."""
    checked = _races_are_faults() if races is None else races
    changed, counts, printed = native.run(grid, arguments, memory.read(), max_steps, memory.addresses(), checked)
    memory.write(changed)
    for line in printed:
        print(line, file=file or sys.stdout)
    return Run(counts, printed)


def estimate_steps(
    native: _native.Kernel, grid: tuple[int, int, int], arguments: list[tuple[int, int, int]], memory: Allocations
) -> float:
    """Returns the number of operations that a launch would execute, from a run of some of its programs whose results are
    dropped."""
    _, counts, _ = native.run(grid, arguments, memory.read(), MAX_STEPS, memory.addresses(), sampled_steps=_SAMPLED_STEPS)
    return counts["steps"] * math.prod(grid) / counts["clusters"]


def compile(
    text: str,
    target: str,
    *,
    warps: int | None = None,
    lanes: int | None = None,
    stages: int | None = None,
    entry: str | None = None,
    strategy: str | None = None,
    disable: Sequence[str] | None = None,
) -> Kernel:
    """Compiles Triton IR (TTIR or TTGIR text) for a target. `disable` names optimizations to leave out, as `tilewright
    optimizations` lists them.

    >>> program = '''tt.func @fill(%to: !tt.ptr<i32>, %value: i32) {
    ...   %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    ...   %base = tt.splat %to : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    ...   %at = tt.addptr %base, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    ...   %all = tt.splat %value : i32 -> tensor<64xi32>
    ...   tt.store %at, %all : tensor<64x!tt.ptr<i32>>
    ...   tt.return
    ... }'''
    >>> import numpy as np
    >>> to = np.zeros(64, np.int32)
    >>> run = compile(program, "h100").run(1, to, 7)
    >>> int(to.sum()), run.counts["sectors_stored"]
    (448, 8)
    """
    options = {"warps": warps, "lanes": lanes, "stages": stages, "entry": entry, "strategy": strategy}
    disabled = None if disable is None else list(disable)
    return Kernel(session().compile(target, text, disable=disabled, **options))  # type: ignore[arg-type]


def run(text: str, target: str, grid: int | Sequence[int], *arguments: Any, **options: Any) -> Run:
    """Compiles Triton IR for a target and runs it once; `options` are those of `compile`."""
    return compile(text, target, **options).run(grid, *arguments)


def _races_are_faults() -> bool:
    return os.environ.get("TILEWRIGHT_RACES", "1") != "0"


def _grid(grid: int | Sequence[int]) -> tuple[int, int, int]:
    sizes = (grid,) if isinstance(grid, int) else tuple(grid)
    if not 1 <= len(sizes) <= 3:
        raise InputError(f"a grid has one to three axes, {sizes} has {len(sizes)}")
    x, y, z = (*sizes, 1, 1)[:3]
    return int(x), int(y), int(z)


def pointer_argument(value: Any, memory: Allocations) -> tuple[int, int, int]:
    """Encodes a pointer argument."""
    if value is None:
        buffer, offset = memory.pointer(0, Region(0, 0))
    else:
        allocation = region(value)
        address = value.data_ptr() if hasattr(value, "data_ptr") else HostArray(value).data_ptr()
        buffer, offset = memory.pointer(address, allocation)
        memory.follow(value)
    return 0, offset, buffer


# The formats of `struct` for floating-point elements.
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


def scalar_argument(value: Any, ty: str) -> tuple[int, int, int]:
    """Encodes a scalar argument of kernel IR type `ty`, such as `i32` or `bf16`."""
    bits = 8 if ty == "i1" else int(ty.lstrip("uibf"))
    if ty in _FLOATS:
        packed = struct.pack(_FLOATS[ty], float(value))
    elif ty == "bf16":
        (word,) = struct.unpack("<I", struct.pack("<f", float(value)))
        nearest = word + 0x7FFF + (word >> 16 & 1)
        packed = struct.pack("<H", (word | 0x400000 if value != value else nearest) >> 16 & 0xFFFF)
    else:
        return bits, int(value) & (1 << bits) - 1, 0
    return bits, int.from_bytes(packed, "little"), 0


def _argument(value: Any, ty: str, memory: Allocations) -> tuple[int, int, int]:
    return pointer_argument(value, memory) if ty.startswith("ptr") else scalar_argument(value, ty)
