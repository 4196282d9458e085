"""What Triton's own stages take to compile cases, in the Python that has its wheel.

For `programs_beside_triton.py`: each case is read from its `.ttir` and goes through Triton's stages `ttgir`, `llir`, and
`ptx` or `amdgcn`, with the cache out of the way. A case is compiled as often as is asked, in one warm process; whatever
interrupts a compilation only adds to its time, so the least of each stage counts, on both sides.
"""

import json
import time

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import IRSource, make_backend

TARGETS = {"cuda:90": ("cuda", 90, 32), "cuda:80": ("cuda", 80, 32), "hip:gfx90a": ("hip", "gfx90a", 64),
           "hip:gfx942": ("hip", "gfx942", 64)}


def once(file, launch, target):
    """Seconds of each stage."""
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = IRSource(str(file), context, backend)
    options = backend.parse_options({"num_warps": launch["num_warps"], "num_stages": launch["num_stages"]})
    stages = {}
    backend.add_stages(stages, options, source.language)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    metadata = {"target": target, **options.__dict__}
    # Its first stage takes out what the target has not; it does not count, since cases come from it.
    module = stages["ttir"](module, metadata)
    seconds = {}
    for stage in ("ttgir", "llir", "ptx" if "ptx" in stages else "amdgcn"):
        begin = time.perf_counter()
        module = stages[stage](module, metadata)
        seconds["code" if stage in ("ptx", "amdgcn") else stage] = time.perf_counter() - begin
    return seconds


def least(file, target, times):
    """The least seconds of each stage of one case, for a target as the data names it; None where Triton gives up."""
    launch = json.loads(file.with_suffix(".json").read_text())
    taken = []
    for _ in range(times):
        try:
            taken.append(once(file, launch, GPUTarget(*TARGETS[target])))
        except Exception:  # Triton's own failures have no common class.
            return None
    return {stage: min(one[stage] for one in taken) for stage in taken[0]}
