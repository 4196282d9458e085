"""Whole programs compared with Triton: counts in the code of the same kernels, and the time of compilation.

    python3 conformance/peers/programs_beside_triton.py --cases DIR [--target NAME]... [--only TEXT] [--detail]
                                                        [--times N] [--page] [--keep FOLDER]

DIR has cases (docs/tile-ir.md), each with `NAME.triton.json`: the counts of Triton 3.9.0 for four targets. Ours are compiled
by the program `programs` of this package, which is built here in the profile of the benches; instructions of its assembly are
counted in the same classes. If `ptxas` is in PATH, it reports registers and spills.

With `--times N` compile times are measured, on both sides in this run: each case N times in a warm process, the
least of each stage. That needs Triton's wheel in this Python:

    python3 -m venv triton-venv && triton-venv/bin/pip install triton==3.9.0

`--page` puts the tables into docs/results.md; without it they are printed. `--detail` lists the cases with greater counts of
ours, the greatest difference first; `--keep` leaves assembly and kernels in a folder.

Not part of the tests: it needs a package and data that the build does not.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

from program_counts import TARGETS, Counts, Pair, count_ours, count_triton, pair_cases
from tables import HERE, put_tables, row

Compared = dict[str, list[Pair]]


def build() -> pathlib.Path:
    """Builds our program, and returns its path."""
    command = ["cargo", "build", "--quiet", "--profile", "bench", "-p", "tilewright-peers", "--bin", "programs"]
    if subprocess.run(command, check=False, cwd=HERE).returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = subprocess.run(command, check=True, cwd=HERE, capture_output=True, text=True).stdout
    return pathlib.Path(json.loads(metadata)["target_directory"]) / "release" / "programs"


def measure_triton(cases: pathlib.Path, target: str, times: int, only: str) -> dict[str, dict[str, float]]:
    """Seconds of Triton's stages for each case that it compiles."""
    files = sorted(str(file) for file in cases.glob("*.ttir") if only in str(file))
    command = [sys.executable, str(HERE / "triton_times.py"), TARGETS[target], str(times), *files]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"Triton ended: {done.stderr[-2000:]}")
    return {name: stages for name, stages in map(json.loads, done.stdout.splitlines()) if stages}


def count_table(compared: Compared) -> list[str]:
    """Loads, conversions and shared memory in the code."""
    names = ["loads ahead", "conversions, ours", "Triton's", "its operand loads", "cases with more"]
    names += ["shared bytes, ours", "Triton's", "shared instructions, ours", "Triton's"]
    lines = [row("target", "kernels", "cases", *names), "|---|---|" + "--:|" * 10]
    for target, pairs in compared.items():
        for kind, loops in (("without loops", False), ("with loops", True)):
            some = [pair for pair in pairs if pair.loops == loops]
            cells = [
                sum(pair.own["ahead"] for pair in some),
                sum(pair.conversions for pair in some),
                sum(pair.other["converts"] for pair in some),
                sum(pair.operand_loads for pair in some),
                sum(pair.conversions > pair.other["converts"] + pair.operand_loads for pair in some),
            ]
            for metric in ("shared_bytes", "shared"):
                cells += [sum(pair.own[metric] for pair in some), sum(pair.other[metric] for pair in some)]
            lines.append(row(target, kind, len(some), *cells))
    return lines


def list_targets(lines: list[str], compared: Compared, cells: Callable[[Pair], tuple[int, ...] | None]) -> list[str]:
    """Adds a line for each case with cells, and the targets that have these cells."""
    found: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for target, pairs in compared.items():
        for pair in pairs:
            if numbers := cells(pair):
                found.setdefault((pair.name, numbers), []).append(target)
    return lines + [row(f"`{name}`", ", ".join(targets), *numbers) for (name, numbers), targets in sorted(found.items())]


def conversion_table(compared: Compared) -> list[str]:
    """Cases with more conversions than Triton, which also has operand loads."""
    lines = [row("case", "targets", "conversions, ours", "Triton's", "its operand loads"), "|---|---|" + "--:|" * 3]

    def cells(pair: Pair) -> tuple[int, ...] | None:
        numbers = (pair.conversions, pair.other["converts"], pair.operand_loads)
        return numbers if numbers[0] > numbers[1] else None

    return list_targets(lines, compared, cells)


def shared_table(compared: Compared) -> list[str]:
    """Cases without loops whose shared bytes or instructions are more than Triton's."""
    names = ["shared bytes, ours", "Triton's", "shared instructions, ours", "Triton's"]
    lines = [row("case without loops", "targets", *names), "|---|---|" + "--:|" * 4]

    def cells(pair: Pair) -> tuple[int, ...] | None:
        sides = [(pair.own[metric], pair.other[metric]) for metric in ("shared_bytes", "shared")]
        has_more = not pair.loops and any(own > other for own, other in sides)
        return (*sides[0], *sides[1]) if has_more else None

    return list_targets(lines, compared, cells)


def register_table(compared: Compared) -> list[str]:
    """Registers and spills that the vendor's assembler reports."""
    names = ["registers of all cases, ours", "Triton's", "cases that spill, ours", "Triton's"]
    lines = [row("target", *names), "|---|" + "--:|" * 4]
    for target, pairs in compared.items():
        if some := [pair for pair in pairs if pair.own["ptxas"]]:
            registers = sum(pair.own["ptxas"]["registers"] for pair in some), sum(pair.other["registers"] for pair in some)
            spills = sum(pair.spills > 0 for pair in some), sum(pair.other["spills"] > 0 for pair in some)
            lines.append(row(target, *registers, *spills))
    return lines


def own_stages(seconds: Counts) -> list[float]:
    """Our seconds from the text to its shape, of layouts, of the kernel, and of LLVM."""
    front = seconds["read"] + seconds["import"] + seconds["shape"]
    return [front, seconds["layouts"], seconds["kernel"] + seconds["math"] + seconds["verify"], seconds["llvm"]]


def time_table(compared: Compared, taken: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    """Triton's time over ours, of cases that both sides compile."""
    names = ["text to LLVM IR, median", "a tenth below", "least", "code generator, median"]
    names += ["our stages: read to shape", "layouts", "kernel", "LLVM"]
    lines = [row("target", "cases", *names), "|---|" + "--:|" * 9]
    for target, pairs in compared.items():
        faster, code, shares = [], [], [0.0] * 4
        for pair in pairs:
            seconds, other = pair.own["seconds"], taken[target].get(pair.name)
            if not other:
                continue
            stages = own_stages(seconds)
            shares = [share + stage / sum(stages) for share, stage in zip(shares, stages, strict=True)]
            faster.append((other["ttgir"] + other["llir"]) / sum(stages))
            if seconds["all"] > seconds["llvm"]:
                code.append(other["code"] / (seconds["all"] - seconds["llvm"]))
        ratios = [statistics.median(faster), statistics.quantiles(faster, n=10)[0], min(faster), statistics.median(code)]
        percent = (f"{100 * share / len(faster):.0f} %" for share in shares)
        lines.append(row(target, len(faster), *(f"{ratio:.1f}" for ratio in ratios), *percent))
    return lines


def print_detail(target: str, pairs: list[Pair]) -> None:
    """Prints the cases with greater counts of ours, the greatest difference first."""
    differences: dict[str, Callable[[Pair], int]] = {
        "conversions": lambda pair: pair.conversions - pair.other["converts"],
        "shared bytes": lambda pair: pair.own["shared_bytes"] - pair.other["shared_bytes"],
        "shared instructions": lambda pair: pair.own["shared"] - pair.other["shared"],
        "spills": lambda pair: pair.spills - pair.other["spills"],
    }
    for name, difference in differences.items():
        print(f"{target}: {name}")
        more = [(pair.loops, -difference(pair), pair) for pair in pairs if difference(pair) > 0]
        for loops, negated, pair in sorted(more, key=lambda entry: entry[:2]):
            ours, triton = (f"{side['shared_bytes']} B, {side['shared']} instructions" for side in (pair.own, pair.other))
            conversions = f"{pair.other['converts']}+{pair.other['loads']}"
            print(f"  {-negated:+6} {'loops' if loops else '     '} {pair.name}: ", end="")
            print(f"ours {ours}, {pair.conversions}; Triton {triton}, {conversions}")


def parse_arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=TARGETS)
    arguments.add_argument("--only", default="", metavar="TEXT", help="only cases whose names have it")
    arguments.add_argument("--times", type=int, default=0, metavar="N")
    arguments.add_argument("--detail", action="store_true")
    arguments.add_argument("--page", action="store_true")
    arguments.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    return arguments.parse_args()


def main() -> None:
    """Compares all cases for all targets."""
    chosen = parse_arguments()
    program = build()
    compared: Compared = {}
    taken: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for target in chosen.target or TARGETS:
            folder = (chosen.keep or pathlib.Path(temporary)) / target
            own = count_ours(program, target, chosen.cases, folder, chosen.times, chosen.only)
            if chosen.times:
                taken[target] = measure_triton(chosen.cases, target, chosen.times, chosen.only)
            compared[target], without = pair_cases(chosen.cases, own, count_triton(chosen.cases, target))
            print(f"not compared on {target}: {', '.join(without) or 'none'}")
            if chosen.detail:
                print_detail(target, compared[target])
    tables = {"counts": count_table(compared), "alone": conversion_table(compared)}
    tables |= {"above": shared_table(compared), "registers": register_table(compared)}
    if chosen.times:
        tables["times"] = time_table(compared, taken)
    put_tables(tables, chosen.page)


if __name__ == "__main__":
    main()
