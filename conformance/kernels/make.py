"""Writes the cases of this folder: for each program its launch, its inputs, and what it must leave.

What must be left is computed here by plain arithmetic, of the program's intent and not of its text: integers exactly, others in
binary64 (or exactly, by fractions) and rounded once. Run it in this folder; it writes the same bytes each time. Cases whose note names Triton's interpreter are not written
here: their buffers were left by it, of kernels in Triton's language with numpy behind.
"""

import json
import math
import struct
from fractions import Fraction

N = 64


class Random:
    """Numbers that are the same each time."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end

    def integers(self, count, low, high):
        return [low + self.below(high - low) for _ in range(count)]

    def eighths(self, count, low, high):
        """Multiples of 1/8, which all formats of eight bits and more have exactly while they are small."""
        return [Fraction(value, 8) for value in self.integers(count, low * 8, high * 8)]


def small_floats(exponent_bits, mantissa_bits, codes):
    """The values of the non-negative codes of a narrow format."""
    bias = 2 ** (exponent_bits - 1) - 1
    values = []
    for code in range(codes):
        exponent, mantissa = code >> mantissa_bits, code % 2**mantissa_bits
        scale = Fraction(2) ** (max(exponent, 1) - bias - mantissa_bits)
        values.append(scale * (mantissa + (2**mantissa_bits if exponent else 0)))
    return values


# E4M3 has no infinity, its last code is NaN; the last four of E5M2 are an infinity and NaNs.
NARROW = {"f8e4m3": small_floats(4, 3, 127), "f8e5m2": small_floats(5, 2, 124), "bf16": small_floats(8, 7, 0x7F80)}


def narrow(dtype, value):
    """The code of the nearest number, ties to even; above the greatest it is the greatest."""
    values = NARROW[dtype]
    magnitude = abs(Fraction(value))
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if values[middle] < magnitude else (low, middle)
    nearest = min((code for code in (low - 1, low) if code >= 0), key=lambda code: (abs(values[code] - magnitude), code % 2))
    sign = 128 if dtype != "bf16" else 0x8000
    return nearest + (sign if value < 0 else 0)


def encoded(dtype, values):
    if dtype in ("f8e4m3", "f8e5m2"):
        return bytes(narrow(dtype, value) for value in values)
    if dtype == "bf16":
        return b"".join(struct.pack("<H", narrow(dtype, value)) for value in values)
    code = {"i1": "B", "i8": "b", "u8": "B", "i16": "h", "i32": "i", "i64": "q", "u32": "I", "f16": "e", "f32": "f", "f64": "d"}[dtype]
    convert = float if dtype[0] == "f" else int
    return b"".join(struct.pack("<" + code, convert(value)) for value in values)


def case(name, arguments, buffers, grid=(1, 1, 1), note="", warps=4):
    """`arguments` are (name, type, value) for numbers and (name, type) for buffers, which `buffers` has by name: dtype, shape, and the values
    before and after. Before may be missing (it is filled), after may be missing (it stays), and be followed by tolerances."""
    described, args = {}, []
    for given in arguments:
        entry = {"name": given[0], "ir_type": given[1]}
        if len(given) == 3:
            args.append({**entry, "kind": "scalar", "dtype": given[1], "value": given[2]})
        else:
            args.append({**entry, "kind": "pointer", "dtype": buffers[given[0]][0], "buffer": given[0], "divisibility": 16})
    for buffer, (dtype, shape, before, after, *tolerance) in buffers.items():
        entry = {"dtype": dtype, "shape": shape, "bytes": len(encoded(dtype, [0])) * math.prod(shape)}
        entry["role"] = "input" if after is None else "inout" if before is not None else "output"
        for key, way, values in (("input", "in", before), ("expected", "out", after)):
            if values is None:
                continue
            assert len(values) == math.prod(shape), (name, buffer, len(values))
            entry[key] = f"{name}.{way}.{buffer}.bin"
            with open(entry[key], "wb") as file:
                file.write(encoded(dtype, values))
        if before is None:
            entry["fill"] = 80
        if after is not None:
            relative, absolute = tolerance or (0.0, 0.0)
            entry["tolerance"] = {"rtol": relative, "atol": absolute}
        described[buffer] = entry
    text = {"name": name, "entry": name, "ttir": f"{name}.ttir", "note": note, "grid": list(grid), "num_warps": warps}
    with open(f"{name}.json", "w") as file:
        json.dump({**text, "args": args, "buffers": described}, file, indent=1)
        file.write("\n")


def pointers(**types):
    return [(name, f"!tt.ptr<{ty}>") for name, ty in types.items()]


def single(value):
    """A number as binary32 has it."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def signed(value, bits=32):
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def rows(values, width):
    return [values[start : start + width] for start in range(0, len(values), width)]


def product(a, b, n):
    """Of two matrices in rows; `n` columns of the second."""
    columns = [b[column::n] for column in range(n)]
    return [sum(x * y for x, y in zip(row, column)) for row in rows(a, len(b) // n) for column in columns]


def elementwise():
    random = Random(1)
    x, y = random.eighths(160, -9, 9), random.eighths(160, -9, 9)
    z = [a + b for a, b in zip(x, y)][:150] + [80] * 10
    case("add_masked", pointers(x="f32", y="f32", z="f32") + [("n", "i32", 150)],
         {"x": ("f32", [160], x, None), "y": ("f32", [160], y, None), "z": ("f32", [160], None, z)}, (3, 1, 1),
         "what lies past n stays")
    x = [0, 1, -1, 7, -7, 2**31 - 1, -(2**31) + 1, 1000] + random.integers(N - 8, -(2**31) + 1, 2**31)
    y = [3, -3, 5, -2, 2, 17, -19, 31] + [value or 1 for value in random.integers(N - 8, -50, 50)]
    towards_zero = lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    low = lambda value: value % 2**32
    of = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, towards_zero, lambda a, b: low(a) // low(b),
        lambda a, b: a - b * towards_zero(a, b), lambda a, b: low(a) % low(b), lambda a, b: a & b, lambda a, b: a | b,
        lambda a, b: a ^ b, min, max, lambda a, b: min(low(a), low(b)), lambda a, b: max(low(a), low(b)),
        lambda a, b: a << (b & 31), lambda a, b: a >> (b & 31), lambda a, b: low(a) >> (b & 31), lambda a, b: abs(a),
        lambda a, b: low(a) * low(b) >> 32, lambda a, b: a if low(a) < low(b) else b, lambda a, b: signed(a, 8),
        lambda a, b: a % 256,
    ]
    z = [signed(f(a, b)) for f in of for a, b in zip(x, y)]
    case("integers", pointers(x="i32", y="i32", z="i32"),
         {"x": ("i32", [N], x, None), "y": ("i32", [N], y, None), "z": ("i32", [len(of), N], None, z)})
    x = random.eighths(N, -20, 20)
    y = [value or Fraction(1, 2) for value in random.eighths(N, -5, 5)]
    rest = lambda a, b: a - b * int(a / b)
    root = lambda a, b: math.sqrt(abs(b))
    of = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, rest, max, min, max, min,
        lambda a, b: -a, lambda a, b: abs(a), lambda a, b: math.floor(a), lambda a, b: math.ceil(a), lambda a, b: a * b + a, root,
        root, lambda a, b: a / b, lambda a, b: min(max(a, -1), 2), max,
    ]
    z = [f(a, b) for f in of for a, b in zip(x, y)]
    case("floats", pointers(x="f32", y="f32", z="f32"),
         {"x": ("f32", [N], x, None), "y": ("f32", [N], y, None), "z": ("f32", [len(of), N], None, z, 2.0**-22, 0.0)})
    x = [abs(value) + Fraction(1, 8) for value in random.eighths(N, -8, 8)]
    of = [math.exp, lambda a: 2.0**a, math.log, math.log2, math.sin, math.cos, math.erf, lambda a: a**-0.5, math.tanh, math.log1p]
    z = [f(float(a)) for f in of for a in x]
    case("functions", pointers(x="f32", z="f32"),
         {"x": ("f32", [N], x, None), "z": ("f32", [len(of), N], None, z, 2.0**-21, 2.0**-23)},
         note="functions of libraries by the names of two vendors")


def types():
    random = Random(2)
    x = [single(value / 1024) for value in random.integers(N, -100000, 100000)]
    halves = [struct.unpack("<e", struct.pack("<e", value))[0] for value in x]
    cut = [struct.unpack("<f", struct.pack("<I", struct.unpack("<I", struct.pack("<f", value))[0] & 0xFFFF0000))[0] for value in x]
    bits = [struct.unpack("<i", struct.pack("<f", value))[0] for value in x]
    whole, small = [int(value) for value in halves], [int(abs(value)) for value in x]
    case("casts", pointers(x="f32", h="f16", t="i32", u="i8", f="f32", g="bf16"),
         {"x": ("f32", [N], x, None), "h": ("f16", [N], None, halves), "t": ("i32", [2, N], None, whole + bits),
          "u": ("u8", [N], None, small), "f": ("f32", [2, N], None, whole + small), "g": ("bf16", [N], None, cut)})
    x = [single(value / 64) for value in random.integers(N, -12000, 12000)]
    value_of = lambda code: NARROW["f8e4m3"][code % 128] * (-1 if code >= 128 else 1)
    wide = [value_of(narrow("f8e4m3", value)) for value in x]
    case("narrow_floats", pointers(x="f32", e="f8E4M3FN", d="f8E5M2", f="f32"),
         {"x": ("f32", [N], x, None), "e": ("f8e4m3", [N], None, x), "d": ("f8e5m2", [N], None, x), "f": ("f32", [N], None, wide)})
    x = random.eighths(N, -9, 9)
    case("pointers", pointers(x="f32", y="f32", z="i32"),
         {"x": ("f32", [N], x, None), "y": ("f32", [N], None, x), "z": ("i32", [1], None, [0])})


def along_axes():
    random = Random(3)
    x = random.eighths(128, -9, 9)
    y = [sum(row) for row in rows(x, 16)]
    z = [max(x[column::16]) for column in range(16)]
    case("reduce_both_axes", pointers(x="f32", y="f32", z="f32"),
         {"x": ("f32", [8, 16], x, None), "y": ("f32", [8], None, y), "z": ("f32", [16], None, z)})
    y = [row.index(max(row)) for row in rows(x, 16)]
    case("argmax", pointers(x="f32", y="i32"), {"x": ("f32", [8, 16], x, None), "y": ("i32", [8], None, y)},
         note="of equal ones the first", warps=1)
    x = random.integers(128, -1000, 1000)
    y = [sum(row[: end + 1]) for row in rows(x, 32) for end in range(32)]
    case("scan", pointers(x="i32", y="i32"), {"x": ("i32", [4, 32], x, None), "y": ("i32", [4, 32], None, y)})
    x, y = random.eighths(128, -9, 9), random.integers(128, 0, 16)
    z = [row[place] for row, places in zip(rows(x, 16), rows(y, 16)) for place in places]
    h = [y.count(value) for value in range(16)]
    case("gather_histogram", pointers(x="f32", y="i32", z="f32", h0="i32"),
         {"x": ("f32", [8, 16], x, None), "y": ("i32", [8, 16], y, None), "z": ("f32", [8, 16], None, z), "h0": ("i32", [16], None, h)})
    x = random.eighths(256, -9, 9)
    weights = [[math.exp(value - max(row)) for value in row] for row in rows(x, 64)]
    y = [weight / sum(row) for row in weights for weight in row]
    case("softmax", pointers(x="f32", y="f32"), {"x": ("f32", [4, 64], x, None), "y": ("f32", [4, 64], None, y, 2.0**-18, 2.0**-24)})


def shapes():
    random = Random(4)
    x = random.integers(128, -99, 99)
    y = [value for column in range(16) for value in x[column::16]]
    case("transpose_reshape", pointers(x="i32", y="i32"), {"x": ("i32", [8, 16], x, None), "y": ("i32", [128], None, y)}, warps=2)
    x, y = random.integers(N, -99, 99), random.integers(N, -99, 99)
    z, f = [a - b for a, b in zip(x, y)], [value for pair in zip(x, y) for value in pair]
    case("join_split_cat", pointers(x="i32", y="i32", z="i32", f="i32", c0="i32"),
         {"x": ("i32", [N], x, None), "y": ("i32", [N], y, None), "z": ("i32", [N], None, z), "f": ("i32", [2 * N], None, f),
          "c0": ("i32", [1], None, [sum(x) + sum(y)])})


def products():
    random = Random(5)
    x, y = random.eighths(256, -4, 4), random.eighths(256, -4, 4)
    case("dot", pointers(x="f16", y="f16", z="f32"),
         {"x": ("f16", [16, 16], x, None), "y": ("f16", [16, 16], y, None), "z": ("f32", [16, 16], None, product(x, y, 16), 0.0, 2.0**-12)})
    x, y = random.eighths(512, -4, 4), random.eighths(512, -4, 4)
    case("dot_loop", pointers(x="f32", y="f32", z="f32"),
         {"x": ("f32", [16, 32], x, None), "y": ("f32", [32, 16], y, None), "z": ("f32", [16, 16], None, product(x, y, 16), 0.0, 2.0**-12)})
    codes, scales = [random.below(120) + 128 * random.below(2) for _ in range(1024)], random.integers(32, 122, 131)
    y = random.eighths(1024, -4, 4)
    value = lambda code: NARROW["f8e4m3"][code % 128] * (-1 if code >= 128 else 1)
    scaled = [value(code) * Fraction(2) ** (scales[place // 32] - 127) for place, code in enumerate(codes)]
    magnitude = product([abs(a) for a in scaled], [abs(b) for b in y], 32)
    case("dot_scaled", pointers(x="i8", sx="i8", y="bf16", z="f32"),
         {"x": ("u8", [32, 32], codes, None), "sx": ("u8", [32, 1], scales, None), "y": ("bf16", [32, 32], y, None),
          "z": ("f32", [32, 32], None, product(scaled, y, 32), 2.0**-20, float(max(magnitude)) * 2.0**-18)})
    scaled_factors_of_16_bits(random)
    scaled_across_k(random)
    split_products()
    grams()
    product_reused()


def grams():
    """Tiles that two dots read as they are and transposed; the sums of integers are exact."""
    random = Random(29)
    tiles = [[random.integers(64, -8, 8) for _ in range(64)] for _ in range(3)]
    turned = [[list(column) for column in zip(*tile)] for tile in tiles]
    total = lambda of: [sum(sum(p * q for p, q in zip(tile[i], tile[j])) for tile in of) for i in range(64) for j in range(64)]
    x = [value for tile in tiles for row in tile for value in row]
    case("grams", pointers(x="f16", y="f32", z="f32") + [("rows", "i32", 192)],
         {"x": ("f16", [192, 64], x, None), "y": ("f32", [64, 64], None, total(tiles)), "z": ("f32", [64, 64], None, total(turned))})


def product_reused():
    """A product of integers, exact in bf16, which every iteration multiplies the transposed double of another tile by."""
    random = Random(31)
    u, v, x = random.integers(4096, -1, 2), random.integers(4096, -1, 2), random.integers(3 * 2048, -4, 4)
    tiles = [rows(x[first : first + 2048], 32) for first in range(0, len(x), 2048)]
    w = product(u, v, 64)
    results = [rows(product([2 * value for column in zip(*tile) for value in column], w, 64), 64) for tile in tiles]
    z = [value for result in results for column in zip(*result) for value in column]
    case("product_reused", [*pointers(x="bf16", u="bf16", v="bf16", z="f32"), ("tiles", "i32", 3)],
         {"x": ("bf16", [3, 64, 32], x, None), "u": ("bf16", [64, 64], u, None), "v": ("bf16", [64, 64], v, None), "z": ("f32", [3, 64, 32], None, z)})


def split_products():
    """Numbers of 24 digits, whose products are sums of products of fewer digits; an infinity, and a NaN with all bits set."""
    random = Random(17)
    digits = lambda: (2**23 + random.below(2**23)) * (1 - 2 * random.below(2)) * Fraction(2) ** -random.integers(1, 21, 26)[0]
    x, y = [digits() for _ in range(1024)], [digits() for _ in range(1024)]
    magnitude = float(max(product([abs(a) for a in x], [abs(b) for b in y], 32)))
    z = product(x, y, 32)
    x[7 * 32 + 3], x[9 * 32 + 30] = math.inf, struct.unpack("<f", b"\xff\xff\xff\x7f")[0]
    z[7 * 32 : 8 * 32] = [math.copysign(math.inf, factor) for factor in y[3 * 32 : 4 * 32]]
    z[9 * 32 : 10 * 32] = [math.nan] * 32
    results = {name: ("f32", [32, 32], None, z, 0.0, magnitude * error) for name, error in (("u", 2.0**-20), ("v", 2.0**-15), ("w", 2.0**-20))}
    case("dot_split", pointers(x="f32", y="f32", u="f32", v="f32", w="f32"),
         {"x": ("f32", [32, 32], x, None), "y": ("f32", [32, 32], y, None), **results})


def power(scale):
    """What a scale of E8M0 stands for."""
    return Fraction(2) ** (scale - 127)


def scaled_sides(a, sa, b, sb, k, n):
    """Factors times their scales: of rows of the first, of columns of the second, by blocks of K."""
    blocks_a, blocks_b = len(sa) // (len(a) // k), len(sb) // n
    a = [value * power(sa[place // k * blocks_a + place % k * blocks_a // k]) for place, value in enumerate(a)]
    b = [value * power(sb[place % n * blocks_b + place // n * blocks_b // k]) for place, value in enumerate(b)]
    return a, b


def scaled_factors_of_16_bits(random):
    """Numbers of few digits, and scales, that binary16 has, so that no product with a scale is rounded."""
    x, y = random.eighths(2048, -4, 4), random.eighths(2048, -4, 4)
    sx, sy = random.integers(64, 122, 131), random.integers(64, 122, 131)
    a, b = scaled_sides(x, sx, y, sy, 64, 32)
    magnitude = product([abs(value) for value in a], [abs(value) for value in b], 32)
    case("dot_scaled_wide", pointers(x="bf16", sx="i8", y="f16", sy="i8", z="f32"),
         {"x": ("bf16", [32, 64], x, None), "sx": ("u8", [32, 2], sx, None),
          "y": ("f16", [64, 32], y, None), "sy": ("u8", [32, 2], sy, None),
          "z": ("f32", [32, 32], None, product(a, b, 32), 2.0**-20, float(max(magnitude)) * 2.0**-18)})


def scale_codes():
    """Every code of E8M0."""
    codes = list(range(256))
    case("scale_codes", pointers(x="i8", y="f32"),
         {"x": ("u8", [256], codes, None), "y": ("f32", [256], None, [float(power(code)) for code in codes[:-1]] + [math.nan])})


def scaled_across_k(random):
    """Elements of four bits, whose bytes hold neighbours across K, the first in the low half; small scales, and NaN."""
    values = small_floats(2, 1, 8)
    number = lambda code: values[code % 8] * (-1 if code >= 8 else 1)
    x, y = random.integers(1024, 0, 256), random.integers(1024, 0, 256)
    a = [number(x[row // 2 * 64 + k] >> row % 2 * 4 & 15) for row in range(32) for k in range(64)]
    b = [number(y[k * 16 + column // 2] >> column % 2 * 4 & 15) for k in range(64) for column in range(32)]
    # Scales of a row and of a column are so near each other that no sum is rounded, in whichever order.
    sx = [base + random.below(4) for base in random.integers(32, 120, 130) for _ in range(2)]
    sy = [base + random.below(4) for base in random.integers(32, 140, 150) for _ in range(2)]
    # The least of which no factor is a subnormal number, which some units take for zero.
    sx[6:8], sx[21] = [2, 4], 255
    a, b = scaled_sides(a, sx, b, sy, 64, 32)
    z = [math.nan if place // 32 == 10 else value for place, value in enumerate(product(a, b, 32))]
    case("dot_scaled_across", pointers(x="i8", sx="i8", y="i8", sy="i8", z="f32"),
         {"x": ("u8", [16, 64], x, None), "sx": ("u8", [32, 2], sx, None),
          "y": ("u8", [64, 16], y, None), "sy": ("u8", [32, 2], sy, None), "z": ("f32", [32, 32], None, z)})


def flow():
    random = Random(6)

    def steps(value):
        count = 0
        while value != 1:
            value, count = (3 * value + 1 if value % 2 else value // 2), count + 1
        return count

    x = [27, 1, 2, 97, 6, 7]
    y = [sum(range(0, steps(value), 2)) for value in x[:5]] + [80]
    case("control", pointers(x="i32", y="i32") + [("n", "i32", 5)],
         {"x": ("i32", [6], x, None), "y": ("i32", [6], None, y)}, (6, 1, 1), "the last program returns early")
    x = random.eighths(128, -9, 9)
    y = [value * 2 for value in x[:64]] + [value / 2 for value in x[64:]]
    case("call", pointers(x="f32", y="f32") + [("n", "i32", 2)],
         {"x": ("f32", [128], x, None), "y": ("f32", [128], None, y)}, (2, 1, 1))
    x, y = random.integers(N, -99, 99), random.integers(N, -99, 99)
    z = [a - b if a > b else 2 * b for a, b in zip(x, y)]
    case("map_elements", pointers(x="i32", y="i32", z="i32"),
         {"x": ("i32", [N], x, None), "y": ("i32", [N], y, None), "z": ("i32", [N], None, z)})
    y = [place + 2 for place in range(12)]
    case("programs", pointers(y="i32"), {"y": ("i32", [12], None, y)}, (2, 3, 2))
    case("talk", pointers(x="i32", y="i32") + [("n", "i32", 64)], {"x": ("i32", [N], x, None), "y": ("i32", [N], None, x)})


def library():
    random = Random(8)
    x, y = random.eighths(N, -9, 9), [value or 1 for value in random.eighths(N, -9, 9)]
    x[0] = Fraction(2**23 + 1)
    turns = lambda value: math.pi * float(value - 2 * round(value / 2))
    near = lambda value: 0.0 if abs(value) < 1e-12 else value
    length = lambda *values: math.sqrt(float(sum(value * value for value in values)))
    f = [near(math.sin(turns(a))) for a in x] + [near(math.cos(turns(a))) for a in x]
    f += [0.5 * math.erfc(-float(a) / math.sqrt(2)) for a in x]
    f += [length(a, b, a) for a, b in zip(x, y)] + [1 / length(a, b, b, a) for a, b in zip(x, y)]
    f += [max(float(a - b), 0.0) for a, b in zip(x, y)]
    a = [2**31 - 1, -(2**31), -1, 0, 2**23, -(2**23)] + random.integers(N - 6, -(2**31), 2**31)
    b = [2**31 - 1, 2**31 - 1, -1, 1, 3, 5] + random.integers(N - 6, -(2**31), 2**31)
    low = lambda value: value % 2**32
    of = [
        lambda a, b: (a + b) >> 1, lambda a, b: (a + b + 1) >> 1, lambda a, b: (low(a) + low(b)) >> 1,
        lambda a, b: (low(a) + low(b) + 1) >> 1, lambda a, b: abs(a - b) + a, lambda a, b: abs(low(a) - low(b)) + b,
        lambda a, b: signed(a, 24) * signed(b, 24), lambda a, b: a % 2**24 * (b % 2**24), lambda a, b: bin(low(a)).count("1"),
    ]
    g = [signed(f(one, other)) for f in of for one, other in zip(a, b)]
    h = [signed(((one * other) ** 2 >> 64) + (one * other * one >> 64), 64) for one, other in zip(a, b)]
    case("library", pointers(x="f32", y="f32", a="i32", b="i32", f="f32", g="i32", h="i64"),
         {"x": ("f32", [N], x, None), "y": ("f32", [N], y, None), "a": ("i32", [N], a, None), "b": ("i32", [N], b, None),
          "f": ("f32", [6, N], None, f, 2e-6, 1e-7), "g": ("i32", [len(of), N], None, g), "h": ("i64", [N], None, h)},
         note="functions of vendors' libraries, and memory that nobody writes")


def memory():
    random = Random(7)
    x = [value or 5 for value in random.integers(N, -99, 99)]
    total = [1000 + sum(x[slot::8]) for slot in range(8)]
    most = [max(x[slot::8] + [0]) for slot in range(8)]
    cells = [0 if place % 3 else place for place in range(N)]
    after = [value if cell == 0 else cell for cell, value in zip(cells, x)]
    case("atomics", pointers(x="i32", sum="i32", most="i32", cell="i32", old="i32"),
         {"x": ("i32", [N], x, None), "sum": ("i32", [8], [1000] * 8, total), "most": ("i32", [8], [0] * 8, most),
          "cell": ("i32", [N], cells, after), "old": ("i32", [N], None, cells)})
    x[5] = -32768
    wrapped = [signed(total + 32000, 16) for total in (sum(x[slot::8]) for slot in range(8))]
    least = [min([signed(value, 8) for value in x[slot::8]] + [0]) for slot in range(8)]
    after = [value if cell == 0 else cell for cell, value in zip(cells, x)]
    case("narrow_atomics", pointers(x="i16", sum="i16", least="i8", cell="i16", old="i16", h="f16") + [("goes", "i1", True)],
         {"x": ("i16", [N], x, None), "sum": ("i16", [8], [32000] * 8, wrapped), "least": ("i8", [8], [0] * 8, least),
          "cell": ("i16", [N], cells, after), "old": ("i16", [N], None, cells), "h": ("f16", [N], [0] * N, x)},
         note="elements of 8 and 16 bits, and whether at all is an argument")
    x = random.eighths(13 * 20, -9, 9)
    tile = lambda row, column: x[row * 20 + column] if row < 13 and column < 20 else 0
    z = [sum(tile(r + i, c + j) for r in (0, 8) for c in (0, 16)) for i in range(8) for j in range(16)]
    case("descriptors", pointers(x="f32", y="f32", z="f32") + [("m", "i32", 13), ("n", "i32", 20)],
         {"x": ("f32", [13, 20], x, None), "y": ("f32", [13, 20], None, [2 * value for value in x]),
          "z": ("f32", [8, 16], [0] * 128, z)}, (2, 2, 1), "what lies outside is zero when read and dropped when written")
    x = random.integers(N, -99, 99)
    case("barrier", pointers(x="i32", s="i32", y="i32"),
         {"x": ("i32", [N], x, None), "s": ("i32", [N], None, x), "y": ("i32", [N], None, x[::-1])})


def rounded(value, mode, fraction=23, least=-149):
    """An exact number in a direction (`rd`, `ru`, `rz`), as binary32 has it or another type; not beyond its range."""
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    unit = Fraction(2) ** max(exponent - fraction, least)
    count = math.floor(value / unit)
    up = mode == "ru" or mode == "rz" and value < 0
    return float((count + (up and count * unit != value)) * unit)


def exact_library():
    """Values that are defined bit for bit, by rational arithmetic."""
    random = Random(11)
    any_single = lambda: single((random.below(2**24) - 2**23 or 1) * 2.0 ** (random.below(40) - 30))
    x, y = [any_single() for _ in range(N)], [any_single() for _ in range(N)]
    z = [single(-a * b) if place % 2 else any_single() for place, (a, b) in enumerate(zip(x, y))]
    a = [2**31 - 1, -(2**31), 2**24 + 1, -(2**24) - 1, 1, -1] + random.integers(N - 6, -(2**31), 2**31)
    b = random.integers(N, -(2**31), 2**31)
    c = [signed(random.below(2**31) * 2 + place % 2) % 2000 - 1000 for place in range(N)]
    l = [2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 2**24 + 1, 0, 2**40] + [
        signed(random.below(2**31) << 33 | random.below(2**31) << 2, 64) >> random.below(60) for _ in range(N - 7)]
    d = [value * 2.0 ** (random.below(60) - 30) for value in random.integers(N, -(2**30), 2**30)]
    e = Fraction
    low = lambda value, bits=32: value % 2**bits
    f = []
    for mode, of in [
        ("rd", lambda a, b, c: a + b), ("ru", lambda a, b, c: a + b), ("rz", lambda a, b, c: a - b), ("ru", lambda a, b, c: a * b),
        ("rd", lambda a, b, c: a / b), ("rz", lambda a, b, c: 1 / b), ("rd", lambda a, b, c: a * b + c), ("ru", lambda a, b, c: a * b + c)]:
        f += [rounded(of(e(one), e(two), e(three)), mode) for one, two, three in zip(x, y, z)]
    f += [rounded(e(value), "rd") for value in a] + [rounded(e(low(value)), "ru") for value in a]
    f += [rounded(e(value), "rz") for value in l] + [rounded(e(value), "ru") for value in l]
    f += [rounded(e(low(value, 64)), "rd") for value in l]
    for mode in ("rd", "ru", "rz"):
        f += [rounded(e(value), mode) for value in d]
    f += [ldexp(value, power, 24, -149, 128) for value, power in zip(x, c)]
    f += [neighbour(one, other) for one, other in zip(x, y)]
    f += [math.remainder(one, other) for one, other in zip(x, y)]
    f += [float(math.frexp(value)[1] - 1) for value in x]
    g = [signed(int(f"{low(value):032b}"[::-1], 2)) for value in a]
    g += [(value & -value).bit_length() for value in a]
    for first, second, choice in zip(a, b, c):
        both = low(first) | low(second) << 32
        g.append(signed(sum((both >> 8 * (choice >> 4 * place & 7) & 255) << 8 * place for place in range(4))))
    g += [math.frexp(value)[1] - 1 for value in x]
    g += [(value & -value).bit_length() for value in l]
    double = lambda value, mode: rounded(e(value), mode, 52, -1074)
    w = [double(value, "rd") for value in l] + [double(value, "ru") for value in l] + [double(low(value, 64), "rz") for value in l]
    w += [double(2 * e(value), "ru") for value in d] + [ldexp(value, power, 53, -1074, 1024) for value, power in zip(d, c)]
    case("exact_library", pointers(x="f32", y="f32", z="f32", a="i32", b="i32", c="i32", l="i64", d="f64", f="f32", g="i32", w="f64"),
         {"x": ("f32", [N], x, None), "y": ("f32", [N], y, None), "z": ("f32", [N], z, None), "a": ("i32", [N], a, None),
          "b": ("i32", [N], b, None), "c": ("i32", [N], c, None), "l": ("i64", [N], l, None), "d": ("f64", [N], d, None),
          "f": ("f32", [20, N], None, f), "g": ("i32", [5, N], None, g), "w": ("f64", [5, N], None, w)},
         note="functions of vendors' libraries that are defined bit for bit")


def ldexp(value, power, digits, least, beyond):
    """To nearest even, in a type of so many digits."""
    exact = Fraction(value) * Fraction(2) ** power
    down, up = rounded(exact, "rd", digits - 1, least), rounded(exact, "ru", digits - 1, least) if abs(exact) < Fraction(2) ** beyond else None
    if up is None:
        return math.copysign(math.inf, value)
    nearer = (exact - Fraction(down)) - (Fraction(up) - exact)
    unit = Fraction(2) ** least
    even = down if Fraction(down) / (Fraction(up) - Fraction(down) or unit) % 2 == 0 else up
    result = down if nearer < 0 else up if nearer > 0 else even
    return math.copysign(result, value)


def neighbour(value, toward):
    code = struct.unpack("<i", struct.pack("<f", value))[0]
    grows = (toward > value) == (value > 0)
    return value if toward == value else struct.unpack("<f", struct.pack("<i", code + (1 if grows else -1)))[0]


def edges():
    """What lies at the edges: of ranges, of truth values, of numbers, of tensors, and of blocks that have more lanes than work."""
    random = Random(12)
    x = random.integers(N, 0, 100)
    orders = [lambda p, q: p < q, lambda p, q: p <= q, lambda p, q: p > q, lambda p, q: p >= q]
    bits = lambda truths: sum(bool(truth) << place for place, truth in enumerate(truths))
    # With a sign, a bit that is set is -1.
    t = []
    for value in x:
        p, q = value & 1, value >> 1 & 1
        t.append(bits([order(-p, -q) for order in orders] + [order(p, q) for order in orders] + [p == q, p != q]
                      + [p and q, p or q, p or q, p and q]))
    case("ranges_and_truths", pointers(x="i32", y="i32", t="i32"),
         {"x": ("i32", [N], x, None), "y": ("i32", [N], None, [value + 37 + place for place, value in enumerate(x)]), "t": ("i32", [N], None, t)},
         note="a range that does not begin at zero; integers of one bit in order, with and without sign")
    x = [math.nan if place % 5 == 0 else float(value) for place, value in enumerate(random.eighths(N, -4, 4))]
    y = [math.nan if place % 3 == 0 else float(value) for place, value in enumerate(random.eighths(N, -4, 4))]
    nan = math.isnan
    z = []
    for of in (max, min):
        z += [math.nan if nan(a) or nan(b) else of(a, b) for a, b in zip(x, y)]
    for of in (max, min):
        z += [b if nan(a) else a if nan(b) else of(a, b) for a, b in zip(x, y)]
    # A NaN that is not kept becomes the lower end.
    z += [-1.0 if nan(a) else min(max(a, -1.0), 2.0) for a in x] + [a if nan(a) else min(max(a, -1.0), 2.0) for a in x]
    case("nan_extrema", pointers(x="f32", y="f32", z="f32"), {"x": ("f32", [N], x, None), "y": ("f32", [N], y, None), "z": ("f32", [6, N], None, z)},
         note="which extrema keep a NaN")
    m, n = 9, 20
    x = random.eighths(m * n, -9, 9)
    inside = lambda row, column: 0 <= row < m and 0 <= column < n
    y = [x[(5 + i) * n + j - 3] if inside(5 + i, j - 3) else math.nan for i in range(8) for j in range(16)]
    before, v = random.integers(m * n, -50, 50), random.integers(128, -50, 50)
    s = list(before)
    for row0, column0, of in ((5, -3, lambda a, b: a + b), (-3, 8, max)):
        for i in range(8):
            for j in range(16):
                if inside(row0 + i, column0 + j):
                    place = (row0 + i) * n + column0 + j
                    s[place] = of(s[place], v[16 * i + j])
    case("descriptor_edges", pointers(x="f32", y="f32", s="i32", v="i32") + [("m", "i32", m), ("n", "i32", n)],
         {"x": ("f32", [m, n], x, None), "y": ("f32", [8, 16], None, y), "s": ("i32", [m, n], before, s), "v": ("i32", [8, 16], v, None)},
         note="NaN where nothing is, and atomic operations that begin before a tensor and end after it")
    x = random.integers(8, 1, 99)
    case("copies_once", pointers(x="i32", s="i32", c="i32", k="i32"),
         {"x": ("i32", [8], x, None), "s": ("i32", [8], [100] * 8, [100 + value for value in x]), "c": ("i32", [1], [7], [12]),
          "k": ("i32", [9], None, [100] * 8 + [7])}, note="eight elements of a block of 256 lanes, and a number, are added once", warps=8)
    eight_bits(random)


def eight_bits(random):
    """Signs and order of numbers of eight bits, whose codes are given: zeros, NaNs and infinities of both signs come first."""
    codes = [0x00, 0x80, 0x7F, 0xFF, 0x7C, 0xFC, 0x7E, 0x01, 0x81, 0x3C, 0xBC]
    x = [code for code in codes for _ in range(5)] + random.integers(N - 55, 0, 256)
    y = [other for place in range(11) for other in (0x00, 0x80, codes[place], 0x7F, 0x38)] + random.integers(N - 55, 0, 256)

    def value(code, dtype):
        size = code & 127
        if dtype == "f8e5m2" and size == 124:
            return math.copysign(math.inf, -1 if code & 128 else 1)
        if size >= len(NARROW[dtype]):
            return None
        return -NARROW[dtype][size] if code & 128 else NARROW[dtype][size]

    t = []
    for dtype in ("f8e4m3", "f8e5m2"):
        for one, other in zip(x, y):
            a, b = value(one, dtype), value(other, dtype)
            ordered = a is not None and b is not None
            holds = [a == b, a < b, a <= b, a > b, a >= b, a != b] if ordered else [False] * 6
            truths = holds + [ordered] + [truth or not ordered for truth in holds] + [not ordered]
            t.append(sum(bool(truth) << place for place, truth in enumerate(truths)))
    signs = [code ^ 128 for code in x] + [code & 127 for code in x]
    byte = lambda values: [signed(value, 8) for value in values]
    case("narrow_signs", pointers(x="i8", y="i8", e="i8", d="i8", t="i32"),
         {"x": ("i8", [N], byte(x), None), "y": ("i8", [N], byte(y), None), "e": ("i8", [2, N], None, byte(signs)), "d": ("i8", [2, N], None, byte(signs)),
          "t": ("i32", [2, N], None, t)}, note="signs and order of numbers of eight bits, NaN and both zeros among them")


def explicit():
    """Programs that say where tiles lie."""
    random = Random(8)
    m, n, k = 128, 64, 160
    a, columns = random.eighths(m * k, -2, 2), random.eighths(n * k, -2, 2)
    b = [columns[column * k + row] for row in range(k) for column in range(n)]
    c = product(a, b, n)
    case("explicit_gemm", pointers(a="f16", b="f16", c="f16") + [("n", "i32", n), ("k", "i32", k)],
         {"a": ("f16", [m, k], a, None), "b": ("f16", [n, k], columns, None), "c": ("f16", [m, n], None, c, 2.0**-10, 2.0**-10)},
         (2, 1, 1), "a product through buffers in shared memory; b is column-major")
    m, n, k = 72, 40, 72
    a, b = random.eighths(m * k, -2, 2), random.eighths(k * n, -2, 2)
    case("explicit_gemm_edges", pointers(a="f16", b="f16", c="f32") + [("m", "i32", m), ("n", "i32", n), ("k", "i32", k)],
         {"a": ("f16", [m, k], a, None), "b": ("f16", [k, n], b, None), "c": ("f32", [m, n], None, product(a, b, n), 0.0, 2.0**-12)},
         (2, 1, 1), "factors are read from shared memory as the product wants them, and do not fill tiles")
    m, n, k = 32, 64, 256
    a, q = random.eighths(m * k, -2, 2), [random.below(16) for _ in range(n * k)]
    scales = [Fraction(1 + random.below(4), 8) for _ in range(k // 64 * n)]
    zeros = [random.below(16) for _ in range(k // 64 * n)]
    bytes_of = [q[place] + 16 * q[place + 1] for place in range(0, n * k, 2)]
    b = [scales[row // 64 * n + column] * (q[column * k + row] - zeros[row // 64 * n + column]) for row in range(k) for column in range(n)]
    case("explicit_int4", pointers(a="f16", b="i8", s="f16", z="f16", c="f32") + [("n", "i32", n), ("k", "i32", k)],
         {"a": ("f16", [m, k], a, None), "b": ("u8", [n, k // 2], bytes_of, None), "s": ("f16", [k // 64, n], scales, None),
          "z": ("f16", [k // 64, n], zeros, None), "c": ("f32", [m, n], None, product(a, b, n), 2.0**-16, 2.0**-9)},
         (1, 1, 1), "weights of four bits with scales and zero points")
    m, n, k = 64, 64, 128
    a, columns = ([Fraction(random.below(17) - 8, 4) for _ in range(64 * k)] for _ in range(2))
    of_rows, of_columns = ([Fraction(1 + random.below(8), 8) for _ in range(k // 64 * 64)] for _ in range(2))
    c = [sum(of_rows[t // 64 * m + i] * of_columns[t // 64 * n + j] * a[i * k + t] * columns[j * k + t] for t in range(k))
         for i in range(m) for j in range(n)]
    case("explicit_fp8", pointers(a="f8E4M3FN", b="f8E4M3FN", s="f32", r="f32", c="f32") + [("m", "i32", m), ("n", "i32", n), ("k", "i32", k)],
         {"a": ("f8e4m3", [m, k], a, None), "b": ("f8e4m3", [n, k], columns, None), "s": ("f32", [k // 64, m], of_rows, None),
          "r": ("f32", [k // 64, n], of_columns, None), "c": ("f32", [m, n], None, c, 2.0**-10, 2.0**-6)},
         (1, 1, 1), "a product of eight bits with scales of blocks")
    m, k = 32, 512
    a, x = random.eighths(m * k, -2, 2), random.eighths(k, -2, 2)
    case("explicit_gemv", pointers(a="f16", x="f16", y="f32") + [("k", "i32", k)],
         {"a": ("f16", [m, k], a, None), "x": ("f16", [k], x, None), "y": ("f32", [m], None, product(a, x, 1), 0.0, 2.0**-11)}, (2, 1, 1))
    x, w, eps = random.eighths(3 * 512, -4, 4), random.eighths(512, -2, 2), single(1e-5)
    roots = [math.sqrt(float(sum(value * value for value in row)) / 512 + eps) for row in rows(x, 512)]
    y = [float(value) / roots[place // 512] * float(w[place % 512]) for place, value in enumerate(x)]
    case("explicit_rmsnorm", pointers(x="f16", w="f16", y="f16") + [("eps", "f32", eps)],
         {"x": ("f16", [3, 512], x, None), "w": ("f16", [512], w, None), "y": ("f16", [3, 512], None, y, 2.0**-10, 2.0**-20)}, (3, 1, 1))
    queries, length, head, scale = 256, 128, 64, single(0.125 * math.log2(math.e))
    q, k, v = (random.eighths(size * head, -1, 1) for size in (queries, length, length))
    out = sum(multiplied(softmax(q, k, head, scale)[0], [[float(x) for x in row] for row in rows(v, head)]), [])
    case("explicit_attention", pointers(q="f16", k="f16", v="f16", o="f16") + [("scale", "f32", scale), ("length", "i32", length)],
         {"q": ("f16", [queries, head], q, None), "k": ("f16", [length, head], k, None), "v": ("f16", [length, head], v, None),
          "o": ("f16", [queries, head], None, out, 2.0**-8, 2.0**-9)}, (2, 1, 1), "attention forward, the softmax as it goes")


def softmax(q, k, head, scale, keys=None):
    """The rows of the softmax of scale * q k^T over some keys, and log2 of their divisors; `scale` has log2(e) in it."""
    shares, logs = [], []
    k = [[float(x) for x in row] for row in rows(k, head)][slice(*(keys or (None,)))]
    for row in rows([float(x) for x in q], head):
        scores = [scale * sum(x * y for x, y in zip(row, key)) for key in k]
        most = max(scores)
        powers = [2.0 ** (score - most) for score in scores]
        shares.append([power / math.fsum(powers) for power in powers])
        logs.append(most + math.log2(math.fsum(powers)))
    return shares, logs


def multiplied(a, b):
    """The product of two matrices of binary64, given as rows."""
    columns = list(zip(*b))
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def explicit_attention():
    """Attention of one new position, whose keys blocks share out, and attention backward, each in two steps."""
    random = Random(81)
    heads, head, length, parts, scale = 2, 64, 200, 4, single(0.125 * math.log2(math.e))
    q = random.eighths(heads * 16 * head, -1, 1)
    k, v = (random.eighths(heads * length * head, -1, 1) for _ in range(2))
    out, partial, weights = [], [], []
    for number in range(heads):
        own_q, own_k, own_v = (values[number * size * head : (number + 1) * size * head] for values, size in ((q, 16), (k, length), (v, length)))
        values = [[float(x) for x in row] for row in rows(own_v, head)]
        out += sum(multiplied(softmax(own_q, own_k, head, scale)[0], values), [])
        for part in range(parts):
            keys = (part * 64, min(length, part * 64 + 64))
            shares, logs = softmax(own_q, own_k, head, scale, keys)
            partial += sum(multiplied(shares, values[slice(*keys)]), [])
            weights += logs
    case("explicit_decode", pointers(q="f16", k="f16", v="f16", o="f32", l="f32") + [("scale", "f32", scale), ("length", "i32", length)],
         {"q": ("f16", [heads, 16, head], q, None), "k": ("f16", [heads, length, head], k, None), "v": ("f16", [heads, length, head], v, None),
          "o": ("f32", [heads, parts, 16, head], None, partial, 2.0**-8, 2.0**-9), "l": ("f32", [heads, parts, 16], None, weights, 0.0, 2.0**-12)},
         (parts, heads, 1), "attention of one position: keys shared out among blocks, the last of which has a part of a tile", warps=1)
    case("explicit_decode_join", pointers(o="f32", l="f32", y="f16"),
         {"o": ("f32", [heads, parts, 16, head], partial, None), "l": ("f32", [heads, parts, 16], weights, None),
          "y": ("f16", [heads, 16, head], None, out, 2.0**-9, 2.0**-16)}, (heads, 1, 1), "softmaxes over parts of the keys become one")

    factor = single(0.125)
    numbers = [("scale", "f32", factor), ("log2_scale", "f32", scale)]
    matrix = lambda values: ("f16", [len(values) // head, head], values, None)
    left = lambda values: ("f16", [len(values), head], None, sum(values, []), 2.0**-7, 2.0**-10)
    for is_of_queries, queries, length in ((True, 256, 128), (False, 128, 256)):
        q, g, k, v = (random.eighths(size * head, -1, 1) for size in (queries, queries, length, length))
        of = {name: [[float(x) for x in row] for row in rows(values, head)] for name, values in zip("qgkv", (q, g, k, v))}
        shares, logs = softmax(q, k, head, scale)
        half = lambda value: struct.unpack("<e", struct.pack("<e", value))[0]
        o = [[half(x) for x in row] for row in multiplied(shares, of["v"])]
        sums = [math.fsum(x * y for x, y in zip(a, b)) for a, b in zip(of["g"], o)]
        towards = multiplied(of["g"], list(zip(*of["v"])))
        moved = [[p * (x - d) * factor for p, x in zip(share, row)] for share, row, d in zip(shares, towards, sums)]
        turned = lambda rows_of: [list(column) for column in zip(*rows_of)]
        if is_of_queries:
            case("explicit_attention_dq", pointers(q="f16", k="f16", v="f16", o="f16", g="f16", l="f32", d="f32", dq="f16") + numbers + [("length", "i32", length)],
                 {"q": matrix(q), "k": matrix(k), "v": matrix(v), "o": matrix(sum(o, [])), "g": matrix(g), "l": ("f32", [queries], logs, None),
                  "d": ("f32", [queries], None, sums, 0.0, 2.0**-12), "dq": left(multiplied(moved, of["k"]))}, (2, 1, 1), "attention backward: what follows for q")
            continue
        case("explicit_attention_dkv", pointers(q="f16", k="f16", v="f16", g="f16", l="f32", d="f32", dk="f16", dv="f16") + numbers + [("length", "i32", queries)],
             {"q": matrix(q), "k": matrix(k), "v": matrix(v), "g": matrix(g), "l": ("f32", [queries], logs, None), "d": ("f32", [queries], sums, None),
              "dk": left(multiplied(turned(moved), of["q"])), "dv": left(multiplied(turned(shares), of["g"]))}, (2, 1, 1), "attention backward: what follows for k and v")


def explicit_blocks():
    """What blocks do together: a sum along rows that they share, and experts that each have some of the rows."""
    random = Random(82)
    count, size, eps = 2, 2048, single(1e-5)
    x, w = random.eighths(count * size, -4, 4), random.eighths(size, -2, 2)
    squares = [float(sum(value * value for value in part)) for part in rows(x, 512)]
    roots = [math.sqrt(sum(row) / size + eps) for row in rows(squares, 4)]
    y = [float(value) / roots[place // size] * float(w[place % size]) for place, value in enumerate(x)]
    case("explicit_rmsnorm_blocks", pointers(x="f16", w="f16", s="f32", count="i32", y="f16") + [("eps", "f32", eps)],
         {"x": ("f16", [count, size], x, None), "w": ("f16", [size], w, None), "s": ("f32", [count, 4], None, squares, 2.0**-20, 0.0),
          "count": ("i32", [count], [0] * count, [4] * count), "y": ("f16", [count, size], None, y, 2.0**-10, 2.0**-20)},
         (4, count, 1), "a row that four blocks share")

    tokens, experts, n, k = 40, 4, 128, 128
    a, weights = random.eighths(tokens * k, -1, 1), [random.below(16) for _ in range(experts * n * k)]
    scales = [Fraction(1 + random.below(4), 8) for _ in range(experts * k // 64 * n)]
    gates = [Fraction(1 + random.below(7), 8) for _ in range(2 * tokens)]
    # Every token goes to the third expert and one other, so that expert has more than fit into a block.
    chosen = sum(([2, (0, 1, 3)[random.below(3)]] for _ in range(tokens)), [])
    of_blocks = [(expert, part) for expert in range(experts)
                 for part in rows([place for place in range(2 * tokens) if chosen[place] == expert], 32)]
    places = sum((part + [0] * (32 - len(part)) for _, part in of_blocks), [])
    bytes_of = [weights[place] + 16 * weights[place + 1] for place in range(0, experts * n * k, 2)]
    dequantised = [scales[column // n * (k // 64) * n + row // 64 * n + column % n] * signed(weights[column * k + row], 4)
                   for column in range(experts * n) for row in range(k)]
    columns, of_tokens = rows(dequantised, k), rows(a, k)
    y = [gates[place] * sum(p * q for p, q in zip(of_tokens[place // 2], columns[chosen[place] * n + column]) if p and q)
         for place in range(2 * tokens) for column in range(n)]
    table = lambda values: ("i32", [len(values)], values, None)
    case("explicit_moe", pointers(x="f16", b="i8", s="f16", gate="f32", expert="i32", place="i32", there="i32", y="f32") + [("n", "i32", n), ("k", "i32", k)],
         {"x": ("f16", [tokens, k], a, None), "b": ("u8", [experts, n, k // 2], bytes_of, None), "s": ("f16", [experts, k // 64, n], scales, None),
          "gate": ("f32", [2 * tokens], gates, None), "expert": table([expert for expert, _ in of_blocks]), "place": table(places),
          "there": table([len(part) for _, part in of_blocks]), "y": ("f32", [2 * tokens, n], None, y, 2.0**-16, 2.0**-10)},
         (n // 64, len(of_blocks), 1), "experts of weights of four bits, tokens sorted by them")


def explicit_narrow():
    """Elements narrower than a byte."""
    random = Random(83)
    count = 32 * 64
    bits, pairs = [random.below(2) for _ in range(count)], [random.below(4) for _ in range(count)]
    packed = lambda values, width: [sum(value << width * place for place, value in enumerate(group)) for group in rows(values, 8 // width)]
    codes = {name: [(place + place // 64) % 2**width for place in range(count)] for name, width in (("f4", 4), ("f6", 6), ("g6", 6))}
    formats = {"f4": small_floats(2, 1, 8), "f6": small_floats(2, 3, 32), "g6": small_floats(3, 2, 32)}
    number = lambda name, code: (-1 if code >= len(formats[name]) else 1) * formats[name][code % len(formats[name])]
    y = bits + [-bit for bit in bits] + pairs + [signed(pair, 2) for pair in pairs]
    y += [number(name, code) for name in codes for code in codes[name]]
    byte = lambda values: ("u8", [len(values)], values, None)
    case("explicit_narrow", pointers(b1="i8", b2="i8", f4="i8", f6="i8", g6="i8", y="f16"),
         {"b1": byte(packed(bits, 1)), "b2": byte(packed(pairs, 2)), "f4": byte(packed(codes["f4"], 4)), "f6": byte(codes["f6"]),
          "g6": byte(codes["g6"]), "y": ("f16", [7, 32, 64], None, y)}, (1, 1, 1), "elements of one, two, four and six bits become numbers")
    m, n, k = 32, 64, 512
    a, b = random.eighths(m * k, -2, 2), [random.below(2) for _ in range(n * k)]
    weights = [2 * b[column * k + row] - 1 for row in range(k) for column in range(n)]
    case("explicit_int1", pointers(a="f16", b="i8", c="f32") + [("n", "i32", n), ("k", "i32", k)],
         {"a": ("f16", [m, k], a, None), "b": ("u8", [n, k // 8], packed(b, 1), None), "c": ("f32", [m, n], None, product(a, weights, n), 0.0, 2.0**-10)},
         (1, 1, 1), "weights of one bit")


def explicit_packed():
    """Weights of four bits that lie as the unit's lanes want them (seed 003, Figure 3 and section 7.3)."""
    random = Random(73)
    # Sizes of the modes of K and of N, the fastest first, and their strides in elements, of one tile.
    layouts = {"explicit_packed": (((8, 4), (2, 2), (8, 2048)), ((2, 1), (64, 32))),
               "explicit_interleaved": (((2, 1), (2, 8), (2, 128), (4, 2)), ((8, 16),))}
    place = lambda modes, at: sum(at // math.prod(size for size, _ in modes[:n]) % modes[n][0] * modes[n][1] for n in range(len(modes)))
    for name, (along_k, along_n) in layouts.items():
        tile = [math.prod(size for size, _ in modes) for modes in (along_k, along_n)]
        m, n, k = 32, 128 if name == "explicit_packed" else 64, 256
        a, q = random.eighths(m * k, -2, 2), [random.below(16) - 8 for _ in range(k * n)]
        scales = [Fraction(1 + random.below(4), 8) for _ in range(n)]
        elements = [0] * (k * n)
        for row in range(k):
            for column in range(n):
                # Tiles follow each other along N, then along K.
                of_tile = (row // tile[0] * (n // tile[1]) + column // tile[1]) * tile[0] * tile[1]
                elements[of_tile + place(along_k, row % tile[0]) + place(along_n, column % tile[1])] = q[row * n + column]
        bytes_of = [elements[at] % 16 + 16 * (elements[at + 1] % 16) for at in range(0, n * k, 2)]
        b = [scales[column] * q[row * n + column] for row in range(k) for column in range(n)]
        case(name, pointers(a="f16", b="i8", s="f32", c="f32") + [("n", "i32", n), ("k", "i32", k)],
             {"a": ("f16", [m, k], a, None), "b": ("u8", [len(bytes_of)], bytes_of, None), "s": ("f32", [n], scales, None),
              "c": ("f32", [m, n], None, product(a, b, n), 2.0**-16, 2.0**-9)},
             (1, 1, 1), "weights of four bits in tiles that are packed for the unit's lanes")


def jumps_back():
    """Loops that are written as jumps: squares by sums, until one is not below a number, or more than 60."""
    random = Random(91)
    x = random.integers(7, 0, 60) + [99]
    y = []
    for value in x:
        total, k, last = 0, 0, None
        while last is None:
            sums = [k * j for j in range(1, k + 1)]
            if any(part > 60 for part in sums):
                last = next(part for part in sums if part > 60)
            else:
                total += k * k
                last = k * k if k * k >= value else None
                k += 1
        y += [total + last + place for place in range(N)]
    case("jumps_back", pointers(x="i32", y="i32"), {"x": ("i32", [8], x, None), "y": ("i32", [8, N], None, y)}, (8, 1, 1),
         "two loops of jumps within each other, and a jump out of both")


def descriptor_extremes():
    """What is combined with a tensor in memory by exchanges, for no target has such an operation."""
    random = Random(92)
    m, n = 9, 24
    arguments, buffers = [], {}
    for name, dtype, of in (("h", "f16", min), ("b", "bf16", max), ("w", "i16", lambda a, b: signed(a + b, 16)), ("u", "f32", min)):
        some = (lambda count: random.integers(count, -30000, 30000)) if dtype == "i16" else (lambda count: random.eighths(count, -9, 9))
        before, values = some(m * n), some(128)
        after = list(before)
        for i in range(8):
            for j in range(16):
                row, column = 5 + i, j - 3
                if row < m and 0 <= column < n:
                    after[row * n + column] = of(before[row * n + column], values[16 * i + j])
        arguments += [(name, dtype), (name + "v", dtype)]
        buffers |= {name: (dtype, [m, n], before, after), name + "v": (dtype, [8, 16], values, None)}
    case("descriptor_extremes", pointers(**dict(arguments)) + [("m", "i32", m), ("n", "i32", n)], buffers,
         note="extrema of floating-point numbers and sums of 16 bits, at the edges of a tensor")


def bools():
    """Tensors of bools in memory, one byte each; the programs are Triton's of kernels with `*i1` arguments, but for the last."""
    random = Random(101)
    some = lambda count: [random.below(2) for _ in range(count)]
    c, a, b = some(1024), random.eighths(1024, -9, 9), random.eighths(1024, -9, 9)
    case("bool_where", pointers(c="i1", a="f32", b="f32", o="f32"),
         {"c": ("i1", [1024], c, None), "a": ("f32", [1024], a, None), "b": ("f32", [1024], b, None),
          "o": ("f32", [1024], None, [x if t else y for t, x, y in zip(c, a, b)])}, note="a choice by bools in memory")
    c = some(4096)
    case("bool_copy", pointers(c="i1", o="i1"), {"c": ("i1", [4096], c, None), "o": ("i1", [4096], None, c)}, (2, 1, 1))
    c = some(512)
    case("bool_not", pointers(c="i1", o="i1"), {"c": ("i1", [512], c, None), "o": ("i1", [512], None, [1 - t for t in c])})
    c, d = some(1024), some(1024)
    of = {"x": lambda p, q: p & q, "y": lambda p, q: p | q, "z": lambda p, q: p ^ q}
    case("bool_logic", pointers(c="i1", d="i1", x="i1", y="i1", z="i1"),
         {"c": ("i1", [1024], c, None), "d": ("i1", [1024], d, None)}
         | {name: ("i1", [1024], None, [f(p, q) for p, q in zip(c, d)]) for name, f in of.items()})
    a, b = random.integers(1024, -9, 9), random.integers(1024, -9, 9)
    case("bool_compare", pointers(a="i16", b="i16", o="i1"),
         {"a": ("i16", [1024], a, None), "b": ("i16", [1024], b, None), "o": ("i1", [1024], None, [int(x < y) for x, y in zip(a, b)])})
    c, a, n = some(512), random.eighths(512, -9, 9), 397
    kept = [(x if t else -1) if i < n else 80 for i, (t, x) in enumerate(zip(c, a))]
    case("bool_load_mask", pointers(c="i1", a="f32", o="f32") + [("n", "i32", n)],
         {"c": ("i1", [512], c, None), "a": ("f32", [512], a, None), "o": ("f32", [512], None, kept)}, note="loaded bools are a mask")
    c, a = some(1024), random.eighths(1024, -9, 9)
    case("bool_store_mask", pointers(c="i1", a="f16", o="f16"),
         {"c": ("i1", [1024], c, None), "a": ("f16", [1024], a, None), "o": ("f16", [1024], None, [x if t else 80 for t, x in zip(c, a)])})
    c = some(16 * 128)
    case("bool_count", pointers(c="i1", o="i32"),
         {"c": ("i1", [16, 128], c, None), "o": ("i32", [16], None, [sum(row) for row in rows(c, 128)])})
    c = [int(random.below(9) > 0) for _ in range(32 * 64)]
    for at in range(64):
        c[5 * 64 + at] = c[at * 64 % (32 * 64) + 7] = 0 if at < 32 else c[5 * 64 + at]
    case("bool_any_all", pointers(c="i1", x="i1", y="i1"),
         {"c": ("i1", [32, 64], c, None), "x": ("i1", [32], None, [max(row) for row in rows(c, 64)]),
          "y": ("i1", [64], None, [min(c[column::64]) for column in range(64)])}, note="reductions of bools")
    c = some(32 * 64)
    case("bool_transpose", pointers(c="i1", o="i1"),
         {"c": ("i1", [32, 64], c, None), "o": ("i1", [64, 32], None, [c[row * 64 + column] for column in range(64) for row in range(32)])},
         note="a conversion of bools")
    c, d, a = some(16), some(64), random.integers(16 * 64, -99, 99)
    case("bool_outer", pointers(c="i1", d="i1", a="i32", o="i32"),
         {"c": ("i1", [16], c, None), "d": ("i1", [64], d, None), "a": ("i32", [16, 64], a, None),
          "o": ("i32", [16, 64], None, [x * (c[i // 64] & d[i % 64]) for i, x in enumerate(a)])})
    n, pitch = 5, 528
    c = [int(random.below(4) == 0) for _ in range(n * pitch)]
    case("bool_loop", pointers(c="i1", o="i1") + [("n", "i32", n), ("pitch", "i32", pitch)],
         {"c": ("i1", [n, pitch], c, None), "o": ("i1", [512], None, [max(c[column::pitch]) for column in range(512)])},
         note="bools are carried through a loop")
    c, d = some(64), some(64)
    each = [lambda p, q: int(-p < -q), lambda p, q: int(-1 <= -p), lambda p, q: int(p < q), lambda p, q: p, lambda p, q: p | q, lambda p, q: 1 - p]
    case("bool_signed", pointers(c="i1", d="i1", n="i32", o="i1"),
         {"c": ("i1", [64], c, None), "d": ("i1", [64], d, None),
          "n": ("i32", [64], None, [-100 * p + q - 11 for p, q in zip(c, d)]),
          "o": ("i1", [6, 64], None, [f(p, q) for f in each for p, q in zip(c, d)])}, note="as a signed number, true is -1")


for write in (elementwise, types, along_axes, shapes, products, scale_codes, flow, library, exact_library, memory, edges, explicit, explicit_attention, explicit_blocks, explicit_narrow, explicit_packed, jumps_back, descriptor_extremes, bools):
    write()
