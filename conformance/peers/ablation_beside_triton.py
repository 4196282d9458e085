"""What each optimization gains: code and executed counts with and without it, beside Triton's, without a GPU.

    python3 conformance/peers/ablation_beside_triton.py COMMAND --cases DIR [--target NAME]... [--only NAME]... [--ptx FOLDER]
                                                        [--program FILE] [--jobs N] [--page]

COMMAND is `tilewright`, whose `optimizations` names them; `--only` chooses some. DIR, `--ptx` and `--program` are those of
`executed_beside_triton.py`. For each optimization the cases are compiled without it (`--disable`), at the same warps and stages;
cases whose PTX does not change are left out. Ratios to Triton's are geometric means over the changed cases, with the optimization
and without it: all instructions, instructions and issue cycles of the heaviest loop for the same work
(`machine_code_beside_triton.py`), and the model's cycles of what is executed (`executed_beside_triton.py`). Cases
whose results are wrong are printed and do not count.

`--page` puts the table into docs/results.md.
"""

import argparse
import concurrent.futures
import functools
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

import executed_beside_triton as executed
from case_classes import classify
from machine_code_beside_triton import Counts, Pair, assemble
from tables import put_tables, row
from triton_code import PROCESSORS, compile_by_triton

Ratio = Callable[[str, Pair], float | None]


class Code:
    """The PTX of all cases by one compiler, and what the virtual device executes of it."""

    def __init__(self, folder: pathlib.Path, target: str, lines: dict[str, executed.Line]) -> None:
        self.folder, self.target = folder, target
        if wrong := [f"{name}: {line['wrong']}" for name, line in lines.items() if "wrong" in line]:
            print("\n".join(f"{target} {folder.name}: {reason}" for reason in wrong))
        self.lines = {name: line for name, line in lines.items() if "executed" in line}
        executed.add_cycles(self.lines, folder, target)

    @functools.cache  # noqa: B019
    def counts(self, case: str) -> Counts:
        """Static counts of a case's machine code, with the model's cycles of what is executed."""
        return assemble(self.folder / f"{case}.ptx", self.target) | {"cycles": self.lines[case]["executed"]["cycles"]}


def compile_without(chosen: argparse.Namespace, target: str, name: str, base: Code) -> Code:
    """Our code of the cases that change without an optimization."""
    folder = base.folder.parent / name
    folder.mkdir()
    options = "--emit", folder, "--disable", name, "--changed-from", base.folder
    return Code(folder, target, executed.run_program(chosen.program, target, chosen.cases, *options))


def compare(chosen: argparse.Namespace, name: str, base: Code, triton: Code) -> list[object]:
    """The cells of an optimization's line, after its name and the target."""
    target, without = base.target, compile_without(chosen, base.target, name, base)
    sides: list[tuple[Pair, Pair]] = []
    for case in without.lines:
        if case in base.lines and case in triton.lines:
            kind, other = classify((chosen.cases / f"{case}.ttir").read_text()), triton.counts(case)
            sides.append(tuple(Pair(case, target, kind, side.counts(case), other) for side in (base, without)))  # type: ignore[arg-type]
    metrics: tuple[Callable[[Pair], float | None], ...] = (
        lambda pair: pair.all,
        lambda pair: pair.per_work("loop"),
        lambda pair: pair.per_work("loop_cycles"),
        lambda pair: pair.own["cycles"] / pair.other["cycles"],
    )
    cells: list[object] = [len(sides)]
    for metric in metrics:
        found = [(own, other) for pair in sides if (own := metric(pair[0])) and (other := metric(pair[1]))]
        cells += [f"{statistics.geometric_mean(ratios):.2f}" for ratios in zip(*found, strict=True)] or ["-", "-"]
    cells.append(sum(pair[0].own["cycles"] > pair[1].own["cycles"] for pair in sides))
    print(row(name, target, *cells), file=sys.stderr, flush=True)
    return cells


def table(chosen: argparse.Namespace, target: str, names: list[str], folder: pathlib.Path) -> list[str]:
    """The lines of a target."""
    own, given = folder / target / "with", (chosen.ptx or folder / "triton") / target
    own.mkdir(parents=True)
    if not chosen.ptx:
        compile_by_triton(target, sorted(chosen.cases.glob("*.ttir")), given)
    base = Code(own, target, executed.run_program(chosen.program, target, chosen.cases, "--emit", own))
    kept = folder / target / "triton"
    kept.mkdir()
    for ptx in given.glob("*.ptx"):
        (kept / ptx.name).write_text(ptx.read_text())
        (kept / ptx.name).with_suffix(".launch.json").write_text(ptx.with_suffix(".launch.json").read_text())
    triton = Code(kept, target, executed.run_program(chosen.program, target, chosen.cases, kept))
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        cells = list(pool.map(lambda name: compare(chosen, name, base, triton), names))
    return [row(f"`{name}`", target, *some) for name, some in zip(names, cells, strict=True) if some[0]]


def main() -> None:
    """Compares with and without each optimization."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=PROCESSORS)
    arguments.add_argument("--only", action="append", metavar="NAME")
    arguments.add_argument("--ptx", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--program", metavar="FILE")
    arguments.add_argument("--jobs", type=int, default=2, metavar="N")
    arguments.add_argument("--page", action="store_true")
    chosen = arguments.parse_args()
    chosen.cases, chosen.ptx = chosen.cases.resolve(), chosen.ptx and chosen.ptx.resolve()
    listed = subprocess.run([chosen.command, "optimizations"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    if unknown := set(chosen.only or ()) - set(names):
        sys.exit(f"{chosen.command} has no optimization {', '.join(sorted(unknown))}")
    titles = ["optimization", "target", "cases that change"]
    titles += [f"{metric}, {side}" for metric in ("all", "loop", "issue", "model's cycles") for side in ("with", "without")]
    lines = [row(*titles, "cases with more cycles with it"), "|---|---|" + "--:|" * 10]
    with tempfile.TemporaryDirectory() as temporary:
        for target in chosen.target or PROCESSORS:
            lines += table(chosen, target, chosen.only or names, pathlib.Path(temporary))
    put_tables({"ablations": lines}, chosen.page)


if __name__ == "__main__":
    main()
