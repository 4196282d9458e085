"""The large programs: kernels of `large_kernels.py` with sizes, tiles, warps and tensors.

A program has the form of a case (docs/tile-ir.md) without data: its tensors are made on the device by the rule `make`, and
`reference` names the function that computes the expected result there. `work` has the floating-point operations or the bytes
that the rate counts.
"""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from gpu import large_kernels as kernels

SIZE = 4096
GROUP = 8
STAGES = 3
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "i8": 1, "f8e4m3": 1}
# Types of the sum and of the result by the type of the operands.
RESULTS = {
    "f16": ("f32", "f16"),
    "bf16": ("f32", "bf16"),
    "f32": ("f32", "f32"),
    "i8": ("i32", "i32"),
    "f8e4m3": ("f32", "f16"),
}
NAMES = {"i8": "s8"}
NORMAL = {"distribution": "normal", "scale": 1.0}
INTEGERS = {"distribution": "integers"}
# Scales that keep sums of 8-bit integers within the range of f16.
SMALL = NORMAL | {"scale": 0.01}

# Operands, order of B, tile, warps; `accf16` sums in f16.
MULTIPLIES = (
    *(("f16", "nn", tile, warps) for tile, warps in (("64x128x32", 4), ("64x256x64", 4), ("128x64x64", 4), ("128x128x32", 4))),
    *(("f16", "nn", tile, warps) for tile, warps in (("128x128x64", 4), ("128x128x64", 8), ("128x256x32", 8))),
    *(("f16", "nn", tile, warps) for tile, warps in (("128x256x64", 8), ("256x128x64", 8))),
    *(("f16", "nt", tile, warps) for tile, warps in (("128x128x32", 4), ("128x128x64", 4), ("128x128x64", 8))),
    ("bf16", "nn", "128x128x64", 8),
    ("bf16", "nt", "128x256x64", 8),
    ("f32", "nn", "128x128x32", 8),
    ("f32", "nt", "128x128x32", 8),
    ("i8", "nn", "128x128x64", 8),
    ("i8", "nt", "128x128x128", 8),
    ("f8e4m3", "nn", "128x128x64", 8),
    ("f8e4m3", "nt", "128x128x128", 4),
    ("f8e4m3", "nt", "128x128x128", 8),
)
# Operands, heads, depth, causal, tile, warps.
ATTENTIONS = (
    ("f16", 64, 64, False, "64x64", 4),
    ("f16", 64, 64, False, "128x64", 4),
    ("f16", 64, 64, False, "128x64", 8),
    ("f16", 64, 64, False, "128x128", 8),
    ("f16", 64, 64, True, "128x64", 4),
    ("f16", 32, 128, False, "128x64", 8),
    ("bf16", 32, 128, True, "64x64", 4),
)
ATTENTION_LENGTH = 2048


@dataclasses.dataclass(frozen=True)
class LargeProgram:
    """A kernel, its compile-time constants, and its launch in the form of a case."""

    kernel: Any
    constants: dict[str, Any]
    case: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the program."""
        return str(self.case["name"])


def tensor(dtype: str, *shape: int, make: dict[str, Any] | None = None, role: str = "input") -> dict[str, Any]:
    """A buffer; without a rule that makes it, an output."""
    size = math.prod(shape) * BYTES[dtype]
    return {"dtype": dtype, "shape": list(shape), "bytes": size, "role": role if make else "output", "make": make}


def arguments(buffers: dict[str, Any], scalars: dict[str, int | float], plain: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The arguments of a launch: pointers, then numbers; integers but the `plain` ones are specialised as Triton does."""
    found: list[dict[str, Any]] = [
        {"name": name, "kind": "pointer", "dtype": buffer["dtype"], "buffer": name, "divisibility": 16}
        for name, buffer in buffers.items()
    ]
    for name, value in scalars.items():
        one = {"name": name, "kind": "scalar", "dtype": "f32" if isinstance(value, float) else "i32", "value": value}
        is_multiple = isinstance(value, int) and value % 16 == 0 and name not in plain
        found.append(one | ({"divisibility": 16} if is_multiple else {}))
    return found


def make_program(
    name: str,
    kernel: Any,
    grid: tuple[int, ...],
    warps: int,
    buffers: dict[str, Any],
    scalars: dict[str, int | float],
    constants: dict[str, Any],
    plain: tuple[str, ...] = (),
    **more: Any,
) -> LargeProgram:
    """A program; `more` has its group, reference and work."""
    whole_grid = [*grid, 1, 1][:3]
    case = {
        "name": f"{name}_w{warps}",
        "entry": kernel.__name__,
        "grid": whole_grid,
        "num_warps": warps,
        "num_stages": STAGES,
        "args": arguments(buffers, scalars, plain),
        "buffers": buffers,
        **more,
    }
    return LargeProgram(kernel, constants, case)


def count_tiles(rows: int, columns: int, tile: dict[str, int]) -> int:
    """The number of programs of a matrix multiplication."""
    return -(-rows // tile["BM"]) * -(-columns // tile["BN"])


def read_tile(text: str) -> dict[str, int]:
    """The constants of a tile, from a text such as `128x64x32`."""
    return dict(zip(("BM", "BN", "BK"), map(int, text.split("x"))))


def multiply(dtype: str, order: str, tile_text: str, warps: int, *, suffix: str = "", name: str = "") -> LargeProgram:
    """A matrix multiplication; B is N-contiguous (`nn`), K-contiguous (`nt`), or both operands have any strides (`strides`)."""
    tile, depth = read_tile(tile_text), SIZE // 2 if dtype == "f32" else SIZE
    accumulated, result = ("f16", "f16") if suffix else RESULTS[dtype]
    make = INTEGERS if dtype == "i8" else NORMAL
    shape_b = (SIZE, depth) if order == "nt" else (depth, SIZE)
    buffers = {
        "a": tensor(dtype, SIZE, depth, make=make),
        "b": tensor(dtype, *shape_b, make=make),
        "c": tensor(result, SIZE, SIZE),
    }
    steps_b = {"bn": depth, "bk": 1} if order == "nt" else {"bk": SIZE, "bn": 1}
    strides = {"am": depth, "ak": 1, **steps_b, "cm": SIZE, "cn": 1}
    # Triton makes an integer that is 1 a constant.
    ones = [] if order == "strides" else [key for key, value in strides.items() if value == 1]
    varying = {key: strides[key] for key in ("am", "ak", "bk", "bn", "cm", "cn") if key not in ones}
    return make_program(
        f"matmul_{NAMES.get(dtype, dtype)}_{name or order}_{tile_text}",
        kernels.matmul,
        (count_tiles(SIZE, SIZE, tile),),
        warps,
        buffers,
        {"M": SIZE, "N": SIZE, "K": depth, **varying},
        {**tile, "GROUP": GROUP, "SUM": accumulated, **dict.fromkeys(ones, 1)},
        plain=tuple(strides) if order == "strides" else (),
        group="matrix multiplies",
        reference={"name": "multiply", "transposed": order == "nt"},
        work={"operations": 2 * SIZE * SIZE * depth},
        library=dtype in ("f16", "bf16"),
    )


def rename(program: LargeProgram, suffix: str) -> LargeProgram:
    """The program with a longer name."""
    return dataclasses.replace(program, case=program.case | {"name": program.name + suffix})


def other_multiplies() -> Iterator[LargeProgram]:
    """Matrix multiplications that have a kernel of their own."""
    tile, work = read_tile("64x128x64"), {"operations": 2 * SIZE**3}
    scalars: dict[str, int | float] = {"M": SIZE, "N": SIZE, "K": SIZE}
    buffers = {
        "a": tensor("f16", SIZE, SIZE, make=NORMAL),
        "b": tensor("i8", SIZE, SIZE, make=INTEGERS),
        "scale": tensor("f32", SIZE, make=SMALL),
        "c": tensor("f16", SIZE, SIZE),
    }
    strides: dict[str, int | float] = {"am": SIZE, "bk": SIZE, "cm": SIZE}
    yield make_program(
        "matmul_dequant_s8_f16_64x128x64",
        kernels.matmul_dequant,
        (count_tiles(SIZE, SIZE, tile),),
        4,
        buffers,
        scalars | strides,
        {**tile, "GROUP": GROUP},
        group="matrix multiplies",
        reference={"name": "multiply_dequantized"},
        work=work,
    )
    tile = read_tile("128x128x64")
    buffers = {**{name: tensor("f16", SIZE, SIZE, make=NORMAL) for name in "ab"}, "c": tensor("f16", SIZE, SIZE)}
    yield make_program(
        "matmul_descriptors_f16_128x128x64",
        kernels.matmul_descriptors,
        (count_tiles(SIZE, SIZE, tile),),
        4,
        buffers,
        scalars,
        {**tile, "GROUP": GROUP},
        group="matrix multiplies",
        reference={"name": "multiply", "transposed": True},
        work=work,
        library=True,
    )


def attend(dtype: str, heads: int, depth: int, causal: bool, tile_text: str, warps: int) -> LargeProgram:
    """An attention."""
    tile, length = read_tile(tile_text), ATTENTION_LENGTH
    buffers = {
        **{name: tensor(dtype, heads, length, depth, make=NORMAL) for name in "qkv"},
        "o": tensor(dtype, heads, length, depth),
    }
    return make_program(
        f"attention_{dtype}_h{heads}_l{length}_d{depth}_{'causal_' if causal else ''}{tile_text}",
        kernels.attention,
        (length // tile["BM"], heads),
        warps,
        buffers,
        {"L": length, "scale": math.log2(math.e) / math.sqrt(depth)},
        {"D": depth, **tile, "CAUSAL": causal},
        group="attention",
        reference={"name": "attend", "causal": causal},
        work={"operations": 4 * heads * length * length * depth // (2 if causal else 1)},
    )


def by_rows(kernel: Any, dtype: str, rows: int, columns: int, warps: int) -> LargeProgram:
    """A program that reads and writes rows: softmax, layer normalization, or cumulative sums."""
    name, shape = kernel.__name__, (rows, columns)
    parameters = {key: tensor(dtype, columns, make=NORMAL) for key in ("weight", "bias")} if name == "layernorm" else {}
    buffers = {"x": tensor(dtype, *shape, make=NORMAL), **parameters, "y": tensor(dtype, *shape)}
    return make_program(
        f"{name}_{dtype}_{rows}x{columns}",
        kernel,
        (rows,),
        warps,
        buffers,
        {"stride": columns, "columns": columns, **({"epsilon": 1e-5} if name == "layernorm" else {})},
        {"BLOCK": 1 << (columns - 1).bit_length()},
        group="other",
        reference={"name": name},
        work={"bytes": 2 * rows * columns * BYTES[dtype]},
    )


def elementwise(kernel: Any, dtype: str, block: int, inputs: str) -> LargeProgram:
    """A program over 2^26 elements."""
    count = 1 << 26
    output = chr(ord(inputs[-1]) + 1)
    buffers = {**{name: tensor(dtype, count, make=NORMAL) for name in inputs}, output: tensor(dtype, count)}
    return make_program(
        f"{kernel.__name__}_{dtype}_2p26_b{block}",
        kernel,
        (count // block,),
        4,
        buffers,
        {"count": count},
        {"BLOCK": block},
        group="other",
        reference={"name": kernel.__name__},
        work={"bytes": len(buffers) * count * BYTES[dtype]},
    )


def transpose(dtype: str, size: int, tile_text: str, warps: int = 4) -> LargeProgram:
    """A transposition of a square matrix."""
    tile = read_tile(tile_text)
    make = INTEGERS if dtype == "i8" else NORMAL
    return make_program(
        f"transpose_{NAMES.get(dtype, dtype)}_{size}_{tile_text}",
        kernels.transpose,
        (size // tile["BM"], size // tile["BN"]),
        warps,
        {"x": tensor(dtype, size, size, make=make), "y": tensor(dtype, size, size)},
        {"M": size, "N": size},
        tile,
        group="other",
        reference={"name": "transpose"},
        work={"bytes": 2 * size * size * BYTES[dtype]},
    )


def sum_axis(kernel: Any, dtype: str, rows: int, columns: int, tile_text: str, warps: int = 4) -> LargeProgram:
    """Sums along one axis of a matrix."""
    tile, is_row = read_tile(tile_text), kernel is kernels.row_sum
    kept = rows if is_row else columns
    scalars: dict[str, int | float] = {"N": columns} if is_row else {"M": rows, "N": columns}
    return make_program(
        f"{kernel.__name__}_{dtype}_{rows}x{columns}_{tile_text}",
        kernel,
        (kept // tile["BM" if is_row else "BN"],),
        warps,
        {"x": tensor(dtype, rows, columns, make=NORMAL), "y": tensor("f32", kept)},
        scalars,
        tile,
        group="other",
        reference={"name": kernel.__name__},
        work={"bytes": rows * columns * BYTES[dtype]},
    )


def large_programs() -> Iterator[LargeProgram]:
    """All large programs."""
    yield from (multiply(*row) for row in MULTIPLIES)
    yield rename(multiply("f16", "nn", "128x128x64", 4, suffix="accf16"), "_accf16")
    yield multiply("f16", "strides", "128x128x64", 4)
    yield from other_multiplies()
    yield from (attend(*row) for row in ATTENTIONS)
    yield by_rows(kernels.softmax, "f32", 16384, 4000, 8)
    yield by_rows(kernels.softmax, "f16", 16384, 4096, 4)
    yield by_rows(kernels.softmax, "bf16", 65536, 781, 4)
    yield by_rows(kernels.layernorm, "f16", 16384, 4096, 8)
    yield by_rows(kernels.layernorm, "f32", 32768, 1024, 4)
    yield by_rows(kernels.row_scan, "f32", 32768, 2048, 4)
    yield elementwise(kernels.add, "f16", 1024, "xy")
    yield elementwise(kernels.add, "f32", 1024, "xy")
    yield elementwise(kernels.gelu, "f16", 2048, "x")
    for dtype, size, tile in (("f16", 8192, "64x64"), ("f16", 8192, "128x128"), ("f32", 8192, "64x64")):
        yield transpose(dtype, size, tile)
    for tile in ("64x64", "128x128"):
        yield transpose("i8", 16384, tile)
    for dtype in ("f16", "f32"):
        yield sum_axis(kernels.row_sum, dtype, 8192, 8192, "16x256")
    yield sum_axis(kernels.column_sum, "f32", 8192, 16384, "64x32")
