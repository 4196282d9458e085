"""Executed instructions of Triton's PTX and of ours for the same cases, counted on the virtual device without a GPU.

    python3 conformance/peers/executed_beside_triton.py --cases DIR [--target NAME]... [--ptx FOLDER] [--program FILE]
                                                        [--record FOLDER] [--worst N] [--page]

DIR has cases (docs/tile-ir.md). The Python that runs this has Triton's wheel (`pip install triton==3.9.0`), unless `--ptx`
names a folder with what `triton_assembly.py` wrote: a folder for each target. Both sides get the same warps and stages and the same
buffers; a case counts only if both leave the expected contents. Ours are compiled by the program `executed` of this package,
which is built here unless `--program` names it.

Counts are sums over all warps of the grid: PTX instructions that are issued, by class; sectors of global memory that loads and
stores touch, and those that leave the multiprocessor (`l2_sectors`), since its first-level cache does not hold them; wavefronts of loads
and stores in shared memory, without those of asynchronous copies and `wgmma` operands. The pipe that
executes wavefronts also executes shuffles, at the same rate, and `redux` takes as long as two shuffles (docs/results/gpus.md), so that a
kernel is listed if all three together are above Triton's.

The model's cycles are those of one compute unit that executes all blocks: the cycles of its pipes, and the issue slots of machine
instructions. A machine instruction is executed as often as the line of PTX that it comes from (`executed_code.py`), since `ptxas`
merges instructions, removes moves and unrolls loops.

`--page` puts the tables into docs/results.md. `executed_above.json` has the reason for each kernel above Triton's in the model's cycles,
in sectors that leave the multiprocessor, or in cycles of exchange (wavefronts, shuffles and `redux`); with `--page` the script fails if a reason is missing or needless.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from case_classes import class_rows, classify, has_plain_loop
from executed_code import count_by_line
from reasons import above_table, check_reasons
from record import write_record
from tables import HERE, put_tables, row
from triton_code import PROCESSORS, compile_by_triton

REASONS = HERE / "executed_above.json"
Counts = dict[str, int]
Line = dict[str, Any]
INSTRUCTIONS = (
    "global",
    "shared",
    "shuffle",
    "redux",
    "barrier",
    "matrix",
    "matrix_work",
    "control",
    "move",
    "convert",
    "float",
    "integer",
)
# The cycles of instructions that move data between lanes (docs/results/gpus.md): a `redux` takes as long as two shuffles.
EXCHANGE_CYCLES = {"wavefronts": 1, "shuffle": 1, "redux": 2}
# Counts that do not decide alone, and the count that decides in their place: a sector in the first-level cache leaves the
# multiprocessor once, and shuffles take the pipe that executes wavefronts.
RIVALS = {"sectors": "l2_sectors", "wavefronts": "exchange"}
# The names of counts in tables, where they differ.
TITLES = {"sectors": "sectors touched", "l2_sectors": "sectors that leave"}
# The counts that are committed.
RECORDED = ("issued", "sectors", "l2_sectors", "wavefronts", "global", "shared", "shuffle", "barrier", "matrix", "matrix_work")


def add_cycles(lines: dict[str, Line], folder: pathlib.Path, target: str) -> None:
    """Adds the model's cycles to the counts; the folder has the PTX."""
    for name, line in lines.items():
        if counts := line.get("executed"):
            by_line = count_by_line((folder / f"{name}.ptx").read_text(), PROCESSORS[target])
            counts["cycles"] = sum_cycles(counts, by_line)


def sum_cycles(counts: Counts, by_line: dict[int, float]) -> int:
    """The model's cycles of what is executed; `by_line` has the machine instructions of each line of the PTX."""
    executed = sum(counts["issued_by_line"].get(str(line), 0) * count for line, count in by_line.items())
    return round(counts["pipe_cycles"] + counts["issue_cycles"] * executed / counts["issued"])


def run_program(program: str | None, target: str, *folders: pathlib.Path | str) -> dict[str, Line]:
    """The lines that the program `executed` prints, by case."""
    built = (
        [str(pathlib.Path(program).resolve())] if program else ["cargo", "run", "--quiet", "--release", "-p", "tilewright-peers", "--bin", "executed", "--"]
    )
    command = [*built, target, *map(str, folders)]
    done = subprocess.run(command, check=False, cwd=HERE, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    return {line["case"]: line for line in map(json.loads, done.stdout.splitlines())}


class Pair:
    """A case that both sides execute rightly."""

    def __init__(self, name: str, text: str, own: Counts, other: Counts) -> None:
        self.name, self.kind, self.own, self.other = name, classify(text), own, other
        self.has_plain_loop = has_plain_loop(text)
        for counts in (own, other):
            counts["exchange"] = sum(counts[name] * cycles for name, cycles in EXCHANGE_CYCLES.items())

    def ratio(self, metric: str) -> float:
        """Ours over Triton's; if a count is 0, of both counts plus 1."""
        more = 0 if self.own[metric] and self.other[metric] else 1
        return (self.own[metric] + more) / (self.other[metric] + more)


def pair_cases(cases: pathlib.Path, own: dict[str, Line], other: dict[str, Line]) -> Iterator[Pair | str]:
    """The pairs, and for each other case why it is not compared."""
    for name, line in own.items():
        failures = [
            f"{side}: {line.get('wrong') or line.get('unsupported')}"
            for side, line in (("ours", line), ("Triton's", other.get(name, {"unsupported": "Triton does not compile it"})))
            if "executed" not in line
        ]
        if failures:
            yield f"{name}: {'; '.join(failures)}"
        else:
            yield Pair(name, (cases / f"{name}.ttir").read_text(), line["executed"], other[name]["executed"])


def summarize(compared: dict[str, list[Pair]]) -> list[str]:
    """The table by class of kernel, and a line of each target for the loops that multiply nothing."""
    names = ["model's cycles, geometric mean", "above 1", "worst", "issued, geometric mean", "worst"]
    for metric in ("sectors", "l2_sectors", "wavefronts"):
        names += [f"{TITLES.get(metric, metric)}, ours", "Triton's", "cases with more"]
    names += ["shuffles, ours", "Triton's", "cases with more cycles between lanes", "barriers and fences, ours", "Triton's"]
    lines = [row("target", "kernels", "cases", *names), "|---|---|" + "--:|" * (1 + len(names))]
    lines += [summary_row(target, kind, some) for target, kind, some in class_rows(compared)]
    plain = {target: [pair for pair in pairs if pair.has_plain_loop] for target, pairs in compared.items()}
    return lines + [summary_row(target, "loops without dots", some) for target, some in plain.items() if some]


def instruction_table(compared: dict[str, list[Pair]]) -> list[str]:
    """Ours over Triton's of the sums of each class of instructions."""
    lines = [
        row("target", "kernels", *(name.replace("_", " ") for name in INSTRUCTIONS)),
        "|---|---|" + "--:|" * len(INSTRUCTIONS),
    ]
    for target, kind, some in class_rows(compared):
        sums = [
            [sum(side[metric] for side in sides) for sides in ([pair.own for pair in some], [pair.other for pair in some])]
            for metric in INSTRUCTIONS
        ]
        lines.append(row(target, kind, *(f"{own / other:.2f}" if other else "-" for own, other in sums)))
    return lines


def summary_row(target: str, kind: str, some: list[Pair]) -> str:
    """The line of one class."""
    ratios, cycles = ([pair.ratio(metric) for pair in some] for metric in ("issued", "cycles"))
    cells: list[object] = [f"{statistics.geometric_mean(cycles):.2f}", sum(ratio > 1 for ratio in cycles), f"{max(cycles):.2f}"]
    cells += [f"{statistics.geometric_mean(ratios):.2f}", f"{max(ratios):.2f}"]
    for metric in ("sectors", "l2_sectors", "wavefronts", "shuffle", "barrier"):
        cells += [sum(pair.own[metric] for pair in some), sum(pair.other[metric] for pair in some)]
        if metric in ("sectors", "l2_sectors", "wavefronts"):
            cells.append(sum(pair.own[metric] > pair.other[metric] for pair in some))
        if metric == "shuffle":
            cells.append(sum(pair.own["exchange"] > pair.other["exchange"] for pair in some))
    return row(target, kind, len(some), *cells)


def find_above(compared: dict[str, list[Pair]], metric: str) -> dict[str, dict[str, float]]:
    """For each target, the kernels whose count is above Triton's, with the ratios."""
    return {
        target: {pair.name: pair.ratio(metric) for pair in pairs if pair.own[metric] > pair.other[metric]}
        for target, pairs in compared.items()
    }


def rival_table(compared: dict[str, list[Pair]], metric: str, decisive: str) -> list[str]:
    """The kernels above Triton's in `metric`, with the count that decides in its place and the model's cycles."""
    titles = [title for name in (metric, decisive) for title in (f"{TITLES.get(name, name)}, ours", "Triton's")]
    lines = [row("case", "target", *titles, "model's cycles"), "|---|---|" + "--:|" * 5]
    for target, pairs in compared.items():
        for pair in sorted(pairs, key=lambda pair: -pair.ratio(metric)):
            if pair.own[metric] > pair.other[metric]:
                counts = [side[name] for name in (metric, decisive) for side in (pair.own, pair.other)]
                lines.append(row(f"`{pair.name}`", target, *counts, f"{pair.ratio('cycles'):.2f}"))
    return lines


def print_worst(target: str, pairs: Iterable[Pair], number: int) -> None:
    """The kernels with the greatest ratio of issued instructions."""
    for pair in sorted(pairs, key=lambda pair: -pair.ratio("issued"))[:number]:
        told = ", ".join(f"{metric} {pair.own[metric]}/{pair.other[metric]}" for metric in pair.own)
        print(f"{target} {pair.ratio('issued'):5.2f} {pair.name} ({pair.kind}): {told}")


def compare(program: str | None, target: str, cases: pathlib.Path, given: pathlib.Path | None) -> tuple[list[Pair], list[str]]:
    """The pairs of a target, and the cases that are not compared."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, emitted = (given or pathlib.Path(temporary)) / target, pathlib.Path(temporary) / "ours"
        emitted.mkdir()
        if not given:
            compile_by_triton(target, sorted(cases.glob("*.ttir")), folder)
        own, other = run_program(program, target, cases, "--emit", emitted), run_program(program, target, cases, folder)
        add_cycles(own, emitted, target)
        add_cycles(other, folder, target)
        found = list(pair_cases(cases, own, other))
    return [one for one in found if isinstance(one, Pair)], [one for one in found if isinstance(one, str)]


def main() -> None:
    """Compares all cases for all targets."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=PROCESSORS)
    arguments.add_argument("--ptx", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--program", metavar="FILE")
    arguments.add_argument("--record", type=pathlib.Path, metavar="FOLDER", help="write the counts that a test compares with")
    arguments.add_argument("--worst", type=int, default=0, metavar="N", help="list the N kernels with the most instructions")
    arguments.add_argument("--page", action="store_true")
    chosen = arguments.parse_args()
    cases, compared = chosen.cases.resolve(), {}
    for target in chosen.target or PROCESSORS:
        compared[target], left_out = compare(chosen.program, target, cases, chosen.ptx and chosen.ptx.resolve())
        print("\n".join(f"not compared on {target}: {reason}" for reason in left_out))
        print_worst(target, compared[target], chosen.worst)
    tables = {"executed": summarize(compared), "executed, by instruction": instruction_table(compared)}
    tables |= {f"{metric} above": rival_table(compared, metric, decisive) for metric, decisive in RIVALS.items()}
    failures = []
    for metric, reasons in json.loads(REASONS.read_text()).items():
        above = find_above(compared, metric)
        tables[f"{metric} above"] = above_table(above, reasons)
        failures += [f"{metric} on {failure}" for failure in check_reasons(above, reasons)]
    put_tables(tables, chosen.page)
    if chosen.record:
        for target, pairs in compared.items():
            write_record(chosen.record / f"executed.{target}.jsonl", pairs, RECORDED, target=target)
    if chosen.page and failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
