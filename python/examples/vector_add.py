"""Adds two vectors of any length: a masked load, a sum, a masked store."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, x + y, mask=inside)


def main() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 10_007), dtype=np.float32)
    out = np.zeros_like(x)
    grid = lambda meta: (triton.cdiv(x.size, meta["BLOCK"]),)
    add[grid](tw.array(x), tw.array(y), tw.array(out), x.size, BLOCK=1024)
    np.testing.assert_array_equal(out, x + y)
    print(f"vector add: {x.size} elements are right")


if __name__ == "__main__":
    main()
