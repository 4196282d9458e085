"""Writes large programs as cases: Triton IR and a launch, in the Python that has Triton's wheel.

    PYTHONPATH=conformance/peers python3 -m gpu.write_ttir large|sweep FOLDER [TEXT]

Writes `NAME.ttir` and `NAME.json` for each program whose name contains TEXT. Integer arguments that are multiples of 16 are
marked so, and those that are 1 are constants, as in a launch by Triton.
"""

import json
import pathlib
import sys
from typing import Any

from triton import language
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

from gpu.large_programs import LargeProgram, large_programs
from gpu.sweep_programs import sweep_programs
from triton_times import TARGETS

TARGET = GPUTarget(*TARGETS["cuda:90"])
TYPES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "i32": "i32", "i8": "i8", "f8e4m3": "fp8e4nv"}
PROGRAMS = {"large": large_programs, "sweep": sweep_programs}
ACCUMULATORS = {"f16": language.float16, "f32": language.float32, "i32": language.int32}


def describe_source(program: LargeProgram) -> Any:
    """The kernel with the types of its arguments, as Triton's compiler takes it."""
    given = {one["name"]: one for one in program.case["args"]}
    constants = program.constants | {key: ACCUMULATORS[value] for key, value in program.constants.items() if key == "SUM"}
    signature, attributes = {}, {}
    for index, name in enumerate(program.kernel.arg_names):
        if name in constants:
            signature[name] = "constexpr"
            continue
        kind = TYPES[given[name]["dtype"]]
        signature[name] = f"*{kind}" if given[name]["kind"] == "pointer" else kind
        if "divisibility" in given[name]:
            attributes[(index,)] = [["tt.divisibility", given[name]["divisibility"]]]
    return ASTSource(program.kernel, signature, constants, attributes)


def make_ttir(program: LargeProgram) -> str:
    """The text of a program after Triton's first stage."""
    backend = make_backend(TARGET)
    options = backend.parse_options({key: program.case[key] for key in ("num_warps", "num_stages")})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = describe_source(program)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(TARGET, options, functions, backend.get_module_map(), context)
    return str(stages["ttir"](module, {"target": TARGET, **options.__dict__}).str_nodebug())


def main() -> None:
    """Writes all programs."""
    folder, text = pathlib.Path(sys.argv[2]), "".join(sys.argv[3:4])
    folder.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS[sys.argv[1]]():
        if text in program.name:
            (folder / f"{program.name}.ttir").write_text(make_ttir(program))
            (folder / f"{program.name}.json").write_text(json.dumps(program.case))


if __name__ == "__main__":
    main()
