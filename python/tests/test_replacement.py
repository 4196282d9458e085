"""On an NVIDIA GPU: Tilewright makes the PTX that Triton launches. A driver without a GPU records the launches."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tilewright.session import generator_files

triton = pytest.importorskip("triton", "3.9")

HERE = Path(__file__).parent
KERNELS = """
import json
import numpy as np
import tilewright as tw
import tilewright.triton as twt
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, out_ptr, count, small: tl.int16, factor, flag, unused: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count)
    tl.store(out_ptr + at, tl.where(flag, x * factor, x) + small, mask=at < count)

@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + inner[None, :]
    b = b_ptr + inner[:, None] * N + columns[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        sums = tl.dot(tl.load(a), tl.load(b), sums)
        a += BK
        b += BK * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], sums)

@triton.jit
def rows_of(descriptor, out_ptr, M: tl.constexpr):
    x = descriptor.load([M, 0])
    at = tl.arange(0, M)
    tl.store(out_ptr + at[:, None] * M + at[None, :], x)

x, out = tw.array(np.ones(1000, np.float32)), tw.array(np.zeros(1000, np.float32))
a, b = (tw.array(np.ones((128, 128), np.float16)) for _ in range(2))
c = tw.array(np.zeros((128, 128), np.float32))

def launches():
    first = scale[(5, 3)](x, out, 1000, -7, 0.5, True, None, BLOCK=256, num_warps=8)
    second = matmul[(2,)](a, b, c, 128, M=128, N=128, BK=64, num_warps=4)
    return first, second
"""


@pytest.fixture(scope="module")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the driver; returns its folder."""
    folder = tmp_path_factory.mktemp("driver")
    headers = Path(triton.__file__).parent / "backends/nvidia/include"
    command = ["cc", "-shared", "-fPIC", "-w", f"-I{headers}", "-Wl,-soname,libcuda.so.1", "-o", folder / "libcuda.so.1"]
    done = subprocess.run([*command, HERE / "fake_cuda.c"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"the driver is not built: {done.stderr}")
    return folder


def run(script: str, driver: Path, folder: Path, **variables: str) -> tuple[Any, list[Any]]:
    """Runs a script with the driver; returns what it printed and the recorded launches, both from JSON."""
    if not any("nvidia" in file.name for file in generator_files()):
        pytest.skip("no code generator for NVIDIA along TILEWRIGHT_PLUGIN_PATH")
    (folder / "script.py").write_text(KERNELS + script)
    log = folder / "launches.json"
    log.unlink(missing_ok=True)
    # Triton looks at one backend only, since others import torch, and then ask torch for a GPU.
    environment = {
        **{name: value for name, value in os.environ.items() if name != "TILEWRIGHT_TARGET"},
        "TRITON_DEFAULT_BACKEND": "nvidia",
        "LD_LIBRARY_PATH": os.pathsep.join([str(driver), os.environ.get("LD_LIBRARY_PATH", "")]),
        "TRITON_LIBCUDA_PATH": str(driver),
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "FAKE_CUDA_LOG": str(log),
        **variables,
    }
    done = subprocess.run([sys.executable, str(folder / "script.py")], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return json.loads(done.stdout), recorded


def test_launches_are_those_of_triton(fake_driver: Path, tmp_path: Path) -> None:
    script = """
def kinds():
    return [[".extern .shared" in kernel.asm["ptx"], "tw_scratch" in kernel.asm["ttgir"]] for kernel in launches()]

before = kinds()
twt.enable()
ours = kinds()
twt.disable()
print(json.dumps([before, ours, kinds(), [(one.array == 0).all().item() for one in (out, c)]]))
"""
    (before, ours, after, untouched), recorded = run(script, fake_driver, tmp_path)
    assert before == after and [program for _, program in ours] == [True, True] and before[0][1] is False
    assert untouched == [True, True]
    theirs, replaced, again = recorded[:2], recorded[2:4], recorded[4:]
    assert again == theirs
    for old, new in zip(theirs, replaced):
        for field in ("kernel", "grid", "threads", "cluster", "parameters"):
            assert old[field] == new[field], field
    scale, matmul = replaced
    assert (scale["grid"], scale["threads"], matmul["threads"]) == ([5, 3, 1], 256, 128)
    # Two pointers, three integers (one of 16 bits), a float, a byte, and two pointers to scratch memory.
    assert [size for size, _ in scale["parameters"]] == [8, 8, 4, 2, 4, 1, 8, 8]
    assert [value for _, value in scale["parameters"]][2:6] == [1000, 0xFFF9, 0x3F000000, 1]
    assert [value for _, value in scale["parameters"]][-2:] == [0, 0]
    # The launch gives all shared memory.
    assert matmul["shared"] > 0 and scale["shared"] == 0


def test_only_the_chosen_kernel_is_replaced(fake_driver: Path, tmp_path: Path) -> None:
    script = """
def ours():
    return ["tw_scratch" in kernel.asm["ttgir"] for kernel in launches()]

found = []
with twt.enabled(matmul):
    found.append(ours())
found.append(ours())
twt.enable("scale")
found.append(ours())
with twt.disabled():
    found.append(ours())
twt.disable("scale")
found.append(ours())
print(json.dumps(found))
"""
    found, _ = run(script, fake_driver, tmp_path)
    assert found == [[False, True], [False, False], [True, False], [False, False], [False, False]]
    script = 'print(json.dumps(["tw_scratch" in kernel.asm["ttgir"] for kernel in launches()]))'
    assert run(script, fake_driver, tmp_path, TILEWRIGHT_REPLACE="matmul")[0] == [False, True]
    assert run(script, fake_driver, tmp_path, TILEWRIGHT_REPLACE="all")[0] == [True, True]


def test_a_comparison_has_both_versions(fake_driver: Path, tmp_path: Path) -> None:
    script = """
compared = twt.compare(matmul, (1,), a, b, c, 128, M=128, N=128, BK=64, num_warps=4, measure=False)
text = str(compared)
versions = [compared.triton, compared.tilewright]
print(json.dumps([[v.registers, v.shared_bytes, v.milliseconds] for v in versions] + [compared.equal, text]))
"""
    (theirs, ours, equal, text), recorded = run(script, fake_driver, tmp_path)
    assert [launch["registers"] for launch in recorded] == [ours[0], theirs[0]]
    assert theirs[0] > 16 and ours[0] > 16 and ours[1] > 0 and ours[2] is None and equal
    assert "registers" in text and "results" in text


def test_descriptors_are_passed_as_pointers(fake_driver: Path, tmp_path: Path) -> None:
    script = """
from triton.tools.tensor_descriptor import TensorDescriptor

table = tw.array(np.ones((64, 32), np.float32))
with twt.enabled(rows_of):
    rows_of[(1,)](TensorDescriptor(table, [64, 32], [32, 1], [32, 32]), out, M=32)
print(json.dumps([table.data_ptr(), out.data_ptr()]))
"""
    addresses, [launch] = run(script, fake_driver, tmp_path)
    # Shape and strides, two flags, both again, the output, and scratch memory.
    descriptor = [64, 32, 32, 1, 0, 0, 64, 32, 32, 1]
    assert [value for _, value in launch["parameters"]] == [addresses[0], *descriptor, addresses[1], 0, 0]


def test_lines_of_the_kernel_reach_the_cubin(fake_driver: Path, tmp_path: Path) -> None:
    script = """
with twt.enabled():
    kernel = scale.warmup(x, out, 1000, -7, 0.5, True, None, BLOCK=256, grid=(1,))
lines = [line.split() for line in kernel.asm["ptx"].splitlines()]
loads = [index for index, words in enumerate(lines) if any(word.startswith("ld.global") for word in words)]
number = [words[2] for words in lines[:loads[0]] if words[:1] == [".loc"]][-1]
source = open(__file__).read().splitlines()
print(json.dumps([source[int(number) - 1], b".debug_line" in kernel.asm["cubin"]]))
"""
    (line, has_table), _ = run(script, fake_driver, tmp_path)
    assert "tl.load(x_ptr + at" in line and has_table
