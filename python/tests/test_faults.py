"""Faults planted in kernels: each is a Python exception with the line of the fault, and of the earlier access of a race."""

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tilewright as tw

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
gluon = pytest.importorskip("triton.experimental.gluon")
gl = pytest.importorskip("triton.experimental.gluon.language")

N = 128


@triton.jit
def without_mask(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)  # FAULT
    tl.store(out_ptr + at, x, mask=at < 100)


@triton.jit
def wrong_mask(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count, other=0.0)
    tl.store(out_ptr + at, x, mask=at <= count)  # FAULT


@triton.jit
def before_the_start(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    left = tl.load(x_ptr + at - 1)  # FAULT
    tl.store(out_ptr + at, left)


@triton.jit
def rows_too_far(a_ptr, b_ptr, out_ptr, K, M: tl.constexpr, BK: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, M), tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + inner[None, :]
    b = b_ptr + inner[:, None] * M + columns[None, :]
    sums = tl.zeros((M, M), tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        x = tl.load(a)
        y = tl.load(b)  # FAULT
        sums = tl.dot(x, y, sums)
        a += BK
        b += 2 * BK * M
    tl.store(out_ptr + rows[:, None] * M + columns[None, :], sums)


@triton.jit
def bin_too_high(x_ptr, bins_ptr, BLOCK: tl.constexpr):
    bins = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(bins_ptr + bins, 1)  # FAULT


@triton.jit
def gather(source_ptr, index):
    return tl.load(source_ptr + index)  # FAULT


@triton.jit
def in_a_function(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    found = gather(x_ptr, tl.load(index_ptr + at))  # CALL
    tl.store(out_ptr + at, found)


@triton.jit
def false_alignment(x_ptr, out_ptr, offset, BLOCK: tl.constexpr):
    at = tl.multiple_of(offset + tl.arange(0, BLOCK), 4)
    x = tl.load(x_ptr + at, mask=tl.full((BLOCK,), True, tl.int1))  # FAULT
    tl.store(out_ptr + tl.arange(0, BLOCK), x)


@triton.jit
def sum_without_atomic(x_ptr, sum_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    before = tl.load(sum_ptr)  # FAULT
    tl.store(sum_ptr, before + tl.sum(x, axis=0))  # EARLIER


@triton.jit
def smooth_in_place(x_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    right = tl.load(x_ptr + at + 1)  # EARLIER
    tl.store(x_ptr + at, right * 0.5)  # FAULT


@triton.jit
def scatter_twice(index_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at)
    tl.store(out_ptr + index, at)  # FAULT EARLIER


@triton.jit
def without_barrier(x_ptr, scratch_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    # The second warp stores what the first one has loaded.
    tl.store(scratch_ptr + at, tl.load(x_ptr + at))  # FAULT
    reverse = tl.load(scratch_ptr + BLOCK - 1 - at)  # EARLIER
    tl.store(out_ptr + at, reverse)


@triton.jit
def assertion(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x < 100, "too large")  # FAULT


# The first name is that of Triton 3.8 and later.
async_copy = gl.nvidia.ampere.async_copy
async_load = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared


@gluon.jit
def copy_without_wait(x_ptr, out_ptr, SIZE: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    at = gl.arange(0, SIZE, layout=layout)
    memory = gl.allocate_shared_memory(gl.float32, [SIZE], shared)
    async_load(memory, x_ptr + at)  # EARLIER
    gl.nvidia.ampere.async_copy.commit_group()
    x = memory.load(layout)  # FAULT
    gl.nvidia.ampere.async_copy.wait_group(0)
    gl.store(out_ptr + at, x)


@gluon.jit
def never_written(out_ptr, SIZE: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    memory = gl.allocate_shared_memory(gl.float32, [SIZE], shared)
    x = memory.load(layout)  # FAULT
    gl.store(out_ptr + gl.arange(0, SIZE, layout=layout), x)


def floats(count: int = N) -> Any:
    return tw.array(np.arange(count, dtype=np.float32))


def zeros(count: int) -> Any:
    return tw.array(np.zeros(count, np.int32))


def halves(count: int) -> Any:
    return tw.array(np.ones(count, np.float16))


def integers(*values: int) -> Any:
    return tw.array(np.resize(np.array(values, np.int32), N))


def gluon_layouts() -> dict[str, Any]:
    return {"SIZE": N, "layout": gl.BlockedLayout([1], [32], [4], [0]), "shared": gl.SwizzledSharedLayout(1, 1, 1, [0])}


@dataclass
class Planted:
    """A kernel, the kind of its fault, and its launch."""

    kernel: Any
    kind: str
    launch: Callable[[], Any]
    targets: tuple[str, ...] = ("h100", "mi300x")


PLANTED = [
    Planted(without_mask, "out_of_bounds", lambda: without_mask[(1,)](floats(100), floats(), BLOCK=N)),
    Planted(wrong_mask, "out_of_bounds", lambda: wrong_mask[(1,)](floats(100), floats(100), 100, BLOCK=N)),
    Planted(before_the_start, "out_of_bounds", lambda: before_the_start[(1,)](floats(), floats(), BLOCK=N)),
    Planted(
        rows_too_far,
        "out_of_bounds",
        lambda: rows_too_far[(1,)](halves(64 * 128), halves(128 * 64), floats(64 * 64), 128, M=64, BK=32),
    ),
    Planted(bin_too_high, "out_of_bounds", lambda: bin_too_high[(1,)](integers(0, 3, 7, 8), zeros(8), BLOCK=N)),
    Planted(in_a_function, "out_of_bounds", lambda: in_a_function[(1,)](floats(100), integers(0, 100), floats(), BLOCK=N)),
    Planted(false_alignment, "misaligned", lambda: false_alignment[(1,)](floats(1024), floats(512), 5, BLOCK=512)),
    Planted(sum_without_atomic, "race", lambda: sum_without_atomic[(4,)](floats(4 * N), floats(1), BLOCK=N)),
    Planted(smooth_in_place, "race", lambda: smooth_in_place[(4,)](floats(4 * N + 1), BLOCK=N)),
    Planted(scatter_twice, "race", lambda: scatter_twice[(1,)](integers(1, 2, 3, 2), integers(0), BLOCK=N)),
    Planted(without_barrier, "race", lambda: without_barrier[(1,)](floats(512), zeros(512), floats(512), BLOCK=512)),
    Planted(assertion, "assertion", lambda: assertion[(1,)](floats(), BLOCK=N, debug=True)),
    Planted(
        copy_without_wait,
        "missing_wait",
        lambda: copy_without_wait[(1,)](floats(), floats(), **gluon_layouts()),
        ("h100",),
    ),
    Planted(never_written, "uninitialised", lambda: never_written[(1,)](floats(), **gluon_layouts()), ("h100",)),
]

CASES = [(planted, target) for planted in PLANTED for target in planted.targets]


def line_of(mark: str, *functions: Any) -> int:
    """Returns the line of the functions that has a mark in its comment."""
    for function in functions:
        source, first = inspect.getsourcelines(function.fn)
        for number, text in enumerate(source):
            if mark in text.partition("#")[2]:
                return first + number
    raise AssertionError(f"no line is marked {mark}")


@pytest.mark.parametrize(
    ("planted", "target"), CASES, indirect=["target"], ids=[f"{case.kernel.fn.__name__}-{on}" for case, on in CASES]
)
def test_the_fault_is_an_exception_with_its_line(planted: Planted, target: str) -> None:
    with pytest.raises(tw.Fault) as caught:
        planted.launch()
    fault = caught.value
    assert fault.kind == planted.kind, fault
    assert fault.line == line_of("FAULT", planted.kernel, gather), fault
    assert os.path.basename(fault.file or "") == os.path.basename(__file__) and fault.block is not None
    if planted.kernel is in_a_function:
        assert [frame.line for frame in fault.frames] == [fault.line, line_of("CALL", in_a_function)]
    if planted.kind in ("race", "missing_wait"):
        assert fault.other_frames[0].line == line_of("EARLIER", planted.kernel), fault
    else:
        assert fault.other_frames == []


@pytest.mark.parametrize("target", ["h100"], indirect=True)
def test_races_in_global_memory_can_be_allowed(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_RACES", "0")
    total = floats(1)
    sum_without_atomic[(4,)](floats(4 * N), total, BLOCK=N)
    # The emulator runs the programs in turn.
    assert total.array[0] == np.arange(4 * N).sum()
