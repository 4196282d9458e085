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
    ("logarithm", "LOG", "(log(1 + f) - f) / f^2", "f", lambda f: (mp.log1p(f) - f) / f**2, [(-0.29291, 0.41423)] * 2, lambda f: abs(f) + mp.mpf("0.1"), [4, 4]),
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
]


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
        f"pub(in crate::kernel::math) const {name}: Table = Table {{",
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
            results.append(table(own, *intervals[index], weight, precision + extra[index], nearest, 99 if index == 0 else 4))
        print(name, [(len(c) - 1, round(b, 1)) for c, b in results], flush=True)
        files.setdefault(file, []).append(rust(name, formula, variable, results, intervals))
    for file, parts in files.items():
        with open(f"{folder}/{file}.rs", "w") as out:
            out.write("\n".join(parts))


if __name__ == "__main__":
    main()
