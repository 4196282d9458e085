"""Machine code of the same tile programs, Triton's beside ours, without a GPU.

    python3 conformance/peers/machine_code_beside_triton.py COMMAND --cases DIR [--target NAME]... [--only TEXT] [--ptx FOLDER]
                                                            [--record FOLDER] [--worst N] [--keep FOLDER] [--page]

COMMAND is `tilewright`; DIR has cases (docs/tile-ir.md). Both sides get the same text, warps and stages. For NVIDIA GPUs, both
get the same `ptxas`: the newest one of Triton's wheel (`pip install triton==3.9.0` for this Python), which also has `nvdisasm`.
For AMD GPUs, the assembly that LLVM prints is compared. With `--ptx`, Triton's PTX or assembly comes from a folder that
`triton_assembly.py` wrote for each target.

Ours over Triton's, by class of kernel, in geometric means:
  all     instructions that the kernel can reach
  loop    instructions of the heaviest loop (`machine_code.py`) for the same matrix work
  issue   cycles of a scheduler to issue that loop, matrix instructions apart, for the same work
No count of a loop without matrix work stands for its work on both sides: a lane of one side loads what lanes of the other
shuffle, so that bytes read reward repeated loads. `executed_beside_triton.py` compares such loops by what is executed for the
same inputs. AMD GPUs have no such counts, so their loops without matrix work are compared for the same bytes read.
On AMD GPUs, the matrix work of a loop is the program's: products that several warps repeat count once. So one iteration of the
program's loop is compared; Triton's TTGIR states the work of a warp in an iteration, repeated products included, and thus how
many iterations of it the loop of the machine code has (`loop_work.py`). Ours has one.
and sums of registers, bytes of spills, and global loads and stores. Static: each instruction counts once, however often it
runs; `executed_beside_triton.py` counts what is executed. `--worst N` lists the N kernels with the greatest ratios; `--keep`
leaves PTX and machine code in a folder; `--page` puts the tables of the compared targets into docs/results.md.

`machine_code_above.json` has the kernels of NVIDIA GPUs with more than 1.05 times Triton's instructions, and the reason for
each; `loads_above.json` those of AMD GPUs with more global loads. A prefetching loop has its first loads before the loop too;
they count once. With `--page`, the script fails if a kernel above is not listed, or a listed one is not above.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import amdgcn
import sass
from case_classes import class_rows, classify
from case_launch import read_launch
from machine_code import summarize
from reasons import above_table, check_reasons
from record import write_record
from tables import HERE, put_tables, row
from triton_code import PROCESSORS, TRITON_TARGETS, assembler_version, compile_by_triton, find_assembler, run_assembler

Counts = dict[str, float]
# Kernels with a greater ratio of all instructions need a reason.
MOST = 1.05
REASONS = {False: HERE / "machine_code_above.json", True: HERE / "loads_above.json"}
# The counts that are committed: without a disassembler, instructions in an object or in assembly.
RESOURCES = ("registers", "spills")


def is_amd(target: str) -> bool:
    """Whether a target is an AMD GPU."""
    return target not in PROCESSORS


def code_form(target: str) -> str:
    """The name of the form of code that both sides give, which is its suffix."""
    return "amdgcn" if is_amd(target) else "ptx"


def measure(code: pathlib.Path, target: str) -> Counts:
    """Counts of the machine code of a text."""
    if not is_amd(target):
        return assemble(code, target)
    text = code.read_text()
    return summarize(amdgcn.read_lines(text), target) | amdgcn.read_resources(text)


def assemble(ptx: pathlib.Path, target: str) -> Counts:
    """Counts of the machine code that the assembler makes of a text."""
    cubin, resources = run_assembler(ptx, PROCESSORS[target])
    code = subprocess.run([find_assembler()[1], "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    ptx.with_suffix(".sass").write_text(code)
    counts, encoded = summarize(sass.read_lines(code), target), sass.count_encoded(cubin.read_bytes())
    # All code of a kernel is reached but the branch to itself that ends it.
    if abs(counts["instructions"] - encoded) > 1:
        raise ValueError(f"the control-flow graph has {counts['instructions']} of {encoded} instructions")
    return counts | {"encoded": encoded} | resources


def compile_own(command: str, target: str, case: pathlib.Path, folder: pathlib.Path, *options: str) -> pathlib.Path:
    """Our code of a case; `options` are further ones of the command."""
    launch = read_launch(case, is_amd(target))
    sizes = ["--warps", str(launch["num_warps"]), *(["--stages", str(launch["num_stages"])] if "num_stages" in launch else [])]
    emitted = [command, "compile", "--target", target, "--opt", "3", *sizes, *options, "--emit", "asm", str(case)]
    done = subprocess.run(emitted, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"ours: {done.stderr[:200]}")
    code = folder / f"{case.stem}.ours.{code_form(target)}"
    code.write_text(done.stdout)
    return code


class Pair:
    """A case on both sides."""

    def __init__(self, name: str, target: str, kind: str, own: Counts, other: Counts) -> None:
        self.name, self.target, self.kind, self.own, self.other = name, target, kind, own, other

    @property
    def all(self) -> float:
        """Ours over Triton's of all instructions."""
        return self.own["instructions"] / self.other["instructions"]

    @property
    def loads(self) -> float:
        """Ours over Triton's of global loads, those of an iteration once; a kernel without loads has a ratio as if it had one."""
        own, other = (max(side["global_loads"] - side["prefetches"], 1) for side in (self.own, self.other))
        return own / other

    def per_work(self, metric: str) -> float | None:
        """Ours over Triton's of a count of the loop for the same work; None unless both have a loop of the same kind."""
        if not self.multiplies and not is_amd(self.target):
            return None
        is_same = all(side["loop"] for side in (self.own, self.other)) and self.multiplies == bool(self.other["loop_work"])
        work = "loop_work" if self.multiplies else "loop_bytes_read"
        if not is_same or not all(side[metric] and side[work] for side in (self.own, self.other)):
            return None
        if self.multiplies and is_amd(self.target):
            return self.own[metric] / (self.other[metric] / self.other["iterations"])
        return self.own[metric] / self.own[work] / (self.other[metric] / self.other[work])

    @property
    def multiplies(self) -> bool:
        """Whether our heaviest loop has matrix instructions."""
        return bool(self.own["loop_work"])


def compare(
    command: str, target: str, cases: list[pathlib.Path], triton: pathlib.Path, kept: pathlib.Path
) -> Iterator[Pair | str]:
    """The pairs, and for each other case why it is not compared."""
    for case in cases:
        try:
            form = code_form(target)
            given, code = triton / f"{case.stem}.{form}", kept / f"{case.stem}.triton.{form}"
            if not given.exists():
                raise ValueError("Triton does not compile it")
            code.write_text(given.read_text())
            own, other = measure(compile_own(command, target, case, kept), target), measure(code, target)
            if is_amd(target):
                other["iterations"] = count_iterations(other, triton / f"{case.stem}.launch.json")
        except ValueError as error:
            yield f"{case.stem}: {error}"
        else:
            yield Pair(case.stem, target, classify(case.read_text()), own, other)


def count_iterations(counts: Counts, launch: pathlib.Path) -> float:
    """The iterations of the program's loop in the loop of Triton's machine code, by matrix work."""
    work = json.loads(launch.read_text())["loop_work"]
    return counts["loop_work"] / work if work and counts["loop_work"] else 1


def tell(ratios: list[float]) -> list[str]:
    """The geometric mean, how many are above 1.05, and the greatest."""
    if not ratios:
        return ["-", "-", "-"]
    return [f"{statistics.geometric_mean(ratios):.2f}", str(sum(ratio > MOST for ratio in ratios)), f"{max(ratios):.2f}"]


def code_table(compared: dict[str, list[Pair]]) -> list[str]:
    """Ratios of instructions."""
    names = ["all", "above 1.05", "worst", "loops compared", "loop", "above 1.05", "worst", "issue", "above 1.05", "worst"]
    lines = [row("target", "kernels", "cases", *names), "|---|---|" + "--:|" * 11]
    for target, kind, some in class_rows(compared):
        loops, issues = ([ratio for pair in some if (ratio := pair.per_work(metric))] for metric in ("loop", "loop_cycles"))
        cells = [*tell([pair.all for pair in some]), len(loops), *tell(loops), *tell(issues)]
        lines.append(row(target, kind, len(some), *cells))
    return lines


def resource_table(compared: dict[str, list[Pair]]) -> list[str]:
    """Sums of registers, spills and accesses."""
    metrics = {
        "registers": "registers",
        "spills": "spilled bytes",
        "global_loads": "global loads",
        "global_stores": "global stores",
    }
    names = [name for metric in metrics.values() for name in (f"{metric}, ours", "Triton's")]
    lines = [row("target", "kernels", "cases", *names), "|---|---|" + "--:|" * (1 + 2 * len(metrics))]
    for target, kind, some in class_rows(compared):
        sums = [
            int(sum(side[metric] for side in sides))
            for metric in metrics
            for sides in ([pair.own for pair in some], [pair.other for pair in some])
        ]
        lines.append(row(target, kind, len(some), *sums))
    return lines


def worst_table(compared: dict[str, list[Pair]], number: int) -> list[str]:
    """The kernels with the greatest ratios of all instructions."""
    lines = [row("case", "target", "instructions, ours", "Triton's", "all", "loop", "issue"), "|---|---|" + "--:|" * 5]
    found = [(pair, target) for target, pairs in compared.items() for pair in pairs]
    for pair, target in sorted(found, key=lambda entry: -entry[0].all)[:number]:
        loop, issue = (f"{ratio:.2f}" if (ratio := pair.per_work(metric)) else "-" for metric in ("loop", "loop_cycles"))
        sides = int(pair.own["instructions"]), int(pair.other["instructions"])
        lines.append(row(f"`{pair.name}`", target, *sides, f"{pair.all:.2f}", loop, issue))
    return lines


def find_above(compared: dict[str, list[Pair]], for_amd: bool) -> dict[str, dict[str, float]]:
    """The ratios that need a reason: of global loads for AMD GPUs, of all instructions for others."""
    most = 1 if for_amd else MOST
    ratios = {target: {pair.name: pair.loads if for_amd else pair.all for pair in pairs} for target, pairs in compared.items()}
    return {target: {name: ratio for name, ratio in found.items() if ratio > most} for target, found in ratios.items()}


def parse_arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=TRITON_TARGETS)
    arguments.add_argument("--only", default="", metavar="TEXT", help="only cases whose names have it")
    arguments.add_argument("--ptx", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--record", type=pathlib.Path, metavar="FOLDER", help="write the counts that a test compares with")
    arguments.add_argument("--worst", type=int, default=10, metavar="N")
    arguments.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--page", action="store_true")
    return arguments.parse_args()


def main() -> None:
    """Compares all cases for all targets."""
    chosen = parse_arguments()
    files = sorted(file for file in chosen.cases.glob("*.ttir") if chosen.only in file.stem)
    compared: dict[str, list[Pair]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for target in chosen.target or TRITON_TARGETS:
            triton = (chosen.ptx or pathlib.Path(temporary) / "triton") / target
            if not chosen.ptx:
                compile_by_triton(target, files, triton)
            kept = (chosen.keep or pathlib.Path(temporary)) / target
            kept.mkdir(parents=True, exist_ok=True)
            found = list(compare(chosen.command, target, files, triton, kept))
            compared[target] = [one for one in found if isinstance(one, Pair)]
            print("\n".join(f"not compared on {target}: {one}" for one in found if isinstance(one, str)))
    failures = []
    for name, for_amd in (("machine code", False), ("machine code of AMD GPUs", True)):
        some = {target: pairs for target, pairs in compared.items() if is_amd(target) == for_amd}
        if not some:
            continue
        tables = {name: code_table(some), f"{name}, resources": resource_table(some)}
        tables[f"{name}, worst"] = worst_table(some, chosen.worst)
        reasons, above = json.loads(REASONS[for_amd].read_text()), find_above(some, for_amd)
        tables[f"{name}, {'more loads' if for_amd else 'above'}"] = above_table(above, reasons)
        failures += check_reasons(above, reasons)
        put_tables(tables, chosen.page)
    if chosen.record:
        for target, pairs in compared.items():
            counted, about = ("written", {}) if is_amd(target) else ("encoded", {"ptxas": assembler_version()})
            write_record(chosen.record / f"assembled.{target}.jsonl", pairs, (counted, *RESOURCES), target=target, **about)
    if chosen.page and failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
