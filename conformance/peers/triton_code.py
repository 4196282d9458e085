"""Triton's code of cases and the assembler of its wheel, for the scripts that compare code with it."""

import importlib.util
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable

HERE = pathlib.Path(__file__).resolve().parent
# NVIDIA's targets, and the processor for the assembler.
PROCESSORS = {"h100": "sm_90a", "a100": "sm_80"}
# All targets, and their names in `triton_times.py`.
TRITON_TARGETS = {"h100": "cuda:90", "a100": "cuda:80", "mi300x": "hip:gfx942", "mi250": "hip:gfx90a"}


def compile_by_triton(target: str, cases: Iterable[pathlib.Path], folder: pathlib.Path) -> None:
    """Writes Triton's code of cases by this Python; a case that ends the process is left out, and the next one goes on."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [str(case) for case in cases]
    while waiting:
        command = [sys.executable, str(HERE / "triton_assembly.py"), TRITON_TARGETS[target], str(folder), *waiting]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        # A case for which no line came has ended the process.
        waiting = waiting[len(done.stdout.splitlines()) + 1 :]


def find_assembler() -> tuple[str, str]:
    """The newest `ptxas`, and `nvdisasm`, of the wheel in this Python."""
    found = importlib.util.find_spec("triton")
    if found is None or found.origin is None:
        sys.exit("this Python has no Triton: pip install triton==3.9.0")
    folder = pathlib.Path(found.origin).parent / "backends" / "nvidia" / "bin"
    return str(max(folder.glob("ptxas*"))), str(folder / "nvdisasm")


def run_assembler(ptx: pathlib.Path, processor: str, *options: str) -> tuple[pathlib.Path, dict[str, int]]:
    """The machine code that the assembler makes of a text, beside it, and its registers and bytes of spills."""
    cubin = ptx.with_suffix(".cubin")
    command = [find_assembler()[0], "-v", f"-arch={processor}", *options, str(ptx), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"ptxas: {done.stderr[:200]}")
    resources = {"registers": r"Used (\d+) registers", "spills": r"(\d+) bytes spill"}
    return cubin, {name: sum(map(int, re.findall(pattern, done.stderr))) for name, pattern in resources.items()}


def assembler_version() -> str:
    """The version of the assembler."""
    told = subprocess.run([find_assembler()[0], "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V(\d+(?:\.\d+)+)", told)
    return found[1] if found else told
