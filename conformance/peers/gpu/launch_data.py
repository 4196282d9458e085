"""Launch data of a program by one compiler: grid, threads, shared memory and arguments, resolved to numbers and buffers."""

import math
import pathlib
import struct
from typing import Any

from gpu.kernel_head import TensorMap, read_kernel_head

STATIC_SHARED_BYTES = 48 * 1024
FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
# Types that are the upper bytes of another one, and how many bytes those leave out.
UPPER_BYTES = {"bf16": ("f32", 2), "f8e5m2": ("f16", 1)}


def encode_number(value: float, dtype: str) -> bytes:
    """The bytes of a number that the type can represent."""
    if dtype in FORMATS:
        return struct.pack(FORMATS[dtype], value)
    if dtype in UPPER_BYTES:
        wide, left_out = UPPER_BYTES[dtype]
        return encode_number(value, wide)[left_out:]
    if dtype == "f8e4m3":
        mantissa, exponent = math.frexp(value)
        return bytes([exponent + 6 << 3 | int(16 * mantissa) - 8])
    size = max(int(dtype[1:]), 8) // 8
    return (int(value) % (1 << 8 * size)).to_bytes(size, "little")


def encode_scalar(argument: dict[str, Any]) -> dict[str, Any]:
    """A number by its bits."""
    data = encode_number(argument["value"], argument["dtype"])
    return {"kind": "scalar", "size": len(data), "bits": int.from_bytes(data, "little")}


def encode_arguments(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments of the program itself."""
    return [
        {"kind": "buffer", "size": 8, "buffer": one["buffer"]} if one["kind"] == "pointer" else encode_scalar(one)
        for one in case["args"]
    ]


def resolve_map(tensor_map: TensorMap, case: dict[str, Any]) -> dict[str, Any]:
    """A tensor map with the sizes and the strides in bytes that the launch gives it.

    Without sizes, each size is the quotient of two strides, and the last one that of the buffer's bytes and the stride.
    """

    def number(extent: str) -> int:
        return int(case["args"][int(extent[1:])]["value"]) if extent.startswith("%") else int(extent)

    buffer = case["args"][tensor_map.pointer]["buffer"]
    strides = [number(stride) * tensor_map.bits // 8 for stride in tensor_map.strides]
    sizes = [number(size) for size in tensor_map.sizes]
    if not sizes:
        ends = [*strides[1:], case["buffers"][buffer]["bytes"]]
        sizes = [end // stride for stride, end in zip(strides, ends)]
    shape = {"bits": tensor_map.bits, "box": tensor_map.box, "swizzle": tensor_map.swizzle, "outside": tensor_map.outside}
    return {"kind": "map", "buffer": buffer, **shape, "sizes": sizes, "strides": strides}


def own_launch(case: dict[str, Any], kernel: pathlib.Path) -> dict[str, Any]:
    """The launch of our code; `kernel` has the kernel IR."""
    head = read_kernel_head(kernel.read_text())
    x, y, z = case["grid"]
    return {
        "entry": head.entry,
        "grid": [x * head.blocks, y, z],
        "threads": head.threads,
        "shared_bytes": head.shared_bytes,
        # Less shared memory is static, so that the launch states none.
        "dynamic_shared_bytes": head.shared_bytes if head.shared_bytes > STATIC_SHARED_BYTES else 0,
        "arguments": encode_arguments(case) + [resolve_map(one, case) for one in head.maps],
    }


def triton_launch(case: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """The launch of Triton's code; `metadata` is what `triton_assembly.py` wrote. All its shared memory is dynamic."""
    return {
        "entry": case["entry"],
        "grid": case["grid"],
        "threads": 32 * metadata["warps"],
        "shared_bytes": metadata["shared_bytes"],
        "dynamic_shared_bytes": metadata["shared_bytes"],
        "arguments": encode_arguments(case) + [{"kind": "scratch", "bytes": size} for size in metadata["scratch_bytes"]],
    }
