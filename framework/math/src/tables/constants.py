"""Derives the constants of the math functions: values split into numbers that add up to them.

Usage: python constants.py FILE    (needs mpmath)
"""
import sys
import mpmath as mp
from polynomials import literal, shortest_single, to_single, to_double

mp.mp.prec = 2000


def rounded(x, bits):
    with mp.workprec(bits):
        return +x


def split(value, parts, first_bits=None):
    """For each type: the value as a sum of numbers; the first with fewer bits where asked for."""
    tables = []
    for index, (precision, nearest) in enumerate([(24, to_single), (53, to_double)]):
        rest, numbers = value, []
        for part in range(parts):
            bits = first_bits[index] if first_bits and part == 0 else precision
            number = rounded(rest, bits)
            numbers.append(number)
            rest -= number
        tables.append(numbers)
    return tables


ln2, ln10 = mp.log(2), mp.log(10)
short = [24 - 9, 53 - 12]
CONSTANTS = [
    ("LOG2_E", "log2(e).", split(1 / ln2, 2)),
    ("LOG10_E", "log10(e).", split(1 / ln10, 2)),
    ("LOG2_10", "log2(10).", split(ln10 / ln2, 1)),
    ("LN_2", "log(2), the first part short: its product with an exponent is exact.", split(ln2, 2, short)),
    ("LOG10_2", "log10(2), the first part short: its product with an exponent is exact.", split(ln2 / ln10, 2, short)),
    ("TWO_OVER_PI", "2 / pi.", split(2 / mp.pi, 1)),
    ("HALF_PI", "pi / 2.", split(mp.pi / 2, 3)),
    ("PI", "pi.", split(mp.pi, 2)),
    ("HALF_LOG_TAU", "log(2 pi) / 2.", split(mp.log(2 * mp.pi) / 2, 2)),
    ("TWO_THIRDS", "2 / 3.", split(mp.mpf(2) / 3, 2)),
]


def words(width, count, zeros):
    bits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (width * count - zeros)))
    return [(bits >> (width * (count - 1 - i))) & ((1 << width) - 1) for i in range(count)]


def main():
    lines = ["//! Constants, as sums of numbers; derived by `constants.py` beside this file.", "", "use super::super::table::Table;", ""]
    for name, doc, (single, double) in CONSTANTS:
        lines += [f"/// {doc}", f"pub(crate) const {name}: Table = Table {{",
                  "    single: &[" + ", ".join(literal(shortest_single(float(c))) for c in single) + "],",
                  "    double: &[" + ", ".join(literal(repr(float(c))) for c in double) + "],", "};", ""]
    for name, width, count, zeros in [("SINGLE", 32, 7, 10), ("DOUBLE", 64, 19, 24)]:
        own = words(width, count, zeros)
        ty = f"u{width}"
        lines += [f"/// The binary digits of 2 / pi behind the point, after {zeros} zeros, the first in the highest bit of the first word.",
                  f"pub(crate) const TWO_OVER_PI_{name}: [{ty}; {count}] = ["]
        lines += ["    " + "0x" + "_".join(f"{w:0{width // 4}x}"[i:i + 4] for i in range(0, width // 4, 4)) + "," for w in own]
        lines += ["];", ""]
    open(sys.argv[1], "w").write("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
