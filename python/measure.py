"""Measures launches on the emulator, and on Triton's interpreter (`TRITON_INTERPRET=1`), and prints a table.

    python python/measure.py [TARGET]

Tensors are those of torch on the CPU. Each row is a process of its own for each of both, so that the first launch compiles.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent / "examples"
LAUNCHES = 3


def launches() -> dict[str, Callable[[], Any]]:
    """Returns a function for each row; a call of it makes tensors, and returns a function that launches the kernel."""
    import torch
    import triton

    sys.path.insert(0, str(EXAMPLES))
    import attention
    import dropout
    import layer_norm
    import matmul
    import softmax
    import vector_add

    def add(count: int) -> Callable[[], Any]:
        x, y = torch.rand(count), torch.rand(count)
        return lambda: vector_add.add[(triton.cdiv(count, 1024),)](x, y, torch.empty(count), count, BLOCK=1024)

    def multiply(size: int) -> Callable[[], Any]:
        a, b = (torch.rand(size, size).to(torch.float16) for _ in range(2))
        c = torch.empty(size, size, dtype=torch.float16)
        tiles = {"M_TILE": 128, "N_TILE": 128, "K_TILE": 64, "GROUP": 8, "LEAKY": False}
        grid = (triton.cdiv(size, 128) ** 2,)
        return lambda: matmul.matmul.fn[grid](a, b, c, size, size, size, **tiles)

    def normalise() -> Callable[[], Any]:
        x, (w, b), (mean, rstd) = torch.rand(512, 1000), torch.rand(2, 1000), torch.empty(2, 512)
        return lambda: layer_norm.forward[(512,)](x, torch.empty_like(x), w, b, mean, rstd, 1000, 1e-5, BLOCK=1024)

    def attend() -> Callable[[], Any]:
        q, k, v, o = (torch.rand(4, 512, 64).to(torch.float16) for _ in range(4))
        return lambda: attention.attention[(8, 4)](q, k, v, o, 0.125, 512, D=64, M_TILE=64, N_TILE=32)

    def soften() -> Callable[[], Any]:
        x = torch.rand(1000, 1000)
        return lambda: softmax.softmax[(64,)](torch.empty_like(x), x, 1000, 1000, 1000, BLOCK=1024)

    def drop() -> Callable[[], Any]:
        x = torch.rand(1_000_000)
        return lambda: dropout.dropout[(977,)](x, torch.empty_like(x), x.numel(), 0.25, 7, BLOCK=1024)

    return {
        "vector add, 10^6 elements": lambda: add(10**6),
        "vector add, 10^7 elements": lambda: add(10**7),
        "softmax, 1000 x 1000": soften,
        "layer norm, 512 x 1000": normalise,
        "dropout, 10^6 elements": drop,
        "attention, 4 heads, 512 tokens": attend,
        "matrix multiplication, 256^3, f16": lambda: multiply(256),
        "matrix multiplication, 1024^3, f16": lambda: multiply(1024),
    }


def measure(row: str) -> list[float]:
    """Returns the seconds of each launch of a row."""
    launch = launches()[row]()
    seconds = []
    for _ in range(LAUNCHES):
        begin = time.perf_counter()
        launch()
        seconds.append(time.perf_counter() - begin)
    return seconds


def run(row: str, variables: dict[str, str]) -> list[float]:
    """Measures a row in a process with environment variables."""
    command = [sys.executable, __file__, "--row", row]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    if sys.argv[1:2] == ["--row"]:
        print(json.dumps(measure(sys.argv[2])))
        return
    target = sys.argv[1] if len(sys.argv) > 1 else "h100"
    print(f"| seconds of a launch | {target}, first | {target}, later | interpreter | later / interpreter |")
    print("|---|---|---|---|---|")
    ratios = []
    for row in launches():
        ours = run(row, {"TRITON_DEFAULT_BACKEND": "tilewright", "TILEWRIGHT_TARGET": target})
        theirs = min(run(row, {"TRITON_INTERPRET": "1"}))
        ratios.append(min(ours[1:]) / theirs)
        print(f"| {row} | {ours[0]:.2f} | {min(ours[1:]):.2f} | {theirs:.2f} | {ratios[-1]:.2f} |", flush=True)
    print(f"| median | | | | {statistics.median(ratios):.2f} |")


if __name__ == "__main__":
    main()
