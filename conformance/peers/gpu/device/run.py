"""Runs a folder that `gpu.prepare` wrote on a machine with a GPU, and writes the results as JSON.

    python3 FOLDER/run.py RESULTS.json [--seconds N] [--sections NAME,...] [--dry-run]

Sections: `device` (name, clock, bandwidth of a copy), `cases` (contents of all buffers, and times by events), `large` and `sweep`
(programs compared with PyTorch, timed in turn; the sweep has one problem with many tiles), `alone` (times of the kernels alone, by `ncu`), `memcheck` and `racecheck` (by
`compute-sanitizer`). The results are written after each section. Needs Python 3.12 with NumPy and PyTorch, and the driver.
`--dry-run` needs no GPU: it checks that all files of the folder exist and fit their launches.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time
import traceback
from typing import Any

from check_folder import find_faults
from counters import count_kernels
from items import Batch, Item, Results
from sanitizer import sanitize

HERE = pathlib.Path(__file__).resolve().parent
SIDES = ("ours", "triton")
PARTS = ("cases", "large", "sweep")
REPEATS = LAUNCHES = 30
COUNTED_LAUNCHES = 3
SHARDS = 4
# The greatest share of the time that is left which a section may take, and its seconds at most.
LIMITS = {
    "device": (0.3, 20),
    "cases": (0.4, 60),
    "large": (0.5, 90),
    "sweep": (0.5, 90),
    "alone": (0.5, 70),
    "memcheck": (0.5, 60),
    "racecheck": (1, 60),
}


class Run:
    """The sections of a run, and their results so far."""

    def __init__(self, index: dict[str, Any], work: pathlib.Path) -> None:
        self.index, self.work = index, work
        programs = {name: program for part in PARTS for name, program in index[part].items()}
        kept = {name: {key: one[key] for key in ("kernel", "group", "work") if key in one} for name, one in programs.items()}
        self.results: dict[str, Any] = {"about": index["about"], "seconds": {}, "programs": kept}

    def built(self, part: str) -> list[Item]:
        """Compilers and programs that have code."""
        return [(side, name) for name, program in self.index[part].items() for side in SIDES if "cubin" in program[side]]

    def sound(self) -> list[Item]:
        """Compilers and cases without a failed launch."""
        failed = {tuple(key.split(" ")) for key, result in self.results.get("cases", {}).items() if "failed" in result}
        return [item for item in self.built("cases") if item not in failed]

    def device(self, seconds: float) -> Any:
        """The device."""
        batch = Batch("run_device.py", self.work / "device", folder=str(HERE))
        return key_by_text(batch.run([("device",), ("smi",), ("clock",), ("copy",)], seconds))

    def cases(self, seconds: float) -> Any:
        """The cases on their buffers."""
        batch = Batch("run_cases.py", self.work / "cases", folder=str(HERE), repeats=REPEATS)
        batch.quiet_seconds = 15
        return key_by_text(batch.run(self.built("cases"), seconds))

    def large(self, seconds: float) -> Any:
        """The large programs."""
        return self.compare("large", seconds)

    def sweep(self, seconds: float) -> Any:
        """The programs of the sweep."""
        return self.compare("sweep", seconds)

    def compare(self, part: str, seconds: float) -> Any:
        """Programs whose tensors are made on the device."""
        batch = Batch("run_large.py", self.work / part, folder=str(HERE), part=part, launches=LAUNCHES)
        # The first import of PyTorch may take long.
        batch.quiet_seconds = 75
        sides = [{name for side, name in self.built(part) if side == one} for one in SIDES]
        items: list[Item] = [(name,) for name in self.index[part] if all(name in built for built in sides)]
        return key_by_text(batch.run(items, seconds))

    def alone(self, seconds: float) -> Any:
        """The kernels of the cases alone."""
        return key_by_text(count_kernels(HERE, self.work / "alone", self.sound(), COUNTED_LAUNCHES, seconds))

    def memcheck(self, seconds: float) -> Any:
        """Memory errors of our kernels."""
        return self.sanitize("memcheck", seconds)

    def racecheck(self, seconds: float) -> Any:
        """Races of our kernels."""
        return self.sanitize("racecheck", seconds)

    def sanitize(self, tool: str, seconds: float) -> Any:
        """What a tool finds in our kernels."""
        return sanitize(HERE, self.work / tool, tool, [item for item in self.sound() if item[0] == "ours"], SHARDS, seconds)

    def perform(self, section: str, seconds: float) -> None:
        """Performs a section; its failure is its result."""
        begin, perform = time.monotonic(), getattr(self, section)
        try:
            self.results[section] = perform(seconds)
        except Exception:  # A failed section must not end the others.
            self.results[section] = {"failed": traceback.format_exc()[-2000:]}
        self.results["seconds"][section] = round(time.monotonic() - begin, 1)
        print(f"{section}: {self.results['seconds'][section]} s, {summarize(self.results[section])}", flush=True)


def key_by_text(results: Results) -> dict[str, Any]:
    """The results with keys for JSON."""
    return {" ".join(item): result for item, result in results.items()}


def summarize(results: dict[str, Any]) -> str:
    """How many items of a section have results, and the first failures."""
    shown = {
        kind: [f"{kind} {key}: {one[kind]}"[:300] for key, one in results.items() if isinstance(one, dict) and one.get(kind)]
        for kind in ("failed", "wrong", "wrong_later")
    }
    counts = ", ".join(f"{len(lines)} {kind}" for kind, lines in shown.items())
    return "\n  ".join([f"{len(results)} results, {counts}", *(line for lines in shown.values() for line in lines[:8])])


def write_results(file: pathlib.Path, results: dict[str, Any]) -> None:
    """Replaces the file."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1))
    part.replace(file)


def main() -> None:
    """Performs the chosen sections."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=pathlib.Path)
    arguments.add_argument("--seconds", type=float, default=240)
    arguments.add_argument("--sections", default=",".join(LIMITS))
    arguments.add_argument("--dry-run", action="store_true")
    chosen = arguments.parse_args()
    index = json.loads((HERE / "programs.json").read_text())
    faults = find_faults(HERE, index)
    print("\n".join(faults), flush=True)
    if chosen.dry_run:
        sys.exit(1 if faults else 0)
    end = time.monotonic() + chosen.seconds
    with tempfile.TemporaryDirectory() as work:
        run = Run(index, pathlib.Path(work))
        for section in chosen.sections.split(","):
            share, most = LIMITS[section]
            run.perform(section, min(most, share * (end - time.monotonic())))
            write_results(chosen.results, run.results)


if __name__ == "__main__":
    main()
