"""Matrix multiplications of several sizes in one launch: each program takes tiles of all of them in turn."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl

PROGRAMS = 6


@triton.jit
def grouped_matmul(
    pointers_ptr,
    sizes_ptr,
    groups,
    PROGRAMS: tl.constexpr,
    M_TILE: tl.constexpr,
    N_TILE: tl.constexpr,
    K_TILE: tl.constexpr,
):
    tile = tl.program_id(0)
    before = 0
    for group in range(groups):
        M, N, K = tl.load(sizes_ptr + 3 * group), tl.load(sizes_ptr + 3 * group + 1), tl.load(sizes_ptr + 3 * group + 2)
        a_ptr = tl.load(pointers_ptr + 3 * group).to(tl.pointer_type(tl.float16))
        b_ptr = tl.load(pointers_ptr + 3 * group + 1).to(tl.pointer_type(tl.float16))
        c_ptr = tl.load(pointers_ptr + 3 * group + 2).to(tl.pointer_type(tl.float16))
        tiles_n = tl.cdiv(N, N_TILE)
        tiles = tl.cdiv(M, M_TILE) * tiles_n
        while tile >= before and tile < before + tiles:
            rows = (tile - before) // tiles_n * M_TILE + tl.arange(0, M_TILE)
            columns = (tile - before) % tiles_n * N_TILE + tl.arange(0, N_TILE)
            k = tl.arange(0, K_TILE)
            acc = tl.zeros((M_TILE, N_TILE), dtype=tl.float32)
            for step in range(tl.cdiv(K, K_TILE)):
                left = K - step * K_TILE
                a = a_ptr + rows[:, None] * K + step * K_TILE + k[None, :]
                b = b_ptr + (step * K_TILE + k[:, None]) * N + columns[None, :]
                x = tl.load(a, mask=(rows[:, None] < M) & (k[None, :] < left), other=0.0)
                y = tl.load(b, mask=(k[:, None] < left) & (columns[None, :] < N), other=0.0)
                acc = tl.dot(x, y, acc)
            inside = (rows[:, None] < M) & (columns[None, :] < N)
            tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.to(tl.float16), mask=inside)
            tile += PROGRAMS
        before += tiles


def main() -> None:
    rng = np.random.default_rng(7)
    sizes = [(64, 32, 48), (40, 70, 32), (16, 16, 100)]
    # The wrapped arrays, whose addresses are in a table, must stay alive.
    inputs = [[tw.array(rng.standard_normal(shape).astype(np.float16)) for shape in ((m, k), (k, n))] for m, n, k in sizes]
    outputs = [tw.array(np.zeros((m, n), np.float16)) for m, n, _ in sizes]
    pointers = np.array([[a.data_ptr(), b.data_ptr(), c.data_ptr()] for (a, b), c in zip(inputs, outputs)], np.int64)
    table = np.array(sizes, np.int32)
    tiles = {"M_TILE": 32, "N_TILE": 32, "K_TILE": 32}
    grouped_matmul[(PROGRAMS,)](tw.array(pointers), tw.array(table), len(sizes), PROGRAMS=PROGRAMS, **tiles)
    for (a, b), c in zip(inputs, outputs):
        exact = a.array.astype(np.float64) @ b.array.astype(np.float64)
        np.testing.assert_allclose(c.array, exact, rtol=2e-3, atol=2e-3)
    print(f"grouped matmul: {len(sizes)} products are right")


if __name__ == "__main__":
    main()
