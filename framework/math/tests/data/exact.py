"""Arguments of functions that are defined bit for bit, with their results, by rational arithmetic.

Usage: python exact.py [COUNT [SEED]] > exact.txt

A line is a function, `f32` or `f64`, the bits of its arguments and those of the result. Zeros, infinities and NaNs are in
`math_exact.rs`.
"""
import math
import random
import struct
import sys
from fractions import Fraction

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 40
random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)


def binade(size):
    """Log2 of a number above zero, rounded down."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= size else exponent - 1


class Type:
    def __init__(self, name, code, word, fraction, bias):
        self.name, self.code, self.word, self.fraction, self.bias = name, code, word, fraction, bias
        self.width = 8 * struct.calcsize(word)
        self.least = Fraction(1, 2 ** (bias - 1 + fraction))
        self.fields = 2 * bias + 1

    def number(self, bits):
        return struct.unpack(self.code, struct.pack(self.word, bits))[0]

    def bits(self, number):
        return struct.unpack(self.word, struct.pack(self.code, number))[0]

    def draw(self, low=0, high=None):
        """A number whose exponent field is within the bounds, of few digits now and then."""
        field = random.randrange(low, self.fields if high is None else high)
        kept = random.choice([self.fraction] * 3 + [3, 0])
        fraction = random.getrandbits(self.fraction) >> (self.fraction - kept) << (self.fraction - kept)
        return random.getrandbits(1) << (self.width - 1) | field << self.fraction | fraction

    def rounded(self, value, mode):
        """Of a number that is not zero; `mode` is `rd`, `ru` or `rz`."""
        size = abs(value)
        exponent = binade(size)
        exponent = max(exponent, 1 - self.bias)
        unit = Fraction(2) ** (exponent - self.fraction)
        count = size // unit
        away = mode == ("rd" if value < 0 else "ru")
        if away and count * unit != size:
            count += 1
        # Bits of sizes are in the order of sizes.
        bits = count + (exponent + self.bias - 1) * 2 ** self.fraction
        infinity = self.fields * 2 ** self.fraction
        if bits >= infinity:
            bits = infinity if away else infinity - 1
        return int(bits) | (value < 0) << (self.width - 1)


TYPES = [Type("f32", "f", "I", 23, 127), Type("f64", "d", "Q", 52, 1023)]


def pair(ty, kind):
    bias, fraction = ty.bias, ty.fraction
    x = ty.draw()
    if kind == "add":
        field = x >> fraction & ty.fields
        apart = random.choice([0, 1, 2, fraction, fraction + 1, fraction + 3, 3 * fraction])
        y = ty.draw(max(0, field - apart), max(0, field - apart) + 1)
        return random.choice([(x, y), (y, x), (x, x ^ 1), (x, ty.draw())])
    # A result in the middle, next to the least numbers, or next to the greatest.
    wanted = random.choice([random.randrange(1, ty.fields), random.randrange(1, 4), -random.randrange(fraction + 3), ty.fields - 2])
    field = x >> fraction & ty.fields
    other = wanted - field + bias if kind == "mul" else field - wanted + bias
    other = min(max(other, 0), ty.fields - 1)
    return x, ty.draw(other, other + 1)


def triple(ty):
    x, y = pair(ty, "mul")
    product = abs(Fraction(ty.number(x)) * Fraction(ty.number(y)))
    near = ty.rounded(product, "rz") if product else 0
    if near >> ty.fraction == ty.fields:
        near -= 1
    field = near >> ty.fraction
    apart = random.choice([0, 0, 1, ty.fraction, ty.fraction + 2, 2 * ty.fraction + 2, 4 * ty.fraction])
    moved = min(max(field + random.choice([apart, -apart]), 0), ty.fields - 1)
    opposite = (~(x ^ y)) >> (ty.width - 1) & 1
    cancels = near | opposite << (ty.width - 1)
    return x, y, random.choice([cancels, cancels, cancels ^ 1, ty.draw(moved, moved + 1), ty.draw()])


def line(name, ty, arguments, result):
    print(name, ty.name, *(f"{bits:x}" for bits in (*arguments, result)))


def root(ty, x, mode):
    """By integers: sixty binary digits more than any type has."""
    value = Fraction(ty.number(x))
    up = 2 ** 2400
    whole = math.isqrt(value.numerator * up // value.denominator)
    exact = Fraction(whole * whole, up) == value
    return ty.rounded(Fraction(2 * whole + (0 if exact else 1), 2 * 2 ** 1200), mode)


for ty in TYPES:
    value = lambda bits: Fraction(ty.number(bits))
    for mode in ["rd", "ru", "rz"]:
        for _ in range(COUNT):
            x, y = pair(ty, "add")
            if value(x) + value(y):
                line(f"add_{mode}", ty, (x, y), ty.rounded(value(x) + value(y), mode))
            x, y = pair(ty, "mul")
            if value(x) * value(y):
                line(f"mul_{mode}", ty, (x, y), ty.rounded(value(x) * value(y), mode))
            x, y = pair(ty, "div")
            if value(x) and value(y):
                line(f"div_{mode}", ty, (x, y), ty.rounded(value(x) / value(y), mode))
            x = ty.draw() & ~(1 << (ty.width - 1))
            if value(x):
                line(f"sqrt_{mode}", ty, (x,), root(ty, x, mode))
            x, y, z = triple(ty)
            if value(x) * value(y) + value(z):
                line(f"fma_{mode}", ty, (x, y, z), ty.rounded(value(x) * value(y) + value(z), mode))
    for _ in range(COUNT):
        x, y = pair(ty, random.choice(["add", "div"]))
        if value(x) and value(y):
            whole = round(value(x) / value(y))
            rest = value(x) - whole * value(y)
            sign = x >> (ty.width - 1) << (ty.width - 1)
            line("remainder", ty, (x, y), ty.rounded(rest, "rz") if rest else sign)
        x, n = ty.draw(), random.randrange(-2 * ty.bias, 2 * ty.bias)
        if value(x):
            scaled = value(x) * Fraction(2) ** n
            down, up = (ty.rounded(scaled, mode) for mode in ("rz", "ru" if scaled > 0 else "rd"))
            infinity = ty.fields << ty.fraction
            # Of numbers with more digits, halfway is the limit; ties go to the even one.
            sizes = [bits & ~(1 << (ty.width - 1)) for bits in (down, up)]
            least, most = (value(bits) if bits != infinity else Fraction(2) ** (ty.bias + 1) for bits in sizes)
            tie = 2 * abs(scaled) - least - most
            nearest = down if tie < 0 or tie == 0 and down & 1 == 0 else up
            line("scalbn", ty, (x, ty.bits(float(n))), nearest)
        x = ty.draw()
        if value(x):
            line("logb", ty, (x,), ty.bits(float(binade(abs(value(x))))))
