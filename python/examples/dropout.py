"""Dropout whose mask is not stored: a seed and the index of an element give its random number again."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.jit
def dropout(x_ptr, out_ptr, count, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    kept = tl.rand(seed, at) > p
    tl.store(out_ptr + at, tl.where(kept, x / (1 - p), 0.0), mask=inside)


def main() -> None:
    x = np.random.default_rng(5).standard_normal(4000, dtype=np.float32)
    p = 0.25

    def dropped(seed: int) -> np.ndarray:
        out = np.zeros_like(x)
        dropout[(triton.cdiv(x.size, 1024),)](tw.array(x), tw.array(out), x.size, p, seed, BLOCK=1024)
        return out

    first, again, other = dropped(123), dropped(123), dropped(512)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any(), "two seeds drop the same elements"
    kept = first != 0
    np.testing.assert_allclose(first[kept], x[kept] / (1 - p), rtol=1e-6)
    assert abs(kept.mean() - (1 - p)) < 0.03, kept.mean()
    print(f"dropout: {kept.mean():.3f} of {x.size} elements are kept, the same in a second run")


if __name__ == "__main__":
    main()
