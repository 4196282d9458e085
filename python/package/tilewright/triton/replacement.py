"""Replaces the stages of Triton's own backend for NVIDIA GPUs: Tilewright makes the PTX of chosen kernels, and Triton
assembles and launches it. Triton 3.9 calls the hook of this module whenever it compiles or launches a kernel."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from tilewright.errors import UnsupportedError

from .library import library_hash

# The environment variable with names of kernels, or `all`.
VARIABLE = "TILEWRIGHT_REPLACE"


class _Selection:
    """The kernels that Tilewright compiles, by the name of their function, or by its place in the source."""

    def __init__(self) -> None:
        self.all = False
        self.names: set[str] = set()

    def key(self) -> str:
        """Returns a text that is another one for every other selection."""
        return "all" if self.all else ",".join(sorted(self.names))

    def has(self, program: str) -> bool:
        """Whether the kernel of a program in TTIR is selected."""
        entry = re.search(r'tt\.func public @"?([^\s"(]+)', program)
        name = entry[1] if entry else ""
        return self.all or name in self.names or any(place in program for place in self.names if place.startswith("loc("))


_SELECTION = _Selection()


def _names(kernel: Any) -> list[str]:
    """Returns the ways in which a program names a kernel: by its function, or by the place of the function."""
    if isinstance(kernel, str):
        return [kernel]
    while not hasattr(kernel, "arg_names") or not hasattr(kernel, "params"):
        kernel = kernel.fn  # an autotuner or heuristics around the kernel
    place = f'loc("{kernel.file_name}":{kernel.def_file_line_number}:' if hasattr(kernel, "file_name") else ""
    return [name for name in (kernel.fn.__name__, place) if name]


def enable(*kernels: Any) -> None:
    """Lets Tilewright compile these kernels, `@triton.jit` functions or their names, from now on; all kernels if none is
    named. Launches of a kernel that was compiled before compile it again."""
    _install()
    _SELECTION.all |= not kernels
    for kernel in kernels:
        _SELECTION.names.update(_names(kernel))


def disable(*kernels: Any) -> None:
    """Lets Triton compile these kernels again; all kernels if none is named."""
    if not kernels:
        _SELECTION.all = False
        _SELECTION.names.clear()
    for kernel in kernels:
        _SELECTION.names.difference_update(_names(kernel))


@contextlib.contextmanager
def enabled(*kernels: Any) -> Iterator[None]:
    """Lets Tilewright compile these kernels, and no others, in a `with` statement."""
    _install()
    before = _SELECTION.all, _SELECTION.names
    _SELECTION.all, _SELECTION.names = not kernels, {name for kernel in kernels for name in _names(kernel)}
    try:
        yield
    finally:
        _SELECTION.all, _SELECTION.names = before


@contextlib.contextmanager
def disabled() -> Iterator[None]:
    """Lets Triton compile all kernels in a `with` statement."""
    before = _SELECTION.all, _SELECTION.names
    _SELECTION.all, _SELECTION.names = False, set()
    try:
        yield
    finally:
        _SELECTION.all, _SELECTION.names = before


def enable_from_environment() -> None:
    """Enables the kernels that the environment variable names, separated by commas; `all` enables all of them."""
    names = [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]
    if names:
        enable(*([] if names == ["all"] else names))


def _install() -> None:
    """Installs the hook of Triton, before one that is there."""
    from triton import knobs

    if not hasattr(knobs.runtime, "add_stages_inspection_hook"):
        raise UnsupportedError("this version of Triton has no hook for its stages; 3.9.0 has one")
    if not isinstance(knobs.runtime.add_stages_inspection_hook, _Hook):
        knobs.runtime.add_stages_inspection_hook = _Hook(knobs.runtime.add_stages_inspection_hook)


class _Hook:
    """The hook: without arguments it returns the keys of Triton's caches, and with them it replaces stages."""

    def __init__(self, other: Callable[..., Any] | None) -> None:
        self._other = other

    def __call__(self, *arguments: Any) -> tuple[str, str] | None:
        if not arguments:
            return self._keys()
        if self._other is not None:
            self._other(*arguments)
        backend, stages, options, language, capability = arguments
        if capability is not None and backend.target.backend == "cuda":
            _replace(backend, stages, options, language, int(capability))
        return None

    def _keys(self) -> tuple[str, str]:
        key, digest = self._other() if self._other is not None else ("", "")
        selected = _SELECTION.key()
        if selected:
            key += f"tilewright-{library_hash()}-{target_name()}-{selected}"
            digest += hashlib.sha256(key.encode()).hexdigest()
        # Triton writes the second key into a text that is evaluated as one of Python's literals.
        return key, repr(digest)


def target_name(capability: int | None = None) -> str:
    """Returns the name of the target that has a compute capability, such as 90; the one that `TILEWRIGHT_TARGET` names if it
    has the capability."""
    from tilewright.targets import target, targets

    chosen = os.environ.get("TILEWRIGHT_TARGET", "")
    if capability is None:
        return chosen
    known = [name for name in targets() if re.fullmatch(rf"sm_{capability}a?", target(name).architecture)]
    if not known:
        raise UnsupportedError(f"no target has the architecture sm_{capability}; write a target file for this GPU")
    return chosen if chosen in known else known[0]


def _replace(backend: Any, stages: dict[str, Any], options: Any, language: Any, capability: int) -> None:
    """Puts stages in place of Triton's that decide for each kernel which compiler makes its PTX."""
    from .stages import lower_gluon, optimise_ttir

    triton_stages = dict(stages)
    is_gluon = "ttir" not in stages
    # The program if Tilewright compiles the kernel, None if Triton does; the first stage decides.
    decided: list[PtxProgram | None] = []

    def stage(name: str) -> Callable[[Any, dict[str, Any]], Any]:
        def run(module: Any, metadata: dict[str, Any]) -> Any:
            if not decided:
                selected = name in ("ttir", "ttgir") and _SELECTION.has(_text(module))
                decided.append(PtxProgram(target_name(capability), options) if selected else None)
            program = decided[0]
            if program is None:
                return triton_stages[name](module, metadata)
            if name == "ttir":
                return optimise_ttir(module, metadata)
            if name == "ttgir":
                return program.assign_layouts(lower_gluon(module, metadata) if is_gluon else module, metadata)
            return program.ptx(module, metadata) if name == "ptx" else program.kernel_ir(module, metadata)

        return run

    for name in ("ttir", "ttgir", "llir", "ptx"):
        if name in stages:
            stages[name] = stage(name)


def _text(module: Any) -> str:
    """Returns a module as text with its source locations."""
    return module if isinstance(module, str) else str(module)


class PtxProgram:
    """The compilation of one kernel to PTX that Triton's launcher can launch."""

    def __init__(self, target: str, options: Any) -> None:
        self._target = target
        self._options = options
        self._kernel: Any = None

    def assign_layouts(self, module: Any, metadata: dict[str, Any]) -> str:
        """Compiles the kernel; returns the program with a layout for every tensor."""
        from .stages import compile_program

        options = {**self._options.__dict__, "arch": self._target, "keep_assembly": True}
        self._kernel = compile_program(with_scratch_parameters(_text(module)), options, metadata)
        # Blocks of a cluster: one, if Triton would have divided tensors over several.
        metadata["num_ctas"] = self._kernel.blocks
        return str(self._kernel.layouts)

    def kernel_ir(self, module: Any, metadata: dict[str, Any]) -> str:
        """Returns the kernel IR, in the place of Triton's LLVM IR."""
        return str(self._kernel.text)

    def ptx(self, module: Any, metadata: dict[str, Any]) -> str:
        """Returns the PTX."""
        from tilewright.session import session

        code = session().generate(self._kernel, "asm", 3)[0].decode()
        if re.search(r"\.param \.align 64 \.b8 ", code):
            raise UnsupportedError(f"kernel {self._kernel.name}: Triton's launcher cannot derive its tensor maps")
        return launchable(code, self._options.maxnreg)


def with_scratch_parameters(program: str) -> str:
    """Adds the two parameters that Triton's launcher passes after all others: pointers to scratch memory in global memory, of
    the kernel and of a profiler. Both are null here, since the kernel requests none."""
    head = re.search(r'tt\.func public @(?:"[^"]*"|[^\s(]+)\(', program)
    if head is None:
        raise UnsupportedError("the program has no public function")
    end, depth, quoted = head.end(), 1, False
    while depth:
        character = program[end]
        quoted ^= character == '"'
        depth += 0 if quoted else (character in "([{<") - (character in ")]}>" and program[end - 1] != "-")
        end += 1
    separator = "" if program[head.end() : end - 1].strip() == "" else ", "
    added = f"{separator}%tw_scratch: !tt.ptr<i8>, %tw_profile: !tt.ptr<i8>"
    return program[: end - 1] + added + program[end - 1 :]


def launchable(ptx: str, max_registers: int | None) -> str:
    """Makes shared memory an array whose size the launch gives, as Triton's launcher does for every kernel, and sets the
    largest number of registers that the launch options request."""
    static = re.search(r"^\s*\.shared \.align (\d+) \.b8 (\w+)\[\d+\];\n", ptx, re.MULTILINE)
    if static is not None:
        ptx = ptx[: static.start()] + ptx[static.end() :]
        array = f".extern .shared .align {static[1]} .b8 {static[2]}[];\n\n"
        at = ptx.index(".visible .entry")
        ptx = ptx[:at] + array + ptx[at:]
    if max_registers is not None and ".maxnreg" not in ptx:
        ptx = re.sub(r"^(\.reqntid .*\n)", rf"\1.maxnreg {max_registers}\n", ptx, count=1, flags=re.MULTILINE)
    return ptx
