"""What Triton emits for conversions across the blocks of a cluster.

    python3 conformance/peers/clusters_beside_triton.py

Compiles a load, a conversion and a store for compute capability 9.0, without a GPU, and prints for each
conversion how often each instruction of shared memory and each barrier stands in the PTX. The conversions
are those of plugins/nvidia/tests/across_blocks.rs, which has the numbers.

Not part of the tests: it needs a package that the build does not.
"""

import collections
import pathlib
import re
import sys
import tempfile

try:
    import triton
    from triton.backends.compiler import GPUTarget
except ImportError as missing:
    sys.exit(f"Triton's wheel is not importable from this Python: pip install triton==3.9.0\n({missing})")


def blocked(size, threads, warps, order, blocks):
    return (f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {threads}, warpsPerCTA = {warps}, "
            f"order = {order}, CGALayout = {blocks}}}>")


def rows(blocks):
    return blocked([1, 8], [4, 8], [4, 1], [1, 0], blocks)


def columns(blocks):
    return blocked([8, 1], [8, 4], [1, 4], [0, 1], blocks)


def product(blocks):
    return ("#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
            f"CGALayout = {blocks}, instrShape = [16, 64, 16]}}>")


def operand(blocks):
    return f"#ttg.dot_op<{{opIdx = 0, parent = {product(blocks)}, kWidth = 2}}>"


CASES = [
    ("blocks along the other axis", rows([[1, 0]]), rows([[0, 1]]), (128, 128), 2),
    ("rows to columns of four blocks", rows([[1, 0], [2, 0]]), columns([[0, 1], [0, 2]]), (128, 128), 4),
    ("blocks in another order", rows([[1, 0], [2, 0]]), rows([[2, 0], [1, 0]]), (128, 64), 4),
    ("to the result of a product", rows([[1, 0]]), product([[0, 1]]), (128, 128), 2),
    ("from the result of a product", product([[0, 1], [1, 0]]), rows([[1, 0], [0, 1]]), (256, 128), 4),
    ("to an operand that blocks share", rows([[0, 1]]), operand([[0, 1]]), (128, 64), 2),
    ("from what all blocks hold", rows([[0, 0]]), columns([[0, 1]]), (64, 128), 2),
    ("to what all blocks hold", columns([[0, 1]]), rows([[0, 0]]), (64, 128), 2),
]

KERNEL = """#src = {src}
#dst = {dst}
#index = #ttg.slice<{{dim = 1, parent = #src}}>
module attributes {{"ttg.num-ctas" = {blocks} : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @convert(%from: !tt.ptr<f16> {{tt.divisibility = 16 : i32}},
                          %to: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}) {{
    %0 = tt.splat %from : !tt.ptr<f16> -> tensor<{shape}x!tt.ptr<f16>, #src>
    %1 = tt.splat %to : !tt.ptr<f16> -> tensor<{shape}x!tt.ptr<f16>, #dst>
    %2 = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, #index>
    %3 = tt.expand_dims %2 {{axis = 1 : i32}} : tensor<{rows}xi32, #index> -> tensor<{rows}x1xi32, #src>
    %4 = tt.broadcast %3 : tensor<{rows}x1xi32, #src> -> tensor<{shape}xi32, #src>
    %5 = tt.addptr %0, %4 : tensor<{shape}x!tt.ptr<f16>, #src>, tensor<{shape}xi32, #src>
    %6 = tt.load %5 : tensor<{shape}x!tt.ptr<f16>, #src>
    %7 = ttg.convert_layout %6 : tensor<{shape}xf16, #src> -> tensor<{shape}xf16, #dst>
    tt.store %1, %7 : tensor<{shape}x!tt.ptr<f16>, #dst>
    tt.return
  }}
}}
"""
SHOWN = re.compile(r"\b((?:st\.shared|ld\.shared|stmatrix|ldmatrix|barrier\.cluster\.arrive|bar\.sync)[\w.:]*)")


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "convert.ttgir"
        for name, src, dst, (height, width), blocks in CASES:
            file.write_text(KERNEL.format(src=src, dst=dst, blocks=blocks, rows=height, shape=f"{height}x{width}"))
            options = {"num_warps": 4, "num_ctas": blocks}
            ptx = triton.compile(str(file), target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"]
            counts = collections.Counter(SHOWN.findall(ptx))
            print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
