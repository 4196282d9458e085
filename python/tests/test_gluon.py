"""Gluon: its layout objects are layouts here, and its kernels run on the emulator."""

import os
import subprocess
import sys

import pytest
import tilewright as tw

pytest.importorskip("triton.experimental.gluon")

KERNEL = """
import numpy as np
import tilewright as tw
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def twice(x_ptr, out_ptr, count, BLOCK: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    memory = gl.allocate_shared_memory(gl.float32, [BLOCK], shared, gl.load(x_ptr + at, mask=at < count, other=0.0))
    gl.store(out_ptr + at, memory.load(layout) * 2, mask=at < count)

x = np.arange(300, dtype=np.float32)
out = np.zeros_like(x)
lanes = tw.target(__import__("os").environ["TILEWRIGHT_TARGET"]).lanes
layout = gl.BlockedLayout([1], [lanes], [4], [0])
twice[(2,)](tw.array(x), tw.array(out), 300, 256, layout, gl.SwizzledSharedLayout(1, 1, 1, [0]))
assert (out == 2 * x).all()
"""


@pytest.mark.parametrize("target", ["h100", "mi300x"])
def test_a_kernel_runs(target: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    environment = {**os.environ, "TRITON_DEFAULT_BACKEND": "tilewright", "TILEWRIGHT_TARGET": target}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_layout_objects_are_read() -> None:
    from triton.experimental.gluon import language as gl

    layout = tw.layout(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]), (16, 32))
    assert layout.apply(register=1, lane=9, warp=2) == {"dim0": 9, "dim1": 5}
    shared = tw.layout(gl.SwizzledSharedLayout(4, 1, 4, [1, 0]), (8, 16))
    assert shared.apply(offset=16) == {"dim0": 1, "dim1": 4}
