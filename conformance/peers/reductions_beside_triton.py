"""What Triton emits for the reductions of a list of layouts, counted in its PTX.

    python3 conformance/peers/reductions_beside_triton.py [--jobs N] [LIST] [OUTPUT]

LIST has a line for each layout, `{"kind": ..., "layout": attribute text}`; by default it is the list of the
NVIDIA plugin's tests, and OUTPUT the file of counts beside it, which those tests compare with their own.
Each layout is reduced, adding f32, along both axes of each shape, for each target: a module of Triton's GPU
dialect with one `tt.reduce` goes through Triton's own stages from there to PTX. What is loaded and stored
is in slices of the layout itself, so all accesses of shared memory, exchanges and barriers are the
reduction's. Where Triton gives up, the row says `fails`. No GPU is needed.

Not part of the tests: it needs a package that the build does not.
"""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import pathlib
import re
import sys
import tempfile

WITHOUT_THE_WHEEL = """Triton's wheel is not importable from this Python. To get it:
    python3 -m venv triton-venv && triton-venv/bin/pip install triton==3.9.0
    triton-venv/bin/python conformance/peers/reductions_beside_triton.py"""

try:
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import IRSource, make_backend
except ImportError as missing:
    sys.exit(f"{WITHOUT_THE_WHEEL}\n({missing})")

DATA = pathlib.Path(__file__).resolve().parents[2] / "plugins/nvidia/tests/data"
SHAPES = [(128, 16), (128, 128), (32, 128), (32, 32), (16, 16)]
CAPABILITIES = [80, 90]
# Seconds that one reduction may take. Most take a quarter of one; on a busy machine one took nine minutes.
PATIENCE = 1800
COUNTED = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:ld|st)\.shared|shfl|bar|barrier|selp|prmt|ldmatrix|stmatrix|redux)(\.\S+)", re.M)


def module(layout, shape, axis, warps, capability):
    """The text of a kernel that makes a tensor in the layout, reduces it, and stores the result.

    The tensor is the sum of a column and a row, so that few loads of global memory stand around."""
    rows, columns = shape
    whole, sums = f"{rows}x{columns}x", f"{shape[1 - axis]}x"
    of = lambda what, tensor=whole: f"tensor<{tensor}{what}, #L>"
    row, column = "#ttg.slice<{dim = 1, parent = #L}>", "#ttg.slice<{dim = 0, parent = #L}>"
    result = column if axis == 0 else row
    out = lambda what: f"tensor<{sums}{what}, {result}>"
    return f"""#L = {layout}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "cuda:{capability}", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @reduce(%down: !tt.ptr<f32>, %right: !tt.ptr<f32>, %sums: !tt.ptr<f32>) attributes {{noinline = false}} {{
    %r0 = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, {row}>
    %r1 = tt.splat %down : !tt.ptr<f32> -> tensor<{rows}x!tt.ptr<f32>, {row}>
    %r2 = tt.addptr %r1, %r0 : tensor<{rows}x!tt.ptr<f32>, {row}>, tensor<{rows}xi32, {row}>
    %r3 = tt.load %r2 : tensor<{rows}x!tt.ptr<f32>, {row}>
    %r4 = tt.expand_dims %r3 {{axis = 1 : i32}} : tensor<{rows}xf32, {row}> -> {of("f32", f"{rows}x1x")}
    %r5 = tt.broadcast %r4 : {of("f32", f"{rows}x1x")} -> {of("f32")}
    %c0 = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32, {column}>
    %c1 = tt.splat %right : !tt.ptr<f32> -> tensor<{columns}x!tt.ptr<f32>, {column}>
    %c2 = tt.addptr %c1, %c0 : tensor<{columns}x!tt.ptr<f32>, {column}>, tensor<{columns}xi32, {column}>
    %c3 = tt.load %c2 : tensor<{columns}x!tt.ptr<f32>, {column}>
    %c4 = tt.expand_dims %c3 {{axis = 0 : i32}} : tensor<{columns}xf32, {column}> -> {of("f32", f"1x{columns}x")}
    %c5 = tt.broadcast %c4 : {of("f32", f"1x{columns}x")} -> {of("f32")}
    %values = arith.addf %r5, %c5 : {of("f32")}
    %reduced = "tt.reduce"(%values) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tt.reduce.return %sum : f32
    }}) : ({of("f32")}) -> {out("f32")}
    %o0 = tt.make_range {{end = {shape[1 - axis]} : i32, start = 0 : i32}} : {out("i32")}
    %o3 = tt.splat %sums : !tt.ptr<f32> -> {out("!tt.ptr<f32>")}
    %to = tt.addptr %o3, %o0 : {out("!tt.ptr<f32>")}, {out("i32")}
    tt.store %to, %reduced : {out("!tt.ptr<f32>")}
    tt.return
  }}
}}
"""


def ptx(text, capability, warps):
    """The PTX of a module of Triton's GPU dialect."""
    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as file:
        file.write(text)
        file.flush()
        source = IRSource(file.name, context, backend)
        options = backend.parse_options({**source.parse_options(), "num_warps": warps})
        stages = {}
        backend.add_stages(stages, options, source.language)
        functions = backend.get_codegen_implementation(options)
        lowered = source.make_ir(target, options, functions, backend.get_module_map(), context)
        metadata = {"target": target, **options.__dict__}
        return stages["ptx"](stages["llir"](lowered, metadata), metadata)


def warps_of(layout):
    """The warps of a block in a layout: those that its family lists, or one for each basis of its warps."""
    listed = re.search(r"warpsPerCTA = \[([\d, ]+)\]", layout)
    if listed:
        warps = 1
        for number in listed.group(1).split(","):
            warps *= int(number)
        return warps
    return 2 ** re.search(r"warp = \[(.*?)\], block", layout).group(1).count("[")


def bits(suffixes):
    """Bits of an access of one lane: `.v4.b32` has 128."""
    moved = 1
    for part in suffixes.split("."):
        if re.fullmatch(r"[vbuf]\d+", part):
            moved *= int(part[1:])
    return moved


def goes_straight(code):
    """Whether no branch goes back, so that what is written is what is executed."""
    seen = set()
    for line in code.splitlines():
        label = re.match(r"\s*(\$\w+):", line)
        branch = re.search(r"\bbra(?:\.uni)?\s+(\$\w+)", line)
        if label:
            seen.add(label.group(1))
        elif branch and branch.group(1) in seen:
            return False
    return True


def tally(code):
    """What a kernel executes, under the names of the known answers of conversions; zeros are left out."""
    if not goes_straight(code):
        raise ValueError("the code has loops")
    counts, by_name = collections.Counter(), collections.Counter()
    names = {"shfl": "shuffles", "redux": "shuffles", "selp": "selects", "prmt": "permutes", "bar": "barriers", "barrier": "barriers"}
    for name, suffixes in COUNTED.findall(code):
        if name in ("ld.shared", "st.shared"):
            side = "load" if name[:2] == "ld" else "store"
            counts[f"shared_{side}s"] += 1
            counts[f"shared_{side}_bits"] += bits(suffixes)
        elif name in names:
            counts[names[name]] += 1
        if name.endswith("matrix") or suffixes.startswith(".warp"):
            by_name[name + suffixes] += 1
    return {"counts": dict(sorted(counts.items())), **({"ops": dict(by_name)} if by_name else {})}


def name_of(number, shape, axis):
    return f"{number}/{shape[0]}x{shape[1]}/{axis}"


def counted(question):
    number, layout, shape, axis, capability = question
    name = name_of(number, shape, axis)
    warps = warps_of(layout)
    try:
        found = tally(ptx(module(layout, shape, axis, warps, capability), capability, warps))
    except Exception as error:  # Triton's own failures have no common class.
        found = {"fails": str(error).strip().splitlines()[-1][:120]}
    return name, capability, found


def work(questions, pipe):
    """Counts one question after the other, for whoever listens."""
    for question in questions:
        pipe.send(counted(question))


def answers_of(questions):
    """The answers to some questions, from a process that is ended where one takes too long."""
    answers = []
    while len(answers) < len(questions):
        left = questions[len(answers):]
        listening, speaking = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=work, args=(left, speaking))
        process.start()
        speaking.close()
        try:
            for _ in left:
                if not listening.poll(PATIENCE):
                    number, _, shape, axis, capability = questions[len(answers)]
                    answers.append((name_of(number, shape, axis), capability, {"fails": f"no end in {PATIENCE} s"}))
                    break
                answers.append(listening.recv())
        except EOFError:
            number, _, shape, axis, capability = questions[len(answers)]
            answers.append((name_of(number, shape, axis), capability, {"fails": "the process ended"}))
        process.kill()
        process.join()
    return answers


def rows(answers):
    """One row for each reduction; one for all targets whose counts are the same."""
    found = {}
    for name, capability, counts in answers:
        found.setdefault(name, {})[f"cuda:{capability}"] = counts
    for name, of_targets in found.items():
        for counts in {json.dumps(counts): counts for counts in of_targets.values()}.values():
            yield {"id": name, "targets": [target for target, own in of_targets.items() if own == counts], **counts}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("list", nargs="?", type=pathlib.Path, default=DATA / "reductions.jsonl")
    arguments.add_argument("output", nargs="?", type=pathlib.Path, default=DATA / "reductions_triton.jsonl")
    arguments.add_argument("--jobs", type=int, default=2)
    chosen = arguments.parse_args()
    layouts = [json.loads(line)["layout"] for line in chosen.list.read_text().splitlines()]
    of_layout = lambda number, layout: [(number, layout, shape, axis, capability)
                                        for shape in SHAPES for axis in (0, 1) for capability in CAPABILITIES]
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        found = pool.map(answers_of, [of_layout(number, layout) for number, layout in enumerate(layouts)])
        answers = [answer for some in found for answer in some]
    with chosen.output.open("w") as output:
        output.write(json.dumps({"triton": triton.__version__}) + "\n")
        for row in rows(answers):
            output.write(json.dumps(row) + "\n")
    print(f"{len(answers)} reductions, Triton {triton.__version__}: {chosen.output.name}")


if __name__ == "__main__":
    main()
