"""Times and counters of the kernels alone, by Nsight Compute (`ncu`)."""

import csv
import pathlib
import statistics
from collections.abc import Iterator
from typing import Any

from find_tool import find_tool
from items import Batch, Item, Results, read_lines

METRICS = {
    "us": "gpu__time_duration.sum",
    "instructions": "smsp__inst_executed.sum",
    "registers": "launch__registers_per_thread",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
}
NANOSECONDS = 1000


def count_kernels(folder: pathlib.Path, work: pathlib.Path, items: list[Item], passes: int, seconds: float) -> Results:
    """The median counters of each case and compiler over the launches that the time allows."""
    metrics = ",".join(METRICS.values())
    logs = work / "ncu{}.csv"
    batch = Batch("run_cases.py", work, folder=str(folder), repeats=0)
    options = ["--csv", "--print-units", "base", "--clock-control", "none", "--metrics", metrics]
    batch.prefix = lambda start: [find_tool("ncu"), *options, "--log-file", str(logs).format(start)]
    results = batch.run([(*item, str(number)) for number in range(passes) for item in items], seconds)
    found: dict[Item, list[dict[str, float]]] = {}
    for start in range(len(list(work.glob("ncu*.csv")))):
        performed = dict(read_lines(work / f"lines{start}.jsonl"))
        launched = [item for item, result in performed.items() if result == {}]
        for item, counters in zip(launched, read_counters(pathlib.Path(str(logs).format(start)))):
            found.setdefault(item[:2], []).append(counters)
    failed: Results = {item[:2]: result for item, result in results.items() if "failed" in result}
    return failed | {item: summarize(some) for item, some in found.items()}


def summarize(launches: list[dict[str, float]]) -> dict[str, float]:
    """The medians over launches."""
    names = {name for counters in launches for name in counters}
    medians = {name: statistics.median(one[name] for one in launches if name in one) for name in sorted(names)}
    return medians | {"launches": len(launches)}


def read_counters(log: pathlib.Path) -> Iterator[dict[str, float]]:
    """The counters of each launch in order."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith('"')]
    launches: dict[int, dict[str, float]] = {}
    names = {metric: name for name, metric in METRICS.items()}
    for row in csv.DictReader(lines):
        counters = launches.setdefault(int(row["ID"]), {})
        if (name := names.get(row["Metric Name"])) and (value := read_number(row["Metric Value"])) is not None:
            counters[name] = value / NANOSECONDS if name == "us" else value
    yield from (launches[number] for number in sorted(launches))


def read_number(text: Any) -> float | None:
    """A number of the profiler's table; None if it has none."""
    try:
        return float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return None
