"""Numbers of a case's buffers, and their comparison with a tolerance."""

from typing import Any, TypeAlias

import numpy

# An array of NumPy, whose types are not checked here.
Numbers: TypeAlias = Any
PLAIN = {"f16": "<f2", "f32": "<f4", "f64": "<f8"} | {
    f"{sign}{8 * size}": f"<{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)
}


def make_e4m3() -> Numbers:
    """The value of each code of `f8e4m3`, which has no infinity."""
    codes = numpy.arange(256)
    exponents, mantissas = codes >> 3 & 15, codes & 7
    values = numpy.where(exponents > 0, (8 + mantissas) * 2.0 ** (exponents - 10), mantissas * 2.0**-9)
    values[codes & 127 == 127] = numpy.nan
    return numpy.where(codes < 128, values, -values)


def decode(data: bytes, dtype: str) -> Numbers:
    """The numbers of some bytes."""
    if dtype in PLAIN:
        return numpy.frombuffer(data, PLAIN[dtype])
    if dtype == "bf16":
        return (numpy.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    codes = numpy.frombuffer(data, numpy.uint8)
    return (codes.astype("<u2") << 8).view("<f2") if dtype == "f8e5m2" else make_e4m3()[codes]


def find_difference(got: Numbers, expected: Numbers, tolerance: dict[str, float]) -> str | None:
    """The first element that is not within `atol + rtol * |expected|`; None if all are."""
    with numpy.errstate(all="ignore"):
        wide, exact = got.astype(numpy.float64), expected.astype(numpy.float64)
        is_near = numpy.abs(wide - exact) <= tolerance["atol"] + tolerance["rtol"] * numpy.abs(exact)
        is_near &= bool(tolerance["atol"] or tolerance["rtol"])
        right = (got == expected) | numpy.isnan(wide) & numpy.isnan(exact) | is_near
    if right.all():
        return None
    first = int(right.argmin())
    return f"{int((~right).sum())} of {right.size} elements, the first at {first}: {got[first]} instead of {expected[first]}"
