"""PTX that Triton makes of cases, in the Python that has its wheel.

    python3 conformance/peers/triton_ptx.py TARGET FOLDER CASE.ttir...

Writes `NAME.ptx` for each case, and `NAME.launch.json` with what a launch needs beside the text: warps, bytes of shared
memory, and bytes of the scratch buffers for each program. Prints a line of JSON for each case: its name, and why Triton does
not compile it or null. For `machine_code_beside_triton.py` and `executed_beside_triton.py`.
"""

import json
import pathlib
import sys
import warnings

from triton.backends.compiler import GPUTarget

from triton_times import TARGETS, prepare


def write_ptx(file: pathlib.Path, target: GPUTarget, folder: pathlib.Path) -> None:
    """Compiles one case down to PTX."""
    stages, module, metadata = prepare(file, json.loads(file.with_suffix(".json").read_text()), target)
    for stage in ("ttgir", "llir", "ptx"):
        module = stages[stage](module, metadata)
    scratch = [metadata.get(f"{kind}_scratch_size") or 0 for kind in ("global", "profile")]
    launch = {"warps": metadata["num_warps"], "shared_bytes": metadata["shared"], "scratch_bytes": scratch}
    (folder / f"{file.stem}.ptx").write_text(module)
    (folder / f"{file.stem}.launch.json").write_text(json.dumps(launch))


def main() -> None:
    """Compiles all cases."""
    warnings.simplefilter("ignore")
    target, folder = GPUTarget(*TARGETS[sys.argv[1]]), pathlib.Path(sys.argv[2])
    for name in sys.argv[3:]:
        file, error = pathlib.Path(name), None
        try:
            write_ptx(file, target, folder)
        except Exception as failure:  # Triton's own failures have no common class.
            error = str(failure)[:200]
        print(json.dumps([file.stem, error]), flush=True)


if __name__ == "__main__":
    main()
