"""Softmax of the rows of a matrix: one program normalises rows in a loop, with one read and one write of global memory."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.jit
def softmax(out_ptr, in_ptr, stride, rows, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(in_ptr + row * stride + at, mask=at < columns, other=-float("inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * stride + at, e / tl.sum(e, axis=0), mask=at < columns)


def main() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((37, 300), dtype=np.float32)
    out = np.zeros_like(x)
    rows, columns = x.shape
    softmax[(8,)](tw.array(out), tw.array(x), columns, rows, columns, BLOCK=triton.next_power_of_2(columns))
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-7)
    print(f"softmax: {rows} rows are right")


if __name__ == "__main__":
    main()
