"""Triton kernels of the large programs: matrix multiplication, attention, and programs that are bound by memory.

Each fills a GPU several times at the sizes of `large_programs.py`. The algorithms are those of Triton's tutorials.
"""

# ruff: noqa: N803, N806
# mypy: ignore-errors
import triton
import triton.language as tl


@triton.jit
def find_tile(M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """The tile of a program: `GROUP` rows of tiles in turn, so that resident programs share operands in L2."""
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    program = tl.program_id(0)
    first = program // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    within = program % (GROUP * columns)
    return first + within % height, within // height


@triton.jit
def matmul(
    a, b, c, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """C = A B, with any strides; sums have the type `SUM`."""
    row, column = find_tile(M, N, BM, BN, GROUP)
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    pa = a + (rows % M)[:, None] * am + steps[None, :] * ak
    pb = b + steps[:, None] * bk + (columns % N)[None, :] * bn
    acc = tl.zeros((BM, BN), SUM)
    for k in range(0, K, BK):
        ta = tl.load(pa, mask=steps[None, :] < K - k, other=0.0)
        tb = tl.load(pb, mask=steps[:, None] < K - k, other=0.0)
        acc = tl.dot(ta, tb, acc, out_dtype=SUM)
        pa += BK * ak
        pb += BK * bk
    pc = c + rows[:, None] * cm + columns[None, :] * cn
    tl.store(pc, acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def matmul_dequant(
    a, b, scale, c, M, N, K, am, bk, cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """C = A (B scale), where B has 8-bit integers and each column a scale."""
    row, column = find_tile(M, N, BM, BN, GROUP)
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    pa = a + (rows % M)[:, None] * am + steps[None, :]
    pb = b + steps[:, None] * bk + (columns % N)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ta = tl.load(pa, mask=steps[None, :] < K - k, other=0.0)
        tb = tl.load(pb, mask=steps[:, None] < K - k, other=0.0)
        acc = tl.dot(ta, tb.to(a.dtype.element_ty), acc)
        pa += BK
        pb += BK * bk
    acc *= tl.load(scale + columns, mask=columns < N, other=0.0)[None, :]
    pc = c + rows[:, None] * cm + columns[None, :]
    tl.store(pc, acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def matmul_descriptors(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    """C = A B^T by tensor descriptors; rows of B are columns of the product."""
    row, column = find_tile(M, N, BM, BN, GROUP)
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([row * BM, k]), db.load([column * BN, k]).T, acc)
    dc.store([row * BM, column * BN], acc.to(c.dtype.element_ty))


@triton.jit
def attend(
    acc, sums, greatest, tq, k, v, begin, end, rows, scale, D: tl.constexpr, BN: tl.constexpr, MASKED: tl.constexpr
):  # fmt: skip
    """Adds keys and values from `begin` to `end` to the results of some queries; with a mask, only those of earlier rows."""
    columns, axis = tl.arange(0, BN), tl.arange(0, D)
    for n in range(begin, end, BN):
        tk = tl.load(k + axis[:, None] + (n + columns)[None, :] * D)
        scores = tl.dot(tq, tk) * scale
        if MASKED:
            scores = tl.where(rows[:, None] >= (n + columns)[None, :], scores, float("-inf"))
        new = tl.maximum(greatest, tl.max(scores, 1))
        weights = tl.math.exp2(scores - new[:, None])
        factor = tl.math.exp2(greatest - new)
        sums = sums * factor + tl.sum(weights, 1)
        acc = acc * factor[:, None]
        tv = tl.load(v + (n + columns)[:, None] * D + axis[None, :])
        acc = tl.dot(weights.to(v.dtype.element_ty), tv, acc)
        greatest = new
    return acc, sums, greatest


@triton.jit
def attention(
    q, k, v, o, L, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr
):  # fmt: skip
    """Attention of one head and `BM` queries, with the softmax computed on line; `scale` contains log2(e)."""
    begin = tl.program_id(0) * BM
    head = tl.program_id(1) * L * D
    rows, axis = begin + tl.arange(0, BM), tl.arange(0, D)
    tq = tl.load(q + head + rows[:, None] * D + axis[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    sums = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), float("-inf"), tl.float32)
    whole = begin if CAUSAL else L
    acc, sums, greatest = attend(acc, sums, greatest, tq, k + head, v + head, 0, whole, rows, scale, D, BN, False)
    if CAUSAL:
        end = begin + BM
        acc, sums, greatest = attend(acc, sums, greatest, tq, k + head, v + head, begin, end, rows, scale, D, BN, True)
    acc = acc / sums[:, None]
    tl.store(o + head + rows[:, None] * D + axis[None, :], acc.to(o.dtype.element_ty))


@triton.jit
def softmax(x, y, stride, columns, BLOCK: tl.constexpr):
    """Softmax of a row."""
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * stride + at, (powers / tl.sum(powers, 0)).to(y.dtype.element_ty), mask=at < columns)


@triton.jit
def layernorm(x, weight, bias, y, stride, columns, epsilon, BLOCK: tl.constexpr):
    """Layer normalization of a row."""
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(at < columns, values - mean, 0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    factor = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
    offset = tl.load(bias + at, mask=at < columns, other=0.0).to(tl.float32)
    tl.store(y + row * stride + at, (centred * scale * factor + offset).to(y.dtype.element_ty), mask=at < columns)


@triton.jit
def transpose(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Y = X^T."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    tile = tl.load(x + rows[:, None] * N + columns[None, :], mask=(rows[:, None] < M) & (columns[None, :] < N))
    tl.store(y + columns[:, None] * M + rows[None, :], tile.T, mask=(columns[:, None] < N) & (rows[None, :] < M))


@triton.jit
def row_scan(x, y, stride, columns, BLOCK: tl.constexpr):
    """Cumulative sums of a row."""
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=0.0)
    tl.store(y + row * stride + at, tl.cumsum(values, 0), mask=at < columns)


@triton.jit
def add(x, y, z, count, BLOCK: tl.constexpr):
    """Z = X + Y."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def gelu(x, y, count, BLOCK: tl.constexpr):
    """GELU, by the error function."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < count).to(tl.float32)
    result = 0.5 * values * (1 + tl.math.erf(values * 0.7071067811865476))
    tl.store(y + at, result.to(y.dtype.element_ty), mask=at < count)


@triton.jit
def row_sum(x, y, N, BM: tl.constexpr, BN: tl.constexpr):
    """Sums of `BM` rows."""
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for n in range(0, N, BN):
        acc += tl.load(x + rows[:, None] * N + (n + columns)[None, :]).to(tl.float32)
    tl.store(y + rows, tl.sum(acc, 1))


@triton.jit
def column_sum(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Sums of `BN` columns."""
    rows, columns = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for m in range(0, M, BM):
        acc += tl.load(x + (m + rows)[:, None] * N + columns[None, :]).to(tl.float32)
    tl.store(y + columns, tl.sum(acc, 0))
