"""The sweep: one kernel at one size with many tiles, warps and stages, to rank configurations by their times."""

import dataclasses
from collections.abc import Iterator

from gpu import large_kernels as kernels
from gpu.large_programs import STAGES, LargeProgram, attend, by_rows, multiply, sum_axis, transpose

# Rows and columns of the tile by warps: accumulators of 16 to 128 registers of a lane.
TILES = {
    4: ("64x64", "64x128", "128x64", "128x128", "64x256", "256x64"),
    8: ("64x64", "64x128", "128x64", "128x128", "64x256", "256x64", "128x256", "256x128"),
}
# Elements of K, and stages.
DEPTHS = ((64, 3), (32, 4))
# Further ones of two tiles with eight warps, in one order of B.
FURTHER_DEPTHS = ((32, 2), (64, 2), (64, 4), (128, 2))
FURTHER_TILES = ("128x128", "128x256")
# Keys and warps by queries.
ATTENTION_TILES = (("64", 4), ("128", 4), ("128", 8))
ATTENTION_KEYS = (32, 64, 128)
TRANSPOSITIONS = ("32x32", "64x64", "128x128", "32x128", "128x32")
SUMMATIONS = ("1x1024", "4x256", "16x64", "16x256")


def take_part(program: LargeProgram, group: str, stages: int = STAGES) -> LargeProgram:
    """The program in a group of configurations of one problem; the library is not timed. Stages are a part of the name."""
    changed = {"name": f"{program.name}_s{stages}", "num_stages": stages, "group": group, "library": False}
    return dataclasses.replace(program, case=program.case | changed)


def sweep_multiplies(order: str) -> Iterator[LargeProgram]:
    """Matrix multiplications with operands in one order."""
    chosen = [(tile, warps, *depth) for warps, tiles in TILES.items() for tile in tiles for depth in DEPTHS]
    if order == "nn":
        chosen += [(tile, 8, *depth) for tile in FURTHER_TILES for depth in FURTHER_DEPTHS]
    for tile, warps, depth, stages in chosen:
        yield take_part(multiply("f16", order, f"{tile}x{depth}", warps), f"multiplies {order}", stages)


def sweep_attention(depth: int) -> Iterator[LargeProgram]:
    """Attention over heads of one depth."""
    for rows, warps in ATTENTION_TILES:
        for keys in ATTENTION_KEYS:
            yield take_part(attend("f16", 32, depth, False, f"{rows}x{keys}", warps), f"attention d{depth}")


def sweep_programs() -> Iterator[LargeProgram]:
    """All programs of the sweep."""
    for order in ("nn", "nt"):
        yield from sweep_multiplies(order)
    for depth in (64, 128):
        yield from sweep_attention(depth)
    for warps in (1, 2, 4, 8, 16):
        yield take_part(by_rows(kernels.softmax, "f16", 16384, 4096, warps), "softmax")
    for warps in (4, 8):
        yield from (take_part(transpose("f16", 8192, tile, warps), "transposes") for tile in TRANSPOSITIONS)
        for tile in SUMMATIONS:
            yield take_part(sum_axis(kernels.row_sum, "f32", 8192, 8192, tile, warps), "row sums")
