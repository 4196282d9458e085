"""Causal attention in one kernel: scores, a running softmax, and the sum of values, tile by tile."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, scale, tokens, D: tl.constexpr, M_TILE: tl.constexpr, N_TILE: tl.constexpr):
    start, head = tl.program_id(0) * M_TILE, tl.program_id(1)
    base = head * tokens * D
    rows, columns, d = start + tl.arange(0, M_TILE), tl.arange(0, N_TILE), tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :])
    most = tl.full((M_TILE,), -float("inf"), tl.float32)
    total = tl.zeros((M_TILE,), tl.float32)
    acc = tl.zeros((M_TILE, D), tl.float32)
    for tile in range(0, start + M_TILE, N_TILE):
        k = tl.load(k_ptr + base + (tile + columns)[None, :] * D + d[:, None])
        v = tl.load(v_ptr + base + (tile + columns)[:, None] * D + d[None, :])
        scores = tl.dot(q, k) * scale
        scores = tl.where(rows[:, None] >= (tile + columns)[None, :], scores, -float("inf"))
        higher = tl.maximum(most, tl.max(scores, axis=1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(weights, axis=1)
        acc = tl.dot(weights.to(tl.float16), v, acc * shrink[:, None])
        most = higher
    tl.store(o_ptr + base + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


def main() -> None:
    rng = np.random.default_rng(4)
    heads, tokens, D = 2, 128, 32
    q, k, v = rng.standard_normal((3, heads, tokens, D)).astype(np.float16)
    o = np.zeros_like(q)
    scale = D**-0.5
    given = [tw.array(one) for one in (q, k, v, o)]
    attention[(tokens // 64, heads)](*given, scale / np.log(2), tokens, D=D, M_TILE=64, N_TILE=32)
    scores = np.einsum("hmd,hnd->hmn", q.astype(np.float64), k.astype(np.float64)) * scale
    scores[:, ~np.tri(tokens, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = weights / weights.sum(axis=-1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(o, expected, rtol=2e-2, atol=2e-3)
    print(f"attention: {heads} heads of {tokens} tokens are right")


if __name__ == "__main__":
    main()
