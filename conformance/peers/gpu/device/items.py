"""Items of work in a process of its own, which a failed or endless launch ends: one line of JSON for each item.

A task is a file of JSON with `folder`, `lines` (the file for results), `items`, `seconds` and options of the script. The
process writes `{"begin": item}` before an item and `{"item": item, "result": ...}` after it.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

Item = tuple[str, ...]
Results = dict[Item, Any]
HERE = pathlib.Path(__file__).resolve().parent
POLL_SECONDS, KILL_SECONDS = 0.02, 10


def perform_items(task: dict[str, Any], perform: Callable[[Item], Any], is_fatal: type[Exception]) -> None:
    """In the process: performs the items until the time is over; ends the process after a fatal error."""
    end = time.monotonic() + task["seconds"]
    with pathlib.Path(task["lines"]).open("a") as lines:

        def write(line: dict[str, Any]) -> None:
            lines.write(json.dumps(line) + "\n")
            lines.flush()

        for item in task["items"]:
            if time.monotonic() > end:
                return
            write({"begin": item})
            try:
                write({"item": item, "result": perform(tuple(item))})
            except is_fatal as error:
                write({"item": item, "result": {"failed": str(error)}})
                sys.stdout.flush()
                # The context is lost, and destructors of other libraries may wait for it.
                os._exit(3)
            except Exception as error:  # An error of one item must not end the others.
                write({"item": item, "result": {"failed": f"{type(error).__name__}: {error}"}})


class Batch:
    """Items that a script performs, with its options; `prefix` gives the command that starts Python, by number of the start."""

    def __init__(self, script: str, work: pathlib.Path, **options: Any) -> None:
        self.script, self.work, self.options = script, work, options
        self.quiet_seconds = 40.0
        self.prefix: Callable[[int], list[str]] = lambda start: []

    def run(self, items: list[Item], seconds: float) -> Results:
        """The results; items that a process begins and does not end are failures, and the next process goes on behind them."""
        self.work.mkdir(parents=True, exist_ok=True)
        end, results, waiting, start = time.monotonic() + seconds, Results(), list(items), 0
        while waiting and (left := end - time.monotonic()) > 5:
            lines = self.work / f"lines{start}.jsonl"
            reason = self.run_process(start, lines, waiting, left)
            begun = dict(read_lines(lines))
            found = {item: {"failed": reason} if result is None else result for item, result in begun.items()}
            results |= found
            waiting = [item for item in waiting if item not in found]
            start += 1
            if not found:
                return results | {item: {"failed": f"{reason}: {self.read_end(start - 1)}"} for item in waiting}
        return results

    def run_process(self, start: int, lines: pathlib.Path, items: list[Item], left: float) -> str:
        """Runs a process to its end, kills it if it makes no progress; returns how it ended."""
        task = self.work / f"task{start}.json"
        # A process that keeps its own time ends in order, so that a profiler around it writes its results.
        timed = {"lines": str(lines), "items": items, "seconds": max(left - 3, 1)}
        task.write_text(json.dumps(self.options | timed))
        command = [*self.prefix(start), sys.executable, str(HERE / self.script), str(task)]
        begin = changed = time.monotonic()
        size = 0
        with (self.work / f"output{start}.txt").open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
            while process.poll() is None:
                time.sleep(POLL_SECONDS)
                now = time.monotonic()
                if lines.exists() and lines.stat().st_size != size:
                    size, changed = lines.stat().st_size, now
                if now - begin > left + 5 or now - changed > self.quiet_seconds:
                    end_group(process)
                    return f"no result for {now - changed:.0f} s"
        return f"the process ended with status {process.returncode}"

    def read_end(self, start: int) -> str:
        """The end of what a process printed."""
        return (self.work / f"output{start}.txt").read_text(errors="replace")[-800:]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and its children; the driver may hold one that waits for an endless kernel."""
    os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(KILL_SECONDS)


def read_lines(lines: pathlib.Path) -> Iterator[tuple[Item, Any]]:
    """The items of a file of results in order, begun ones with None before those with their results."""
    for text in lines.read_text().splitlines() if lines.exists() else []:
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            return
        yield (tuple(line["begin"]), None) if "begin" in line else (tuple(line["item"]), line["result"])
