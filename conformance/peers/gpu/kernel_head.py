"""The head of a kernel in our kernel IR (docs/kernel-ir.md): what a launch needs that PTX does not state."""

import dataclasses
import re

KERNEL = re.compile(r"^kernel (\S+?)\((.*)\) lanes (\d+) warps (\d+)(?: blocks (\d+))?(?: registers \d+)? \{$", re.M)
PARAMETER = re.compile(r", (?=%\d+ \S+: )")
SHARED = re.compile(r"^  shared \d+: (\d+) bytes align (\d+)(?: at (\d+))?$", re.M)
MAP = re.compile(
    r"map (?P<bits>\d+) bits box (?P<box>[\dx ]+?)(?: mix \d+ (?P<mask>0x[0-9a-f]+))? outside (?P<outside>\w+)"
    r" rows of %(?P<pointer>\d+) by (?P<strides>[%\dx ]+?)(?: sizes (?P<sizes>[%\dx ]+))?$"
)
# CUtensorMapSwizzle by the mask of address bits.
SWIZZLES = {0: 0, 0x10: 1, 0x30: 2, 0x70: 3}


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """A tensor map that a launch derives from the arguments: strides and sizes are numbers, or parameters such as `%4`."""

    bits: int
    box: list[int]
    swizzle: int
    outside: str
    pointer: int
    strides: list[str]
    sizes: list[str]


@dataclasses.dataclass(frozen=True)
class KernelHead:
    """Threads and shared memory of a block, blocks of a program, and the tensor maps behind the program's own arguments."""

    entry: str
    threads: int
    blocks: int
    shared_bytes: int
    maps: list[TensorMap]


def read_map(text: str) -> TensorMap:
    """A tensor map of a parameter."""
    found = MAP.fullmatch(text)
    if found is None:
        raise ValueError(f"no tensor map: {text}")
    sizes = (found["sizes"] or "").split(" x ") if found["sizes"] else []
    box = list(map(int, found["box"].split(" x ")))
    swizzle, pointer = SWIZZLES[int(found["mask"] or "0", 16)], int(found["pointer"])
    return TensorMap(int(found["bits"]), box, swizzle, found["outside"], pointer, found["strides"].split(" x "), sizes)


def count_shared_bytes(text: str) -> int:
    """Bytes of the shared buffers; one without a place lies behind the last."""
    behind = end = 0
    for size, alignment, at in SHARED.findall(text):
        start = int(at) if at else -(-behind // int(alignment)) * int(alignment)
        behind = start + int(size)
        end = max(end, behind)
    return end


def read_kernel_head(text: str) -> KernelHead:
    """The head of the first kernel of a text."""
    found = KERNEL.search(text)
    if found is None:
        raise ValueError("the text has no kernel")
    entry, parameters, lanes, warps, blocks = found.groups()
    types = [parameter.split(": ", 1)[1] for parameter in PARAMETER.split(parameters)] if parameters else []
    maps = [read_map(kind) for kind in types if kind.startswith("map")]
    return KernelHead(entry, int(lanes) * int(warps), int(blocks or 1), count_shared_bytes(text), maps)
