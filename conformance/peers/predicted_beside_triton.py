"""Predicted times of Triton's modules with layouts and of ours for the same cases, by the same cost model, without a GPU.

    python3 conformance/peers/predicted_beside_triton.py COMMAND --cases DIR --ttgir FOLDER [--target NAME]... [--record FOLDER]
                                                         [--page]

DIR has cases (docs/tile-ir.md), FOLDER a folder for each target with what `triton_ttgir.py` wrote. COMMAND is `tilewright`;
`explain --launch` predicts the cycles of the case's launch from a module: ours from the case's program, Triton's from its
layouts, which are kept. Prints the cases whose cycles are above Triton's, or puts the tables into docs/results.md (`--page`).
`--record` writes the cycles that a test compares.

`predicted_above.json` has the kernels whose predicted time is above Triton's, and the reason for each. With `--page`, the
script fails if a kernel above is not listed, or a listed one is not above.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys

from case_classes import class_rows, classify
from reasons import above_table, check_reasons
from record import write_record
from tables import HERE, put_tables, row

REASONS = HERE / "predicted_above.json"
TARGETS = ("h100", "a100", "mi300x", "mi250")


@dataclasses.dataclass(frozen=True)
class Pair:
    """The predicted cycles of a case."""

    name: str
    kind: str
    own: dict[str, float]
    other: dict[str, float]

    @property
    def ratio(self) -> float:
        """Ours over Triton's; a program without work takes no cycles."""
        return (self.own["cycles"] + 1) / (self.other["cycles"] + 1)

    @property
    def is_above(self) -> bool:
        """Whether ours takes longer."""
        return self.own["cycles"] > self.other["cycles"]


def predict(command: str, target: str, module: pathlib.Path, case: pathlib.Path) -> dict[str, float]:
    """The predicted cycles of a case's launch, of a module."""
    launch = json.loads(case.read_text())
    sizes = [("--warps", launch["num_warps"]), ("--stages", launch.get("num_stages"))]
    options = [str(part) for name, size in sizes if size for part in (name, size)]
    options += ["--target", target, "--launch", str(case), "--json"]
    done = subprocess.run([command, "explain", str(module), *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{module}: {done.stderr[:300]}")
    return {"cycles": round(json.loads(done.stdout)["cycles"], 1)}


def compare(command: str, target: str, cases: pathlib.Path, modules: pathlib.Path) -> list[Pair]:
    """All cases that Triton compiles for a target."""
    names = sorted(file.stem for file in cases.glob("*.ttir") if (modules / f"{file.stem}.ttgir").exists())

    def pair(name: str) -> Pair:
        case = cases / f"{name}.json"
        own, other = (
            predict(command, target, module, case) for module in (case.with_suffix(".ttir"), modules / f"{name}.ttgir")
        )
        return Pair(name, classify(case.with_suffix(".ttir").read_text()), own, other)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(pair, names))


def time_table(compared: dict[str, list[Pair]]) -> list[str]:
    """The ratios of each target and class."""
    lines = [row("target", "kernels", "cases", "geometric mean", "above Triton's", "worst"), "|---|---|--:|--:|--:|--:|"]
    for target, kind, pairs in class_rows(compared):
        ratios = [pair.ratio for pair in pairs]
        above = sum(pair.is_above for pair in pairs)
        lines.append(row(target, kind, len(pairs), f"{statistics.geometric_mean(ratios):.2f}", above, f"{max(ratios):.2f}"))
    return lines


def main() -> None:
    """Compares all cases for all targets."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--ttgir", type=pathlib.Path, required=True, metavar="FOLDER")
    arguments.add_argument("--target", action="append", choices=TARGETS)
    arguments.add_argument("--record", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--page", action="store_true")
    chosen = arguments.parse_args()
    targets = chosen.target or TARGETS
    compared = {target: compare(chosen.command, target, chosen.cases, chosen.ttgir / target) for target in targets}
    above = {target: {pair.name: pair.ratio for pair in pairs if pair.is_above} for target, pairs in compared.items()}
    reasons = json.loads(REASONS.read_text())
    put_tables({"predicted times": time_table(compared), "predicted times, above": above_table(above, reasons)}, chosen.page)
    if chosen.record:
        for target, pairs in compared.items():
            write_record(chosen.record / f"predicted.{target}.jsonl", pairs, ["cycles"], target=target)
    failures = check_reasons(above, reasons)
    if chosen.page and failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
