"""Memory errors and races of the cases' kernels, by `compute-sanitizer`."""

import concurrent.futures
import pathlib
import re
from typing import Any

from find_tool import find_tool
from items import Batch, Item, Results

SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) errors?|RACECHECK SUMMARY: (\d+) hazards?)")
KEPT_CHARACTERS = 2000


def count_reported(report: str) -> list[int]:
    """The errors or hazards that each summary of a report states."""
    return [sum(map(int, filter(None, found))) for found in SUMMARY.findall(report)]


def sanitize_shard(
    folder: pathlib.Path, work: pathlib.Path, tool: str, items: list[Item], seconds: float
) -> tuple[Results, str]:
    """The results of some items under a tool, and the tool's report."""
    batch = Batch("run_cases.py", work, folder=str(folder), repeats=0)
    batch.prefix = lambda start: [find_tool("compute-sanitizer"), "--tool", tool, "--log-file", str(work / f"log{start}.txt")]
    results = batch.run(items, seconds)
    return results, "\n".join(log.read_text(errors="replace") for log in sorted(work.glob("log*.txt")))


def sanitize(
    folder: pathlib.Path, work: pathlib.Path, tool: str, items: list[Item], shards: int, seconds: float
) -> dict[str, Any]:
    """How many cases ran under a tool, its counts, and the beginning of the reports that are not empty."""
    parts = [items[start::shards] for start in range(min(shards, len(items)))]
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        jobs = [pool.submit(sanitize_shard, folder, work / str(at), tool, part, seconds) for at, part in enumerate(parts)]
        done = [job.result() for job in jobs]
    results = {item: result for part, _ in done for item, result in part.items()}
    counts = [count for _, report in done for count in count_reported(report)]
    return {
        "ran": sum("failed" not in result for result in results.values()),
        "of": len(items),
        "reports": len(counts),
        "errors": sum(counts),
        "failed": {" ".join(item): result["failed"] for item, result in results.items() if "failed" in result},
        "texts": [report[:KEPT_CHARACTERS] for _, report in done if any(count_reported(report))],
    }
