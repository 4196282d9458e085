"""Triton's compiler interface: Triton's own frontend and TTIR passes, then Tilewright's compiler."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from triton.backends.compiler import BaseBackend, GPUTarget

from .architecture import BACKEND, triton_architecture
from .library import library_hash
from .options import Options

NAME = "tilewright"


class TilewrightBackend(BaseBackend):
    """Compiles kernels to kernel IR, which the emulator runs."""

    binary_ext = "kernel"
    supports_native_tensor_specialization = True

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        from .driver import TilewrightDriver

        # Triton keeps no name with a compiled kernel: its target is the one that the process runs on.
        named = target.arch if target.backend == NAME else getattr(target, "name", None)
        self._name = str(named or TilewrightDriver.target_name())

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Whether a target is the driver's, or one that a caller names: `GPUTarget("tilewright", "mi300x", 64)`."""
        return target.backend in (NAME, BACKEND)

    def get_target_name(self, options: Options) -> str:
        """Returns Triton's name of the target, by which Gluon verifies the operations of a kernel."""
        from tilewright.targets import target

        backend, architecture = triton_architecture(target(self._name).architecture)
        return f"{backend}:{architecture}" if backend else str(architecture)

    def hash(self) -> str:
        return f"{NAME}-{self._name}-{library_hash()}"

    def parse_options(self, options: dict[str, Any]) -> Options:
        return Options(options, self._name, self.target.warp_size)

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def get_codegen_implementation(self, options: Options) -> dict[str, Any]:
        from triton.language.extra.cuda import convert_custom_float8_sm80

        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1), "convert_custom_types": convert_custom_float8_sm80}

    def get_module_map(self) -> dict[str, ModuleType]:
        from triton.language.extra.cuda import libdevice

        # The names of these functions are imported for every target.
        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context: Any) -> None:
        from triton._C.libtriton import nvidia

        # Gluon kernels may have operations of this dialect.
        nvidia.load_dialects(context)

    def add_stages(self, stages: dict[str, Any], options: Options, language: Any = None) -> None:
        from .stages import Compilation, lower_gluon, optimise_ttir

        compilation = Compilation(options)
        if getattr(language, "name", "TRITON") == "GLUON":
            stages["glir"] = lambda module, metadata: module
            stages["ttgir"] = lambda module, metadata: lower_gluon(module, metadata)
        else:
            stages["ttir"] = lambda module, metadata: optimise_ttir(module, metadata)
            stages["ttgir"] = compilation.assign_layouts
        stages[self.binary_ext] = compilation.kernel


def _replace_kernels() -> None:
    """Replaces the stages of other backends for the kernels that an environment variable names."""
    if os.environ.get("TILEWRIGHT_REPLACE"):
        from .replacement import enable_from_environment

        enable_from_environment()


_replace_kernels()
