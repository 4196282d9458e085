"""Checks a prepared folder without a GPU: its files exist, and its code has the entries and parameters of the launches."""

import pathlib
import struct
from collections.abc import Iterator
from typing import Any

SIDES = ("ours", "triton")
MAP_BYTES = 128
# Attributes of a section `.nv.info.NAME`: the size of all parameters, and one for each parameter.
ALL_PARAMETERS, ONE_PARAMETER = 0x19, 0x17
# Forms of an attribute: only the last two have other lengths than their header of 4 bytes.
HAS_BYTES = 4


def read_sections(cubin: bytes) -> dict[str, bytes]:
    """The sections of an object by name."""
    table = struct.unpack_from("<Q", cubin, 40)[0]
    size, number, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + size * index) for index in range(number)]
    text = cubin[headers[names][4] : headers[names][4] + headers[names][5]]
    return {text[one[0] : text.index(b"\0", one[0])].decode(): cubin[one[4] : one[4] + one[5]] for one in headers}


def read_parameters(cubin: bytes, entry: str) -> dict[int, int] | None:
    """The size of each parameter of a kernel by its number; None if the object has no such kernel."""
    info = read_sections(cubin).get(f".nv.info.{entry}")
    if info is None:
        return None
    at, found = 0, dict[int, int]()
    while at + 4 <= len(info):
        form, attribute, length = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != HAS_BYTES:
            continue
        if attribute == ONE_PARAMETER:
            _, number, _, packed = struct.unpack_from("<IHHI", info, at)
            found[number] = packed >> 18 & 0x3FFF
        at += length
    return found


def expected_sizes(arguments: list[dict[str, Any]]) -> dict[int, int]:
    """The size of each argument of a launch."""
    sizes = {"map": MAP_BYTES, "scratch": 8}
    return {number: sizes.get(one["kind"]) or one["size"] for number, one in enumerate(arguments)}


def find_faults(folder: pathlib.Path, index: dict[str, Any]) -> list[str]:
    """The faults of all programs."""
    programs = [(name, program) for part in ("cases", "large", "sweep") for name, program in index[part].items()]
    faults = [fault for name, program in programs for side in SIDES for fault in code_faults(folder, name, side, program[side])]
    buffers = [(name, buffer) for name, program in index["cases"].items() for buffer in program["buffers"].values()]
    files = [(name, file) for name, buffer in buffers for file in (buffer["before"], buffer["after"]) if file]
    return faults + [f"{name}: {file} is missing" for name, file in files if not (folder / file).exists()]


def code_faults(folder: pathlib.Path, name: str, side: str, code: dict[str, Any]) -> Iterator[str]:
    """The faults of one program by one compiler."""
    if "cubin" not in code:
        yield f"{name} ({side}): {code['error']}"
        return
    if not (folder / code["cubin"]).exists():
        yield f"{name} ({side}): {code['cubin']} is missing"
        return
    parameters = read_parameters((folder / code["cubin"]).read_bytes(), code["entry"])
    if parameters != expected_sizes(code["arguments"]):
        yield f"{name} ({side}): its code takes {parameters}, the launch passes {expected_sizes(code['arguments'])}"
