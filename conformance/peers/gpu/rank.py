"""Compares the order of programs by the performance model's predictions with the order by times on a GPU.

    PYTHONPATH=conformance/peers python3 -m gpu.rank COMMAND RESULTS.json FOLDER... --target NAME [OPTION...]

`device/run.py` wrote RESULTS.json, and `write_ttir.py` the programs in the folders (`prepare.py --ptx` keeps them). Prints
a table: for each group of programs the rank correlation (Spearman's coefficient), and the time lost by taking the program
that the model predicts to be the quickest. `--list` prints both times of each program; `--page` puts the table between the
marks `rank_PART` of a page.
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
from typing import Any

from tables import put_tables, row

# Below, a page states what the model does not know.
EXPECTED = 0.8
# Fewest programs of a group.
FEWEST = 3
ORDERS = {"_nn_": "multiplies nn", "_nt_": "multiplies nt"}


@dataclasses.dataclass(frozen=True)
class Ranked:
    """A program with its measured time and the model's prediction."""

    name: str
    group: str
    us: float
    prediction: dict[str, Any]

    @property
    def predicted(self) -> float:
        """The predicted microseconds."""
        return float(self.prediction["microseconds"])


def predict(command: str, target: str, program: pathlib.Path) -> dict[str, Any]:
    """The prediction of a launch."""
    case = program.with_suffix(".json")
    launch = json.loads(case.read_text())
    sizes = ["--warps", str(launch["num_warps"]), "--stages", str(launch["num_stages"])]
    options = ["--target", target, *sizes, "--launch", str(case), "--json"]
    done = subprocess.run([command, "explain", str(program), *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{program.stem}: {done.stderr[:300]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def name_group(part: str, name: str, group: str) -> str:
    """The group of a program: the sweep has one for each problem; other multiplies are divided by the order of B."""
    return next((kind for order, kind in ORDERS.items() if order in name), group) if part == "large" else group


def rank_programs(chosen: argparse.Namespace, results: dict[str, Any]) -> list[Ranked]:
    """All programs of a part that have times."""
    files = {file.stem: file for folder in chosen.folders for file in folder.glob("*.ttir")}
    times = {name: one["us"]["ours"] for name, one in results[chosen.part].items() if "us" in one}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        predictions = pool.map(lambda name: predict(chosen.command, chosen.target, files[name]), times)
        groups = {name: name_group(chosen.part, name, results["programs"][name]["group"]) for name in times}
        return [Ranked(name, groups[name], us, found) for (name, us), found in zip(times.items(), predictions)]


def correlate(some: list[Ranked]) -> float:
    """Spearman's coefficient of predicted and measured times."""
    pairs = [[one.predicted for one in some], [one.us for one in some]]
    return statistics.correlation(*map(rank_values, pairs)) if len({*pairs[0]}) > 1 else 0.0


def rank_values(values: list[float]) -> list[float]:
    """The rank of each value; equal values share the mean of their ranks."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def table(programs: list[Ranked]) -> list[str]:
    """The rank correlation of each group."""
    names = ("programs", "Spearman", "predicted by measured", "measured best", "predicted best", "time lost")
    lines = [row("group", *names), "|---|--:|--:|--:|---|---|--:|"]
    for group in dict.fromkeys(one.group for one in programs):
        some = [one for one in programs if one.group == group]
        if len(some) < FEWEST:
            continue
        quickest, chosen = min(some, key=lambda one: one.us), min(some, key=lambda one: one.predicted)
        mean = statistics.geometric_mean(one.predicted / one.us for one in some)
        cells = [f"{correlate(some):.2f}", f"{mean:.2f}", f"`{quickest.name}`", f"`{chosen.name}`"]
        lines.append(row(group, len(some), *cells, f"{chosen.us / quickest.us - 1:.0%}"))
    return lines


def list_programs(programs: list[Ranked]) -> list[str]:
    """Both times of each program, and the prediction."""
    names = ("us", "predicted", "ratio", "bound by", "resident", "registers", "issue", "shared", "matrix", "global", "latency")
    lines = [row("program", *names), "|---|" + "--:|" * len(names)]
    for one in sorted(programs, key=lambda one: (one.group, one.us)):
        found = one.prediction
        times = [f"{one.us:.1f}", f"{one.predicted:.1f}", f"{one.predicted / one.us:.2f}"]
        pipes = [f"{found['pipes'][pipe]:.0f}" for pipe in ("issue", "shared", "matrix", "global")]
        cells = [*times, found["bound_by"], found["resident"], found["registers"], *pipes, f"{found['latency']:.0f}"]
        lines.append(row(f"`{one.name}`", *cells))
    return lines


def main() -> None:
    """Prints the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("results", type=pathlib.Path)
    arguments.add_argument("folders", type=pathlib.Path, nargs="+")
    arguments.add_argument("--target", required=True)
    arguments.add_argument("--part", choices=("large", "sweep"), default="large")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--page", type=pathlib.Path)
    chosen = arguments.parse_args()
    programs = rank_programs(chosen, json.loads(chosen.results.read_text()))
    put_tables({f"rank_{chosen.part}": table(programs)}, chosen.page is not None, chosen.page or pathlib.Path())
    if chosen.list:
        print("\n" + "\n".join(list_programs(programs)))
    groups = {group: [one for one in programs if one.group == group] for group in {one.group for one in programs}}
    below = sorted(group for group, some in groups.items() if len(some) >= FEWEST and correlate(some) < EXPECTED)
    print(f"\nbelow {EXPECTED}: {', '.join(below) or 'none'}", file=sys.stderr)


if __name__ == "__main__":
    main()
