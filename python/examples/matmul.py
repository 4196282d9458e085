"""Matrix multiplication with autotuned tiles, programs in groups of rows, and a fused activation."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"M_TILE": 32, "N_TILE": 32, "K_TILE": 32, "GROUP": 2}, num_warps=4, num_stages=2),
        triton.Config({"M_TILE": 64, "N_TILE": 32, "K_TILE": 32, "GROUP": 2}, num_warps=4, num_stages=3),
        triton.Config({"M_TILE": 64, "N_TILE": 64, "K_TILE": 32, "GROUP": 2}, num_warps=4, num_stages=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    M_TILE: tl.constexpr,
    N_TILE: tl.constexpr,
    K_TILE: tl.constexpr,
    GROUP: tl.constexpr,
    LEAKY: tl.constexpr,
):
    # Programs that follow each other share rows of A and columns of B in the L2 cache.
    program, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(M, M_TILE), tl.cdiv(N, N_TILE)
    first = program // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height
    rows = (tile_m * M_TILE + tl.arange(0, M_TILE)) % M
    columns = (tile_n * N_TILE + tl.arange(0, N_TILE)) % N
    k = tl.arange(0, K_TILE)
    a = a_ptr + rows[:, None] * K + k[None, :]
    b = b_ptr + k[:, None] * N + columns[None, :]
    acc = tl.zeros((M_TILE, N_TILE), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, K_TILE)):
        left = K - step * K_TILE
        acc = tl.dot(tl.load(a, mask=k[None, :] < left, other=0.0), tl.load(b, mask=k[:, None] < left, other=0.0), acc)
        a += K_TILE
        b += K_TILE * N
    if LEAKY:
        acc = tl.where(acc >= 0, acc, 0.01 * acc)
    rows = tile_m * M_TILE + tl.arange(0, M_TILE)
    columns = tile_n * N_TILE + tl.arange(0, N_TILE)
    to = c_ptr + rows[:, None] * N + columns[None, :]
    tl.store(to, acc.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


def main() -> None:
    rng = np.random.default_rng(2)
    M, N, K = 100, 72, 80
    a = rng.standard_normal((M, K)).astype(np.float16)
    b = rng.standard_normal((K, N)).astype(np.float16)
    c = np.zeros((M, N), np.float16)
    grid = lambda meta: (triton.cdiv(M, meta["M_TILE"]) * triton.cdiv(N, meta["N_TILE"]),)
    matmul[grid](tw.array(a), tw.array(b), tw.array(c), M, N, K, LEAKY=True)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, np.where(exact >= 0, exact, 0.01 * exact), rtol=2e-3, atol=2e-3)
    print(f"matmul: right with {matmul.best_config}")


if __name__ == "__main__":
    main()
