"""Machine code of the same tile programs, Triton's beside ours, without a GPU.

    python3 conformance/peers/machine_code_beside_triton.py COMMAND --cases DIR [--target NAME]... [--only TEXT] [--ptx FOLDER]
                                                            [--record FOLDER] [--worst N] [--keep FOLDER] [--page]

COMMAND is `tilewright`; DIR has cases (docs/tile-ir.md). Both sides get the same text, warps and stages, and the same `ptxas`:
the newest one of Triton's wheel (`pip install triton==3.9.0` for this Python), which also has `nvdisasm`. With `--ptx`,
Triton's PTX comes from a folder that `triton_ptx.py` wrote for each target.

Ours over Triton's, by class of kernel, in geometric means:
  all     instructions that the kernel can reach
  loop    instructions of the heaviest loop (`machine_code.py`) for the same matrix work, or bytes read where nothing multiplies
  issue   cycles of a scheduler to issue that loop, matrix instructions apart, for the same work
and sums of registers, bytes of spills, and global loads and stores. Static: each instruction counts once, however often it
runs; `executed_beside_triton.py` counts what is executed. `--worst N` lists the N kernels with the greatest ratios; `--keep`
leaves PTX and machine code in a folder; `--page` puts the tables into docs/results.md.

`machine_code_above.json` has the kernels with more than 1.05 times Triton's instructions, and the reason for each. With
`--page`, the script fails if a kernel above is not listed, or a listed one is not above.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from case_classes import class_rows, classify
from machine_code import count_encoded, summarize
from record import write_record
from tables import HERE, put_tables, row
from triton_code import PROCESSORS, assembler_version, compile_by_triton, find_assembler, run_assembler

Counts = dict[str, float]
# Kernels with a greater ratio of all instructions need a reason.
MOST = 1.05
REASONS = HERE / "machine_code_above.json"
# The counts that are committed.
RECORDED = ("encoded", "registers", "spills")


def assemble(ptx: pathlib.Path, target: str) -> Counts:
    """Counts of the machine code that the assembler makes of a text."""
    cubin, resources = run_assembler(ptx, PROCESSORS[target])
    code = subprocess.run([find_assembler()[1], "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    ptx.with_suffix(".sass").write_text(code)
    counts, encoded = summarize(code, target), count_encoded(cubin.read_bytes())
    # All code of a kernel is reached but the branch to itself that ends it.
    if abs(counts["instructions"] - encoded) > 1:
        raise ValueError(f"the control-flow graph has {counts['instructions']} of {encoded} instructions")
    return counts | {"encoded": encoded} | resources


def compile_own(command: str, target: str, case: pathlib.Path, folder: pathlib.Path, *options: str) -> pathlib.Path:
    """Our PTX of a case; `options` are further ones of the command."""
    launch = json.loads(case.with_suffix(".json").read_text())
    sizes = ["--warps", str(launch["num_warps"]), *(["--stages", str(launch["num_stages"])] if "num_stages" in launch else [])]
    emitted = [command, "compile", "--target", target, "--opt", "3", *sizes, *options, "--emit", "asm", str(case)]
    done = subprocess.run(emitted, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"ours: {done.stderr[:200]}")
    ptx = folder / f"{case.stem}.ours.ptx"
    ptx.write_text(done.stdout)
    return ptx


class Pair:
    """A case on both sides."""

    def __init__(self, name: str, kind: str, own: Counts, other: Counts) -> None:
        self.name, self.kind, self.own, self.other = name, kind, own, other

    @property
    def all(self) -> float:
        """Ours over Triton's of all instructions."""
        return self.own["instructions"] / self.other["instructions"]

    def per_work(self, metric: str) -> float | None:
        """Ours over Triton's of a count of the loop for the same work; None unless both have a loop of the same kind."""
        is_same = all(side["loop"] for side in (self.own, self.other)) and self.multiplies == bool(self.other["loop_work"])
        work = "loop_work" if self.multiplies else "loop_bytes_read"
        if not is_same or not all(side[metric] and side[work] for side in (self.own, self.other)):
            return None
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
            ptx = kept / f"{case.stem}.triton.ptx"
            if not (triton / f"{case.stem}.ptx").exists():
                raise ValueError("Triton does not compile it")
            ptx.write_text((triton / f"{case.stem}.ptx").read_text())
            sides = assemble(compile_own(command, target, case, kept), target), assemble(ptx, target)
        except ValueError as error:
            yield f"{case.stem}: {error}"
        else:
            yield Pair(case.stem, classify(case.read_text()), *sides)


def tell(ratios: list[float]) -> list[str]:
    """The geometric mean, how many are above 1.05, and the greatest."""
    if not ratios:
        return ["-", "-", "-"]
    return [f"{statistics.geometric_mean(ratios):.2f}", str(sum(ratio > MOST for ratio in ratios)), f"{max(ratios):.2f}"]


def code_table(compared: dict[str, list[Pair]]) -> list[str]:
    """Ratios of instructions."""
    names = ["all", "above 1.05", "worst", "kernels with loops", "loop", "above 1.05", "worst", "issue", "above 1.05", "worst"]
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


def above_table(compared: dict[str, list[Pair]], reasons: dict[str, dict[str, str]]) -> list[str]:
    """The kernels above `MOST`, the greatest ratio first, and the reasons."""
    lines = [row("case", *compared, "reason"), "|---|" + "--:|" * len(compared) + "---|"]
    ratios = {target: {pair.name: pair.all for pair in pairs if pair.all > MOST} for target, pairs in compared.items()}
    names = {name for found in ratios.values() for name in found}
    for name in sorted(names, key=lambda name: (-max(found.get(name, 0) for found in ratios.values()), name)):
        cells = [f"{found[name]:.2f}" if name in found else "-" for found in ratios.values()]
        given = dict.fromkeys(reasons[target].get(name, "") for target, found in ratios.items() if name in found)
        lines.append(row(f"`{name}`", *cells, "; ".join(given)))
    return lines


def check_reasons(compared: dict[str, list[Pair]], reasons: dict[str, dict[str, str]]) -> list[str]:
    """Kernels above `MOST` that have no reason, and kernels with a reason that are not above it."""
    found = []
    for target, pairs in compared.items():
        above, listed = {pair.name for pair in pairs if pair.all > MOST}, set(reasons[target])
        found += [f"{target}: {name} is above {MOST} and has no reason" for name in sorted(above - listed)]
        found += [f"{target}: {name} is not above {MOST}, remove its reason" for name in sorted(listed - above)]
    return found


def parse_arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=PROCESSORS)
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
        for target in chosen.target or PROCESSORS:
            triton = (chosen.ptx or pathlib.Path(temporary) / "triton") / target
            if not chosen.ptx:
                compile_by_triton(target, files, triton)
            kept = (chosen.keep or pathlib.Path(temporary)) / target
            kept.mkdir(parents=True, exist_ok=True)
            found = list(compare(chosen.command, target, files, triton, kept))
            compared[target] = [one for one in found if isinstance(one, Pair)]
            print("\n".join(f"not compared on {target}: {one}" for one in found if isinstance(one, str)))
    reasons = json.loads(REASONS.read_text())
    tables = {"machine code": code_table(compared), "machine code, resources": resource_table(compared)}
    tables["machine code, worst"] = worst_table(compared, chosen.worst)
    tables["machine code, above"] = above_table(compared, reasons)
    put_tables(tables, chosen.page)
    if chosen.record:
        for target, pairs in compared.items():
            write_record(chosen.record / f"assembled.{target}.jsonl", pairs, RECORDED, target=target, ptxas=assembler_version())
    if chosen.page and (failures := check_reasons(compared, reasons)):
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
