"""Persistent matrix multiplication: as many programs as compute units, each of which takes several tiles, with descriptors."""

import os

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.jit
def persistent_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr
):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [M_TILE, K_TILE])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [N_TILE, K_TILE])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [M_TILE, N_TILE])
    tiles_n = tl.cdiv(N, N_TILE)
    tiles = tl.cdiv(M, M_TILE) * tiles_n
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        row, column = tile // tiles_n * M_TILE, tile % tiles_n * N_TILE
        acc = tl.zeros((M_TILE, N_TILE), dtype=tl.float32)
        for step in range(tl.cdiv(K, K_TILE)):
            x, y = a.load([row, step * K_TILE]), b.load([column, step * K_TILE])
            acc = tl.dot(x, y.T, acc)
        c.store([row, column], acc.to(tl.float16))


def main() -> None:
    rng = np.random.default_rng(8)
    M, N, K = 128, 96, 64
    a = rng.standard_normal((M, K)).astype(np.float16)
    b = rng.standard_normal((N, K)).astype(np.float16)
    c = np.zeros((M, N), np.float16)
    units = tw.target(os.environ.get("TILEWRIGHT_TARGET", "h100")).compute_units
    tiles = {"M_TILE": 32, "N_TILE": 32, "K_TILE": 32}
    programs = min(units, triton.cdiv(M, 32) * triton.cdiv(N, 32) // 2)
    persistent_matmul[(programs,)](tw.array(a), tw.array(b), tw.array(c), M, N, K, PROGRAMS=programs, **tiles)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=2e-3, atol=2e-3)
    print(f"persistent matmul: {M}x{N} is right with {programs} programs")


if __name__ == "__main__":
    main()
