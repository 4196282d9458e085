"""Matrix work of one iteration of a loop in Triton's TTGIR for AMD GPUs: for `triton_assembly.py`."""

import math
import re

MMA = re.compile(r"(#\w+) = #ttg\.amd_mfma<\{.*?warpsPerCTA = \[([\d, ]*)\], instrShape = \[([\d, ]*)\]")
DOT = re.compile(r"tt\.dot .* : tensor<([\dx]+)x.* -> tensor<([\dx]+)x\w+, (#\w+)>")
LOCATION = re.compile(r" loc\(.*\)$")


def numbers(text: str) -> list[int]:
    """The numbers in a text."""
    return [int(number) for number in re.findall(r"\d+", text)]


def dot_work(line: str, layouts: dict[str, tuple[list[int], list[int]]]) -> int:
    """Multiply-adds of one warp for the dot in a line; 0 if there is none in an MMA layout."""
    found = DOT.search(line)
    if found is None or found[3] not in layouts:
        return 0
    warps, atom = layouts[found[3]]
    tile = [max(math.ceil(size / count), least) for size, count, least in zip(numbers(found[2])[-2:], warps[-2:], atom)]
    return tile[0] * tile[1] * numbers(found[1])[-1]


def read_loop_work(text: str) -> int:
    """Multiply-adds of one warp for the dots in loops, each loop once."""
    layouts = {name: (numbers(warps), numbers(atom)) for name, warps, atom in MMA.findall(text)}
    regions, work = [], 0
    for line in text.splitlines():
        code = LOCATION.sub("", line)
        if code.lstrip().startswith("}"):
            regions.pop()
        if code.endswith("{"):
            regions.append("scf.for" in code or "scf.while" in code)
        if any(regions):
            work += dot_work(code, layouts)
    return work
