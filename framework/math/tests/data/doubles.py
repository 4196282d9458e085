"""Arguments of functions of binary64 numbers with their results, to twice the digits.

Usage: python doubles.py [COUNT [SEED]] > doubles.txt    (needs mpmath)
       python doubles.py singles > singles.txt

A line is a function, the bits of its arguments, and those of two numbers that add up to the result; the first is the
number nearest to it. In `singles.txt` arguments are binary32, the result is one number, and there are only functions that the
host has not.
"""
import math
import random
import struct
import sys

import mpmath as mp

mp.mp.prec = 200
SINGLES = sys.argv[1:2] == ["singles"]
COUNT = 300 if SINGLES else int(sys.argv[1]) if len(sys.argv) > 1 else 60
random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)


def number(bits):
    return struct.unpack("d", struct.pack("Q", bits))[0]


def bits(value):
    return struct.unpack("Q", struct.pack("d", value))[0]


def single_bits(value):
    return struct.unpack("I", struct.pack("f", value))[0]


def rounded(value):
    """In the type of the file."""
    return struct.unpack("f", struct.pack("f", value))[0] if SINGLES else value


def any_number(low=0, high=2047):
    """A number whose exponent field is within the bounds."""
    fields = random.getrandbits(52) | random.randrange(low, high) << 52 | random.getrandbits(1) << 63
    return number(fields)


def positive(low=0, high=2047):
    return abs(any_number(low, high))


def spread(low, high):
    """Sizes evenly spread by their logarithms."""
    return lambda: math.exp(random.uniform(math.log(low), math.log(high)))


def signed(sizes):
    return lambda: sizes() * random.choice([1, -1])


def beside(value, sizes):
    return lambda: value + sizes()


def one_of(*ranges):
    def draw():
        chosen = random.choice(ranges)
        return chosen() if callable(chosen) else random.uniform(*chosen)

    return draw


def erfcinv(y):
    """By Newton's steps where it is far from zero."""
    if y > 0.01:
        return -mp.erfinv(y - 1)
    with mp.workprec(400):
        x = mp.sqrt(-mp.log(y))
        for _ in range(80):
            step = (mp.erfc(x) - y) * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
            x += step / (1 - x * step)
        return x


def lgamma(x):
    if x > 0:
        return mp.re(mp.loggamma(x))
    return mp.log(mp.pi / abs(x * mp.sinpi(x))) - mp.re(mp.loggamma(-x))


def power_pair():
    kind = random.random()
    if kind < 0.8:
        x = positive() if kind < 0.4 else random.uniform(0.5, 2)
        return x, random.uniform(-1074, 1024) / math.log2(x)
    if kind < 0.9:
        return random.uniform(0.1, 10), random.uniform(-50, 50)
    return -random.uniform(0.1, 100), float(random.randint(-30, 30))


def pair():
    kind = random.random()
    if kind < 0.3:
        return any_number(), any_number()
    if kind < 0.7:
        return random.uniform(-5, 5), random.uniform(-5, 5)
    x = any_number(100, 1900)
    return x, x * random.uniform(0.01, 100) * random.choice([1, -1])


TINY = signed(spread(1e-310, 1e-3))
ANGLES = one_of(any_number, (-10, 10), (-1e9, 1e9), (-1e5, 1e5), (-0.8, 0.8), TINY)
SIZES = one_of(positive, (0.5, 2), (0.9, 1.1), lambda: positive(0, 1))
ONE = {
    "exp": (mp.exp, one_of((-745.2, 709.7), (-2, 2), (-0.4, 0.4), TINY)),
    "exp2": (lambda x: mp.power(2, x), one_of((-1075, 1023.9), (-2, 2), TINY)),
    "exp10": (lambda x: mp.power(10, x), one_of((-323.5, 308.2), (-1, 1), TINY)),
    "expm1": (mp.expm1, one_of((-40, 709.7), (-2, 2), (-0.5, 0.5), TINY)),
    "log": (mp.log, SIZES),
    "log2": (lambda x: mp.log(x) / mp.log(2), SIZES),
    "log10": (mp.log10, SIZES),
    "log1p": (mp.log1p, one_of(positive, (-1, 2), (-0.3, 0.5), TINY, beside(-1, spread(1e-16, 0.5)))),
    "sin": (mp.sin, ANGLES),
    "cos": (mp.cos, ANGLES),
    "tan": (mp.tan, ANGLES),
    "asin": (mp.asin, one_of((-1, 1), (0.45, 0.55), TINY, beside(1, lambda: -spread(1e-15, 0.4)()))),
    "acos": (mp.acos, one_of((-1, 1), (0.45, 0.55), TINY, beside(-1, spread(1e-15, 0.4)))),
    "atan": (mp.atan, one_of(any_number, (-5, 5), (-1, 1), TINY)),
    "sinh": (mp.sinh, one_of((-710.4, 710.4), (-3, 3), (-1, 1), TINY)),
    "cosh": (mp.cosh, one_of((-710.4, 710.4), (-3, 3), (-1, 1), TINY)),
    "tanh": (mp.tanh, one_of((-20, 20), (-3, 3), (-1, 1), TINY)),
    "asinh": (mp.asinh, one_of(any_number, (-5, 5), (0.4, 0.8), TINY, signed(spread(1e-3, 1e12)))),
    "acosh": (mp.acosh, one_of(beside(1, spread(1e-15, 1)), (1, 5), spread(1, 1e12), spread(1e9, 1e307))),
    "atanh": (mp.atanh, one_of((-1, 1), (0.4, 0.6), TINY, beside(1, lambda: -spread(1e-16, 0.4)()))),
    "erf": (mp.erf, one_of((-6, 6), (-1, 1), (0.9, 1.3), TINY)),
    "erfc": (mp.erfc, one_of((-6, 27.2), (-1, 1), (0.4, 0.6), TINY, (0, 6))),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), one_of(any_number, (-10, 10), lambda: any_number(0, 1))),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), one_of(positive, (0.1, 10), lambda: positive(0, 1))),
    "sqrt": (mp.sqrt, one_of(positive, (0.1, 10), lambda: positive(0, 1))),
    "lgamma": (lgamma, one_of((0, 30), (0.5, 3), (2.9, 40), spread(1e-300, 1), spread(30, 1e300), (-30, 0), (-170, -30))),
    "tgamma": (mp.gamma, one_of((0, 30), (0.5, 3), (-30, 0), (30, 171.6), (-180, -30), signed(spread(1e-307, 1)))),
}
# What is of the types alone: the end of the range, and how near to the ends of a domain numbers come.
GREATEST, LEAST, FINEST = (1e38, 1e-44, 6e-8) if SINGLES else (1e300, 1e-320, 2e-16)
SCALED_END, MODIFIED_END = (-9.3, 91) if SINGLES else (-26.5, 713)
WAVES = one_of((0, 2), (2, 8), (8, 100), spread(LEAST, 2), spread(8, GREATEST), (1.9, 2.1), (7.9, 8.1))
FURTHER = {
    "erfinv": (mp.erfinv, one_of((-1, 1), TINY, beside(1, lambda: -spread(FINEST, 0.4)()), (-0.999, -0.99))),
    "erfcinv": (erfcinv, one_of((0, 2), beside(1, TINY), spread(LEAST, 1), beside(2, lambda: -spread(2 * FINEST, 1)()))),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), one_of((SCALED_END, 0), (0, 12), (-1, 1), spread(12, GREATEST), signed(spread(LEAST, 1)))),
    "bessel_j0": (lambda x: mp.besselj(0, x), signed(WAVES)),
    "bessel_j1": (lambda x: mp.besselj(1, x), signed(WAVES)),
    "bessel_y0": (lambda x: mp.bessely(0, x), WAVES),
    "bessel_y1": (lambda x: mp.bessely(1, x), WAVES),
    "bessel_i0": (lambda x: mp.besseli(0, x), signed(one_of((0, 8), (8, MODIFIED_END), (7, 9), spread(LEAST, 8)))),
    "bessel_i1": (lambda x: mp.besseli(1, x), signed(one_of((0, 8), (8, MODIFIED_END), (7, 9), spread(LEAST, 8)))),
}
OF_ORDERS = {"bessel_jn": mp.besselj, "bessel_yn": mp.bessely}


def of_order():
    order = random.randint(-32, 32)
    return float(order), random.choice([(lambda: random.uniform(0, 40)), spread(1e-6, 1), spread(1, 1e4)])()


TWO = {
    "pow": (mp.power, power_pair),
    "atan2": (mp.atan2, pair),
    "hypot": (mp.hypot, pair),
    "div": (mp.fdiv, pair),
}
# Next to multiples of pi / 2: Muller et al., Handbook of Floating-Point Arithmetic, section 10.2 (6381956970095103 *
# 2^797 is the closest), and the numbers nearest to small multiples.
CLOSE = [math.ldexp(6381956970095103, 797)] + [k * math.pi / 2 for k in (1, 2, 3, 4, 7, 22, 355, 10**6, 10**15)]


def main():
    greatest = mp.mpf(2) ** 1024 * (1 - mp.mpf(2) ** -54)
    least = mp.mpf(2) ** -1074

    def line(name, arguments, result):
        if mp.isnan(result) or abs(result) >= greatest or abs(result) < least:
            return
        if SINGLES:
            print(name, *(f"{single_bits(value):08x}" for value in arguments), f"{bits(float(result)):016x}")
            return
        # Where the result is subnormal, its first part is a multiple of the least number.
        high = float(result) if abs(result) >= mp.mpf(2) ** -1022 else float(mp.nint(result / least) * least)
        low = float(result - mp.mpf(high))
        print(name, *(f"{bits(value):016x}" for value in [*arguments, high, low]))

    if SINGLES:
        greatest, least = mp.mpf(2) ** 128, mp.mpf(2) ** -149
    else:
        functions_of_the_host(line)
    for name, (function, draw) in FURTHER.items():
        for _ in range(COUNT if SINGLES else 2 * COUNT):
            x = rounded(draw())
            line(name, [x], mp.re(function(mp.mpf(x))))
    for name, function in OF_ORDERS.items():
        for _ in range(COUNT if SINGLES else 2 * COUNT):
            order, x = of_order()
            x = rounded(x)
            line(name, [order, x], function(int(order), mp.mpf(x)))


def functions_of_the_host(line):
    for name, (function, draw) in ONE.items():
        arguments = [draw() for _ in range(COUNT)] + (CLOSE if name in ("sin", "cos", "tan") else [])
        for x in arguments:
            line(name, [x], mp.re(function(mp.mpf(x))))
    for name, (function, draw) in TWO.items():
        for _ in range(COUNT):
            x, y = draw()
            line(name, [x, y], function(mp.mpf(x), mp.mpf(y)))


main()
