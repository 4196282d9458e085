"""What Triton's own stages take to compile cases, in the Python that has its wheel.

    python3 conformance/peers/triton_times.py TARGET TIMES CASE.ttir...

For `programs_beside_triton.py`: each case goes through Triton's stages `ttgir`, `llir`, and `ptx` or `amdgcn`, with the
cache out of the way, as often as is asked, in one warm process. What counts is the processor's time, so that other work on the
machine does not; ours is the time that passes, which can only be more. The least of each stage counts, on both sides. Prints a
line of JSON for each case: its name and the seconds of the stages, `code` for the last one; null where Triton gives up.
"""

import json
import pathlib
import sys
import time
import warnings
from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import IRSource, make_backend

TARGETS = {"cuda:90": ("cuda", 90, 32), "cuda:80": ("cuda", 80, 32), "hip:gfx90a": ("hip", "gfx90a", 64),
           "hip:gfx942": ("hip", "gfx942", 64)}


def prepare(file: pathlib.Path, launch: dict[str, Any], target: GPUTarget) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """The stages of Triton's compiler, a case's module after the first of them, and its metadata."""
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = IRSource(str(file), context, backend)
    options = backend.parse_options({key: launch[key] for key in ("num_warps", "num_stages") if key in launch})
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    metadata = {"target": target, **options.__dict__}
    # Its first stage takes out what the target has not; it does not count, since cases come from it.
    return stages, stages["ttir"](module, metadata), metadata


def once(file: pathlib.Path, launch: dict[str, Any], target: GPUTarget) -> dict[str, float]:
    """Seconds of each stage."""
    stages, module, metadata = prepare(file, launch, target)
    seconds = {}
    for stage in ("ttgir", "llir", "ptx" if "ptx" in stages else "amdgcn"):
        begin = time.process_time()
        module = stages[stage](module, metadata)
        seconds["code" if stage in ("ptx", "amdgcn") else stage] = time.process_time() - begin
    return seconds


def least(file: pathlib.Path, target: str, times: int) -> dict[str, float] | None:
    """The least seconds of each stage of one case; None where Triton gives up."""
    launch = json.loads(file.with_suffix(".json").read_text())
    taken = []
    for _ in range(times):
        try:
            taken.append(once(file, launch, GPUTarget(*TARGETS[target])))
        except Exception:  # Triton's own failures have no common class.
            return None
    return {stage: min(one[stage] for one in taken) for stage in taken[0]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[3:]:
        print(json.dumps([pathlib.Path(name).stem, least(pathlib.Path(name), sys.argv[1], int(sys.argv[2]))]), flush=True)
