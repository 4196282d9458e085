"""Errors of the package, each with its place in the input where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TilewrightError(Exception):
    """The base of all errors of this package."""


class InputError(TilewrightError, ValueError):
    """An argument is invalid or a name is unknown; the message says what was expected."""


class CompileError(TilewrightError):
    """A program does not compile. `line` and `column` are its place in the program's text, None if unknown."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class UnsupportedError(CompileError):
    """A program is valid, but the target lacks an instruction or enough of a resource for it."""


class SourceLine(NamedTuple):
    """A line of a source file, and the column of an expression in it."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Fault(TilewrightError, RuntimeError):
    """The emulator stopped a kernel because of an illegal operation.

    `kind` is one of `out_of_bounds`, `uninitialised`, `misaligned`, `race`, `missing_wait`, `divergent`, `deadlock`,
    `assertion`, `step_limit`, `launch`, `unsupported`, `invalid`. `operation` is the operation of kernel IR, and `block`,
    `warp` and `lane` are the thread that executed it. `frames` are the lines of the kernel's source, the innermost of inlined
    calls first; `file`, `line` and `column` are the innermost one, None if the program has no locations. `other_frames` are
    the lines of the earlier access of a race, or of the operation that was not waited for.
    """

    def __init__(
        self,
        message: str,
        kernel: str = "",
        kind: str = "invalid",
        reason: str = "",
        operation: str | None = None,
        block: Sequence[int] | None = None,
        warp: int | None = None,
        lane: int | None = None,
        frames: Sequence[tuple[str, int, int]] = (),
        other_frames: Sequence[tuple[str, int, int]] = (),
    ) -> None:
        self.frames = [SourceLine(*frame) for frame in frames]
        self.other_frames = [SourceLine(*frame) for frame in other_frames]
        innermost = self.frames[0] if self.frames else None
        self.file: str | None = innermost.file if innermost else None
        self.line: int | None = innermost.line if innermost else None
        self.column: int | None = innermost.column if innermost else None
        super().__init__(f"{self.frames[0]}: {message}" if self.frames else message)
        self.kernel = kernel
        self.kind = kind
        self.reason = reason
        self.operation = operation
        self.block = None if block is None else tuple(block)
        self.warp = warp
        self.lane = lane
