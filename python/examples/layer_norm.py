"""Layer normalisation: forward, and backward with sums over rows that programs collect under a lock."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.jit
def forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + at, mask=inside)
    b = tl.load(b_ptr + at, mask=inside)
    tl.store(y_ptr + row * columns + at, centred * rstd * w + b, mask=inside)


@triton.jit
def backward(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    dy = tl.load(dy_ptr + row * columns + at, mask=inside, other=0.0)
    w = tl.load(w_ptr + at, mask=inside, other=0.0)
    rstd = tl.load(rstd_ptr + row)
    x_hat = tl.where(inside, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    wdy = w * dy
    c1 = tl.sum(x_hat * wdy, axis=0) / columns
    c2 = tl.sum(wdy, axis=0) / columns
    tl.store(dx_ptr + row * columns + at, (wdy - x_hat * c1 - c2) * rstd, mask=inside)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(dw_ptr + at, tl.load(dw_ptr + at, mask=inside) + dy * x_hat, mask=inside)
    tl.store(db_ptr + at, tl.load(db_ptr + at, mask=inside) + dy, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


def main() -> None:
    rng = np.random.default_rng(3)
    rows, columns, eps = 21, 200, 1e-5
    x, dy = rng.standard_normal((2, rows, columns), dtype=np.float32)
    w, b = rng.standard_normal((2, columns), dtype=np.float32)
    y, dx = np.zeros_like(x), np.zeros_like(x)
    mean, rstd = np.zeros((2, rows), np.float32)
    dw, db, lock = np.zeros_like(w), np.zeros_like(b), np.zeros(1, np.int32)
    block = triton.next_power_of_2(columns)
    given = [tw.array(one) for one in (x, y, w, b, mean, rstd)]
    forward[(rows,)](*given, columns, eps, BLOCK=block)
    given = [tw.array(one) for one in (dx, dy, dw, db, x, w, mean, rstd, lock)]
    backward[(rows,)](*given, columns, BLOCK=block)

    wide = x.astype(np.float64)
    x_hat = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + eps)
    wdy = w * dy
    c1, c2 = (x_hat * wdy).mean(axis=1, keepdims=True), wdy.mean(axis=1, keepdims=True)
    expected_dx = (wdy - x_hat * c1 - c2) / np.sqrt(wide.var(axis=1, keepdims=True) + eps)
    np.testing.assert_allclose(y, x_hat * w + b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(dx, expected_dx, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(dw, (dy * x_hat).sum(axis=0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(db, dy.sum(axis=0), rtol=1e-4, atol=1e-4)
    print(f"layer norm: {rows} rows are right, forward and backward")


if __name__ == "__main__":
    main()
