"""Machine code of GEMM tiles: of `docs/examples/sized_gemm.ttir`, and of Triton's program with the same tile, without a GPU.

    python3 conformance/peers/tiles_beside_triton.py COMMAND [--plugin FILE]... [--target NAME]... [--page]

COMMAND is `tilewright`. For NVIDIA, both sides get the same `ptxas`, of Triton's wheel (`pip install triton==3.9.0` for this
Python). Counts the instructions of the main loop for 65,536 multiply-adds of a warp, each as often as it stands there. Prints
the table, or puts it into docs/synthesis.md (`--page`).
"""

import argparse
import dataclasses
import pathlib
import subprocess
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource

import amdgcn
import machine_code
import sass
from tables import put_tables, row
from triton_code import PROCESSORS, TRITON_TARGETS, find_assembler, run_assembler
from triton_times import TARGETS

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPTH = 4096
WORK = 65536
# Stages that Triton takes by default.
STAGES = {"cuda": 3, "hip": 2}


@dataclasses.dataclass(frozen=True)
class Tile:
    """A tile of a matrix multiplication: M, N and K, the element type, and the warps of a block."""

    sizes: tuple[int, int, int]
    element: str
    warps: int


TILES = (
    Tile((64, 64, 64), "f16", 4),
    Tile((128, 64, 64), "f16", 4),
    Tile((128, 128, 32), "f16", 4),
    Tile((128, 128, 64), "f16", 4),
    Tile((128, 128, 64), "f16", 8),
    Tile((64, 256, 32), "f16", 4),
    Tile((128, 256, 64), "f16", 8),
    Tile((64, 128, 64), "i8", 4),
    Tile((128, 128, 64), "i8", 8),
    Tile((128, 128, 128), "i8", 8),
)


@triton.jit
def gemm(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DEPTH: tl.constexpr, SUMS: tl.constexpr):
    """The program of `sized_gemm.ttir`."""
    m0, n0, ks = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    pa, pb = a + m0[:, None] * k + ks[None, :], b + ks[:, None] + n0[None, :] * k
    sums = tl.zeros((M, N), SUMS)
    for _ in range(DEPTH // K):
        sums = tl.dot(tl.load(pa), tl.load(pb), sums)
        pa += K
        pb += K
    tl.store(c + m0[:, None] * n + n0[None, :], sums.to(c.dtype.element_ty))


def read_code(text: pathlib.Path, target: str) -> dict[str, float]:
    """Counts of the machine code of PTX or AMDGCN assembly."""
    if target not in PROCESSORS:
        return machine_code.summarize(amdgcn.read_lines(text.read_text()), target)
    cubin, _ = run_assembler(text, PROCESSORS[target])
    listing = subprocess.run([find_assembler()[1], "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    return machine_code.summarize(sass.read_lines(listing), target)


def compile_own(tile: Tile, target: str, command: list[str], folder: pathlib.Path) -> dict[str, float]:
    """Counts of our code of a tile."""
    lines = (ROOT / "docs" / "examples" / "sized_gemm.ttir").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("tw."))
    for name, size in zip(("m", "n", "k", "depth / k"), (*tile.sizes, DEPTH // tile.sizes[2])):
        text = text.replace(f"${{{name}}}", str(size))
    text = text.replace("f16", tile.element)
    if tile.element == "i8":
        text = text.replace("0.000000e+00 : f32", "0 : i32").replace("f32", "i32")
    (folder / "own.ttir").write_text(text)
    code = folder / "own.asm"
    options = ["--target", target, "--warps", str(tile.warps), "--emit", "asm", "-o", str(code)]
    subprocess.run([command[0], "compile", str(folder / "own.ttir"), *command[1:], *options], check=True)
    return read_code(code, target)


def compile_by_triton(tile: Tile, target: str, folder: pathlib.Path) -> dict[str, float]:
    """Counts of Triton's code of a tile."""
    machine = GPUTarget(*TARGETS[TRITON_TARGETS[target]])
    kind = {"f16": "fp16"}.get(tile.element, tile.element)
    types = {"a": f"*{kind}", "b": f"*{kind}", "c": f"*{kind}", "n": "i32", "k": "i32"}
    known = dict(zip("MNK", tile.sizes)) | {"DEPTH": DEPTH, "SUMS": tl.int32 if tile.element == "i8" else tl.float32}
    divisible = {(index,): [["tt.divisibility", 16]] for index in range(len(types))}
    source = ASTSource(gemm, types | {name: "constexpr" for name in known}, known, divisible)
    options = {"num_warps": tile.warps, "num_stages": STAGES[machine.backend]}
    texts = triton.compile(source, target=machine, options=options).asm
    code = folder / "triton.asm"
    code.write_text(texts["ptx" if "ptx" in texts else "amdgcn"])
    return read_code(code, target)


def measure(tile: Tile, target: str, command: list[str]) -> tuple[float, float]:
    """Instructions of the main loop for [`WORK`] multiply-adds of a warp: ours and Triton's."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        own, other = compile_own(tile, target, command, folder), compile_by_triton(tile, target, folder)
    return WORK * own["loop"] / own["loop_work"], WORK * other["loop"] / other["loop_work"]


def main() -> None:
    """Prints the table or puts it into the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--plugin", action="append", default=[])
    parser.add_argument("--target", action="append")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    targets = asked.target or ["h100", "a100", "mi300x"]
    command = [str(pathlib.Path(asked.command).resolve()), *(part for file in asked.plugin for part in ("--plugin", file))]
    lines = [row("tile", "operands", "warps", *targets), "|---|---|--:|" + "--:|" * len(targets)]
    for tile in TILES:
        pairs = [measure(tile, target, command) for target in targets]
        cells = [f"{own:.1f} / {other:.1f} = {own / other:.2f}" for own, other in pairs]
        lines.append(row("x".join(map(str, tile.sizes)), f"`{tile.element}`", tile.warps, *cells))
    put_tables({"tiles-code": lines}, asked.page, ROOT / "docs" / "synthesis.md")


if __name__ == "__main__":
    main()
