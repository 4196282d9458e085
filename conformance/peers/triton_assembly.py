"""PTX or AMDGCN assembly that Triton makes of cases, in the Python that has its wheel.

    python3 conformance/peers/triton_assembly.py TARGET FOLDER CASE.ttir...

Writes `NAME.ptx` or `NAME.amdgcn` for each case, and `NAME.launch.json` with what a launch needs beside the text: warps, bytes
of shared memory, and bytes of the scratch buffers for each program; for AMD GPUs also the matrix work of the loops. Prints a
line of JSON for each case: its name, and why Triton does not compile it or null. For `machine_code_beside_triton.py` and `executed_beside_triton.py`.
"""

import json
import pathlib
import sys
import warnings

from triton.backends.compiler import GPUTarget

from case_launch import read_launch
from loop_work import read_loop_work
from triton_times import TARGETS, prepare


def write_assembly(file: pathlib.Path, target: GPUTarget, folder: pathlib.Path) -> None:
    """Compiles one case down to assembly."""
    stages, module, metadata = prepare(file, read_launch(file, target.backend == "hip"), target)
    form = "ptx" if "ptx" in stages else "amdgcn"
    module = stages["ttgir"](module, metadata)
    loop_work = read_loop_work(str(module))
    for stage in ("llir", form):
        module = stages[stage](module, metadata)
    scratch = [metadata.get(f"{kind}_scratch_size") or 0 for kind in ("global", "profile")]
    launch = {"warps": metadata["num_warps"], "shared_bytes": metadata["shared"], "scratch_bytes": scratch, "loop_work": loop_work}
    (folder / f"{file.stem}.{form}").write_text(module)
    (folder / f"{file.stem}.launch.json").write_text(json.dumps(launch))


def main() -> None:
    """Compiles all cases."""
    warnings.simplefilter("ignore")
    target, folder = GPUTarget(*TARGETS[sys.argv[1]]), pathlib.Path(sys.argv[2])
    for name in sys.argv[3:]:
        file, error = pathlib.Path(name), None
        try:
            write_assembly(file, target, folder)
        except Exception as failure:  # Triton's own failures have no common class.
            error = str(failure)[:200]
        print(json.dumps([file.stem, error]), flush=True)


if __name__ == "__main__":
    main()
