"""Derives the polynomials of the math functions: weighted minimax fits, coefficients rounded one after the other.

Usage: python polynomials.py FOLDER    (needs mpmath)

A fit is a discrete Remez exchange over a Chebyshev grid in high precision. After each coefficient is rounded to the
type, the others are fitted again, so that they make up for its rounding.
"""
import struct
import sys

import mpmath as mp

mp.mp.prec = 260
one = mp.mpf(1)


def to_single(x):
    """Nearest binary32, as a Python float."""
    with mp.workprec(24):
        return float(+x)


def to_double(x):
    with mp.workprec(53):
        return float(+x)


def shortest_single(value):
    for digits in range(1, 12):
        text = f"{value:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
            return text
    raise ValueError(value)


def literal(text):
    """A Rust literal of a float."""
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + (f"e{int(exponent)}" if exponent else "")


def grid(low, high, count):
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def horner(coefficients, x):
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(points, values, weights, degree):
    """Coefficients and greatest weighted error of the best polynomial on the points."""
    count = len(points)
    needed = degree + 2
    chosen = [round((count - 1) * (1 - mp.cos(mp.pi * i / (needed - 1))) / 2) for i in range(needed)]
    best = None
    for _ in range(12):
        matrix = mp.matrix(needed, needed)
        right = mp.matrix(needed, 1)
        for row, at in enumerate(chosen):
            power = one
            for column in range(degree + 1):
                matrix[row, column] = power
                power *= points[at]
            matrix[row, degree + 1] = (-1) ** row / weights[at]
            right[row] = values[at]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        errors = [w * (horner(coefficients, x) - v) for x, v, w in zip(points, values, weights)]
        worst = max(abs(e) for e in errors)
        level = abs(solution[degree + 1])
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        if worst < level * mp.mpf("1.01"):
            break
        # Extrema of alternating sign: one for each run of a sign.
        runs = []
        for at, error in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[runs[-1]]):
                    runs[-1] = at
            else:
                runs.append(at)
        while len(runs) > needed:
            if len(runs) == needed + 1:
                runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
            else:
                least = min(range(len(runs) - 1), key=lambda i: abs(errors[runs[i]]) + abs(errors[runs[i + 1]]))
                del runs[least : least + 2]
        if len(runs) < needed:
            break
        chosen = runs
    return best


def fit(function, low, high, weight, degree, nearest, exact_first):
    """Rounded coefficients and their greatest weighted error."""
    points = grid(low, high, 60 * (degree + 2))
    points = [x for x in points if x != 0]
    values = [function(x) for x in points]
    weights = [weight(x) for x in points]
    fixed = []
    rest, scale = values, weights
    for index in range(degree + 1):
        coefficients, _ = remez(points, rest, scale, degree - index)
        if index >= exact_first:
            fixed += [mp.mpf(nearest(c)) for c in coefficients]
            break
        c = mp.mpf(nearest(coefficients[0]))
        fixed.append(c)
        rest = [(v - c) / x for v, x in zip(rest, points)]
        scale = [w * abs(x) for w, x in zip(scale, points)]
    worst = max(w * abs(horner(fixed, x) - v) for x, v, w in zip(points, values, weights))
    return fixed, worst


def table(function, low, high, weight, bits, nearest, exact_first):
    low, high = mp.mpf(low), mp.mpf(high)
    points = [x for x in grid(low, high, 300) if x != 0]
    values = [function(x) for x in points]
    weights = [weight(x) for x in points]
    degree = 1
    while remez(points, values, weights, degree)[1] > mp.mpf(2) ** -bits:
        degree += 1
    fixed, worst = fit(function, low, high, weight, degree, nearest, exact_first)
    return fixed, -float(mp.log(worst, 2))


def odd(function):
    """What is left of an odd function with slope one, by the square of its argument."""

    def rest(z):
        r = mp.sqrt(z)
        return (function(r) - r) / (r * z)

    return rest


def by_square(top):
    return lambda z: z + mp.mpf(top) / 20


def flat(scale=1):
    return lambda x: mp.mpf(scale)


quarter = (mp.pi / 4 + mp.mpf("0.02")) ** 2
EXTRA = [4, 4]

# file, name, formula, interval in words, function, (low, high) for each type, weight, extra bits
TABLES = [
    ("exponential", "EXP", "(e^r - 1 - r) / r^2", "r", lambda r: (mp.expm1(r) - r) / r**2, [(-0.3467, 0.3467)] * 2, flat(0.12), EXTRA),
    ("exponential", "EXP2", "(2^r - 1) / r", "r", lambda r: mp.expm1(r * mp.log(2)) / r, [(-0.5001, 0.5001)] * 2, flat(0.5), EXTRA),
    ("exponential", "EXP10", "(10^r - 1) / r", "r", lambda r: mp.expm1(r * mp.log(10)) / r, [(-0.1506, 0.1506)] * 2, flat(0.15), EXTRA),
    ("logarithm", "LOG", "(log(1 + f) - f + f^2 / 2) / f^3", "f", lambda f: (mp.log1p(f) - f + f * f / 2) / f**3, [(-0.29291, 0.41423)] * 2, lambda f: f * f + mp.mpf("0.02"), [4, 4]),
    ("logarithm", "ATANH_TAIL", "(2 atanh(s) - 2 s - 2/3 s^3) / s^5", "z = s^2", lambda z: (2 * mp.atanh(mp.sqrt(z)) - 2 * mp.sqrt(z) - mp.mpf(2) / 3 * z * mp.sqrt(z)) / (z * z * mp.sqrt(z)), [(0, 0.0295)] * 2, lambda z: (z + mp.mpf("0.001")) ** 2 / 2, [14, 14]),
    ("trigonometric", "SIN", "(sin(r) - r) / r^3", "z = r^2", odd(mp.sin), [(0, quarter)] * 2, by_square(quarter), EXTRA),
    ("trigonometric", "COS", "(cos(r) - 1 + r^2 / 2) / r^4", "z = r^2", lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, [(0, quarter)] * 2, lambda z: z * z * mp.mpf("1.4") + mp.mpf("0.02"), EXTRA),
    ("trigonometric", "TAN", "(tan(r) - r) / r^3", "z = r^2", odd(mp.tan), [(0, quarter)] * 2, by_square(quarter), EXTRA),
    ("inverse_trigonometric", "ATAN", "(atan(r) - r) / r^3", "z = r^2", odd(mp.atan), [(0, 1)] * 2, by_square(1), EXTRA),
    ("inverse_trigonometric", "ASIN", "(asin(r) - r) / r^3", "z = r^2", odd(mp.asin), [(0, 0.2501)] * 2, by_square(0.25), EXTRA),
    ("hyperbolic", "SINH", "(sinh(r) - r) / r^3", "z = r^2", odd(mp.sinh), [(0, 1)] * 2, by_square(1), EXTRA),
    ("hyperbolic", "TANH", "(tanh(r) - r) / r^3", "z = r^2", odd(mp.tanh), [(0, 0.49)] * 2, by_square(0.49), EXTRA),
    ("hyperbolic", "ASINH", "(asinh(r) - r) / r^3", "z = r^2", odd(mp.asinh), [(0, 0.2501)] * 2, by_square(0.25), EXTRA),
    ("hyperbolic", "ATANH", "(atanh(r) - r) / r^3", "z = r^2", odd(mp.atanh), [(0, 0.2501)] * 2, by_square(0.25), EXTRA),
    ("error_function", "ERF", "erf(x) / x - 1", "z = x^2", lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, [(0, 1.0001)] * 2, flat(1), EXTRA),
    ("error_function", "LOG_ERFC", "log(erfc(t + 2))", "t", lambda t: mp.log(mp.erfc(t + 2)), [(-1, 2.0), (-1, 4.0)], lambda t: mp.erfc(t + 2), EXTRA),
    ("error_function", "SCALED_ERFC", "(1 + 2 x) e^(x^2) erfc(x) - 1, where x = k (1 + t) / (1 - t)", "t",
     None, None, flat(1), EXTRA),
    ("scaled_error_function", "SCALED", "(1 + 2 x) e^(x^2) erfc(x) - 1, where x = k (1 + t) / (1 - t)", "t",
     None, None, flat(1), EXTRA),
    ("inverse_error_function", "NEAR", "erfinv(x) / x, where x^2 = 1 - e^-(t + 2.5)", "t", lambda t: erf_inverse(t + mp.mpf(2.5)), [(-2.5, 2.501)] * 2, lambda t: 1 / erf_inverse(t + mp.mpf(2.5)), EXTRA),
    ("inverse_error_function", "MIDDLE", "erfinv(x) / x, where x^2 = 1 - e^-(t + 4)^2", "t", lambda t: erf_inverse((t + 4) ** 2), [(-1.7645, 0.05), (-1.7645, 2.1)], lambda t: 1 / erf_inverse((t + 4) ** 2), EXTRA),
    ("inverse_error_function", "FAR", "erfinv(x) / x, where x^2 = 1 - e^-(t + k)^2 and k is 7 or 16", "t",
     None, [(-3.0, 3.3), (-10.0, 11.4)], None, EXTRA),
    ("gamma", "STIRLING", "x (log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2)", "w = 1 / x^2", lambda w: stirling(1 / mp.sqrt(w)), [(0, mp.mpf(1) / 9)] * 2, flat(0.4), [3, 3]),
    ("gamma", "LOG_GAMMA_1", "log(gamma(1 + t)) / t", "t", lambda t: mp.loggamma(1 + t) / t, [(-0.5001, 0.5001)] * 2, flat(1), [3, 3]),
    ("gamma", "LOG_GAMMA_2", "log(gamma(2 + t)) / t", "t", lambda t: mp.loggamma(2 + t) / t, [(-0.7501, 1.0001)] * 2, flat(1), [3, 3]),
    ("bessel", "J0_NEAR", "J0(x)", "z = x^2", lambda z: mp.besselj(0, mp.sqrt(z)), [(0, 4.001)] * 2, flat(1.5), EXTRA),
    ("bessel", "J1_NEAR", "J1(x) / x", "z = x^2", lambda z: mp.besselj(1, mp.sqrt(z)) / mp.sqrt(z), [(0, 4.001)] * 2, flat(3), EXTRA),
    ("bessel", "Y0_NEAR", "Y0(x) - 2/pi log(x) J0(x)", "z = x^2", lambda z: bessel_rest(0, mp.sqrt(z)), [(0, 4.001)] * 2, flat(2), EXTRA),
    ("bessel", "Y1_NEAR", "(Y1(x) - 2/pi (log(x) J1(x) - 1 / x)) / x", "z = x^2", lambda z: bessel_rest(1, mp.sqrt(z)), [(0, 4.001)] * 2, flat(4), EXTRA),
    *(
        ("bessel", f"{kind}{order}_AT_{middle}", f"{kind}{order}(t + {middle})", "t",
         lambda t, of=of, order=order, middle=middle: of(order, t + middle), [(-1.001, 1.001)] * 2, flat(2), EXTRA)
        for kind, of in [("J", mp.besselj), ("Y", mp.bessely)] for order in (0, 1) for middle in (3, 5, 7)
    ),
    *(
        ("bessel_far", f"{'PQ'[sine]}{order}", f"{'x Q(x)' if sine else 'P(x)'}, where J{order}(x) = sqrt(2 / (pi x)) (P cos(a) - Q sin(a)) and a = x - {2 * order + 1} pi / 4",
         "t = 128 / x^2 - 1", lambda t, order=order, sine=sine: bessel_far(order, sine, mp.sqrt(128 / (t + 1))), [(-1, 1.001)] * 2, flat(1), EXTRA)
        for order in (0, 1) for sine in (0, 1)
    ),
    ("modified_bessel", "I0_NEAR", "I0(x)", "z = x^2", lambda z: mp.besseli(0, mp.sqrt(z)), [(0, 64.01)] * 2, lambda z: 1 / mp.besseli(0, mp.sqrt(z)), EXTRA),
    ("modified_bessel", "I1_NEAR", "I1(x) / x", "z = x^2", lambda z: mp.besseli(1, mp.sqrt(z)) / mp.sqrt(z), [(0, 64.01)] * 2, lambda z: mp.sqrt(z) / mp.besseli(1, mp.sqrt(z)), EXTRA),
    ("modified_bessel", "I0_FAR", "sqrt(x) e^-x I0(x)", "t = 16 / x - 1", lambda t: modified_far(0, 16 / (t + 1)), [(-1, 1.001)] * 2, flat(2.4), EXTRA),
    ("modified_bessel", "I1_FAR", "sqrt(x) e^-x I1(x)", "t = 16 / x - 1", lambda t: modified_far(1, 16 / (t + 1)), [(-1, 1.001)] * 2, flat(2.7), EXTRA),
]


def erf_inverse(w):
    """erfinv(x) / x for the x whose 1 - x^2 is e^-w."""
    with mp.workprec(600 + int(3 * w)):
        x = mp.sqrt(-mp.expm1(-w))
        # Newton's steps, and what is left of one, from the tail's first terms.
        missing = mp.exp(-w) / (1 + x)
        y = mp.erfinv(x) if w < 2 else mp.sqrt(-mp.log(missing * mp.sqrt(mp.pi * w)))
        for _ in range(60):
            step = (mp.erfc(y) - missing) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
            y += step / (1 - y * step)
            if abs(step) < mp.mpf(2) ** -500:
                break
        return y / x


def bessel_rest(order, x):
    with mp.workprec(500):
        x = mp.mpf(x)
        logarithm = mp.log(x) * mp.besselj(order, x)
        if order == 0:
            return mp.bessely(0, x) - 2 / mp.pi * logarithm
        return (mp.bessely(1, x) - 2 / mp.pi * (logarithm - 1 / x)) / x


def modified_far(order, x):
    with mp.workprec(400):
        return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)


def bessel_far(order, sine, x):
    with mp.workprec(400):
        a = x - (2 * order + 1) * mp.pi / 4
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        scale = mp.sqrt(mp.pi * x / 2)
        if sine:
            return x * scale * (y * mp.cos(a) - j * mp.sin(a))
        return scale * (j * mp.cos(a) + y * mp.sin(a))


def stirling(x):
    with mp.workprec(400):
        return x * (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def scaled_erfc(k):
    def function(t):
        x = k * (1 + t) / (1 - t)
        with mp.workprec(400):
            if x > 60:
                # The continued fraction of erfc converges fast there.
                total = x
                for n in range(400, 0, -1):
                    total = x + mp.mpf(n) / 2 / total
                scaled = 1 / (total * mp.sqrt(mp.pi))
            else:
                scaled = mp.exp(x * x) * mp.erfc(x)
            return (1 + 2 * x) * scaled - 1

    return function


def rust(name, formula, variable, results, intervals):
    (single, single_bits), (double, double_bits) = results

    def interval(bounds):
        return "[" + ", ".join(literal(f"{float(b):.5g}") for b in bounds) + "]"

    ranges = interval(intervals[0])
    if intervals[0] != intervals[1]:
        ranges += f" (binary32) or {interval(intervals[1])} (binary64)"
    lines = [
        f"/// `{formula}` for `{variable}` in {ranges}; degree {len(single) - 1} and {len(double) - 1}.",
        f"/// Its share of the function's error is below 2^-{single_bits:.1f} and 2^-{double_bits:.1f}.",
        f"pub(crate) const {name}: Table = Table {{",
        "    single: &[" + ", ".join(literal(shortest_single(float(c))) for c in single) + "],",
        "    double: &[",
    ]
    lines += [f"        {literal(repr(float(c)))}," for c in double]
    lines += ["    ],", "};", ""]
    return "\n".join(lines)


def main():
    folder = sys.argv[1]
    only = sys.argv[2:]
    files = {}
    for file, name, formula, variable, function, intervals, weight, extra in TABLES:
        if only and file not in only:
            continue
        results = []
        for index, (precision, nearest) in enumerate([(24, to_single), (53, to_double)]):
            own = function
            if name == "SCALED_ERFC":
                k = [2, 4][index]
                greatest = [11, 28][index]
                bounds = (-1 + mp.mpf("0.49") * 2 / (mp.mpf("0.49") + k), mp.mpf(greatest - k) / (greatest + k))
                own = scaled_erfc(k)
                intervals = (intervals or []) + [bounds]
            if name == "SCALED":
                own = scaled_erfc([2, 4][index])
                intervals = [(-1, 1)] * 2
            if name == "FAR":
                own = lambda t, k=[7, 16][index]: erf_inverse((t + k) ** 2)
                weight = lambda t, own=own: 1 / own(t)
            results.append(table(own, *intervals[index], weight, precision + extra[index], nearest, 99 if index == 0 else 4))
        print(name, [(len(c) - 1, round(b, 1)) for c, b in results], flush=True)
        files.setdefault(file, []).append(rust(name, formula, variable, results, intervals))
    for file, parts in files.items():
        with open(f"{folder}/{file}.rs", "w") as out:
            out.write("\n".join(parts))


if __name__ == "__main__":
    main()
