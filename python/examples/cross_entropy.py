"""Cross entropy of long rows of logits with its gradient, in two passes over blocks of the row (online softmax)."""

import numpy as np
import tilewright as tw
import triton
import triton.language as tl


@triton.jit
def cross_entropy(logits_ptr, target_ptr, loss_ptr, gradient_ptr, columns, ignored, smoothing, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    logits = logits_ptr + row * columns
    gradient = gradient_ptr + row * columns
    if target == ignored:
        for first in range(0, columns, BLOCK):
            at = first + tl.arange(0, BLOCK)
            tl.store(gradient + at, 0.0, mask=at < columns)
        return
    most, total, sum_of_logits = float("-inf"), 0.0, 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(logits + at, mask=at < columns, other=float("-inf")).to(tl.float32)
        sum_of_logits += tl.sum(tl.where(at < columns, x, 0.0), axis=0)
        larger = tl.maximum(most, tl.max(x, axis=0))
        total = total * tl.exp(most - larger) + tl.sum(tl.exp(x - larger), axis=0)
        most = larger
    logarithm = most + tl.log(total)
    part = smoothing / columns
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(logits + at, mask=at < columns, other=float("-inf")).to(tl.float32)
        probability = tl.exp(x - most) / total
        expected = tl.where(at == target, 1 - smoothing + part, part)
        tl.store(gradient + at, (probability - expected) * scale, mask=at < columns)
    of_target = tl.load(logits + target).to(tl.float32)
    loss = (1 - smoothing) * (logarithm - of_target) + smoothing * logarithm - part * sum_of_logits
    tl.store(loss_ptr + row, loss * scale)


def main() -> None:
    rng = np.random.default_rng(9)
    rows, columns, ignored, smoothing = 12, 700, -100, 0.1
    logits = (4 * rng.standard_normal((rows, columns))).astype(np.float16)
    target = rng.integers(0, columns, rows).astype(np.int64)
    target[3] = ignored
    loss, gradient = np.zeros(rows, np.float32), np.full((rows, columns), np.nan, np.float32)
    given = [tw.array(one) for one in (logits, target, loss, gradient)]
    counted = int((target != ignored).sum())
    cross_entropy[(rows,)](*given, columns, ignored, smoothing, 1 / counted, BLOCK=256)

    wide = logits.astype(np.float64)
    logarithms = wide - wide.max(axis=1, keepdims=True)
    logarithms -= np.log(np.exp(logarithms).sum(axis=1, keepdims=True))
    expected = np.full((rows, columns), smoothing / columns)
    expected[np.arange(rows), np.maximum(target, 0)] += 1 - smoothing
    valid = (target != ignored)[:, None]
    np.testing.assert_allclose(loss, np.where(valid, -expected * logarithms, 0).sum(axis=1) / counted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient, np.where(valid, np.exp(logarithms) - expected, 0) / counted, rtol=1e-4, atol=1e-5)
    print(f"cross entropy: {counted} rows are right")


if __name__ == "__main__":
    main()
