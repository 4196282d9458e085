"""Runs a kernel as Triton compiles it and as Tilewright compiles it, and compares results, registers and times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import replacement


@dataclass(frozen=True)
class Version:
    """A kernel as one compiler made it."""

    # 32-bit registers of a thread, and the bytes of local memory that a thread spills to.
    registers: int
    spills: int
    # Bytes of shared memory of a block.
    shared_bytes: int
    # Median time of a launch; None if it was not measured.
    milliseconds: float | None
    # Triton's object: `asm` has the code of every stage.
    kernel: Any = field(repr=False)


@dataclass(frozen=True)
class Comparison:
    """Both versions of a kernel, and the largest difference of each argument that they change."""

    triton: Version
    tilewright: Version
    differences: dict[str, float]
    equal: bool

    def __str__(self) -> str:
        rows = [("", "triton", "tilewright")]
        for name in ("registers", "spills", "shared_bytes", "milliseconds"):
            rows.append((name, _shown(getattr(self.triton, name)), _shown(getattr(self.tilewright, name))))
        lines = [f"{name:<14}{a:>12}{b:>12}" for name, a, b in rows]
        differences = ", ".join(f"{name} {value:g}" for name, value in self.differences.items())
        return "\n".join([*lines, f"results        {'equal' if self.equal else 'differ'}: {differences or 'none changed'}"])


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def compare(
    kernel: Any,
    grid: Any,
    *arguments: Any,
    rtol: float = 1e-2,
    atol: float = 1e-2,
    measure: bool = True,
    **options: Any,
) -> Comparison:
    """Launches `kernel[grid](*arguments, **options)` with the code of both compilers, from the same contents of all tensors;
    the tensors stay as Triton's version leaves them.

    `rtol` and `atol` are the tolerances of `equal`; with `measure`, the launches are timed too.
    """
    tensors = _tensors(kernel, arguments, options)
    before = {name: _copy(tensor) for name, tensor in tensors.items()}

    def launch(times: bool) -> tuple[Version, dict[str, Any]]:
        def run() -> Any:
            return kernel[grid](*arguments, **options)

        compiled = run()
        after = {name: _copy(tensor) for name, tensor in tensors.items()}
        milliseconds = _time(run) if times else None
        for name, tensor in tensors.items():
            _restore(tensor, before[name])
        return _version(compiled, milliseconds), after

    with replacement.enabled(kernel):
        ours, results = launch(measure)
    with replacement.disabled():
        theirs, expected = launch(measure)
    differences, equal = {}, True
    for name, tensor in tensors.items():
        _restore(tensor, expected[name])
        if not (_same(expected[name], before[name]) and _same(results[name], before[name])):
            differences[name], near = _difference(results[name], expected[name], rtol, atol)
            equal &= near
    return Comparison(theirs, ours, differences, equal)


def _version(compiled: Any, milliseconds: float | None) -> Version:
    metadata = compiled.metadata
    return Version(compiled.n_regs, compiled.n_spills, metadata.shared, milliseconds, compiled)


def _time(run: Callable[[], Any]) -> float:
    import triton

    measured = triton.runtime.driver.active.get_benchmarker()(run, quantiles=[0.5])
    return float(measured[0] if isinstance(measured, (list, tuple)) else measured)


def _tensors(kernel: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments in memory, by their names."""
    while not hasattr(kernel, "arg_names"):
        kernel = kernel.fn
    named = {**dict(zip(kernel.arg_names, arguments)), **options}
    return {name: value for name, value in named.items() if hasattr(value, "data_ptr")}


def _array(tensor: Any) -> Any:
    """Returns the elements of a tensor that copy and compare: a tensor of torch, or an array of numpy."""
    return getattr(tensor, "array", tensor)


def _copy(tensor: Any) -> Any:
    elements = _array(tensor)
    return elements.clone() if hasattr(elements, "clone") else elements.copy()


def _restore(tensor: Any, contents: Any) -> None:
    elements = _array(tensor)
    if hasattr(elements, "copy_"):
        elements.copy_(contents)
    else:
        elements[...] = contents


def _same(a: Any, b: Any) -> bool:
    return bool(_equal_or_both_nan(a, b).all())


def _equal_or_both_nan(a: Any, b: Any) -> Any:
    return (a == b) | ((a != a) & (b != b))


def _difference(found: Any, expected: Any, rtol: float, atol: float) -> tuple[float, bool]:
    """Returns the largest difference of two tensors, and whether every element is within the tolerances."""
    exact = _equal_or_both_nan(found, expected)
    if bool(exact.all()):
        return 0.0, True
    if hasattr(found, "double"):
        found, expected = found.double(), expected.double()
    else:
        found, expected = found.astype("float64"), expected.astype("float64")
    distance = abs(found - expected)
    distance[exact] = 0
    near = distance <= atol + rtol * abs(expected)
    return float(distance.max()), bool((near | exact).all())
