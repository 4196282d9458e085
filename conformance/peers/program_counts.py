"""What is in the code of a case, ours and Triton's: for `programs_beside_triton.py`."""

import collections
import json
import re
import shutil
import subprocess
import sys

# Names of our targets, and of the same in Triton's data.
TARGETS = {"h100": "cuda:90", "a100": "cuda:80", "mi250": "hip:gfx90a", "mi300x": "hip:gfx942"}
# What the vendor's assembler is told, where it is at hand.
ASSEMBLED = {"h100": "sm_90a", "a100": "sm_80"}
# Accesses of shared memory by instructions of lanes, however wide. Exchanges that only borrow its wires are none.
SHARED = re.compile(r"(ld|st|atom|red)\b.*\.shared|(ld|st)matrix|ds_(?!bpermute|permute|swizzle|nop)")
MNEMONIC = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)", re.M)
LOOPS = re.compile(r"scf\.(for|while)\b")


def shared_of(mnemonics):
    """How many of these instructions, given with their numbers, access shared memory."""
    return sum(count for name, count in mnemonics.items() if SHARED.match(name))


def ptxas(file, architecture):
    """Registers and bytes of spills, as the vendor's assembler says; None where it is not at hand."""
    if shutil.which("ptxas") is None:
        return None
    command = ["ptxas", "-v", f"--gpu-name={architecture}", str(file), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = done.stdout + done.stderr
    number = lambda pattern: max((int(found) for found in re.findall(pattern, said)), default=None)
    registers = number(r"Used (\d+) registers")
    if done.returncode != 0 or registers is None:
        sys.exit(f"{' '.join(command)}\n{said}")
    return {"registers": registers, "spills": (number(r"(\d+) bytes spill stores") or 0) + (number(r"(\d+) bytes spill loads") or 0)}


def ours(program, target, cases, folder, times, only):
    """What ours makes of each case for a target."""
    command = [str(program), target, str(cases), str(folder), "--times", str(max(times, 1)), "--only", only]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        file = folder / f"{row['case']}.s"
        if "unsupported" not in row:
            row["shared"] = shared_of(collections.Counter(MNEMONIC.findall(file.read_text())))
            row["ptxas"] = ptxas(file, ASSEMBLED[target]) if target in ASSEMBLED else None
        found[row["case"]] = row
    return found


def theirs(cases, target):
    """What Triton makes of each case for a target, as the data has it; cases that it does not compile are left out."""
    found = {}
    for file in sorted(cases.glob("*.triton.json")):
        row = json.loads(file.read_text())["targets"][TARGETS[target]]
        if "error" in row:
            continue
        code = row.get("ptx") or row["amdgcn"]
        spills = row.get("ptxas", {})
        found[file.name.removesuffix(".triton.json")] = {
            "converts": row["ttgir"]["convert_layout"],
            "loads": row["ttgir"]["local_load"],
            "shared_bytes": row["shared_bytes"],
            "shared": shared_of(code["mnemonics"]),
            "registers": spills.get("registers"),
            "spills": spills.get("spill_stores_bytes", 0) + spills.get("spill_loads_bytes", 0),
        }
    return found


class Pair:
    """A case on both sides."""

    def __init__(self, name, own, other, text):
        self.name, self.own, self.other = name, own, other
        self.loops = bool(LOOPS.search(text))
        # A product has two factors. Where Triton unrolls or pipelines, it loads parts of them several times; they are
        # one change of the layout all the same.
        factors = 2 * len(re.findall(r"\btt\.dot(?:_scaled)?\b", text))
        self.of_factors = min(other["loads"], factors)

    @property
    def conversions(self):
        return len(self.own["conversions"])

    @property
    def spills(self):
        return (self.own["ptxas"] or {}).get("spills", 0)


def pairs(cases, own, other):
    """The cases that both sides compile, and the names of the others."""
    both = [name for name in own if name in other and "unsupported" not in own[name]]
    text = lambda name: (cases / f"{name}.ttir").read_text()
    return [Pair(name, own[name], other[name], text(name)) for name in both], [name for name in own if name not in both]
