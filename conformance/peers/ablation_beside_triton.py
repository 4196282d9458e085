"""What each optimization gains: code and executed counts with and without it, beside Triton's, without a GPU.

    python3 conformance/peers/ablation_beside_triton.py COMMAND --cases DIR [--target NAME]... [--only NAME]... [--ptx FOLDER]
                                                        [--program FILE] [--jobs N] [--page]

COMMAND is `tilewright`, whose `optimizations` names them; DIR, `--ptx` and `--program` are those of
`executed_beside_triton.py`. The cases are compiled with `--disable`, at the same warps and stages: without all optimizations of
a subject (`SUBJECTS`), which gives the first table, with figures over all cases, and without each one, which gives the second
table, over the cases whose code changes. `--only` chooses subjects or optimizations; for AMD GPUs only subjects are measured.

Ratios to Triton's are geometric means with the optimizations and without them: all instructions, instructions of the heaviest
loop for the same work (`machine_code_beside_triton.py`), and on NVIDIA GPUs the model's cycles of what is executed
(`executed_beside_triton.py`). Cases whose results are wrong, or that the virtual device refuses, are printed; the second table
is without them, and the first one has them with all optimizations. Lines without changed cases are left out. Equal code is
measured once.

`--page` puts the tables into docs/results.md.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable

import executed_beside_triton as executed
from case_classes import classify
from executed_code import count_by_line
from machine_code_beside_triton import Counts, Pair, assemble, code_form, compile_own, count_iterations, is_amd, measure
from sass import count_encoded
from tables import put_tables, row
from triton_code import PROCESSORS, TRITON_TARGETS, compile_by_triton, run_assembler

SUBJECTS = {
    "arithmetic": ("fused-multiply-add", "native-functions", "native-casts"),
    "masked accesses": ("predicated-accesses", "guarded-loads", "shared-masks"),
    "addresses": ("pointer-bases", "constant-offsets", "pointer-induction"),
    "feeding matrix units": (
        "operand-orders",
        "shared-operands",
        "hoisted-operands",
        "async-copies",
        "tensor-copies",
        "dot-alternatives",
        "fragment-copies",
        "operand-words",
        "producer-warps",
        "register-reallocation",
        "ping-pong",
    ),
    "loops": ("prefetch", "overlapped-mma", "loop-unrolling", "resident-blocks"),
    "reductions, scans, elementwise chains": (
        "vector-accesses",
        "store-swaps",
        "replica-stores",
        "bulk-stores",
        "warp-reductions",
        "merged-barriers",
        "store-forwarding",
    ),
    "explicit memory": ("memory-synthesis", "task-mapping"),
}
# A label at which a loop of PTX may begin, and a branch.
LABEL = re.compile(r"^\s*(\$\w+):", re.MULTILINE)
BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$\w+);")


@dataclasses.dataclass(frozen=True)
class Code:
    """The code of a case, and what the virtual device executes of it; AMD's code is not executed."""

    text: str
    counts: executed.Counts | None = None


@dataclasses.dataclass(frozen=True)
class MachineCode:
    """The static counts of machine code, and on NVIDIA GPUs its instructions for each line of the PTX."""

    counts: Counts
    by_line: dict[int, float] = dataclasses.field(default_factory=dict)


Codes = dict[str, Code]
Measured = dict[str, MachineCode]
Sides = list[tuple[Pair, Pair]]


def has_loop(ptx: str) -> bool:
    """Whether a branch leads to an earlier label."""
    begins = {label[1]: label.start() for label in LABEL.finditer(ptx)}
    return any(begins.get(branch[1], len(ptx)) < branch.start() for branch in BRANCH.finditer(ptx))


def count_code(text: str, target: str) -> MachineCode:
    """The machine code of a text."""
    with tempfile.TemporaryDirectory() as folder:
        code = pathlib.Path(folder) / f"code.{code_form(target)}"
        code.write_text(text)
        if is_amd(target):
            return MachineCode(measure(code, target))
        by_line = count_by_line(text, PROCESSORS[target])
        if has_loop(text):
            counts = assemble(code, target)
            return MachineCode(counts | {"instructions": counts["encoded"]}, by_line)
        encoded = count_encoded(run_assembler(code, PROCESSORS[target])[0].read_bytes())
        return MachineCode({"instructions": encoded, "loop": 0, "loop_work": 0}, by_line)


def read_executed(lines: dict[str, executed.Line], folder: pathlib.Path, about: str) -> Codes:
    """The code of cases whose results are right; tells the others."""
    codes = {}
    for name, line in lines.items():
        if "executed" in line:
            codes[name] = Code((folder / f"{name}.ptx").read_text(), line["executed"])
        elif "wrong" in line:
            print(f"{about} {name}: {line['wrong']}")
    return codes


def compile_cases(chosen: argparse.Namespace, target: str, disabled: Iterable[str], folder: pathlib.Path) -> Codes:
    """Our code of all cases without some optimizations; on NVIDIA GPUs, only of the cases that they change."""
    base = folder / "with"
    folder /= "-".join(disabled) or base.name
    folder.mkdir(parents=True)
    options = [word for name in disabled for word in ("--disable", name)]
    if not is_amd(target):
        options += ["--changed-from", str(base)] if disabled else []
        lines = executed.run_program(chosen.program, target, chosen.cases, "--emit", folder, *options)
        return read_executed(lines, folder, f"{target} {' '.join(options[:-2])}")
    codes = {}
    for case in sorted(chosen.cases.glob("*.ttir")):
        try:
            codes[case.stem] = Code(compile_own(chosen.command, target, case, folder, *options).read_text())
        except ValueError as error:
            print(f"{target} {' '.join(options)} {case.stem}: {error}")
    return codes


def read_triton(chosen: argparse.Namespace, target: str, given: pathlib.Path) -> Codes:
    """Triton's code of the cases."""
    if not is_amd(target):
        return read_executed(executed.run_program(chosen.program, target, chosen.cases, given), given, f"{target} Triton")
    return {code.stem: Code(code.read_text()) for code in given.glob("*.amdgcn")}


def count_side(code: Code, measured: Measured) -> Counts:
    """Static counts of code, with the model's cycles of what is executed."""
    machine = measured[code.text]
    if code.counts is None:
        return dict(machine.counts)
    return machine.counts | {"cycles": executed.sum_cycles(code.counts, machine.by_line)}


def tell_worst(sides: Sides) -> str:
    """The case that loses most without the optimizations, by the model's cycles or by instructions."""
    def loss(pair: tuple[Pair, Pair]) -> float:
        metric = "cycles" if "cycles" in pair[0].own else "instructions"
        return pair[1].own[metric] / pair[0].own[metric]

    worst = max(sides, key=loss)
    return f"`{worst[0].name}` {loss(worst):.2f}"


def tell_figures(sides: Sides, changed: int) -> list[object]:
    """The cells of a line: with the optimizations and without them."""
    metrics: tuple[Callable[[Pair], float | None], ...] = (
        lambda pair: pair.all,
        lambda pair: pair.per_work("loop"),
        lambda pair: pair.own["cycles"] / pair.other["cycles"] if "cycles" in pair.own else None,
    )
    cells: list[object] = [changed]
    for metric in metrics:
        found = [(own, other) for pair in sides if (own := metric(pair[0])) and (other := metric(pair[1]))]
        cells += [f"{statistics.geometric_mean(ratios):.2f}" for ratios in zip(*found, strict=True)] or ["-", "-"]
    more = [own.own["cycles"] > other.own["cycles"] for own, other in sides if "cycles" in own.own]
    return [*cells, sum(more) if more else "-", tell_worst(sides)]


def measure_codes(pool: concurrent.futures.Executor, target: str, sides: Iterable[Codes]) -> Measured:
    """The counts of all code, each text once."""
    texts = list({code.text for codes in sides for code in codes.values()})
    return dict(zip(texts, pool.map(count_code, texts, [target] * len(texts), chunksize=4), strict=True))


def compare(chosen: argparse.Namespace, target: str, folder: pathlib.Path) -> dict[tuple[str, ...], tuple[Sides, set[str]]]:
    """For each chosen subject and optimization the cases with it and without it, and those whose code changes."""
    given = (chosen.ptx or folder / "triton") / target
    if not chosen.ptx:
        compile_by_triton(target, sorted(chosen.cases.glob("*.ttir")), given)
    folder = folder / target
    base, triton = compile_cases(chosen, target, (), folder), read_triton(chosen, target, given)
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as threads:
        chosen_here = [names for names in chosen.disabled if len(names) > 1 or not is_amd(target)]
        without = dict(
            zip(chosen_here, threads.map(lambda names: compile_cases(chosen, target, names, folder), chosen_here), strict=True)
        )
    with concurrent.futures.ProcessPoolExecutor(chosen.jobs) as processes:
        measured = measure_codes(processes, target, (base, triton, *without.values()))
    kinds = {name: classify((chosen.cases / f"{name}.ttir").read_text()) for name in base}
    others = {name: count_side(code, measured) for name, code in triton.items()}
    if is_amd(target):
        for name, counts in others.items():
            counts["iterations"] = count_iterations(counts, given / f"{name}.launch.json")
    found = {}
    for names, codes in without.items():
        sides, changed = [], set()
        for name in sorted(base.keys() & others.keys()):
            code = codes.get(name, base[name])
            both = (Pair(name, target, kinds[name], count_side(one, measured), others[name]) for one in (base[name], code))
            sides.append(tuple(both))
            changed |= {name} if code.text != base[name].text else set()
        found[names] = sides, changed
    return found


def table(chosen: argparse.Namespace, compared: dict[str, dict[tuple[str, ...], tuple[Sides, set[str]]]]) -> dict[str, list[str]]:
    """The tables by subject and by optimization."""
    titles = ["cases that change"]
    titles += [f"{metric}, {side}" for metric in ("all", "loop", "model's cycles") for side in ("with", "without")]
    titles += ["cases with more cycles with it", "most lost without it"]
    ruler = "--:|" * (len(titles) - 1) + "---|"
    subjects = [row("subject", "target", "cases", *titles), "|---|---|--:|" + ruler]
    single = [row("subject", "optimization", "target", *titles), "|---|---|---|" + ruler]
    for subject, members in SUBJECTS.items():
        for target, found in compared.items():
            sides, changed = found.get(members, ([], set()))
            if changed:
                subjects.append(row(subject, target, len(sides), *tell_figures(sides, len(changed))))
        for name, (target, found) in ((name, entry) for name in members for entry in compared.items()):
            sides, changed = found.get((name,), ([], set()))
            if changed:
                some = [pair for pair in sides if pair[0].name in changed]
                single.append(row(subject, f"`{name}`", target, *tell_figures(some, len(some))))
    return {"ablations by subject": subjects, "ablations": single}


def choose_disabled(command: str, only: list[str] | None) -> list[tuple[str, ...]]:
    """The sets of optimizations to disable: those of a subject, and each alone."""
    listed = subprocess.run([command, "optimizations"], capture_output=True, text=True, check=True).stdout
    names, known = {line.split()[0] for line in listed.splitlines()}, {name for some in SUBJECTS.values() for name in some}
    if names != known:
        sys.exit(f"SUBJECTS does not have the optimizations of {command}: {', '.join(sorted(names ^ known))}")
    if unknown := set(only or ()) - names - SUBJECTS.keys():
        sys.exit(f"there is no subject or optimization {', '.join(sorted(unknown))}")
    subjects = [some for subject, some in SUBJECTS.items() if not only or subject in only]
    return subjects + [(name,) for name in sorted(names) if not only or name in only]


def main() -> None:
    """Compares with and without each subject and optimization."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=TRITON_TARGETS)
    arguments.add_argument("--only", action="append", metavar="NAME")
    arguments.add_argument("--ptx", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--program", metavar="FILE")
    arguments.add_argument("--jobs", type=int, default=2, metavar="N")
    arguments.add_argument("--page", action="store_true")
    chosen = arguments.parse_args()
    chosen.cases, chosen.ptx = chosen.cases.resolve(), chosen.ptx and chosen.ptx.resolve()
    chosen.disabled = choose_disabled(chosen.command, chosen.only)
    with tempfile.TemporaryDirectory() as temporary:
        compared = {target: compare(chosen, target, pathlib.Path(temporary)) for target in chosen.target or TRITON_TARGETS}
    put_tables(table(chosen, compared), chosen.page)


if __name__ == "__main__":
    main()
