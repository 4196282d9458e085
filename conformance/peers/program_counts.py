"""Counts in the code of a case, ours and Triton's: for `programs_beside_triton.py`."""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

Counts = dict[str, Any]
# Names of our targets, and their names in Triton's data.
TARGETS = {"h100": "cuda:90", "a100": "cuda:80", "mi250": "hip:gfx90a", "mi300x": "hip:gfx942"}
# The processor for the vendor's assembler.
ASSEMBLED = {"h100": "sm_90a", "a100": "sm_80"}
# Accesses of shared memory by instructions of lanes, of any width. Shuffles that only use its wires are none.
SHARED = re.compile(r"(ld|st|atom|red)\b.*\.shared|(ld|st)matrix|ds_(?!bpermute|permute|swizzle|nop)")
MNEMONIC = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)", re.MULTILINE)
LOOPS = re.compile(r"scf\.(for|while)\b")


def count_shared(mnemonics: Mapping[str, int]) -> int:
    """Number of these instructions, given with their counts, that access shared memory."""
    return sum(count for name, count in mnemonics.items() if SHARED.match(name))


def assemble(file: pathlib.Path, architecture: str) -> dict[str, int] | None:
    """Registers and bytes of spills, as the vendor's assembler reports them; None if it is not installed."""
    if shutil.which("ptxas") is None:
        return None
    command = ["ptxas", "-v", f"--gpu-name={architecture}", str(file), "-o", "/dev/null"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    report = done.stdout + done.stderr

    def greatest(pattern: str) -> int | None:
        return max((int(found) for found in re.findall(pattern, report)), default=None)

    registers = greatest(r"Used (\d+) registers")
    if done.returncode != 0 or registers is None:
        sys.exit(f"{' '.join(command)}\n{report}")
    spills = (greatest(rf"(\d+) bytes spill {access}") or 0 for access in ("stores", "loads"))
    return {"registers": registers, "spills": sum(spills)}


def count_ours(
    program: pathlib.Path, target: str, cases: pathlib.Path, folder: pathlib.Path, times: int, only: str
) -> dict[str, Counts]:
    """Our counts of each case for a target."""
    command = [str(program), target, str(cases), str(folder), "--times", str(max(times, 1)), "--only", only]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    found: dict[str, Counts] = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        file = folder / f"{row['case']}.s"
        if "unsupported" not in row:
            row["shared"] = count_shared(collections.Counter(MNEMONIC.findall(file.read_text())))
            row["ptxas"] = assemble(file, ASSEMBLED[target]) if target in ASSEMBLED else None
        found[row["case"]] = row
    return found


def count_triton(cases: pathlib.Path, target: str) -> dict[str, Counts]:
    """Triton's counts of each case for a target, from the data; cases that it does not compile are left out."""
    found: dict[str, Counts] = {}
    for file in sorted(cases.glob("*.triton.json")):
        row = json.loads(file.read_text())["targets"][TARGETS[target]]
        if "error" in row:
            continue
        code = row.get("ptx") or row["amdgcn"]
        resources = row.get("ptxas", {})
        found[file.name.removesuffix(".triton.json")] = {
            "converts": row["ttgir"]["convert_layout"],
            "loads": row["ttgir"]["local_load"],
            "shared_bytes": row["shared_bytes"],
            "shared": count_shared(code["mnemonics"]),
            "registers": resources.get("registers"),
            "spills": resources.get("spill_stores_bytes", 0) + resources.get("spill_loads_bytes", 0),
        }
    return found


class Pair:
    """A case on both sides."""

    def __init__(self, name: str, own: Counts, other: Counts, text: str) -> None:
        self.name, self.own, self.other = name, own, other
        self.loops = bool(LOOPS.search(text))
        # A dot has two operands. If Triton unrolls or pipelines a loop, it loads parts of an operand several times; they
        # count as one change of the layout.
        operands = 2 * len(re.findall(r"\btt\.dot(?:_scaled)?\b", text))
        self.operand_loads: int = min(other["loads"], operands)

    @property
    def conversions(self) -> int:
        """Number of our layout conversions."""
        return len(self.own["conversions"])

    @property
    def spills(self) -> int:
        """Our bytes of spills; 0 without an assembler."""
        spills: int = (self.own["ptxas"] or {}).get("spills", 0)
        return spills


def pair_cases(cases: pathlib.Path, own: dict[str, Counts], other: dict[str, Counts]) -> tuple[list[Pair], list[str]]:
    """The cases that both sides compile, and the names of the others."""
    both = [name for name in own if name in other and "unsupported" not in own[name]]
    pairs = [Pair(name, own[name], other[name], (cases / f"{name}.ttir").read_text()) for name in both]
    return pairs, [name for name in own if name not in both]
