"""The stages of a compilation: passes of Triton on its own IR, then the compiler of Tilewright."""

from __future__ import annotations

import re
from typing import Any

from triton._C.libtriton import ir, passes
from triton.runtime.errors import OutOfResources

from tilewright._native import Kernel
from tilewright.errors import UnsupportedError
from tilewright.session import session
from tilewright.targets import target

from .options import Options


def optimise_ttir(module: Any, metadata: dict[str, Any]) -> Any:
    """Runs Triton's passes on TTIR that do not depend on a target. Descriptors of the host, and block pointers (which Triton
    has up to 3.8), become pointers."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    if hasattr(passes.ttir, "add_rewrite_tensor_pointer"):
        passes.ttir.add_rewrite_tensor_pointer(manager)
    if "tt.tensordesc" in str(module):
        passes.ttir.add_rewrite_tensor_descriptor_to_pointer(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.common.add_symbol_dce(manager)
    passes.ttir.add_loop_unroll(manager)
    _run(manager, module, "make_ttir")
    return module


def lower_gluon(module: Any, metadata: dict[str, Any]) -> Any:
    """Runs Triton's passes that resolve the layouts which a Gluon kernel leaves open."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.gluon.add_inliner(manager)
    if hasattr(passes.gluon, "add_infer_coalesced_encodings"):
        passes.gluon.add_infer_coalesced_encodings(manager)
    passes.gluon.add_resolve_auto_encodings(manager)
    passes.gluon.add_canonicalizer(manager)
    passes.common.add_sccp(manager)
    passes.ttir.add_loop_aware_cse(manager)
    passes.gluon.add_canonicalizer(manager)
    passes.common.add_symbol_dce(manager)
    _run(manager, module, "gluon_to_ttgir")
    return module


class Compilation:
    """One compilation of TTIR or TTGIR to kernel IR."""

    def __init__(self, options: Options) -> None:
        self._options = options.__dict__
        self._kernel: Kernel | None = None

    def assign_layouts(self, module: Any, metadata: dict[str, Any]) -> str:
        """Compiles TTIR; returns the program with a layout for every tensor. The kernel is kept for the last stage."""
        self._kernel = compile_program(str(module), self._options, metadata)
        return self._kernel.layouts

    def kernel(self, module: Any, metadata: dict[str, Any]) -> bytes:
        """Returns the kernel. Without an earlier stage the program is TTGIR, whose layouts are kept."""
        compiled = self._kernel or compile_program(str(module), self._options, metadata)
        return compiled.encode()


class TooLargeError(UnsupportedError, OutOfResources):
    """The target lacks something that a kernel needs. As an error of resources, it lets Triton's autotuner try the next
    configuration."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        # Triton's initialiser takes amounts, which not every reason has.
        Exception.__init__(self, message)
        self.name, self.required, self.limit = message, None, None
        self.line, self.column = line, column

    def __str__(self) -> str:
        return str(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.line, self.column)


def compile_program(text: str, options: dict[str, Any], metadata: dict[str, Any]) -> Kernel:
    """Compiles TTIR or TTGIR to kernel IR, and sets the properties that Triton and programs read from a compiled kernel."""
    name = re.search(r"tt\.func (?:public )?@\"?([^\s\"(]+)", text)
    if name is None:
        raise UnsupportedError("the program has no function")
    machine, warps = target(options["arch"]), options["num_warps"]
    lanes = warps * options.get("warp_size", machine.lanes)
    if lanes > machine.lanes_per_block:
        most = machine.lanes_per_block
        raise TooLargeError(f"{warps} warps have {lanes} lanes; a block of {machine.name} has at most {most}")
    try:
        kernel = session().compile(
            options["arch"],
            text,
            warps=options["num_warps"],
            stages=options["num_stages"],
            entry=name[1],
            fp_fusion=options["enable_fp_fusion"],
            keep_assembly=options.get("keep_assembly"),
        )
    except UnsupportedError as error:
        raise TooLargeError(str(error), error.line, error.column) from error
    metadata.update(
        name=kernel.name,
        shared=kernel.shared_bytes,
        num_warps=kernel.warps,
        warp_size=kernel.lanes,
        tmem_size=None,
        tensordesc_meta=[],
        cluster_dims=(1, 1, 1),  # read by Triton 3.5
        global_scratch_size=0,
        global_scratch_align=1,
        profile_scratch_size=0,
        profile_scratch_align=1,
    )
    return kernel


def _run(manager: Any, module: Any, name: str) -> None:
    try:
        manager.run(module, name)
    except TypeError:  # the passes of older versions have no name
        manager.run(module)
