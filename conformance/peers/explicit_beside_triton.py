"""What Triton makes of the computations of the suite's programs in explicit memory, for the table of docs/synthesis.md.

    python3 conformance/peers/explicit_beside_triton.py

Each function below computes what the program of its name computes, with the same tiles and as many warps, in Triton's language.
It is compiled for each target, no GPU at hand, with Triton's own number of stages (3), and what is in the result is counted:
layout conversions of its last tile IR, bytes of shared memory, and instructions of the assembly, each as often as it stands
there. Writes `framework/tests/explicit/triton.json`, which the tests put beside our counts. Needs Triton's wheel in this Python
(`pip install triton==3.9.0`), and is no part of the tests.
"""

import json
import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource

FILE = pathlib.Path(__file__).resolve().parents[2] / "framework" / "tests" / "explicit" / "triton.json"
TARGETS = {"a100": ("cuda", 80, 32), "rtx4090": ("cuda", 89, 32), "h100": ("cuda", 90, 32), "mi300x": ("hip", "gfx942", 64)}
WARPS = {"explicit_decode": 1}


@triton.jit
def explicit_gemm(a, b, c, n, k):
    m0, n0, ks = tl.program_id(0) * 64 + tl.arange(0, 64), tl.program_id(1) * 64 + tl.arange(0, 64), tl.arange(0, 32)
    pa, pb = a + m0[:, None] * k + ks[None, :], b + ks[:, None] + n0[None, :] * k
    sums = tl.zeros((64, 64), tl.float32)
    for _ in range(k // 32):
        sums = tl.dot(tl.load(pa), tl.load(pb), sums)
        pa += 32
        pb += 32
    tl.store(c + m0[:, None] * n + n0[None, :], sums.to(tl.float16))


@triton.jit
def explicit_gemm_edges(a, b, c, m, n, k):
    m0, n0, ks = tl.program_id(0) * 64 + tl.arange(0, 64), tl.program_id(1) * 64 + tl.arange(0, 64), tl.arange(0, 32)
    pa, pb = a + m0[:, None] * k + ks[None, :], b + ks[:, None] * n + n0[None, :]
    sums = tl.zeros((64, 64), tl.float32)
    for i in range(tl.cdiv(k, 32)):
        left = k - i * 32
        ra = tl.load(pa, (m0[:, None] < m) & (ks[None, :] < left), 0.0)
        rb = tl.load(pb, (ks[:, None] < left) & (n0[None, :] < n), 0.0)
        sums = tl.dot(ra, rb, sums)
        pa += 32
        pb += 32 * n
    tl.store(c + m0[:, None] * n + n0[None, :], sums, (m0[:, None] < m) & (n0[None, :] < n))


@triton.jit
def four_bits(packed):
    """Two neighbours along the first axis of each byte."""
    low, high = packed & 15, (packed >> 4) & 15
    return tl.join(low, high).permute(0, 2, 1).reshape(2 * packed.shape[0], packed.shape[1])


@triton.jit
def explicit_int4(a, b, s, z, c, n, k):
    rows, n0, ks, bytes_of_k = tl.arange(0, 32), tl.program_id(0) * 64 + tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 32)
    pa, pb = a + rows[:, None] * k + ks[None, :], b + bytes_of_k[:, None] + n0[None, :] * (k // 2)
    sums = tl.zeros((32, 64), tl.float32)
    for i in range(k // 64):
        q = four_bits(tl.load(pb)).to(tl.float16)
        w = (q - tl.load(z + i * n + n0)[None, :]) * tl.load(s + i * n + n0)[None, :]
        sums = tl.dot(tl.load(pa), w, sums)
        pa += 64
        pb += 32
    tl.store(c + rows[:, None] * n + n0[None, :], sums)


@triton.jit
def explicit_moe(x, b, s, gate, expert, place, there, y, n, k):
    block, rows, ks, bytes_of_k = tl.program_id(1), tl.arange(0, 32), tl.arange(0, 64), tl.arange(0, 32)
    n0 = tl.program_id(0) * 64 + tl.arange(0, 64)
    e, count, places = tl.load(expert + block), tl.load(there + block), tl.load(place + block * 32 + rows)
    turns = k // 64
    pa, pb = x + (places // 2)[:, None] * k + ks[None, :], b + bytes_of_k[:, None] + (e * n + n0)[None, :] * (k // 2)
    ps = s + e * n * turns + n0
    is_there = (rows < count)[:, None]
    sums = tl.zeros((32, 64), tl.float32)
    for i in range(turns):
        q = ((four_bits(tl.load(pb)).to(tl.int8) ^ 8) - 8).to(tl.float16)
        w = q * tl.load(ps + i * n)[None, :]
        sums = tl.dot(tl.load(pa, is_there, 0.0), w, sums)
        pa += 64
        pb += 32
    gates = tl.load(gate + places, rows < count, 0.0)
    tl.store(y + places[:, None] * n + n0[None, :], sums * gates[:, None], is_there)


@triton.jit
def explicit_fp8(a, b, s, r, c, m, n, k):
    m0, n0, ks = tl.program_id(0) * 64 + tl.arange(0, 64), tl.program_id(1) * 64 + tl.arange(0, 64), tl.arange(0, 64)
    pa, pb = a + m0[:, None] * k + ks[None, :], b + ks[:, None] + n0[None, :] * k
    sums = tl.zeros((64, 64), tl.float32)
    for i in range(k // 64):
        part = tl.dot(tl.load(pa), tl.load(pb))
        sums += part * tl.load(s + i * m + m0)[:, None] * tl.load(r + i * n + n0)[None, :]
        pa += 64
        pb += 64
    tl.store(c + m0[:, None] * n + n0[None, :], sums)


@triton.jit
def explicit_gemv(a, x, y, k):
    m0, ks = tl.program_id(0) * 16 + tl.arange(0, 16), tl.arange(0, 256)
    sums = tl.zeros((16, 256), tl.float32)
    for i in range(k // 256):
        ra, rx = tl.load(a + m0[:, None] * k + i * 256 + ks[None, :]), tl.load(x + i * 256 + ks)
        sums += ra.to(tl.float32) * rx.to(tl.float32)[None, :]
    tl.store(y + m0, tl.sum(sums, 1))


@triton.jit
def explicit_rmsnorm(x, w, y, eps):
    place = tl.program_id(0) * 512 + tl.arange(0, 512)
    fx = tl.load(x + place).to(tl.float32)
    root = tl.sqrt(tl.sum(fx * fx, 0) / 512 + eps)
    tl.store(y + place, (fx / root * tl.load(w + tl.arange(0, 512)).to(tl.float32)).to(tl.float16))


@triton.jit
def explicit_rmsnorm_blocks(x, w, s, count, y, eps):
    part, row, own = tl.program_id(0), tl.program_id(1), tl.arange(0, 512)
    fx = tl.load(x + row * 2048 + part * 512 + own).to(tl.float32)
    tl.store(s + row * 4 + part, tl.sum(fx * fx, 0))
    if tl.atomic_add(count + row, 1) == 3:
        root = tl.sqrt(tl.sum(tl.load(s + row * 4 + tl.arange(0, 4)), 0) / 2048 + eps)
        for i in range(4):
            place = row * 2048 + i * 512 + own
            wide = tl.load(x + place).to(tl.float32)
            tl.store(y + place, (wide / root * tl.load(w + i * 512 + own).to(tl.float32)).to(tl.float16))


@triton.jit
def explicit_attention(q, k, v, o, scale, length):
    rows, keys, head = tl.program_id(0) * 128 + tl.arange(0, 128), tl.arange(0, 32), tl.arange(0, 64)
    rq = tl.load(q + rows[:, None] * 64 + head[None, :])
    pk, pv = k + head[:, None] + keys[None, :] * 64, v + keys[:, None] * 64 + head[None, :]
    sums, total, most = tl.zeros((128, 64), tl.float32), tl.zeros((128,), tl.float32), tl.full((128,), -1e30, tl.float32)
    for _ in range(length // 32):
        scaled = tl.dot(rq, tl.load(pk)) * scale
        above = tl.maximum(most, tl.max(scaled, 1))
        p = tl.exp2(scaled - above[:, None])
        factor = tl.exp2(most - above)
        total = total * factor + tl.sum(p, 1)
        sums = tl.dot(p.to(tl.float16), tl.load(pv), sums * factor[:, None])
        most = above
        pk += 2048
        pv += 2048
    tl.store(o + rows[:, None] * 64 + head[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def explicit_decode(q, k, v, o, l, scale, length):
    part, number, rows, keys, head = tl.program_id(0), tl.program_id(1), tl.arange(0, 16), tl.arange(0, 32), tl.arange(0, 64)
    slot = number * tl.num_programs(0) + part
    rq = tl.load(q + number * 1024 + rows[:, None] * 64 + head[None, :])
    start = (number * length + part * 64) * 64
    pk, pv = k + start + head[:, None] + keys[None, :] * 64, v + start + keys[:, None] * 64 + head[None, :]
    mine = tl.minimum(length - part * 64, 64)
    sums, total, most = tl.zeros((16, 64), tl.float32), tl.zeros((16,), tl.float32), tl.full((16,), -1e30, tl.float32)
    for i in range(2):
        is_there = keys < mine - i * 32
        scaled = tl.dot(rq, tl.load(pk, is_there[None, :], 0.0)) * scale
        scaled = tl.where(is_there[None, :], scaled, -1e30)
        above = tl.maximum(most, tl.max(scaled, 1))
        p = tl.exp2(scaled - above[:, None])
        factor = tl.exp2(most - above)
        total = total * factor + tl.sum(p, 1)
        sums = tl.dot(p.to(tl.float16), tl.load(pv, is_there[:, None], 0.0), sums * factor[:, None])
        most = above
        pk += 2048
        pv += 2048
    tl.store(o + slot * 1024 + rows[:, None] * 64 + head[None, :], sums / total[:, None])
    tl.store(l + slot * 16 + rows, tl.log2(total) + most)


@triton.jit
def explicit_decode_join(o, l, y):
    number, part, rows, head = tl.program_id(0), tl.arange(0, 4), tl.arange(0, 16), tl.arange(0, 64)
    parts = tl.load(o + number * 4096 + part[:, None, None] * 1024 + rows[None, :, None] * 64 + head[None, None, :])
    weights = tl.load(l + number * 64 + part[:, None] * 16 + rows[None, :])
    shares = tl.exp2(weights - tl.max(weights, 0)[None, :])
    mean = tl.sum(parts * shares[:, :, None], 0) / tl.sum(shares, 0)[:, None]
    tl.store(y + number * 1024 + rows[:, None] * 64 + head[None, :], mean.to(tl.float16))


@triton.jit
def explicit_attention_dq(q, k, v, o, g, l, d, dq, scale, log2_scale, length):
    rows, keys, head = tl.program_id(0) * 128 + tl.arange(0, 128), tl.arange(0, 32), tl.arange(0, 64)
    own = rows[:, None] * 64 + head[None, :]
    rq, rg = tl.load(q + own), tl.load(g + own)
    rd = tl.sum(tl.load(o + own).to(tl.float32) * rg.to(tl.float32), 1)
    tl.store(d + rows, rd)
    rl = tl.load(l + rows)
    there = head[:, None] + keys[None, :] * 64
    sums = tl.zeros((128, 64), tl.float32)
    for i in range(length // 32):
        rk, rv = tl.load(k + i * 2048 + there), tl.load(v + i * 2048 + there)
        p = tl.exp2(tl.dot(rq, rk) * log2_scale - rl[:, None])
        ds = p * (tl.dot(rg, rv) - rd[:, None])
        sums = tl.dot(ds.to(tl.float16), tl.trans(rk), sums)
    tl.store(dq + own, (sums * scale).to(tl.float16))


@triton.jit
def explicit_attention_dkv(q, k, v, g, l, d, dk, dv, scale, log2_scale, length):
    rows, queries, head = tl.program_id(0) * 128 + tl.arange(0, 128), tl.arange(0, 32), tl.arange(0, 64)
    own = rows[:, None] * 64 + head[None, :]
    rk, rv = tl.load(k + own), tl.load(v + own)
    there = head[:, None] + queries[None, :] * 64
    of_k, of_v = tl.zeros((128, 64), tl.float32), tl.zeros((128, 64), tl.float32)
    for i in range(length // 32):
        rq, rg = tl.load(q + i * 2048 + there), tl.load(g + i * 2048 + there)
        p = tl.exp2(tl.dot(rk, rq) * log2_scale - tl.load(l + i * 32 + queries)[None, :])
        of_v = tl.dot(p.to(tl.float16), tl.trans(rg), of_v)
        ds = p * (tl.dot(rv, rg) - tl.load(d + i * 32 + queries)[None, :])
        of_k = tl.dot(ds.to(tl.float16), tl.trans(rq), of_k)
    tl.store(dk + own, (of_k * scale).to(tl.float16))
    tl.store(dv + own, of_v.to(tl.float16))


HALF, SINGLE, BYTE, WORD = "*fp16", "*fp32", "*u8", "*i32"
ARGUMENTS = {
    explicit_gemm: (HALF, HALF, HALF, "i32", "i32"),
    explicit_gemm_edges: (HALF, HALF, SINGLE, "i32", "i32", "i32"),
    explicit_int4: (HALF, BYTE, HALF, HALF, SINGLE, "i32", "i32"),
    explicit_moe: (HALF, BYTE, HALF, SINGLE, WORD, WORD, WORD, SINGLE, "i32", "i32"),
    explicit_fp8: ("*fp8e4nv", "*fp8e4nv", SINGLE, SINGLE, SINGLE, "i32", "i32", "i32"),
    explicit_gemv: (HALF, HALF, SINGLE, "i32"),
    explicit_rmsnorm: (HALF, HALF, HALF, "fp32"),
    explicit_rmsnorm_blocks: (HALF, HALF, SINGLE, WORD, HALF, "fp32"),
    explicit_attention: (HALF, HALF, HALF, HALF, "fp32", "i32"),
    explicit_decode: (HALF, HALF, HALF, SINGLE, SINGLE, "fp32", "i32"),
    explicit_decode_join: (SINGLE, SINGLE, HALF),
    explicit_attention_dq: (HALF,) * 5 + (SINGLE, SINGLE, HALF, "fp32", "fp32", "i32"),
    explicit_attention_dkv: (HALF,) * 4 + (SINGLE, SINGLE, HALF, HALF, "fp32", "fp32", "i32"),
}
# Integers that are not multiples of 16, as the programs in explicit memory say.
ODD = {("explicit_gemm_edges", "m"), ("explicit_decode", "length")}

MNEMONIC = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)", re.M)
PRODUCT = re.compile(r"mma\.sync|wgmma\.mma_async|v_mfma|v_smfmac")
STORED = re.compile(r"st\.shared|stmatrix|ds_write")
LOADED = re.compile(r"ld\.shared|ldmatrix|ds_read|ds_load")
ASYNCHRONOUS = re.compile(r"cp\.async\.c[ag]")
BARRIER = re.compile(r"(bar|barrier)\.sync|s_barrier")


def counted(function, types, target):
    """What is in the code of a function."""
    names = function.arg_names
    signature = dict(zip(names, types))
    some = {(number,): [["tt.divisibility", 16]] for number, name in enumerate(names)
            if types[number] != "fp32" and (function.__name__, name) not in ODD}
    options = {"num_warps": WARPS.get(function.__name__, 4), "num_stages": 3}
    if target[0] == "hip":
        options["num_stages"] = 2
    try:
        made = triton.compile(ASTSource(function, signature, attrs=some), target=GPUTarget(*target), options=options)
    except Exception as error:  # Triton's own failures have no common class.
        return {"error": (str(error).strip() or type(error).__name__).splitlines()[-1][:120]}
    code = MNEMONIC.findall(made.asm["ptx" if "ptx" in made.asm else "amdgcn"])
    all_of = lambda pattern: sum(bool(pattern.match(name)) for name in code)
    products = sorted({name for name in code if PRODUCT.match(name)}, key=code.count, reverse=True)
    return {"instruction": products[0] if products else None, "conversions": made.asm["ttgir"].count("= ttg.convert_layout"),
            "shared_bytes": made.metadata.shared, "stored": all_of(STORED), "loaded": all_of(LOADED),
            "asynchronous": all_of(ASYNCHRONOUS), "barriers": all_of(BARRIER)}


if __name__ == "__main__":
    found = {name: {function.__name__: counted(function, types, target) for function, types in ARGUMENTS.items()}
             for name, target in TARGETS.items()}
    source = f"Triton {triton.__version__}, conformance/peers/explicit_beside_triton.py"
    FILE.write_text(json.dumps({"source": source, "targets": found}, indent=1) + "\n")
    for target, rows in found.items():
        for name, row in rows.items():
            print(target, name, row)
