"""Whole programs beside Triton: what is left in the code of the same kernels, and how long compiling takes.

    python3 conformance/peers/programs_beside_triton.py --cases DIR [--target NAME]... [--only TEXT] [--detail]
                                                        [--times N] [--page FILE]

DIR has cases (docs/cases.md) with `NAME.triton.json` beside each: what Triton 3.9.0 makes of the case for four
targets. Ours are compiled by the program `programs` of this package, built here in the profile of the benches;
its assembly is counted in the same classes. Where `ptxas` is along PATH, it says the registers and spills.

With `--times N` compile times are measured, on both sides in this run: each case N times in a warm process, the
median of each stage. That needs Triton's wheel:

    python3 -m venv triton-venv && triton-venv/bin/pip install triton==3.9.0
    PATH=$PWD/triton-venv/lib/python3.x/site-packages/triton/backends/nvidia/bin:$PATH \\
        triton-venv/bin/python conformance/peers/programs_beside_triton.py --cases DIR --times 3

`--page FILE` puts the tables between the marks of a page of docs; without it they are printed. `--detail` lists
cases by how much more ours takes.

Not part of the tests: it needs a package and data that the build does not.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = {"h100": "cuda:90", "a100": "cuda:80", "mi250": "hip:gfx90a", "mi300x": "hip:gfx942"}
ASSEMBLED = {"h100": "sm_90a", "a100": "sm_80"}
# Accesses of shared memory by instructions of lanes; exchanges that only borrow its wires are none.
SHARED = re.compile(r"(ld|st|atom|red)\b.*\.shared|(ld|st)matrix|ds_(?!bpermute|permute|swizzle|nop)")
MNEMONIC = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)", re.M)
LOOPS = re.compile(r"scf\.(for|while)\b")


def shared_of(mnemonics):
    """How many of these instructions, given with their numbers, access shared memory."""
    return sum(count for name, count in mnemonics.items() if SHARED.match(name) and not name.startswith("cp."))


def mnemonics(code):
    """The instructions of an assembly text."""
    return collections.Counter(MNEMONIC.findall(code))


def build():
    """The folder of our program."""
    command = ["cargo", "build", "--quiet", "--profile", "bench", "-p", "tilewright-peers", "--bin", "programs"]
    if subprocess.run(command, cwd=HERE.parent.parent).returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    told = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=HERE, capture_output=True, text=True)
    return pathlib.Path(json.loads(told.stdout)["target_directory"]) / "release" / "programs"


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


def ours(program, target, chosen, folder):
    """What ours makes of each case of a target."""
    command = [str(program), target, str(chosen.cases), str(folder), "--times", str(max(chosen.times, 1)), "--only", chosen.only]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        file = folder / f"{row['case']}.s"
        if "unsupported" not in row:
            row["shared"] = shared_of(mnemonics(file.read_text()))
            row["ptxas"] = ptxas(file, ASSEMBLED[target]) if target in ASSEMBLED else None
        found[row["case"]] = row
    return found


def theirs(cases, target):
    """What Triton makes of each case of a target, as the data has it."""
    found = {}
    for file in sorted(cases.glob("*.triton.json")):
        row = json.loads(file.read_text())["targets"][TARGETS[target]]
        if "error" in row:
            continue
        code = row.get("ptx") or row["amdgcn"]
        spills = row.get("ptxas", {})
        found[file.name.removesuffix(".triton.json")] = {
            "converts": row["ttgir"]["convert_layout"],
            "local_loads": row["ttgir"]["local_load"],
            "shared_bytes": row["shared_bytes"],
            "shared": shared_of(code["mnemonics"]),
            "registers": spills.get("registers"),
            "spills": spills.get("spill_stores_bytes", 0) + spills.get("spill_loads_bytes", 0),
        }
    return found


class Pair:
    """A case on both sides."""

    def __init__(self, name, own, other, loops):
        self.name, self.own, self.other, self.loops = name, own, other, loops

    @property
    def conversions(self):
        return len(self.own["conversions"])

    def spills(self):
        return (self.own["ptxas"] or {}).get("spills", 0)


def pairs(program, target, chosen, folder):
    own, other = ours(program, target, chosen, folder), theirs(chosen.cases, target)
    loops = lambda name: bool(LOOPS.search((chosen.cases / f"{name}.ttir").read_text()))
    both = [name for name in own if name in other and "unsupported" not in own[name]]
    left_out = [name for name in own if name not in both]
    return [Pair(name, own[name], other[name], loops(name)) for name in both], left_out


def row(target, what, some):
    """One line of the table of counts."""
    total = lambda of: sum(of(pair) for pair in some)
    cells = [
        target, what, len(some),
        total(lambda pair: pair.conversions), total(lambda pair: pair.other["converts"]), total(lambda pair: pair.other["local_loads"]),
        total(lambda pair: pair.own["shared_bytes"]), total(lambda pair: pair.other["shared_bytes"]),
        total(lambda pair: pair.own["shared"]), total(lambda pair: pair.other["shared"]),
    ]
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |"


def counts(compared):
    """The lines of the table of counts."""
    lines = ["| target | kernels | cases | conversions, ours | Triton's | its loads from shared memory | shared bytes, ours | Triton's "
             "| shared instructions, ours | Triton's |", "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for target, both in compared.items():
        lines.append(row(target, "without loops", [pair for pair in both if not pair.loops]))
        lines.append(row(target, "with loops", [pair for pair in both if pair.loops]))
    return lines


def registers(compared):
    """The lines of the table of registers and spills, and which cases spill."""
    lines = ["| target | registers, ours | Triton's | cases that spill, ours | Triton's |", "|---|--:|--:|--:|--:|"]
    for target, both in compared.items():
        both = [pair for pair in both if pair.own["ptxas"]]
        if both:
            own, other = (sum(of) for of in zip(*((pair.own["ptxas"]["registers"], pair.other["registers"]) for pair in both)))
            spill = sum(pair.spills() > 0 for pair in both), sum(pair.other["spills"] > 0 for pair in both)
            lines.append(f"| {target} | {own:,} | {other:,} | {spill[0]} | {spill[1]} |")
    return lines


def detail(target, both):
    """Cases by how much more ours takes, for whoever looks for the reason."""
    for what, difference in [
        ("conversions", lambda pair: pair.conversions - pair.other["converts"]),
        ("shared bytes", lambda pair: pair.own["shared_bytes"] - pair.other["shared_bytes"]),
        ("shared instructions", lambda pair: pair.own["shared"] - pair.other["shared"]),
        ("spills", lambda pair: pair.spills() - pair.other["spills"]),
    ]:
        for loops in (False, True):
            print(f"{target}: {what}, {'with' if loops else 'without'} loops")
            some = sorted((pair for pair in both if pair.loops == loops and difference(pair)), key=lambda pair: -difference(pair))
            for pair in some:
                print(f"  {difference(pair):+8} {pair.name}: ours {pair.own['shared_bytes']} B {pair.own['shared']} instr "
                      f"{pair.conversions} conv {pair.spills()} spill; Triton {pair.other['shared_bytes']} B {pair.other['shared']} instr "
                      f"{pair.other['converts']}+{pair.other['local_loads']} conv {pair.other['spills']} spill")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=TARGETS)
    arguments.add_argument("--only", default="", metavar="TEXT", help="only cases whose names have it")
    arguments.add_argument("--times", type=int, default=0, metavar="N")
    arguments.add_argument("--detail", action="store_true")
    arguments.add_argument("--page", type=pathlib.Path)
    arguments.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave the assembly there")
    chosen = arguments.parse_args()
    program = build()
    compared, left_out = {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        for target in chosen.target or TARGETS:
            folder = (chosen.keep or pathlib.Path(temporary)) / target
            compared[target], left_out[target] = pairs(program, target, chosen, folder)
    for target, both in compared.items():
        if chosen.detail:
            detail(target, both)
    print("\n".join(counts(compared) + [""] + registers(compared)))
    for target, names in left_out.items():
        print(f"not compared on {target}: {', '.join(names) or 'none'}")


if __name__ == "__main__":
    main()
