"""Predicted times of Triton's modules with layouts and of ours for the same cases, by the same cost model, without a GPU.

    python3 conformance/peers/predicted_beside_triton.py COMMAND --cases DIR --ttgir FOLDER [--target NAME]... [--record FOLDER]

DIR has cases (docs/tile-ir.md), FOLDER a folder for each target with what `triton_ttgir.py` wrote. COMMAND is `tilewright`;
`explain --launch` predicts the cycles of the case's launch from a module: ours from the case's program, Triton's from its
layouts, which are kept. Prints the cases whose cycles are above Triton's. `--record` writes the cycles that a test compares.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess

from record import write_record
from tables import row

TARGETS = ("h100", "a100", "mi300x", "mi250")


@dataclasses.dataclass(frozen=True)
class Pair:
    """The predicted cycles of a case."""

    name: str
    own: dict[str, float]
    other: dict[str, float]

    @property
    def ratio(self) -> float:
        """Ours over Triton's; a program without work takes no cycles."""
        return (self.own["cycles"] + 1) / (self.other["cycles"] + 1)


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
        return Pair(name, own, other)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(pair, names))


def main() -> None:
    """Compares all cases for all targets."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--ttgir", type=pathlib.Path, required=True, metavar="FOLDER")
    arguments.add_argument("--target", action="append", choices=TARGETS)
    arguments.add_argument("--record", type=pathlib.Path, metavar="FOLDER")
    chosen = arguments.parse_args()
    print(row("target", "cases", "geometric mean", "above Triton's", "worst", "case"))
    for target in chosen.target or TARGETS:
        pairs = compare(chosen.command, target, chosen.cases, chosen.ttgir / target)
        above = sorted((pair for pair in pairs if pair.own["cycles"] > pair.other["cycles"]), key=lambda pair: -pair.ratio)
        worst = max(pairs, key=lambda pair: pair.ratio)
        mean = statistics.geometric_mean(pair.ratio for pair in pairs)
        print(row(target, len(pairs), f"{mean:.2f}", len(above), f"{worst.ratio:.2f}", f"`{worst.name}`"))
        for pair in above:
            print(f"{target} {pair.ratio:.3f} {pair.name} {pair.own['cycles']} {pair.other['cycles']}")
        if chosen.record:
            write_record(chosen.record / f"predicted.{target}.jsonl", pairs, ["cycles"], target=target)


if __name__ == "__main__":
    main()
