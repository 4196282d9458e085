"""Triton's module of cases after its stage `ttgir`, in the Python that has its wheel.

    python3 conformance/peers/triton_ttgir.py TARGET FOLDER CASE.ttir...

Writes FOLDER/NAME.ttgir for each case, with the warps and stages of its launch, and prints a line of JSON for each: its name,
and whether Triton compiled it.
"""

import json
import pathlib
import sys
import warnings

from triton.backends.compiler import GPUTarget

from triton_times import TARGETS, prepare


def write_module(file: pathlib.Path, target: str, folder: pathlib.Path) -> bool:
    """Whether Triton's stage succeeded, and its module in the folder."""
    launch = json.loads(file.with_suffix(".json").read_text())
    try:
        stages, module, metadata = prepare(file, launch, GPUTarget(*TARGETS[target]))
        text = str(stages["ttgir"](module, metadata))
    except Exception:  # Triton's own failures have no common class.
        return False
    (folder / f"{file.stem}.ttgir").write_text(text)
    return True


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in map(pathlib.Path, sys.argv[3:]):
        print(json.dumps([name.stem, write_module(name, sys.argv[1], pathlib.Path(sys.argv[2]))]), flush=True)
