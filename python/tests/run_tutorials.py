"""Runs Triton's own tutorials through the backend, and prints a table of results.

    python run_tutorials.py FOLDER [TARGET ...]

FOLDER has the files of `python/tutorials` of Triton's repository. Tensors are made on the CPU; nothing else of a file
changes. Its benchmarks, which measure a GPU, are left out.

`TUTORIAL_SECONDS` is the time limit of each tutorial. `TUTORIAL_TESTS` selects parameters of the attention tutorial, as `-k` of
pytest does. `TUTORIAL_SIZE` replaces the size 8192 of the persistent multiplication.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = int(os.environ.get("TUTORIAL_SECONDS", "600"))

# Runs before a tutorial: benchmarks do nothing, a tutorial ends where it starts the profiler of GPUs for them, and Triton's
# driver answers for torch's GPU.
PRELUDE = """
import sys
import torch
import triton
import triton.profiler
import triton.testing

class Nothing:
    def run(self, *_, **__): pass
    def __call__(self, *_, **__): pass

triton.testing.perf_report = lambda benchmarks: lambda function: Nothing()
triton.profiler.start = lambda *_, **__: sys.exit()
device = triton.runtime.driver.active.get_device_interface()
torch.cuda.get_device_properties = device.get_device_properties
torch.cuda.get_device_capability = device.get_device_capability
"""


def patched(source: str) -> str:
    """Returns a tutorial whose tensors are on the CPU."""
    source = source.replace("validate(8192, 8192,", "validate({0}, {0},".format(os.environ.get("TUTORIAL_SIZE", "8192")))
    return re.sub(r"""device=(["'])cuda\1""", 'device="cpu"', source)


def run(file: Path, target: str) -> str:
    """Runs a tutorial; returns `pass`, the line of a comparison that it marks as failed, or its last line."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / file.name
        script.write_text(PRELUDE + patched(file.read_text()))
        variables = {"TRITON_DEFAULT_BACKEND": "tilewright", "TILEWRIGHT_TARGET": target}
        command = [sys.executable, str(script)]
        # The attention tutorial is a test.
        if "import pytest" in script.read_text():
            selected = os.environ.get("TUTORIAL_TESTS", "")
            command = [sys.executable, "-m", "pytest", "-q", "-x", str(script), "-p", "no:cacheprovider", "-k", selected]
        try:
            done = subprocess.run(
                command, env={**os.environ, **variables}, cwd=folder, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return f"no result in {SECONDS} s"
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    if done.returncode == 0:
        # Some tutorials print the results of their comparisons, and end without an error whatever they are.
        return next((line.strip()[:160] for line in lines if "❌" in line), "pass")
    errors = [line for line in lines if re.match(r"(E  )?\s*[\w.]+(Error|Fault|Exception)\b", line)]
    return (errors or lines or ["it fails"])[-1].strip()[:160]


def main() -> None:
    folder, *targets = sys.argv[1:]
    for file in sorted(Path(folder).glob("[0-9][0-9]-*.py")):
        for target in targets or ["h100", "mi300x"]:
            begin = time.time()
            result = run(file, target)
            print(f"| {file.stem} | {target} | {result} | {time.time() - begin:.0f} s |", flush=True)


if __name__ == "__main__":
    main()
