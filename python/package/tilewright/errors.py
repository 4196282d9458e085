"""Errors of the package, each with its place in the input where it has one."""

from __future__ import annotations

import re
from collections.abc import Sequence


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


class Fault(TilewrightError, RuntimeError):
    """The emulator stopped a kernel because of an illegal operation.

    `kind` is one of `out_of_bounds`, `uninitialised`, `misaligned`, `race`, `missing_wait`, `divergent`, `deadlock`,
    `assertion`, `step_limit`, `launch`, `unsupported`, `invalid`. `operation` is the operation of kernel IR, and `block`,
    `warp` and `lane` are the thread that executed it. `file`, `line` and `column` are the place in the kernel's source,
    the innermost of inlined calls; None if the program has no locations. `source` is the whole location.
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
        source: str | None = None,
    ) -> None:
        place = re.search(r'"([^"]+)":(\d+):(\d+)', source or "")
        self.file: str | None = place[1] if place else None
        self.line: int | None = int(place[2]) if place else None
        self.column: int | None = int(place[3]) if place else None
        super().__init__(f"{self.file}:{self.line}: {message}" if place else message)
        self.kernel = kernel
        self.kind = kind
        self.reason = reason
        self.operation = operation
        self.block = None if block is None else tuple(block)
        self.warp = warp
        self.lane = lane
        self.source = source
